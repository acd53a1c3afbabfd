"""Several averaged columns: moves between classes, from the better of MDAV and V-MDAV."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.axes import Ints, members_of
from incrowd.averages.exact import in_order
from incrowd.averages.kernels import anneal, nearest
from incrowd.averages.mdav import MDAV, SCOPE, VMDAV
from incrowd.averages.strata import Floats, Points
from incrowd.run import clock
from incrowd.run.stop import Share, Stop, watched

ROUNDS = 20  # looks at the clock
WARM, COLD = 2.0, 0.01  # heat at the first and the last step, in costs of a row
FROZEN = 2e-4  # a share of the cost: a round that changes less is the last but one
STEPS, LEAST, MOST = 40_000, 100_000, 80_000_000  # for each row; at least; at most, or FEWEST each
FEWEST = 500
SEARCHING = 0.5  # of the time that is left; prices have the rest


class State(NamedTuple):
    """Classes as the kernels move rows between them.

    class_of, slot: int64, shape (n,): the class of a row, and its place there.
    member: int64, shape (classes, most rows + 2).  size: int64, shape (classes,).
    total: float64, shape (classes, columns): sums; square: float64: sums of squares.
    """

    class_of: Ints
    slot: Ints
    member: NDArray[np.int64]
    size: Ints
    total: Floats
    square: Floats

    @classmethod
    def of(cls, place: Floats, classes: Ints, most: int, cap: int) -> "State":
        """Return dense classes, with room for ``most`` of them, of at most ``cap`` rows each."""
        member = np.zeros((most, cap + 2), np.int64)
        size = np.bincount(classes, minlength=most).astype(np.int64)
        slot = np.zeros(len(classes), np.int64)
        total, square = np.zeros((most, place.shape[1])), np.zeros(most)
        for number, rows in enumerate(members_of(classes)):
            member[number, : len(rows)] = rows
            slot[rows] = np.arange(len(rows))
            total[number] = place[rows].sum(axis=0)
            square[number] = (place[rows] ** 2).sum()
        return cls(classes.copy(), slot, member, size, total, square)


@dataclass(frozen=True, kw_only=True)
class Microaggregation:
    """Simulated annealing over classes of k to 2k − 1 rows.

    It starts from the better of MDAV and V-MDAV.  A row moves to the class of a row near it, or
    changes places with one of that class, whichever is best; now and then a class is dissolved
    among its neighbours, or founded of rows that others can spare.  What is worse than the start
    is not returned.  Of medians among several columns it looks at the squares all the same.
    """

    id = "microaggregation"
    guarantee = "none"
    scope = SCOPE
    source = "incrowd; moves by Metropolis' rule"

    def refuse(self, points: Points) -> str | None:
        """Refuse nothing."""
        return None

    def run(self, points: Points, seed: int, stop: Stop) -> Ints:
        """Return the class of each row."""
        if not points.axes:
            return in_order(points.count, points.k)
        starts = [method.run(points, seed, stop) for method in (MDAV(), VMDAV())]
        best = min(starts, key=lambda classes: squares_of(points.place, classes))
        if points.count < 2 * points.k or stop.now():
            return best
        order = np.argsort(points.place[:, 0], kind="stable")
        place = np.ascontiguousarray(points.place[order])
        part = Share.of(stop, stop.left() * (SEARCHING if len(points.axes) > 1 else 1))
        with watched(part):
            found = annealed(place, parted(place, best[order], points.k), points.k, seed, part)
        back = np.empty_like(found)
        back[order] = found
        better = squares_of(points.place, back) < squares_of(points.place, best)
        return back if better else best


def squares_of(place: Floats, classes: Ints) -> float:
    """Return the sum of squares about the means of dense classes."""
    size = np.bincount(classes)
    total = 0.0
    for column in place.T:
        sums = np.bincount(classes, column)
        apart = column - (sums / size)[classes]
        total += float((apart * apart).sum())
    return total


def parted(place: Floats, classes: Ints, k: int) -> Ints:
    """Split classes of 2k rows or more, in the order of their widest column."""
    classes, number = classes.copy(), int(classes.max()) + 1
    for rows in members_of(classes):
        if len(rows) < 2 * k:
            continue
        widest = int(np.argmax(np.ptp(place[rows], axis=0)))
        rows = rows[np.argsort(place[rows, widest], kind="stable")]
        part = in_order(len(rows), k)
        classes[rows] = np.where(part == 0, classes[rows], number + part - 1)
        number += int(part.max())
    return classes


def near_rows(
    place: Floats, absolute: NDArray[np.bool_], count: int, word: Ints
) -> tuple[NDArray[np.int32], Floats] | None:
    """Return so many nearest rows of each, and how far they are; None where time is up.

    place: rising in its first column.  word: see ``incrowd.kernels.halt``.
    """
    near = np.zeros((len(place), count), np.int32)
    distance = np.zeros((len(place), count))
    done = nearest(place, absolute, near, distance, word)
    return (near, distance) if done else None


def annealed(place: Floats, classes: Ints, k: int, seed: int, stop: Stop) -> Ints:
    """Return better classes, of rows that rise in the first column."""
    rows = len(place)
    squares = np.zeros(place.shape[1], bool)
    known = near_rows(place, squares, min(rows - 1, max(12, min(3 * k, 30))), stop.over)
    start = squares_of(place, classes)
    if known is None or start <= 0:
        return classes
    state = State.of(place, classes, rows // k + 1, 2 * k - 1)
    rng = np.array([seed * 2 + 1], np.uint64)
    steps = min(max(STEPS * rows, LEAST), max(MOST, FEWEST * rows))
    heats = start / rows * np.geomspace(WARM, COLD, ROUNDS + 1)
    most = pace = steps // ROUNDS
    first, cost = 0, start
    while first < ROUNDS and not stop.now():
        heat, began = np.ascontiguousarray(heats[first : first + 2]), clock.now()
        change = anneal(place, state, known[0], k, 2 * k - 1, pace, heat, rng, stop.over)
        cost += change
        frozen = cost < start and abs(change) < FROZEN * cost
        first = ROUNDS - 1 if frozen and first < ROUNDS - 1 else first + 1
        # fewer steps for each heat where time is short: what ends while it is warm is dear
        needed = (ROUNDS - first) * max(clock.now() - began, 1e-9)
        pace = int(min(most, 1 + pace * stop.left() / needed)) if needed else pace
    _, dense = np.unique(state.class_of, return_inverse=True)
    return dense.ravel().astype(np.int64)
