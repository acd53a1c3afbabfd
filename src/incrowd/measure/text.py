"""The figures as tables for people; rounded so that a printed figure is never too good."""

import io
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ceil, floor, isinf

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table as Grid
from rich.text import Text

from incrowd.measure.figures import Measure, RiskFigures, SensitiveFigures

SHOWN = 12
"""Class sizes, and subsets of each size, that are listed."""


def as_text(found: Measure, width: int = 100) -> str:
    """Return the figures as plain text."""
    return as_lines(as_tables(found), width)


def as_lines(tables: Group, width: int) -> str:
    """Return rich tables as plain text."""
    file = io.StringIO()
    Console(file=file, width=width, no_color=True, highlight=False).print(tables)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def as_tables(found: Measure) -> Group:
    """Return the figures as rich tables."""
    parts = [classes_grid(found), columns_grid(found)]
    if found.risk is not None:
        parts.append(risk_grid(found.risk))
    if found.sensitive:
        parts.append(sensitive_grid(found.sensitive, found.disjoint_l))
    if found.subsets:
        parts.append(subsets_grid(found))
    return Group(*parts)


def up(value: float | Fraction, digits: int = 4) -> str:
    """Write a figure for which less is safer, rounded up; ``inf`` as none."""
    return rounded(value, digits, ceil)


def down(value: float | Fraction, digits: int = 4) -> str:
    """Write a figure for which more is safer, rounded down."""
    return rounded(value, digits, floor)


def rounded(value: float | Fraction, digits: int, way: Callable[[Fraction], int]) -> str:
    """Write a figure with so many digits, rounded one way."""
    if isinstance(value, float) and isinf(value):
        return "none"
    number = Fraction(value)
    if isinstance(value, float):
        number = Fraction(round(number, digits + 6))  # a double's last bits are no figure
    scaled = number * 10**digits
    return f"{way(scaled) / 10**digits:.{digits}f}".rstrip("0").rstrip(".")


def share(part: int, whole: int) -> str:
    """Write a number and its percentage."""
    return f"{part:,} ({part / whole:.1%})" if whole else "0"


def grid(title: str, columns: Iterable[str]) -> Grid:
    """Return an empty table: first column to the left, numbers to the right."""
    made = Grid(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for i, name in enumerate(columns):
        made.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    return made


def named(text: str) -> Text:
    """A column's name as it is, whatever marks it holds; line breaks shown."""
    return Text(text if text.isprintable() else repr(text))


def classes_grid(found: Measure) -> Grid:
    """Classes of rows that agree on the quasi-identifiers."""
    made = grid(f"{found.k}-anonymous: {found.rows:,} rows, {found.classes:,} classes", ("", ""))
    made.show_header = False
    made.add_row("k, rows of the smallest class", f"{found.k:,}")
    made.add_row("rows of the largest class", f"{found.largest_class:,}")
    made.add_row("rows a class on average", f"{found.average_class:.1f}")
    made.add_row("unique rows", share(found.unique_rows, found.rows))
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
    made = grid("", heads + (["entropy lost"] if lost else []))
    made.title = None
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
    made = grid("", ("risk of being found", "highest", "average"))
    made.title = None
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
        made.caption_justify = "left"
    return made


def sensitive_grid(found: tuple[SensitiveFigures, ...], disjoint: int | None) -> Grid:
    """One column for each sensitive attribute, one line for each model."""
    made = grid("", ("the table obeys", *(named(one.name).plain for one in found)))
    made.title = None
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
    if len(found) > 1:
        shown = "not searched" if disjoint is None else str(disjoint)
        made.add_row("disjoint l, all together, up to", shown, *("" for _ in found[1:]))
    return made


def subsets_grid(found: Measure) -> Grid:
    """The most revealing subsets of each size."""
    made = grid("", ("known columns", "unique rows", "smallest class", "classes"))
    made.title = None
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
        made.caption_justify = "left"
    return made
