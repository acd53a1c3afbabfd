"""Every release of a tiny table, tried one by one: the last resort where merging classes fails.

Classes with the same released cells are one class to whoever looks.  So a release is a choice of
lawful sets of rows, no two of which show the same cells, that hold each row once.  The search gives
the lowest row that is still free to each such set, cheapest first, and leaves a branch that costs
as much as the best release known.
"""

from typing import NamedTuple

import numpy as np

from incrowd.driver.unions import published
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution

MOST_ROWS = 11
MOST_STEPS = 200_000


class Tried(NamedTuple):
    """The cheapest release that was found, if any, and whether it is proven that there is none.

    Classes that show more than their rows ask for are not tried: of two that would be one, one
    could show less.  So it is proven only where no way to part the rows has lawful classes.
    """

    solution: Solution | None
    none: bool


def every_release(problem: Problem) -> Tried:
    """Return the cheapest lawful release of a table of at most ``MOST_ROWS`` rows."""
    rows = problem.instance.rows
    if rows > MOST_ROWS:
        return Tried(None, none=False)
    masks, costs, labels = lawful_sets(problem)
    starting: list[list[tuple[int, int, int]]] = [[] for _ in range(rows)]
    for mask, cost, label in sorted(zip(masks, costs, labels, strict=True), key=lambda s: s[1]):
        starting[(mask & -mask).bit_length() - 1].append((mask, cost, label))
    everybody, steps = (1 << rows) - 1, 0
    best: tuple[int, tuple[int, ...]] | None = None
    waiting: list[tuple[int, int, tuple[int, ...], frozenset[int]]] = [(0, 0, (), frozenset())]
    while waiting and steps < MOST_STEPS:
        placed, paid, chosen, shown = waiting.pop()
        steps += 1
        if best is not None and paid >= best[0]:
            continue
        if placed == everybody:
            best = paid, chosen
            continue
        free = ~placed & everybody
        waiting += [
            (placed | mask, paid + cost, (*chosen, mask), shown | {label})
            for mask, cost, label in reversed(starting[(free & -free).bit_length() - 1])
            if not mask & placed and label not in shown
        ]
    if best is None:
        return Tried(None, none=not parted(starting, everybody))
    of_row = [next(i for i, mask in enumerate(best[1]) if mask >> row & 1) for row in range(rows)]
    return Tried(Solution.of(problem.instance, np.array(of_row)), none=False)


def parted(starting: list[list[tuple[int, int, int]]], everybody: int) -> bool:
    """Whether sets, by their lowest row, part all rows, whatever they show."""
    seen, waiting = {0}, [0]
    while waiting:
        placed = waiting.pop()
        free = ~placed & everybody
        if not free:
            return True
        sets = starting[(free & -free).bit_length() - 1]
        more = {placed | mask for mask, _, _ in sets if not mask & placed} - seen
        seen |= more
        waiting += more
    return False


def lawful_sets(problem: Problem) -> tuple[list[int], list[int], list[int]]:
    """Return the lawful sets of rows, a bit for each row, what each costs, and what it shows.

    Two sets have the same number for what they show where they would be one class.
    """
    instance, table = problem.instance, problem.table
    masks = []
    members = []
    for mask in range(1, 1 << instance.rows):
        copies = np.flatnonzero([mask >> i & 1 for i in range(instance.rows)])
        if problem.model.lawful(problem.group(copies), table):
            masks.append(mask)
            members.append(copies)
    if not masks:
        return [], [], []
    codes = [instance.codes[instance.copies[copies]] for copies in members]
    low = np.array([each.min(axis=0) for each in codes]).reshape(len(masks), -1)
    high = np.array([each.max(axis=0) for each in codes]).reshape(len(masks), -1)
    cost = instance.join_costs(low, high) * [len(copies) for copies in members]
    return masks, cost.tolist(), published(instance, low, high).tolist()
