"""What a lawful release does not protect from, and the publisher may not have thought of."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.errors import InputError, between_thousands, few_of, listed
from incrowd.hierarchy.labels import hides_an_end, spans_seen
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.spec import OF_NUMBERS
from incrowd.kernels.types import Ints
from incrowd.measures.people import agreement
from incrowd.policy.base import Policy
from incrowd.policy.models import asks_of_sensitive
from incrowd.privacy.cautions import DIVERSITY, pairs, pairs_under_a_veil, people_twice, twins
from incrowd.privacy.classes import values_by_class
from incrowd.tables.base import Column, Replacement, Source, replaced
from incrowd.tables.totals import totals
from incrowd.text.missing import marks_for
from incrowd.text.numerals import COMMA
from incrowd.text.units import counted

MOST_AT_HOME = 6  # people of a household, on average
FEW_UNEVEN = 2  # averages of unequal cells of which the cost is mostly enough to undo them
A_FEW = 0.005  # of the rows: with fewer different values a column names kinds, no people

if TYPE_CHECKING:
    from incrowd.averages.of_table import Averaged


def shared(table: Coded, classes: Ints, k: int) -> Iterator[str]:
    """Return the cautions where rows, or people, of a class share values of columns left out.

    Parameters
    ----------
    classes: int64, shape (rows,): the class of each original row.
    k: least number of rows, or of people, of a class.
    """
    return (living_together if table.roles.person else repeated)(table, classes, k)


def living_together(table: Coded, classes: Ints, k: int) -> Iterator[str]:
    """Yield a caution for each column that tells of fewer than k values where k people stand.

    A class of k people of one household is hardly a crowd.  A column in which most people with
    several rows differ, as in a number of the visit, is no household's; nor is one with many people
    to a value, such as a year or a district.
    """
    whose, roles = table.owners, table.roles
    several = np.bincount(whose) > 1
    for name in roles.id:
        column = None if name in roles.person else told(table.source, name)
        if column is None:
            continue
        codes = column.codes.astype(np.int64)
        if MOST_AT_HOME * len(column.values) < len(several):
            continue
        if 2 * int((values_by_class(whose, codes) > 1).sum()) > several.sum():
            continue
        different = values_by_class(classes, codes)
        few, one = int((different < k).sum()), int((different == 1).sum())
        if few:
            single = f" (in {one:,} only one)" if one else ""
            yield (
                f"people of one class share values of {name!r}, which is left out: in {few:,} of "
                f"{counted(len(different), 'class', 'classes')} there are fewer than {k:,} "
                f"different ones{single}. If {name!r} names households, or others who belong "
                "together, somebody who finds the class knows much of all of them; --person "
                f"{name} asks for {k:,} different ones in every class"
            )


def repeated(table: Coded, classes: Ints, k: int) -> Iterator[str]:
    """Yield a caution for each identifier that repeats, where rows of a class share it.

    A class of k rows of one person is no crowd.
    """
    shared, whole = {}, 0
    for name in table.roles.id:
        column = told(table.source, name)
        if column is None:
            yield (
                f"values of {name!r}, which is left out, have no text form, so it was not counted "
                "whether rows of one class share them. Rows are counted; if the column names "
                "people, make it text, so that this can be told"
            )
            continue
        if len(column.values) < max(2, A_FEW * len(column.codes)):  # a year, a grade: no names
            continue
        different = values_by_class(classes, column.codes.astype(np.int64))
        whole, few = len(different), int((different < k).sum())
        if few:
            shared[name] = few
    if shared:
        yield shared_by_few(shared, whole, k)


def repeated_in_combinations(
    table: Coded, changed: Mapping[str, Replacement], policy: Policy
) -> Iterator[str]:
    """Yield the same caution of rows that are alike in a protected combination, for the first one.

    changed: the changed cells of each quasi-identifier, in the original's order of rows.
    """
    for one in policy.protect:
        codes = []
        for name in one.columns:
            column = table.source.encode(name)
            if name in changed:
                column = Column.of(*replaced(column, changed[name]))
            codes.append((column.codes, len(column.values)))
        alike_ = agreement(codes, table.source.rows).member
        told_ = [*shared(table, alike_, one.k)]
        if told_:
            yield f"{told_[0]}. A class is here rows that are alike in {', '.join(one.columns)}"
            return


def shared_by_few(shared: Mapping[str, int], classes: int, k: int) -> str:
    """Return the caution that a class may hold fewer than k people.

    shared: for each column that is left out, in how many classes it has fewer than k values.
    """
    of = "class" if classes == 1 else "classes"
    names = list(map(repr, shared))
    if len(names) == 1:
        few = shared[min(shared)]
        told = f"{few:,} of {classes:,} {of} {'has' if few == 1 else 'have'}"
        return (
            f"rows of one class share values of {names[0]}, which is left out: {told} fewer than "
            f"{k:,} different ones. Rows are counted; if {names[0]} names people, fewer than "
            f"{k:,} people may stand in a class, and --person counts people"
        )
    told = few_of(f"{few:,} of {name!r}" for name, few in shared.items())
    return (
        f"rows of one class share values of columns that are left out. Of {classes:,} {of}, so "
        f"many have fewer than {k:,} different ones: {told}. Rows are counted; if one of these "
        f"columns names people, fewer than {k:,} people may stand in a class, and --person counts "
        "people"
    )


def told(source: Source, name: str) -> Column | None:
    """Return a column's texts; None of lists, structs and bytes, which have none."""
    try:
        return source.encode(name)
    except InputError:
        return None


