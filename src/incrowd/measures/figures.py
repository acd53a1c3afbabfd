"""What ``measure`` finds, as frozen values; ``Measure.record`` is the JSON object."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from incrowd.text.grids import Tabled, grid, named, share
from incrowd.text.units import counted, down, up

Figure = int | Fraction | float
PEOPLE = "people", "rows whose class is one person's"
SHOWN = 12
"""Class sizes, and subsets of each size, that are listed."""
ABREAST = 5  # sensitive attributes whose figures stand side by side


@dataclass(frozen=True, kw_only=True)
class ColumnFigures:
    """One quasi-identifier.

    Attributes
    ----------
    values: distinct values; a missing value and the star each count as one.
    missing, stars: cells.
    entropy: Shannon entropy of the column, in bits per cell.
    entropy_loss: non-uniform entropy loss against the original, in bits over the whole column:
        Σ over cells of −log₂ P(original value | released value), P from the original's own
        shares.  None without an original, or where a released value has no place in it.
    entropy_loss_fraction: the loss as a share of what suppressing the whole column loses.
    """

    name: str
    values: int
    missing: int
    stars: int
    entropy: float
    entropy_loss: float | None = None
    entropy_loss_fraction: float | None = None


@dataclass(frozen=True, kw_only=True)
class SensitiveFigures:
    """One sensitive attribute: what the least private class attains under each model.

    A parameter p of the table means: the table obeys the model at p, and at none stricter.

    Attributes
    ----------
    distinct_l, frequency_l, entropy_l: largest l (the latter two are real numbers).
    recursive_c: by l, what c must exceed; infinite where a class has fewer than l values.
    alpha: largest share that a value has in a class.
    t_equal: largest Earth Mover's Distance to the table, all values at distance 1.
    t_ordered: values at the distance of their ranks; None without an order.
    t_hierarchical, t_metric: None where no hierarchy or metric was given.
    beta, enhanced_beta: least β; infinite where no β does.
    delta: what δ must exceed (natural logarithms); infinite where a class lacks a value.
    """

    name: str
    values: int
    missing: int
    distinct_l: int
    frequency_l: Fraction
    entropy_l: float
    recursive_c: dict[int, Figure]
    alpha: Fraction
    t_equal: Fraction
    t_ordered: Fraction | None
    t_hierarchical: Fraction | None
    t_metric: Fraction | None
    beta: Fraction
    enhanced_beta: Figure
    delta: float


@dataclass(frozen=True, kw_only=True)
class RiskFigures:
    """Risk that a row is linked to its person.

    Attributes
    ----------
    prosecutor_highest, prosecutor_average: the attacker knows that the person is in the table;
        a row of a class of n rows is found with probability 1/n.
    rows_at_highest: rows whose prosecutor risk is the highest.
    journalist_highest, journalist_average: the attacker only knows the population; the class
        stands for F people of it, risk 1/F.  None without a population.
    marketer: expected share of the rows that an attacker links rightly: Σ n/F over the classes,
        divided by the rows; without a population F = n.
    uncovered_rows: rows of classes that the population does not hold as often as the table;
        their F is taken to be n.  None without a population.
    """

    prosecutor_highest: Fraction
    prosecutor_average: float
    rows_at_highest: int
    journalist_highest: Fraction | None
    journalist_average: float | None
    marketer: float
    uncovered_rows: int | None


@dataclass(frozen=True, kw_only=True)
class GroupFigures:
    """Households, or other groups of people: one is found where its riskiest member is.

    Attributes
    ----------
    groups: number of groups; a row without one is a group of its own.
    highest, average: prosecutor risk of the riskiest member, of all groups and their mean.
    groups_at_highest: groups whose risk is the highest.
    fewest: different groups in the class that has the fewest.
    """

    groups: int
    highest: Fraction
    average: float
    groups_at_highest: int
    fewest: int


@dataclass(frozen=True, kw_only=True)
class SubsetFigures:
    """What rows look like to someone who knows only ``columns``.

    Attributes
    ----------
    unique_rows: rows that no other row (or person) agrees with; unique_fraction: as a share of all.
    smallest_class: rows (or people) of the smallest class; classes: their number.
    """

    columns: tuple[str, ...]
    unique_rows: int
    unique_fraction: float
    smallest_class: int
    classes: int


@dataclass(frozen=True, kw_only=True)
class CombinationFigures:
    """Columns that others may know together.

    Attributes
    ----------
    columns, k: as asked.
    smallest_group: the fewest rows alike in these columns, or people where they count; rows_below:
        rows in groups of fewer than ``k``.
    """

    columns: tuple[str, ...]
    k: int
    smallest_group: int
    rows_below: int


@dataclass(frozen=True, kw_only=True)
class Measure(Tabled):
    """All figures of one table.

    Attributes
    ----------
    rows: of the table; qi: names of the quasi-identifiers.
    people: number of different people, where columns name them, else None.  With people k, the
        classes' sizes, what is said of sensitive attributes (of each value of a person one row
        counts), risks (a person's is that of its riskiest row) and the smallest classes of
        subsets count them in place of rows; columns and unique_rows (rows whose class is one
        person's, those of subsets, too) count rows.
    k: rows of the smallest class (0 for a table without rows).
    classes, largest_class, average_class: number of classes, rows of the largest, mean rows.
    unique_rows: rows alone in their class.
    histogram: rows of a class → number of such classes, ascending.
    stars: suppressed cells of the quasi-identifiers; stars_fraction: as a share of all cells.
    columns: one entry for each quasi-identifier.
    risk: None for a table without rows.
    sensitive: one entry for each sensitive attribute (none for a table without rows).
    disjoint_l: largest l of disjoint l-diversity over all sensitive attributes together; None
        without any, and where finding it would take long.
    groups: risks of households, where a column names them, else None.
    subsets: one entry for each subset of the quasi-identifiers up to the size asked for, the
        most revealing first within each size.
    warnings: what these figures do not say.
    combinations: one entry for each that was asked for.
    notes: what no figures of one table say; nothing where somebody is alone in a class.
    """

    rows: int
    qi: tuple[str, ...]
    k: int
    classes: int
    largest_class: int
    average_class: float
    unique_rows: int
    histogram: dict[int, int]
    stars: int
    stars_fraction: float
    columns: tuple[ColumnFigures, ...]
    risk: RiskFigures | None
    sensitive: tuple[SensitiveFigures, ...] = ()
    disjoint_l: int | None = None
    subsets: tuple[SubsetFigures, ...] = ()
    people: int | None = None
    groups: GroupFigures | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    combinations: tuple[CombinationFigures, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return plain data for JSON: fractions as decimals, infinite figures as null."""
        return _plain(self)

    def __rich__(self) -> Group:
        parts: list[Grid] = [classes_grid(self), columns_grid(self)]
        if self.risk is not None:
            parts.append(risk_grid(self.risk))
        if self.groups is not None:
            parts.append(groups_grid(self.groups))
        starts = range(0, len(self.sensitive), ABREAST)
        parts += [sensitive_grid(self.sensitive[j : j + ABREAST]) for j in starts]
        if len(self.sensitive) > 1:
            parts[-1].add_row(*disjoint_row(self.disjoint_l))
        if self.combinations:
            parts.append(combinations_grid(self))
        if self.subsets:
            parts.append(subsets_grid(self))
        told = [f"Warning: {warning}." for warning in self.warnings]
        told += [f"{note[0].upper()}{note[1:]}." for note in self.notes]
        return Group(*parts, *map(Text, told))


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def classes_grid(found: Measure) -> Grid:
    """Classes of rows that agree on the quasi-identifiers."""
    rows, classes = counted(found.rows, "row"), counted(found.classes, "class", "classes")
    made = grid(("", ""), f"{found.k}-anonymous: {rows}, {classes}")
    made.show_header = False
    each, alone = ("rows", "unique rows") if found.people is None else PEOPLE
    if found.people is not None:
        made.add_row("people", f"{found.people:,}")
    made.add_row(f"k, {each} of the smallest class", f"{found.k:,}")
    made.add_row(f"{each} of the largest class", f"{found.largest_class:,}")
    made.add_row(f"{each} a class on average", f"{found.average_class:.1f}")
    made.add_row(alone, share(found.unique_rows, found.rows))
    cells = found.rows * len(found.qi)
    made.add_row("suppressed cells", share(found.stars, cells))
    listed = list(found.histogram.items())
    for size, classes in listed[:SHOWN]:
        made.add_row(f"classes of {size:,}", f"{classes:,}")
    if len(listed) > SHOWN:
        rest = sum(classes for _, classes in listed[SHOWN:])
        made.add_row(f"classes of more than {listed[SHOWN - 1][0]:,}", f"{rest:,}")
    return made


def columns_grid(found: Measure) -> Grid:
    """Quasi-identifiers: values, stars, entropy."""
    lost = any(column.entropy_loss is not None for column in found.columns)
    heads = ["quasi-identifier", "values", "missing", "stars", "entropy, bits"]
    made = grid(heads + (["entropy lost"] if lost else []))
    for column in found.columns:
        row = [f"{column.values:,}", f"{column.missing:,}", share(column.stars, found.rows)]
        row.append(f"{column.entropy:.2f}")
        if lost:
            fraction = column.entropy_loss_fraction
            row.append("unknown" if fraction is None else f"{fraction:.1%}")
        made.add_row(named(column.name), *row)
    return made


def risk_grid(risk: RiskFigures) -> Grid:
    """Risks of being found."""
    made = grid(("risk of being found", "highest", "average"))
    made.add_row(
        "prosecutor (knows who is in the table)",
        up(risk.prosecutor_highest),
        up(risk.prosecutor_average),
    )
    if risk.journalist_highest is not None and risk.journalist_average is not None:
        made.add_row(
            "journalist (knows the population)",
            up(risk.journalist_highest),
            up(risk.journalist_average),
        )
    made.add_row("marketer (links all rows)", "", up(risk.marketer))
    if risk.uncovered_rows:
        made.caption = f"{risk.uncovered_rows:,} rows are not covered by the population"
    return made


def groups_grid(found: GroupFigures) -> Grid:
    """Risks of households."""
    made = grid(("households (as their riskiest member)", ""))
    made.add_row("groups", f"{found.groups:,}")
    made.add_row("highest risk", up(found.highest))
    made.add_row("average risk", up(found.average))
    made.add_row("groups at the highest risk", f"{found.groups_at_highest:,}")
    made.add_row("groups in the class that has the fewest", f"{found.fewest:,}")
    return made


def sensitive_grid(found: Sequence[SensitiveFigures]) -> Grid:
    """One column for each of some sensitive attributes, one line for each model."""
    made = grid(("the table obeys", *(named(one.name).plain for one in found)))
    made.add_row("distinct l up to", *(str(one.distinct_l) for one in found))
    made.add_row("frequency l up to", *(down(one.frequency_l) for one in found))
    made.add_row("entropy l up to", *(down(one.entropy_l) for one in found))
    for l in found[0].recursive_c:  # noqa: E741
        made.add_row(f"recursive l = {l}, c above", *(up(one.recursive_c[l]) for one in found))
    made.add_row("t, equal distance, from", *(up(one.t_equal) for one in found))
    for name in ("ordered", "hierarchical", "metric"):
        values = [getattr(one, f"t_{name}") for one in found]
        if any(value is not None for value in values):
            shown = ("" if value is None else up(value) for value in values)
            made.add_row(f"t, {name} distance, from", *shown)
    made.add_row("α from", *(up(one.alpha) for one in found))
    made.add_row("β, basic, from", *(up(one.beta) for one in found))
    made.add_row("β, enhanced, from", *(up(one.enhanced_beta) for one in found))
    made.add_row("δ above", *(up(one.delta) for one in found))
    return made


def disjoint_row(found: int | None) -> tuple[str, str]:
    """What all sensitive attributes obey together."""
    return "disjoint l, all together, up to", "not searched" if found is None else str(found)


def combinations_grid(found: Measure) -> Grid:
    """The combinations of columns that were asked for."""
    made = grid(("combination", "k asked", "smallest group", "rows in groups too small"))
    for one in found.combinations:
        name = Text(", ").join(named(name) for name in one.columns)
        size = f"{one.smallest_group:,}"
        made.add_row(name, f"{one.k:,}", size, share(one.rows_below, found.rows))
    return made


def subsets_grid(found: Measure) -> Grid:
    """The most revealing subsets of each size."""
    made = grid(("known columns", "unique rows", "smallest class", "classes"))
    listed: dict[int, int] = {}
    for one in found.subsets:
        size = len(one.columns)
        listed[size] = listed.get(size, 0) + 1
        if listed[size] <= SHOWN:
            made.add_row(
                Text(", ").join(named(name) for name in one.columns),
                share(one.unique_rows, found.rows),
                f"{one.smallest_class:,}",
                f"{one.classes:,}",
            )
    left_out = sum(max(0, number - SHOWN) for number in listed.values())
    if left_out:
        made.caption = f"{left_out:,} less revealing subsets are left out; --json lists all"
    return made
