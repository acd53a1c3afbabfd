"""From a table and a policy to a release in which each combination of columns has its k.

The search goes over cells: it raises what breaks a combination, then shows again whatever may be
shown.  Every move keeps all groups large enough and lowers the cost, so it may end at any time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from incrowd.combinations.bound import Least, clusters, least
from incrowd.combinations.cells import Cells, Crowd, Levels
from incrowd.driver.solve import Solved, solve
from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError, StoppedError, VerificationError
from incrowd.hierarchy.family import trees_of
from incrowd.policy.base import Policy
from incrowd.policy.protect import asked_of, telling
from incrowd.privacy.combination import Combination
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.problem import Problem
from incrowd.run.events import silent
from incrowd.run.stop import Share
from incrowd.solvers.base import Context

ID = "combinations"
STARTS = 4  # orders of moves that are tried
ALONE = 0.6  # of the time that is left, for the releases of single combinations
NEAR = 0.005  # a gap at which these end: what they share costs far more
PRICED = 0.5  # of what is left then, for the bound


@dataclass(frozen=True, eq=False)
class Protected:
    """What was asked of combinations, and what is proven.

    Attributes
    ----------
    asked: the combinations of the policy, and all quasi-identifiers where ``k`` is above 1.
    least: the bound that a proof certifies, and its prices.
    """

    asked: tuple[Combination, ...]
    least: Least


def released(table: Coded, policy: Policy, context: Context) -> tuple[Solved, Protected]:
    """Search for a release; a table without rows is one.

    Raises
    ------
    InputError: a combination names what is not a quasi-identifier.
    NoLawfulReleaseError: a combination's k is larger than the table.
    OutOfScopeError: a column has ranges.
    """
    asked = asked_of(policy, table.roles.qi)
    instance = table.instance
    trees = trees_of(instance.trees, "protect")
    most = max((one.k for one in asked), default=1)
    if most > instance.rows > 0:
        raise NoLawfulReleaseError(
            f"k = {most} of a combination is larger than the table, which has {instance.rows} "
            "rows; use a smaller k or more rows"
        )
    place = {name: j for j, name in enumerate(table.roles.qi)}
    told = telling(asked) or asked[:1]  # where each k is 1, one: a proof needs what is priced
    crowds = tuple(Crowd(tuple(place[c] for c in one.columns), one.k) for one in told)
    cells = Cells(instance, trees, crowds)
    level, alone = apart(cells, context)
    known = least(cells, Share.of(context.stop, PRICED * context.stop.left()))
    bound = max(known.bound, by_clusters(crowds, alone))
    level = searched(cells, raised(cells, level), context, bound)
    solution = cells.solution(level)
    cost = int(cells.costs(level).sum())
    if not cells.lawful(level) or solution.cost != cost or bound > cost:
        raise VerificationError("the search over combinations made a release that is not lawful")
    cut = context.stop.now() and bound < cost
    ended = context.stop.why() if cut else "finished"
    solved = Solved(solution, cost, bound, ID, ended, known.prices)
    return solved, Protected(asked, known)


def apart(cells: Cells, context: Context) -> tuple[Levels, list[Solved | None]]:
    """Release each combination's columns alone; return the higher levels, and what was found."""
    level = np.zeros((cells.rows, len(cells.trees)), np.int8)
    found: list[Solved | None] = []
    for n, crowd in enumerate(cells.crowds):
        context.tell(f"combination {n + 1} of {len(cells.crowds)}")
        seconds = ALONE * context.stop.left() / (len(cells.crowds) - n)
        stop = Share.of(context.stop, seconds)
        stop.gap = max(NEAR, stop.gap or 0.0)
        instance, row = cells.instance.of_columns(crowd.columns)
        part = replace(context, stop=stop, listener=silent)
        try:
            solved = solve(Problem(instance, KAnonymity(crowd.k)), "auto", part)
        except StoppedError:
            level[:, list(crowd.columns)] = cells.tops[list(crowd.columns)]
            found.append(None)
            continue
        order = np.argsort(row[cells.instance.copies], kind="stable")
        shown = solved.solution.levels[solved.solution.classes].astype(np.int8)
        for n_column, j in enumerate(crowd.columns):
            level[order, j] = np.maximum(level[order, j], shown[:, n_column])
        found.append(solved)
    return level, found


def by_clusters(crowds: Sequence[Crowd], alone: Sequence[Solved | None]) -> int:
    """Return the bound that the releases of single combinations prove: the best of each cluster."""
    proven = {
        crowd: 0 if one is None else one.bound for crowd, one in zip(crowds, alone, strict=True)
    }
    return sum(max(proven[crowd] for crowd in cluster) for cluster in clusters(crowds))


def searched(cells: Cells, level: Levels, context: Context, bound: int) -> Levels:
    """Improve a lawful state in several orders of moves, and return the cheapest."""
    stop = context.stop
    best, cost = level, int(cells.costs(level).sum())

    def over() -> bool:
        return stop.now() or stop.satisfied(cost, bound)

    def tell(now: int) -> None:
        context.tell("cells", min(now, cost), bound)

    for n in range(STARTS):
        if over():
            break
        rng = np.random.default_rng([context.seed, n])
        found = improved(cells, level, rng, over, tell)
        price = int(cells.costs(found).sum())
        if price < cost:
            best, cost = found, price
    context.tell("cells", cost, bound)
    return best


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
