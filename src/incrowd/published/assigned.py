"""Which original row each released row is, found without a proof: one assignment of many.

Where people are counted it matters who a row is.  A release is lawful when *some* assignment of
original rows to released rows makes it so.  One is found by their order or by a maximum flow, and
rows change places in rings while a class has too few people.  Whether another would do is not
decided.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from incrowd.kernels.types import Ints
from incrowd.problem.problem import Problem

MOST_TRIES = 1_000_000


def rows_of_flow(flow: Iterator[tuple[int, int, int]], left: Ints, right: Ints) -> Ints:
    """int64, shape (released rows,): an original row for each, by how many go from kind to kind.

    Parameters
    ----------
    flow: kind of original row, kind of released row, how many.
    left, right: the kind of each original and of each released row.
    """
    waiting, open_ = queues(left), queues(right)
    found = np.full(len(right), -1, np.int64)
    for tail, head, number in flow:
        for _ in range(number):
            found[open_[head].pop()] = waiting[tail].pop()
    return found


def queues(kind: Ints) -> dict[int, list[int]]:
    """Return the rows of each kind."""
    found: dict[int, list[int]] = defaultdict(list)
    for row, one in enumerate(kind.tolist()):
        found[one].append(row)
    return found


def broken_by(problem: Problem, copies: Ints, member: Ints) -> int:
    """Return how many classes break the model.

    ``copies``, ``member``: int64, shape (released rows,): the copy that each is, and its class.
    """
    return int((~problem.lawful_classes(member, copies)).sum())


class Rings:
    """An assignment of which some rows change places, each taking that of the one before it.

    Parameters
    ----------
    origin, member: int64, shape (released rows,): the original row and the class of each; not
        changed.
    whose, left: int64, shape (original rows,): the person and the kind of each.
    kind: int64, shape (released rows,): the kind of each.
    fits: which kinds of original rows can be which kinds of released rows.
    k: the people that a class is to have.
    """

    def __init__(
        self,
        origin: Ints,
        member: Ints,
        whose: Ints,
        kind: Ints,
        fits: set[tuple[int, int]],
        left: Ints,
        k: int,
    ) -> None:
        self.origin, self._class, self._kind = origin.copy(), member.tolist(), kind.tolist()
        self._whose, self._left, self._fits, self._k = whose.tolist(), left.tolist(), fits, k
        self._people: dict[int, Counter[int]] = defaultdict(Counter)
        self._tries = MOST_TRIES
        for place, row in enumerate(origin.tolist()):
            self._people[self._class[place]][self._whose[row]] += 1

    def spread(self) -> Ints:
        """Return an assignment in which more classes have ``k`` people."""
        for at in np.argsort(self._class, kind="stable").tolist():
            if self.lacks(self._class[at]):
                self.change(at)
        return self.origin

    def lacks(self, c: int) -> int:
        """Return how many people a class lacks."""
        return max(0, self._k - len(self._people[c]))

    def change(self, at: int) -> None:
        """Put the row of another person into a place of a class that lacks people, if that helps.

        The shortest rings are tried first; each place is reached by one way alone.
        """
        people = self._people[self._class[at]]
        if people[self._person(at)] < 2:
            return
        taken_by, reached = {at: at}, [at]  # by place whose row may come there
        for place in reached:
            for other in range(len(self.origin)):
                self._tries -= 1
                if self._tries < 0:
                    return
                known = other in taken_by or (place == at and self._person(other) in people)
                if known or not self._fit(other, place):
                    continue
                taken_by[other] = place
                reached.append(other)
                if self._fit(at, other) and self._turned(self._ring(other, taken_by)):
                    return

    def _person(self, place: int) -> int:
        return self._whose[int(self.origin[place])]

    def _fit(self, place: int, other: int) -> bool:
        """Whether the row of one place may stand in another."""
        return (self._left[int(self.origin[place])], self._kind[other]) in self._fits

    def _ring(self, last: int, taken_by: dict[int, int]) -> list[int]:
        """Return places, the row of each of which goes to the next; of the last to the first."""
        ring = [last]
        while taken_by[ring[-1]] != ring[-1]:
            ring.append(taken_by[ring[-1]])
        return ring

    def _turned(self, ring: list[int]) -> bool:
        """Let the rows of a ring change places if fewer people are lacking then; say whether."""
        classes = {self._class[place] for place in ring}
        before = sum(map(self.lacks, classes))
        rows = self.origin[ring]
        self._put(ring, np.roll(rows, 1))
        if sum(map(self.lacks, classes)) < before:
            return True
        self._put(ring, rows)
        return False

    def _put(self, places: list[int], rows: Ints) -> None:
        for place, row in zip(places, rows.tolist(), strict=True):
            people, gone = self._people[self._class[place]], self._person(place)
            people[gone] -= 1
            if not people[gone]:
                del people[gone]
            people[self._whose[row]] += 1
            self.origin[place] = row