def of_combinations(policy: Policy, qi: Sequence[str]) -> Iterator[str]:
    """Yield a caution for quasi-identifiers that no combination holds, and no whole k."""
    open_ = [name for name in qi if not any(name in one.columns for one in policy.protect)]
    if policy.protect and policy.k == 1 and open_:
        yield (
            f"{listed(open_)}: in no combination of protect, so published as in the "
            "original; who knows these cells may find a row by them"
        )


def of_cells(table: Coded) -> Iterator[str]:
    """Yield cautions about the cells of the original."""
    yield from alike(table)
    yield from totals(table.source)
    empty = blank(table)
    if empty is not None and empty.any():
        rows = int(empty.sum())
        has = "row has no cell" if rows == 1 else "rows have no cell"
        yield (
            f"{rows:,} {has} at all, like empty lines of a sheet; each counts as a row that "
            "others hide among: leave them out of the table first if they are nobody's"
        )


def blank(table: Coded) -> NDArray[np.bool_] | None:
    """bool, shape (rows,): which rows have no cell in any column; None where there is none."""
    empty: NDArray[np.bool_] | None = None
    for j, tree in enumerate(table.instance.trees):
        if None not in tree.leaves or (empty is not None and not empty.any()):
            return None
        here = table.leaves[:, j] == tree.leaves.index(None)
        empty = here if empty is None else empty & here
    for name in table.source.columns:
        if empty is None or not empty.any():
            return None
        if name not in table.roles.qi:
            column = told(table.source, name)
            if column is None or None not in column.values:  # without a text form cells are there
                return None
            empty = empty & column.shows(None)
    return empty


def alike(table: Coded) -> Iterator[str]:
    """Yield a caution for each column that has values which people read as one, or keys of one."""
    found = {tree.column: tree.leaves for tree in table.instance.trees}
    for name in table.roles.sensitive:
        column = table.attributes.get(name) or told(table.source, name)
        if column is not None:
            found[name] = column.values
    yield from twins(found)
    whose = {name: told(table.source, name) for name in table.roles.person}
    yield from people_twice({name: each.values for name, each in whose.items() if each})


def lost_zeros(table: Coded, policy: Policy) -> Iterator[str]:
    """Yield a caution for codes under a mask that seem to have been read as numbers: 1067, 95953.

    Some are a digit shorter than all others, and none begins with 0; or they have decimals.
    """
    for tree in table.instance.trees:
        if not str(policy.hierarchies.get(tree.column)).startswith(("prefix:", "keep:")):
            continue
        marks = marks_for(policy.na, tree.column)
        codes = [leaf for leaf in tree.leaves if leaf is not None and leaf not in marks]
        bare = [code.removesuffix(".0") for code in codes]
        if not all(code.isdecimal() and code[0] != "0" for code in bare):
            continue
        least, most = min(map(len, bare), default=0), max(map(len, bare), default=0)
        if bare != codes:
            how = "have decimals"
        elif most == least + 1 and least > 2:
            how = "differ in length by a digit, and none begins with 0"
        else:
            continue
        yield (
            f"codes of {tree.column!r} {how}: if they were numbers where they should have been "
            "text, they lost their leading zeros, and their first digits mean something else; read "
            "that column as text (pandas: dtype=str)"
        )


def thousands(table: Coded, policy: Policy) -> Iterator[str]:
    """Yield a caution for numbers that are read with a decimal comma and look like 1,200."""
    for name, rule in policy.hierarchies.items():
        if policy.decimal != COMMA or not str(rule).startswith(OF_NUMBERS):
            continue
        marks = marks_for(policy.na, name)
        column = told(table.source, name)
        values = [value for value in column.values if value not in marks] if column else []
        if between_thousands(value for value in values if value is not None):
            yield (
                f"each comma of {name!r} stands before three digits, and was read as a decimal "
                "comma: 1,200 is 1.2. If it stands between thousands, take the commas out of the "
                "column, and leave --decimal , away"
            )


def of_index(source: Source, order: str) -> Iterator[str]:
    """Yield a caution where the rows of a frame keep an index that may name them."""
    if order == "keep" and getattr(source, "names_rows", False):
        yield (
            "the frame's index is no plain numbering, and release.data keeps it: if it names "
            "people it must not be published; frame.reset_index(drop=True) leaves it out, and "
            "without drop it becomes a column with a role of its own"
        )


