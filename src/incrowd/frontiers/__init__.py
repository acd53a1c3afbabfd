"""Cost and bound against k, in one sweep.

of_table.py   frontier(): wiring only
sweep.py      the sweep: bounds upwards, releases downwards
points.py     the result
"""

from typing import TYPE_CHECKING

from incrowd.run.late import importer

if TYPE_CHECKING:
    from incrowd.frontiers.of_table import frontier as frontier
    from incrowd.frontiers.points import Frontier as Frontier
    from incrowd.frontiers.points import Point as Point

_HOME = {
    "Frontier": "incrowd.frontiers.points",
    "Point": "incrowd.frontiers.points",
    "frontier": "incrowd.frontiers.of_table",
}

__all__ = ["Frontier", "Point", "frontier"]


__getattr__ = importer(__name__, _HOME)
