"""What columns that are published unchanged tell of people, and of cells that are hidden."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import few_of, listed
from incrowd.kernels.types import Ints
from incrowd.measures.people import found_together
from incrowd.policy.forms import COMMAS, GROUPED, kind_of
from incrowd.policy.guess import FEW_ROWS, guess_column
from incrowd.policy.roles import Roles
from incrowd.published import cautions
from incrowd.tables.base import Column, Replacement, Source

MOST_ROWS = 300_000
"""Rows beyond which a column is judged by its name alone."""
SAMPLE = 20_000
"""Rows that are looked at for what one column tells of another, evenly spread."""
LOOKED_AT = 20_000
"""Different values of a column that are looked at, evenly spread, for what kind they are."""
FEW = 0.05
"""Share of the rows up to which rare values are exceptions, and not what the column is like."""
HALF = 0.5


def looked_at(source: Source, name: str) -> Column | None:
    """Return a column's texts; None of lists, structs and bytes, which have none.

    Of a large table none are read: columns that no search needed take long to be.
    """
    if source.rows > MOST_ROWS:
        return Column((), np.zeros(0, np.int32))
    return cautions.told(source, name)


def of_unchanged(
    source: Source, roles: Roles, replaced: Mapping[str, Replacement], k: int
) -> Iterator[str]:
    """Yield cautions about columns that are published as they are; no cell is quoted.

    Parameters
    ----------
    replaced: the changed cells of each quasi-identifier, in the original's order of rows.
    k: least number of rows of a class.
    """
    sensitive, keep = roles.sensitive, roles.keep
    columns = {name: looked_at(source, name) for name in (*keep, *sensitive)}
    found = {name: column for name, column in columns.items() if column is not None}
    naming = {name: why for name, column in found.items() if (why := person_in(name, column))}
    for name, why in naming.items():
        yield (
            f"column {name!r} is published unchanged, and may say who a person is: {why}. Leave "
            "it out (--id), unless you know that nobody finds a person by it"
        )
    rest = {name: column for name, column in found.items() if name not in naming}
    yield from of_rare({n: c for n, c in rest.items() if n in keep}, source.rows, k)
    if FEW_ROWS <= source.rows <= MOST_ROWS:
        judged = judged_together(rest, sensitive, source.rows, k)
        yield from found_together(judged, source.rows, k)
    if len(sensitive) + len(keep) > 1:  # else the row tells nothing but its class
        yield from of_exceptions({n: c for n, c in rest.items() if n in sensitive}, source.rows, k)
    for name, column in rest.items() if source.rows <= MOST_ROWS else ():
        yield from of_hidden(source, name, column, replaced)


def person_in(name: str, column: Column) -> str | None:
    """Return why a column looks like one that names people; None where it does not."""
    step = max(1, -(-len(column.values) // LOOKED_AT))
    if step > 1:  # of some rows, so that rows and values still go together
        column = Column(column.values, column.codes[::step]).compact()
    guess = guess_column(name, column, len(column.codes))
    if guess.role not in ("id", "person"):
        return None
    return re.sub(r"(: people are counted|; | \(|, and its \d).*", "", guess.why)


def of_rare(columns: Mapping[str, Column], rows: int, k: int) -> Iterator[str]:
    """Yield the caution that most values of kept columns are those of fewer than k rows."""
    rare = [name for name, column in columns.items() if alone(column, k) > HALF * rows]
    if rare and rows >= FEW_ROWS:
        days = [name for name in rare if kind(columns[name]) == "dates"]
        dated = f" ({listed(days)}: dates, which others often know)" if days else ""
        yield (
            f"most cells of {listed(rare)} are shared by fewer than {k:,} rows and "
            f"are published unchanged{dated}: who knows such a cell finds the row. Keep a column "
            "only if nobody knows its cells; else make it a quasi-identifier (--qi) or leave it "
            "out (--id)"
        )


def judged_together(
    columns: Mapping[str, Column], sensitive: Sequence[str], rows: int, k: int
) -> dict[str, Column]:
    """Return the unchanged columns that are looked at together.

    A kept column whose cells are rare by themselves has a caution of its own.  So it would be with
    a sensitive one beside kept columns; two sensitive ones tell of each other.
    """
    secret = [name for name in columns if name in sensitive]
    return {
        name: column
        for name, column in columns.items()
        if (name in secret and len(secret) > 1) or alone(column, k) <= HALF * rows
    }


def is_named(column: Column) -> bool:
    """Whether a column holds neither numbers nor dates."""
    return kind(column) not in ("", "dates", "numbers", "whole numbers", COMMAS[0], GROUPED)


def kind(column: Column) -> str:
    """Return what a column's values are, see ``kind_of``; nothing where it has none."""
    step = max(1, -(-len(column.values) // LOOKED_AT))
    values = [value for value in column.values[::step] if value is not None]
    return kind_of(values) if values else ""


def of_exceptions(columns: Mapping[str, Column], rows: int, k: int) -> Iterator[str]:
    """Yield the caution that a few rows have a sensitive value that hardly anybody has.

    Numbers and dates are left out: they have rare values as a rule, and no name that is known.
    """
    rare = {name: alone(column, k) for name, column in columns.items() if is_named(column)}
    few = {name: n for name, n in rare.items() if rows >= FEW_ROWS and 0 < n <= FEW * rows}
    if few:
        told = few_of(f"{name!r} {n:,}" for name, n in few.items())
        yield (
            f"rows with a sensitive value that fewer than {k:,} rows have: {told} of {rows:,}. "
            "Who knows of it finds the row, and its other unchanged cells; write rare values as "
            "one, such as other"
        )


def alone(column: Column, k: int) -> int:
    """Return how many rows have a value, not a missing one, that fewer than k rows have."""
    counts = column.counts
    if column.values and column.values[0] is None:
        counts[0] = 0
    return int(counts[counts < k].sum())


def of_hidden(
    source: Source, name: str, column: Column, replaced: Mapping[str, Replacement]
) -> Iterator[str]:
    """Yield the caution that a column gives back most of what is hidden in quasi-identifiers.

    Counted in bits over the changed cells: how much less the original cell surprises somebody who
    knows the column besides what is published in the cell's place.
    """
    step = max(1, -(-len(column.codes) // SAMPLE))
    given = []
    for other, change in replaced.items():
        label = change.ids[::step].astype(np.int64)
        hidden = label >= 0
        if hidden.sum() >= FEW_ROWS / 2:
            secret = source.encode(other).codes[::step][hidden].astype(np.int64)
            known = column.codes[::step][hidden].astype(np.int64)
            share = given_back(label[hidden], known, secret)
            if share >= HALF:
                given.append(f"{other!r} ({share:.0%})")
    if given:
        yield (
            f"column {name!r} is published unchanged, and gives back most of what the release "
            f"hides in {', '.join(given)}, counted in bits. Make {name!r} a quasi-identifier "
            "(--qi) or leave it out (--id)"
        )


def given_back(label: Ints, known: Ints, secret: Ints) -> float:
    """Return the share of the bits of hidden values that a column tells, 0 to 1.

    Parameters
    ----------
    label: int64, shape (cells,): what is published in place of each hidden cell.
    known: the column's value in its row, likewise.  secret: the hidden value, likewise.
    """
    open_ = several(label, secret)
    if not open_.any():
        return 0.0
    label, known, secret = label[open_], known[open_], secret[open_]
    often = np.bincount(secret)[secret] / len(secret)
    before = chance(label, secret, often)
    after = chance(label * (int(known.max()) + 1) + known, secret, before)
    return max(0.0, 1 - float(np.log2(after).sum() / np.log2(before).sum()))


def several(group: Ints, secret: Ints) -> NDArray[np.bool_]:
    """Return for each cell whether its group holds another value."""
    _, group = np.unique(group, return_inverse=True)
    low, high = np.full((2, int(group.max(initial=-1)) + 1), secret.max(initial=0))
    high[:] = -1
    np.minimum.at(low, group, secret)
    np.maximum.at(high, group, secret)
    return (low < high)[group]


def chance(group: Ints, secret: Ints, otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each value is by the *other* cells of its group and one more.

    otherwise: float64, shape (cells,): its chance by what was known before, which counts as that
        one cell; so a group of one cell tells nothing.
    """
    _, group = np.unique(group, return_inverse=True)
    _, pair = np.unique(group * (int(secret.max()) + 1) + secret, return_inverse=True)
    return (np.bincount(pair)[pair] - 1 + otherwise) / np.bincount(group)[group]
