"""What a sweep finds: one point for each k."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from incrowd.report.plots import plot_frontier
from incrowd.text.units import Priced, at_most, counted, shown_gap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    *("k", "cost", "lower_bound", "gap", "cost_fraction", "bound_fraction"),
    *("status", "method", "classes", "smallest_class"),
)


@dataclass(frozen=True, kw_only=True)
class Point(Priced):
    """One k.

    Attributes
    ----------
    k: least size of a class.
    cost_units, bound_units, worst_units: in units of 1/scale: a release that was found and
        re-checked, a proven lower bound on all, and the release in which every cell is a star.
    method: id of the solver that found the release; it may have found it for a larger k.
    classes, smallest_class: of that release.
    """

    k: int
    cost_units: int
    bound_units: int
    worst_units: int
    scale: int
    method: str
    classes: int
    smallest_class: int

    @property
    def bound_fraction(self) -> float:
        """The lower bound as such a share."""
        return at_most(self.bound_units, self.worst_units) if self.worst_units else 0.0

    def record(self) -> dict[str, Any]:
        """Return the point as plain data."""
        return {name: getattr(self, name) for name in COLUMNS}


@dataclass(frozen=True, eq=False, repr=False)
class Frontier:
    """Cost and bound against k: neither ever falls as k rises.

    Attributes
    ----------
    points: ascending k.
    models: names of the privacy models at the smallest k.
    rows, columns: of the table: rows, and quasi-identifiers.
    seconds: wall time of the sweep; ended: ``"finished"``, ``"time limit"`` or ``"interrupted"``.
    impossible: why each k that was asked and has no release has none, by ascending k.
    """

    points: tuple[Point, ...]
    models: tuple[str, ...]
    rows: int
    columns: int
    seconds: float
    ended: str
    make_frame: Callable[[Mapping[str, Sequence[Any]]], Any]
    impossible: Mapping[int, str] = field(default_factory=dict)

    @property
    def ks(self) -> tuple[int, ...]:
        """The k of each point, ascending."""
        return tuple(point.k for point in self.points)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One that names each k without a release, and the reason at the smallest; or none."""
        ks = tuple(self.impossible)
        if not ks:
            return ()
        return (f"no release at k = {in_runs(ks)}: {self.impossible[ks[0]]}",)

    def table(self) -> dict[str, list[Any]]:
        """Return the columns k, cost, lower_bound, gap, …, one entry for each k."""
        return {name: [getattr(point, name) for point in self.points] for name in COLUMNS}

    def frame(self) -> Any:
        """Return a frame, of the type that the data came as (polars for a file): one row per k."""
        columns = self.table()
        for name in ("cost", "lower_bound"):  # one type, though some costs are whole
            if any(isinstance(value, float) for value in columns[name]):
                columns[name] = [
                    at_most(value, 1) if type(value) is int else value for value in columns[name]
                ]
        return self.make_frame(columns)

    def csv(self) -> str:
        """Return the points as CSV text with a header."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(zip(*self.table().values(), strict=True))
        return text.getvalue()

    def plot(self) -> "Figure":
        """Draw cost and bound against k, as shares of the most a release can cost.

        Raises
        ------
        MissingExtraError: matplotlib is not installed.
        """
        return plot_frontier(self.points)

    def __repr__(self) -> str:
        if not self.points:
            return "<Frontier: no k>"
        proven = sum(point.status == "optimal" for point in self.points)
        widest = max(point.gap for point in self.points)
        none = f", {len(self.impossible)} impossible" if self.impossible else ""
        ks = f"{counted(len(self.points), 'value')} of k from {self.ks[0]} to {self.ks[-1]}"
        return f"<Frontier: {ks}, {proven} proven optimal, widest gap {shown_gap(widest)}{none}>"


def in_runs(ks: Sequence[int]) -> str:
    """Return ascending numbers as text, e.g. ``3, 5 to 9``."""
    found: list[str] = []
    for i, k in enumerate(ks):
        if 0 < i < len(ks) - 1 and ks[i - 1] + 1 == k == ks[i + 1] - 1:
            continue  # inside a run
        to = i > 1 and ks[i - 2] + 2 == ks[i - 1] + 1 == k
        found.append(f"{' to ' if to else ', '}{k:,}")
    return "".join(found).removeprefix(", ")