def told_by_pairs(
    table: Coded, replaced: Mapping[str, Replacement], classes: Ints
) -> Iterator[str]:
    """Yield a caution where cells of columns with two values are hidden in classes of two rows.

    classes: int64, shape (rows,): the class of each original row.
    """
    paired = np.bincount(classes)[classes] == 2
    found = {}
    for name in table.roles.qi:
        if name in replaced and len(table.source.encode(name).values) == 2:
            found[name] = int((paired & (replaced[name].ids >= 0)).sum())
    hit = [name for name, cells in found.items() if cells]
    if hit:
        yield pairs(sum(found.values()), hit)


def light_pairs(table: Coded, policy: Policy) -> Iterator[str]:
    """Yield a caution where a veil's pairs may hide columns of two values as cheaply as others."""
    dearest = {tree.column: tree.dearest for tree in table.instance.trees}
    two = [tree.column for tree in table.instance.trees if len(tree.leaves) == 2]
    light = [name for name in two if dearest[name] < 2 * min(dearest.values())]
    if policy.k == 2 and light and len(light) < len(dearest):
        yield pairs_under_a_veil(light)


def told_by_width(
    table: Coded, replaced: Mapping[str, Replacement], beside: Sequence[Ints] = ()
) -> Iterator[str]:
    """Yield a caution where the cost tells how far hidden values lie from those that are shown.

    beside: by quasi-identifier the leaf codes of values that an earlier release shows.
    """
    hit = []
    for j, tree in enumerate(table.instance.trees):
        new = replaced.get(tree.column)
        if new is not None and isinstance(tree, RangeFamily):
            codes = table.instance.codes[table.distinct_of_row, j]
            ranges, seen = spans_seen(tree, new.labels, new.ids, codes)
            seen = np.append(seen, beside[j]) if beside else seen
            hit += [tree.column] if hides_an_end(tree, ranges, seen) else []
    yield from widths_told(hit)


def widths_told(columns: Sequence[str]) -> Iterator[str]:
    """Yield the caution for the columns of which it holds; see ``hides_an_end``."""
    if columns:
        yield (
            f"the least or the greatest value of {listed(columns)} is hidden, and the cost tells "
            "how far apart the two are, as a range costs its part of the whole column's width: who "
            "knows the cost as well can work out the hidden value. Publish neither statement, "
            "report nor metadata, which tell the cost, or take --cost stars, which counts changed "
            "cells alone"
        )


def missing_in_words(table: Coded, policy: Policy) -> Iterator[str]:
    """Yield a caution for each sensitive column in which missing is written in several ways.

    Each way is a value of its own: a class with two of them counts as diverse.
    """
    for name in table.roles.sensitive if asks_of_sensitive(policy) else ():
        column = told(table.source, name)  # one that a model reads has texts
        ways = {None, *marks_for(policy.na, name)} & {*(column.values if column else ())}
        if len(ways) > 1:
            yield (
                f"missing values of {name!r} are written in {len(ways)} ways, which the models "
                "count as that many values: write them in one way first"
            )


def of_models(policy: Policy) -> Iterator[str]:
    """Yield a caution where l-diversity is asked for."""
    asked = (policy.l, *(getattr(model, "l", None) for model in policy.models))
    if any(l is not None for l in asked):  # noqa: E741
        yield DIVERSITY


def repeatable(policy: Policy) -> Iterator[str]:
    """Yield a caution where a seed that was given orders the rows.

    Who guesses hidden cells, and the seed, makes the release again: of all guesses the right one
    alone gives the order that was published.
    """
    if policy.order == "shuffle" and policy.seed is not None:
        yield (
            "the order of the rows follows from the seed and the original's cells, hidden ones "
            "too. Somebody who guesses the seed can test guesses at hidden cells by making the "
            "release again: only the right guess gives this order. Leave the seed out (no "
            "--seed, no seed in the policy) of a release that others get; then nobody can "
            "make the order again"
        )


def of_keys(policy: Policy) -> Iterator[str]:
    """Yield a caution where pseudonyms are those of other releases as well."""
    kept = [name for name, file in policy.pseudonym.items() if file]
    if kept:
        yield (
            f"the pseudonyms of {listed(kept)} are the same in every release with "
            "this key: somebody who has two of them knows which rows belong to one person. Each "
            "release is lawful by itself; several together may not be"
        )


def of_averages(averaged: "Averaged | None") -> Iterator[str]:
    """Yield a caution where cells are averages."""
    if averaged is not None:
        names = listed(averaged.columns)
        yield (
            f"cells of {names} are averages of their class, rounded: they are no longer true of "
            "the person in the row, and say nothing of how far apart the values of a class are"
        )
        if 0 < averaged.uneven <= FEW_UNEVEN:
            yield (
                f"cells of {names} that differ are averaged in one or two classes alone, and the "
                "cost tells how far apart they are: who knows it can work out these cells. Publish "
                "neither statement, report nor metadata, which tell the cost"
            )
