"""Costs as users see them: integers in units of 1/scale, and how people read them."""

import math

Number = int | float


def in_units(cost: int, scale: int) -> Number:
    """Return an integer cost in the user's units: whole where it is whole."""
    return cost // scale if cost % scale == 0 else cost / scale


def shown(number: Number) -> str:
    """Return a cost as people read it."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.2f}"


def shown_bound(number: Number, cost: Number | None = None) -> str:
    """Return a lower bound as people read it: as the cost where it is that, else rounded down."""
    whole = isinstance(number, int) or number == cost
    return shown(number if whole else math.floor(number * 100) / 100)


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
        return (self.cost_units - self.bound_units) / self.cost_units if self.cost_units else 0.0
