"""MDAV and V-MDAV: classes around the rows that are farthest from the mean."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.axes import Ints
from incrowd.averages.exact import in_order
from incrowd.averages.strata import Floats, Points
from incrowd.run.stop import Stop
from incrowd.solvers.base import Scope

SCOPE = Scope(models=("averages of k rows",), hierarchies=False)


def far(place: Floats, point: Floats, absolute: NDArray[np.bool_]) -> Floats:
    """Return the distance of each row from a point: squares, or distances where these count."""
    apart = place - point
    return np.where(absolute, np.abs(apart), apart * apart).sum(axis=1)


@dataclass(frozen=True, kw_only=True)
class MDAV:
    """Maximum distance to average vector, with classes of k rows but for the last.

    The row farthest from the mean of those left, and its k − 1 nearest, are a class; so are the
    row farthest from that one and its nearest.  When fewer than 3k rows are left, there is one
    more such class if 2k are, and the others are the last.
    """

    id = "mdav"
    guarantee = "none"
    scope = SCOPE
    source = "Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer & Torra 2005"

    def refuse(self, points: Points) -> str | None:
        """Refuse nothing."""
        return None

    def run(self, points: Points, seed: int, stop: Stop) -> Ints:
        """Return the class of each row; ends in classes as the rows come when time is up."""
        place, k = points.place, points.k
        classes = np.full(points.count, -1, np.int64)
        left, number = np.arange(points.count), 0

        def taken(point: Floats) -> Floats:
            nonlocal left, number
            start = left[np.argmax(far(place[left], point, points.absolute))]
            distance = far(place[left], place[start], points.absolute)
            distance[left == start] = -1.0
            chosen = left[np.argsort(distance, kind="stable")[:k]]
            classes[chosen] = number
            number, left = number + 1, left[classes[left] < 0]
            return place[start]

        while len(left) >= 3 * k and not stop.now():
            point = taken(place[left].mean(axis=0))
            taken(point)
        if 2 * k <= len(left) < 3 * k:
            taken(place[left].mean(axis=0))
        if len(left):
            classes[left] = number + in_order(len(left), k)
        return classes


@dataclass(frozen=True, kw_only=True)
class VMDAV:
    """MDAV with classes of k to 2k − 1 rows, as the rows lie.

    A class of k grows by the row nearest to it as long as that is nearer to the class than γ times
    its distance to the nearest of the rows left.  Rows left at the end, fewer than k, join the
    nearest class.
    """

    id = "v-mdav"
    guarantee = "none"
    scope = SCOPE
    source = "Solanas & Martínez-Ballesté 2006"
    gamma: float = 0.2

    def refuse(self, points: Points) -> str | None:
        """Refuse nothing."""
        return None

    def run(self, points: Points, seed: int, stop: Stop) -> Ints:
        """Return the class of each row; ends in classes as the rows come when time is up."""
        place, k = points.place, points.k
        classes = np.full(points.count, -1, np.int64)
        centre, left, number = place.mean(axis=0), np.arange(points.count), 0
        from_centre = far(place, centre, points.absolute)
        while len(left) >= k:
            if stop.now():
                classes[left] = number + in_order(len(left), k)
                return classes
            start = left[np.argmax(from_centre[left])]
            distance = far(place[left], place[start], points.absolute)
            distance[left == start] = -1.0
            chosen = left[np.argsort(distance, kind="stable")[:k]]
            classes[chosen] = number
            left = left[classes[left] < 0]
            left = self._grown(points, classes, chosen, left)
            number += 1
        for row in left:
            others = np.flatnonzero((classes >= 0) & (classes < number))
            nearest = np.argmin(far(place[others], place[row], points.absolute))
            classes[row] = classes[others[nearest]]
        return classes

    def _grown(self, points: Points, classes: Ints, chosen: Ints, left: Ints) -> Ints:
        """Let a class grow; return the rows left."""
        place, number = points.place, classes[chosen[0]]
        near = np.full(len(left), np.inf)
        for row in chosen:
            near = np.minimum(near, far(place[left], place[row], points.absolute))
        for _ in range(points.k - 1):
            if len(left) < 2:
                return left
            at = int(np.argmin(near))
            row = left[at]
            others = far(place[left], place[row], points.absolute)
            apart = float(np.delete(others, at).min())
            if near[at] >= self.gamma**2 * apart:  # distances are squared
                return left
            classes[row] = number
            left, near = np.delete(left, at), np.minimum(np.delete(near, at), np.delete(others, at))
        return left
