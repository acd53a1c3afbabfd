"""Costs as users see them: integers in units of 1/scale, and how people read them."""

import math

Number = int | float


def in_units(cost: int, scale: int) -> Number:
    """Return an integer cost in the user's units: whole where it is whole."""
    return cost // scale if cost % scale == 0 else cost / scale


def shown(number: Number) -> str:
    """Return a cost as people read it."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.2f}"


def shown_bound(number: Number) -> str:
    """Return a lower bound as people read it: rounded down, so that it stays one."""
    return shown(number if isinstance(number, int) else math.floor(number * 100) / 100)
