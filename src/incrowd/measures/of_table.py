"""``measure``: from any table to its figures; wiring only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.averages import Averages
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.family import Family, trees_of
from incrowd.hierarchy.ladder import is_missing
from incrowd.hierarchy.missing import bare_of, declared
from incrowd.hierarchy.spec import source_of
from incrowd.hierarchy.tree import STAR
from incrowd.measures.figures import (
    ColumnFigures,
    CombinationFigures,
    Measure,
    RiskFigures,
    SensitiveFigures,
)
from incrowd.measures.loss import column_figures
from incrowd.measures.orders import given_metric, given_order, natural_order, ordered
from incrowd.measures.people import (
    Agreement,
    Codes,
    agreement,
    counting,
    found_together,
    group_figures,
    owners_of,
    pairs_counted,
    risk_of_people,
    uncounted,
    unowned,
)
from incrowd.measures.risk import people_behind, risk_figures, subset_figures
from incrowd.measures.roles import Names, known_columns, of_release, require_named, roles_of
from incrowd.measures.sensitive import disjoint_l, sensitive_figures
from incrowd.privacy.base import Group
from incrowd.privacy.cautions import ANOTHER, DIVERSITY, pairs, people_twice, twins
from incrowd.privacy.classes import Classes
from incrowd.privacy.combination import Combination, protect_of
from incrowd.privacy.distance import Hierarchical
from incrowd.privacy.metric import Metric
from incrowd.privacy.numbers import whole
from incrowd.privacy.ordered import Ordered
from incrowd.tables import open_table
from incrowd.tables.base import Column, Table
from incrowd.tables.files import is_release
from incrowd.tables.numbers import require_decimal_texts
from incrowd.tables.totals import NO_ROWS
from incrowd.text.missing import Marks, likely, marks_for, marks_of, require_known
from incrowd.text.numerals import POINT, require_decimal

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy


def measure(
    frame: Any,
    qi: Names | None = None,
    sensitive: Names | None = None,
    *,
    population: Any = None,
    original: Any = None,
    subsets: int = 0,
    recursive: Sequence[int] = (2, 3, 4, 5),
    orders: Mapping[str, Sequence[str | None]] | None = None,
    metrics: Mapping[str, Metric | Mapping[tuple[str, str], Any]] | None = None,
    hierarchies: "Mapping[str, str | Path | Hierarchy] | None" = None,
    star: str = STAR,
    na: Any = None,
    decimal: str = POINT,
    person: Names | None = None,
    group: str | None = None,
    protect: "Sequence[Combination | Mapping[str, Any] | str]" = (),
) -> Measure:
    """Say how private a table is.

    Rows agree when all their quasi-identifiers are equal as text; a missing value equals a missing
    value and nothing else, and so does the star.  The order and the index of rows never matter.

    Parameters
    ----------
    frame: a data frame that narwhals accepts, or the path of a file; or what ``anonymize``
        returned, whose roles, star and marks of missing values hold where none are given.
    qi: quasi-identifiers; None: every column that is not sensitive.
    sensitive: sensitive attributes; without any, only classes, loss and risk are measured.
    population: a table that holds everyone the rows may be taken from, with the same
        quasi-identifiers; gives journalist and marketer risk.  Each of its rows is a person, unless
        it has the columns ``person``.
    original: the table before anonymization; gives the entropy lost.
    subsets: also count unique rows on every subset of at most so many quasi-identifiers.
    recursive: values of l for which recursive (c, l)-diversity is measured.
    orders: attribute → its values from least to greatest, for the ordered distance; numbers and
        ISO dates have an order of their own.
    metrics: attribute → distances between its values, for t-closeness over that metric:
        ``{("flu", "cold"): 0.2, …}`` for every pair, or a ``Metric`` over values in text order,
        the missing value first.
    hierarchies: column → hierarchy (as for ``anonymize``): of a sensitive attribute for the
        hierarchical distance, of a quasi-identifier for the entropy that its general values lose.
    star: how a suppressed cell is written.
    person: columns that together name a person: people are counted in place of rows.
    group: column that names a household, or another group: its risk is that of its riskiest member.
    na: texts that stand for a missing value, or column → texts, as for ``anonymize``; each stays a
        value of its own, and is counted as missing.
    decimal: what stands before the decimals of numbers that are texts, as for ``anonymize``.
    protect: combinations of quasi-identifiers with a k each, as for ``anonymize``: of each the
        smallest group is told, and how many rows are in groups that are too small.

    Raises
    ------
    InputError: no such column, a column named twice, an order or metric that does not fit.
    """
    if is_release(frame):
        qi, sensitive, star, na, frame = of_release(frame, qi, sensitive, na)
    table = open_table(frame)
    known, secret, named, household = roles_of(table, qi, sensitive, person, group)
    require_named(secret, orders=orders, metrics=metrics)
    require_named([*known, *secret], hierarchies=hierarchies)
    marks = marks_of(na)
    require_known(marks, table.columns)
    require_decimal(decimal)
    require_decimal_texts(table, (*known, *secret), decimal)
    subsets = whole(subsets, "subsets", 0)
    recursive = [whole(least, "l") for least in recursive]

    columns = [_marked(table, name, marks) for name in known]
    codes = [(column.codes, len(column.values)) for column in columns]
    agreed = agreement(codes, table.rows)
    rows, whose = agreed, owners_of(table, named)
    everyone = None if population is None else open_table(population)
    agreed = counting(rows, whose)
    trees = {
        c: source_of(spec, marks_for(marks, c), decimal) for c, spec in (hierarchies or {}).items()
    }
    lost = _columns(known, columns, star, original, {c: trees[c] for c in known if c in trees})
    stars = sum(column.stars for column in lost)
    sizes, number = np.unique(agreed.sizes, return_counts=True)
    figures, marked = {}, {}
    if secret and table.rows:
        marked = {name: _marked(table, name, marks) for name in secret}
        asked = recursive, orders or {}, metrics or {}, trees
        figures = _sensitive(marked, rows, *asked, whose, decimal)
    grouped = owners_of(table, household) if table.rows else None
    return Measure(
        rows=table.rows,
        qi=tuple(known),
        k=int(sizes[0]) if len(sizes) else 0,
        classes=len(agreed.sizes),
        largest_class=int(sizes[-1]) if len(sizes) else 0,
        average_class=int(agreed.sizes.sum()) / len(agreed.sizes) if len(sizes) else 0.0,
        unique_rows=int(rows.sizes[agreed.sizes == 1].sum()),
        people=None if whose is None else int(whose.max(initial=-1)) + 1,
        groups=None if grouped is None else group_figures(agreed, grouped),
        histogram=dict(zip(sizes.tolist(), number.tolist(), strict=True)),
        stars=stars,
        stars_fraction=stars / (table.rows * len(known)) if table.rows else 0.0,
        columns=tuple(lost),
        risk=_risk(known, columns, agreed, everyone, star, named, whose) if table.rows else None,
        subsets=subset_figures(known, codes, rows, subsets, whose) if subsets else (),
        warnings=(
            *(() if table.rows else [NO_ROWS]),
            *([DIVERSITY] if any(s.distinct_l > 1 for s in figures.get("sensitive", ())) else []),
            *found_together(marked, table.rows, int(sizes[0]) if len(sizes) else 0),
            *_pairs_told(known, columns, rows, star, original),
            *twins({n: c.values for n, c in zip(known, columns, strict=True)}),
            *twins({name: column.values for name, column in marked.items()}),
            *people_twice({name: table.encode(name).values for name in named}),
            *_unsaid(dict(zip(known, columns, strict=True)) | marked, decimal),
            *unowned(table, named, household),
            *(uncounted(everyone, named) if everyone is not None else ()),
        ),
        combinations=tuple(_combinations(protect_of(protect), known, codes, whose, table.rows)),
        notes=(ANOTHER,) if len(sizes) and sizes[0] > 1 else (),
        **figures,
    )


def _combinations(
    asked: "Sequence[Combination]",
    known: Sequence[str],
    codes: Sequence[Codes],
    whose: NDArray[np.int64] | None,
    rows: int,
) -> Iterator[CombinationFigures]:
    """Count the groups of each combination of columns, in people where these are counted."""
    for one in asked:
        require_named(known, protect=dict.fromkeys(one.columns))
        groups = agreement([codes[known.index(name)] for name in one.columns], rows)
        sizes = counting(groups, whose).sizes
        yield CombinationFigures(
            columns=one.columns,
            k=one.k,
            smallest_group=int(sizes.min(initial=rows)),
            rows_below=int(groups.sizes[sizes < one.k].sum()),
        )


def _pairs_told(
    known: Sequence[str], columns: Sequence[Column], agreed: Agreement, star: str, original: Any
) -> Iterator[str]:
    """Yield the caution of columns with two values, counted in the original where it is known."""
    before = None if original is None else open_table(original)
    paired = agreed.sizes[agreed.member] == 2
    found = {}
    for name, column in zip(known, columns, strict=True):
        if star not in column.values:
            continue
        values = {*(column if before is None else before.encode(name)).values} - {star}
        if len(values) == 2:
            found[name] = int((paired & column.shows(star)).sum())
    hit = [name for name, cells in found.items() if cells]
    if hit:
        yield pairs(sum(found.values()), hit, shown=before is None)


def _unsaid(columns: Mapping[str, Column], decimal: str) -> Iterator[str]:
    """Yield which columns hold texts that seem to stand for missing values, if nobody said so."""
    names = [
        repr(name)
        for name, column in columns.items()
        if any(
            not is_missing(text)
            for text in likely(column.values, partial(ordered, decimal=decimal))
        )
    ]
    if names:
        yield (
            f"texts of {', '.join(names)} look like marks of missing values, such as NA and -99; "
            "they count as values like others unless --na names them (incrowd init lists them)"
        )


def _columns(
    known: Sequence[str],
    columns: Sequence[Column],
    star: str,
    original: Any,
    hierarchies: "Mapping[str, Hierarchy]",
) -> list[ColumnFigures]:
    """Describe each quasi-identifier, against the original where there is one."""
    if original is None:
        return [column_figures(n, c, star) for n, c in zip(known, columns, strict=True)]
    before = open_table(original)
    known_columns("original", known, before)
    found = []
    levels = {n: s for n, s in hierarchies.items() if not isinstance(bare_of(s), Averages)}
    for name, column in zip(known, columns, strict=True):
        first = before.encode(name)
        tree = _tree(name, first, levels[name]) if name in levels else None
        found.append(column_figures(name, column, star, first, tree))
    return found


def _marked(table: Table, name: str, marks: Marks) -> Column:
    """Return a column whose marks of missing values are declared."""
    column = table.encode(name)
    return replace(column, values=declared(column.values, marks_for(marks, name)))


def _tree(name: str, column: Column, source: "Hierarchy") -> Family:
    return build_trees({name: column.values}, {name: source})[0][0]


def hierarchical(tree: Family, column: Column) -> Hierarchical:
    """Return the distance by a hierarchy, which is to have levels."""
    return Hierarchical.of(trees_of([tree], "a distance of sensitive values")[0], column.values)


def _sensitive(
    marked: Mapping[str, Column],
    agreed: Agreement,
    recursive: Sequence[int],
    orders: Mapping[str, Sequence[str | None]],
    metrics: Mapping[str, Metric | Mapping[tuple[str, str], Any]],
    hierarchies: "Mapping[str, Hierarchy]",
    whose: NDArray[np.int64] | None,
    decimal: str,
) -> dict[str, Any]:
    """Measure every sensitive attribute, and all together."""
    secret, columns = list(marked), list(marked.values())
    values = np.column_stack([column.codes for column in columns])
    sizes = tuple(len(column.values) for column in columns)
    classes = Classes(agreed.member, Group(values, sizes))
    found: list[SensitiveFigures] = []
    for a, (name, column) in enumerate(zip(secret, columns, strict=True)):
        histograms = classes.histograms[a]
        if whose is not None:
            histograms = pairs_counted(classes, a, whose).histograms[0]
        order = given_order(name, column.values, orders[name]) if name in orders else None
        order = order or natural_order(column.values, decimal)
        tree = _tree(name, column, hierarchies[name]) if name in hierarchies else None
        found.append(
            sensitive_figures(
                name,
                sum(
                    int((column.codes == code).sum())
                    for code, value in enumerate(column.values)
                    if is_missing(value)
                ),
                histograms,
                recursive,
                None if order is None else Ordered(order),
                None if tree is None else hierarchical(tree, column),
                given_metric(name, column.values, metrics[name]) if name in metrics else None,
            )
        )
    return {"sensitive": tuple(found), "disjoint_l": disjoint_l(classes)}


def _risk(
    known: Sequence[str],
    columns: Sequence[Column],
    agreed: Agreement,
    population: Table | None,
    star: str,
    named: list[str],
    whose: NDArray[np.int64] | None,
) -> RiskFigures:
    people = None
    if population is not None:
        known_columns("population", known, population)
        others = [population.encode(name) for name in known]
        there = {*named} <= {*population.columns}  # else each of its rows is a person
        theirs = owners_of(population, named) if there else None
        people = people_behind(columns, agreed, others, star, theirs)
    found = risk_figures(agreed.sizes, people)
    return found if whose is None else risk_of_people(agreed, whose, found)
