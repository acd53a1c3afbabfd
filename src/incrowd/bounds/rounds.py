"""Trust-region rounds: list the patterns of a box, ascend in it, move it, make it smaller."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import Ascent
from incrowd.lattice.emission import Emission, new_sink
from incrowd.run.gauge import Gauge

Stop = Callable[[], bool]
Report = Callable[[float, float], None]


def no_stop() -> bool:
    """Go on for ever."""
    return False


def no_report(bound: float, share: float) -> None:
    """Tell nobody."""


def fade(ends: tuple[float, float], share: float) -> float:
    """Interpolate geometrically between two ends."""
    return ends[0] * (ends[1] / ends[0]) ** share


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How many rounds and steps, and how far they go.

    Attributes
    ----------
    rounds, iterations: rounds of enumeration, and ascent steps within each.
    margin: half-width of the first and last box; rate: first and last step; in the boxes' unit.
    pairs, patterns: budget of (row, pattern) pairs and of patterns kept in memory per round.
    worth, again: a box stays as wide as it is after a round that raised the bound by more than this
        share, at most so many times.
    """

    rounds: int
    iterations: int
    margin: tuple[float, float]
    rate: tuple[float, float]
    pairs: int
    patterns: int
    worth: float
    again: int = 0


class Boxes(Protocol):
    """What rounds ask of a table and a model."""

    def unit(self, u: NDArray[np.float64]) -> float:
        """Return the unit of margins and rates at prices u."""
        ...

    def listed(
        self, u: NDArray[np.float64], width: float, sink: Emission
    ) -> tuple[float, int] | None:
        """List all patterns that some point within ``width`` of u violates, shrinking it to fit.

        Returns the width and the number of patterns, or None when even narrow boxes are too much.
        """
        ...

    def ascent(self, lists: Emission, patterns: int, rounds: int) -> Ascent:
        """Return the ascent over these patterns; ``rounds`` are still to come, this one too."""
        ...

    def moved(self, way: NDArray[np.float64], width: float) -> None:
        """Note how far prices went in a round of this width."""
        ...

    def walked(self) -> float:
        """Return about what share of the list at hand is done; other threads ask."""
        ...


def ascend(
    plan: Schedule,
    boxes: Boxes,
    start: NDArray[np.float64],
    stop: Stop,
    report: Report,
    gauge: Gauge | None = None,
) -> NDArray[np.float64]:
    """Improve prices ``start`` (float64, distinct); ``gauge`` is told how far they are."""
    gauge = gauge or Gauge()
    rounds, sink = plan.rounds, new_sink(plan.patterns, plan.pairs)
    u, width = start.astype(np.float64), np.inf
    n = again = 0
    before = np.inf
    while n < rounds and not stop():
        begin, middle, end = (x / rounds for x in (n, n + 0.5, n + 1))
        gauge.part(begin, middle, boxes.walked)
        unit = boxes.unit(u)
        planned = fade(plan.margin, n / max(1, rounds - 1)) * unit
        listed = boxes.listed(u, min(width, planned), sink)
        if listed is None:
            break
        width, patterns = listed
        ascent = boxes.ascent(sink, patterns, rounds - n)
        first = min(fade(plan.rate, n / rounds) * unit, width / 4)
        last = min(fade(plan.rate, (n + 1) / rounds) * unit, width / 8)
        ascent.told = gauge.steps(middle, end, plan.iterations)
        begun = u
        bound, u = ascent.run(u, width, plan.iterations, (first, last), stop)
        boxes.moved(u - begun, width)
        report(bound, end)
        pays = bound - before > plan.worth * bound and again < plan.again
        n, again, before = n + (not pays), again + pays, bound
    return u
