"""How far each class's sensitive values are from the table's: what t-closeness bounds."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.measures.orders import natural_order
from incrowd.measures.people import agreement
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes, Histograms
from incrowd.privacy.distance import Equal, GroundDistance
from incrowd.privacy.model import Model
from incrowd.privacy.ordered import Ordered
from incrowd.tables.base import Column
from incrowd.text.numerals import POINT

FARTHEST = 6
MOST_VALUES = 8
MOST_CLASSES = 3_000  # that a distance without a closed form is worked out for


@dataclass(frozen=True, eq=False)
class Spread:
    """One sensitive column, its classes from the farthest to the nearest.

    Attributes
    ----------
    distance: name of the ground distance; asked: the t that was asked for, or None.
    t: float64, shape (classes,): Earth Mover's Distance of each class, descending.
    sizes: int64, shape (classes,): rows, in the same order.
    values: those that tell the farthest classes from the table, most frequent first; further
        ones go together, last.
    table: float64, shape (values,): their shares in the table; ``farthest``: float64, shape
        (some classes, values): in the classes that are farthest away.
    """

    column: str
    distance: str
    asked: float | None
    t: NDArray[np.float64]
    sizes: NDArray[np.int64]
    values: tuple[str | None, ...]
    others: int
    table: NDArray[np.float64]
    farthest: NDArray[np.float64]

    @property
    def labels(self) -> tuple[str | None, ...]:
        """The values, and a name for the further ones."""
        return (*self.values, f"{self.others:,} others") if self.others else self.values


def spreads(
    columns: Mapping[str, Column],
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    model: Model,
    decimal: str = POINT,
) -> list[Spread]:
    """Work out every sensitive column of a released table."""
    codes = [(columns[name].codes, len(columns[name].values)) for name in qi]
    rows = len(codes[0][0])
    if not rows:
        return []
    member = agreement(codes, rows).member
    found = []
    for attribute, name in enumerate(sensitive):
        column = columns[name]
        group = Group(column.codes[:, None], (len(column.values),))
        histograms = Classes(member, group).histograms[0]
        distance, asked = chosen(model, attribute, column.values, histograms, decimal)
        t = distance.each(histograms)
        order = np.argsort(-t, kind="stable")
        shown, table_share, far = shares(histograms, order[:FARTHEST])
        found.append(
            Spread(
                column=name,
                distance=distance.name,
                asked=asked,
                t=t[order],
                sizes=histograms.sizes[order],
                values=tuple(column.values[c] for c in shown),
                others=len(column.values) - len(shown),
                table=table_share,
                farthest=far,
            )
        )
    return found


def chosen(
    model: Model, attribute: int, values: tuple[str | None, ...], classes: Histograms, decimal: str
) -> tuple[GroundDistance, float | None]:
    """Return the ground distance that was asked for, or else the natural one."""
    asked = None
    for part in model.parts:
        if (law := part.closeness(attribute)) is not None:
            asked, distance = float(law[0]), law[1]
            if distance.cheap or classes.classes <= MOST_CLASSES:
                return distance, asked
    order = natural_order(values, decimal)
    return (Equal() if order is None else Ordered(order)), asked


def shares(
    classes: Histograms, which: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the values to show, their shares in the table, and in the classes ``which``.

    Of many values those are shown whose shares in these classes are farthest from the table's.
    """
    order = np.argsort(-classes.table, kind="stable")
    many = len(order) > MOST_VALUES
    own = np.array([classes.dense(int(i)) / classes.sizes[i] for i in which])
    far = np.abs(own - classes.table / classes.table.sum()).sum(axis=0)
    telling = np.sort(np.argsort(-far[order], kind="stable")[: MOST_VALUES - 1])
    shown = order[telling] if many else order

    def share(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        part = counts[shown] / counts.sum()
        return np.append(part, 1 - part.sum()) if many else part

    return shown, share(classes.table), np.array([share(classes.dense(int(i))) for i in which])
