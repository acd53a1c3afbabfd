"""Costs as users see them: integers in units of 1/scale, and how people read them.

A bound is never told higher than it is, and a gap never smaller: numbers are cut, not rounded, and
costs with them, so that a cost which is its own bound reads like it.  A float counts as the
shortest decimal that writes it, as everywhere: 17.1 is 171/10.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal

Number = int | float
Status = Literal["optimal", "feasible"]


def at_most(numerator: int, denominator: int) -> float:
    """Return numerator/denominator ≥ 0 as a float whose decimal is no more than that."""
    near = float(numerator / denominator)
    over = as_written(near) > Fraction(numerator, denominator)
    return math.nextafter(near, 0.0) if over else near


def at_least(numerator: int, denominator: int) -> float:
    """Return numerator/denominator ≥ 0 as a float whose decimal is no less than that."""
    near = float(numerator / denominator)
    under = as_written(near) < Fraction(numerator, denominator)
    return math.nextafter(near, math.inf) if under else near


def as_written(number: Number) -> Fraction:
    """Return a number as people write it: a float is the shortest decimal that writes it."""
    return Fraction(repr(float(number)))


def in_units(cost: int, scale: int) -> Number:
    """Return an integer cost in the user's units: whole where it is whole, else cut."""
    return cost // scale if cost % scale == 0 else at_most(cost, scale)


def gap_of(cost: int, bound: int) -> float:
    """Return (cost − bound) / cost, never less; 0 for what costs nothing."""
    return at_least(cost - bound, cost) if cost else 0.0


def status_of(cost: int, bound: int) -> Status:
    """Return ``"optimal"`` exactly when bound = cost."""
    return "optimal" if bound == cost else "feasible"


def counted(number: int, thing: str, several: str = "") -> str:
    """Return a number of things in words: ``1 row``, ``1,234 rows``."""
    return f"{number:,} {thing if number == 1 else several or thing + 's'}"


def warned(warnings: Sequence[str]) -> str:
    """Return the end of a ``repr`` that counts warnings, which Python says nowhere else."""
    return f", {counted(len(warnings), 'warning')} in .warnings" if warnings else ""


def shown(number: Number) -> str:
    """Return a cost or a bound as people read it: cut to two decimals."""
    if isinstance(number, int):
        return f"{number:,}"
    hundredths = math.floor(as_written(number) * 100)
    return f"{hundredths // 100:,}.{hundredths % 100:02}"


def shown_price(number: Number) -> str:
    """Return what one thing costs as people read it: as costs are, with all decimals it has."""
    text = shown(number)
    return text if Fraction(text.replace(",", "")) == as_written(number) else f"{number:,}"


def shown_gap(gap: float) -> str:
    """Return a gap in percent, two decimals, never less than it is."""
    hundredths = math.ceil(as_written(gap) * 10_000)
    return f"{hundredths // 100}.{hundredths % 100:02}%"


def shown_share(share: float) -> str:
    """Return a bound's share in percent, two decimals, never more than it is."""
    hundredths = math.floor(as_written(share) * 10_000)
    return f"{hundredths // 100}.{hundredths % 100:02}%"


def up(value: float | Fraction, digits: int = 4) -> str:
    """Write a figure for which less is safer, rounded up; ``inf`` as none."""
    return rounded(value, digits, math.ceil)


def down(value: float | Fraction) -> str:
    """Write a figure for which more is safer, rounded down."""
    return rounded(value, 4, math.floor)


def rounded(value: float | Fraction, digits: int, way: Callable[[Fraction], int]) -> str:
    """Write a figure with so many digits, rounded one way."""
    if isinstance(value, float) and math.isinf(value):
        return "none"
    number = Fraction(value)
    if isinstance(value, float):
        number = Fraction(round(number, digits + 6))  # a double's last bits are no figure
    scaled = number * 10**digits
    return f"{way(scaled) / 10**digits:.{digits}f}".rstrip("0").rstrip(".")


def three_places(value: float | None) -> str:
    """Write a number that is no cost, such as a risk, to three places; a dash where it is none."""
    return "–" if value is None else f"{value:.3f}"


class Priced:
    """What follows from a cost, a bound on all and the worst cost, in units of 1/scale."""

    cost_units: int
    bound_units: int
    worst_units: int
    scale: int

    @property
    def cost(self) -> Number:
        """What the release costs, in the user's units; under suppression the number of stars."""
        return in_units(self.cost_units, self.scale)

    @property
    def lower_bound(self) -> Number:
        """A cost that no lawful release can beat, in the user's units."""
        return in_units(self.bound_units, self.scale)

    @property
    def cost_fraction(self) -> float:
        """Cost as a share of that of the release in which every cell is a star."""
        return self.cost_units / self.worst_units if self.worst_units else 0.0

    @property
    def gap(self) -> float:
        """(cost − lower bound) / cost; 0 for a release that costs nothing."""
        return gap_of(self.cost_units, self.bound_units)

    @property
    def status(self) -> Status:
        """``"optimal"`` exactly when bound = cost, else ``"feasible"``."""
        return status_of(self.cost_units, self.bound_units)
