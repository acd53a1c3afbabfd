"""Search over cells: raise what breaks a combination, then show again whatever may be shown.

Every move keeps all groups large enough and lowers the cost, so the search may end at any time.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from incrowd.combinations.cells import Cells, Crowd, Levels

MANY = 400  # choices of levels of one combination that are all tried; of more, some by lot
ROUNDS = 30
WORTH = 0.0005  # of the cost: a round that saves less is the last


def raised(cells: Cells, level: Levels) -> Levels:
    """Return a lawful state in which no cell shows more than in ``level``.

    Rows in a group that is too small show nothing of its columns; where these are too few, rows of
    the smallest other group join them.  Cells only rise, so this ends, at stars at the latest.
    """
    level = level.copy()
    while True:
        broken = False
        for crowd in cells.crowds:
            few = cells.small(level, crowd)
            if not few.any():
                continue
            broken = True
            columns = list(crowd.columns)
            whole = (level[:, columns] == cells.tops[columns]).all(axis=1)
            lacking = crowd.k - int((few | whole).sum())
            if lacking > 0:
                group, size = cells.groups(level, crowd)
                order = np.lexsort((group, size[group]))
                order = order[~(few | whole)[order]]
                few[order[:lacking]] = True
            level[np.flatnonzero(few)[:, None], columns] = cells.tops[columns]
        if not broken:
            return level


def choices(cells: Cells, crowd: Crowd, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """Yield levels for the columns of a combination, in an order by lot."""
    heights = [int(cells.tops[j]) + 1 for j in crowd.columns]
    if np.prod(np.array(heights, float)) <= MANY:
        every = list(product(*map(range, heights)))
        yield from (every[n] for n in rng.permutation(len(every)).tolist())
        return
    for j, height in enumerate(heights):  # one column at a time is always tried
        for up in range(height - 1):
            alone = [each - 1 for each in heights]
            alone[j] = up
            yield tuple(alone)
    for _ in range(MANY):
        yield tuple(int(rng.integers(height)) for height in heights)


def improved(
    cells: Cells,
    level: Levels,
    rng: np.random.Generator,
    stop: Callable[[], bool],
    tell: Callable[[int], None],
) -> Levels:
    """Return a state that costs no more: rows move to whatever levels they may, and gain by.

    Parameters
    ----------
    level: a lawful state.
    stop: asked between moves.  tell: called with the cost in units of 1/scale.
    """
    cost = int(cells.costs(level).sum())
    for _ in range(ROUNDS):
        before = cost
        for lower in (lowered, swapped):
            level = lower(cells, level, rng, stop)
            cost = int(cells.costs(level).sum())
            tell(cost)
        if stop() or before - cost <= WORTH * before:
            break
    return level


def lowered(
    cells: Cells, level: Levels, rng: np.random.Generator, stop: Callable[[], bool]
) -> Levels:
    """Show more of one column at a time."""
    for j in rng.permutation(len(cells.trees)).tolist():
        for up in range(int(cells.tops[j])):
            if stop():
                return level
            moved = level.copy()
            moved[:, j] = np.minimum(moved[:, j], up)
            level = taken(cells, level, moved)
    return level


def swapped(
    cells: Cells, level: Levels, rng: np.random.Generator, stop: Callable[[], bool]
) -> Levels:
    """Show other levels of a combination's columns wherever that costs less."""
    for n in rng.permutation(len(cells.crowds)).tolist():
        crowd = cells.crowds[n]
        for levels in choices(cells, crowd, rng):
            if stop():
                return level
            moved = level.copy()
            moved[:, list(crowd.columns)] = levels
            level = taken(cells, level, moved)
    return level


def taken(cells: Cells, level: Levels, moved: Levels) -> Levels:
    """Return the state in which those rows have moved that gain by it and may."""
    rows = cells.costs(moved) < cells.costs(level)
    if not rows.any():
        return level
    found = cells.settled(level, moved, rows)
    return level if found is None else found
