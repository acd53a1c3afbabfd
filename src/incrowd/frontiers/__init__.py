"""Cost and bound against k, in one sweep.

of_table.py   frontier(): wiring only
sweep.py      the sweep: bounds upwards, releases downwards
constrained.py  the same under fixed, linked and capped columns
warm.py       the engine, started from what a neighbouring k has left
points.py     the result
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.frontiers.of_table import frontier as frontier
    from incrowd.frontiers.points import Frontier as Frontier
    from incrowd.frontiers.points import Point as Point

__all__ = ["Frontier", "Point", "frontier"]


def __getattr__(name: str) -> Any:
    """Import the names when they are first used (PEP 562)."""
    if name == "frontier":
        from incrowd.frontiers.of_table import frontier

        return frontier
    if name in ("Frontier", "Point"):
        from incrowd.frontiers import points

        return getattr(points, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
