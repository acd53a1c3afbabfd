"""Which original row each released row is, found without a proof: one assignment of many.

Where people are counted it matters who a row is.  A release is lawful when *some* assignment of
original rows to released rows makes it so.  One is found by their order or by a maximum flow, and
rows change places while a class has too few people.  Whether another would do is not decided.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.problem.problem import Problem

Ints = NDArray[np.int64]
MOST_TRIES = 200_000


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
    group = Group(problem.group(copies).values, problem.instance.sensitive_sizes)
    whole = Classes(member, group, problem.table)
    return int((~problem.model.lawful_classes(whole)).sum())


def spread(
    origin: Ints,
    member: Ints,
    whose: Ints,
    kind: Ints,
    fits: set[tuple[int, int]],
    left: Ints,
    k: int,
) -> Ints:
    """Return an assignment in which more classes have ``k`` people: rows change places two by two.

    Parameters
    ----------
    origin, member: the original row and the class of each released row.
    whose, left: the person and the kind of each original row.
    kind: the kind of each released row.
    fits: which kinds of original rows can be which kinds of released rows.
    """
    origin, tries = origin.copy(), MOST_TRIES
    people: dict[int, Counter[int]] = defaultdict(Counter)
    for row, c in zip(origin.tolist(), member.tolist(), strict=True):
        people[c][int(whose[row])] += 1
    places = queues(member)
    for c in [c for c in people if len(people[c]) < k]:
        for at in places[c]:
            mine = int(whose[origin[at]])
            if len(people[c]) >= k or people[c][mine] < 2:
                continue
            for other in range(len(origin)):
                d, tries = int(member[other]), tries - 1
                if tries < 0:
                    return origin
                theirs = int(whose[origin[other]])
                if d == c or theirs in people[c] or (people[d][theirs] < 2 and len(people[d]) <= k):
                    continue
                a, b = int(left[origin[at]]), int(left[origin[other]])
                if (a, int(kind[other])) in fits and (b, int(kind[at])) in fits:
                    origin[at], origin[other] = origin[other], origin[at]
                    moved(people[c], mine, theirs)
                    moved(people[d], theirs, mine)
                    break
    return origin


def moved(people: Counter[int], gone: int, come: int) -> None:
    """Count one person's row less and another's more."""
    people[gone] -= 1
    if not people[gone]:
        del people[gone]
    people[come] += 1
