"""The engine's search where rows may be deleted: one more pattern, which is always open.

The release without deletions comes first: it is lawful, too, and what a limit leaves undone shall
not cost more.  The pattern matches every row and costs what a deleted row costs, or is worth where
only so many may be deleted (``incrowd.bounds.deletion``): annealing deals rows to it as to any
class, but it may hold fewer than k.  Where it held too many, those go back that lose the least by
it.  Then the rows that are kept are released by the engine as a table of their own, and the
cheaper release counts.

Where prices miss the patterns that a release needs, near classes of all rows trade instead, and
what is dear there is deleted.
"""

from dataclasses import dataclass, replace

import numpy as np

from incrowd.bounds.deletion import bound_of, deletion_prices
from incrowd.bounds.prices import Prices
from incrowd.deletion.found import DELETED, Found, Ints, cost_of, kept_problem
from incrowd.deletion.paying import without_dear, without_single
from incrowd.deletion.small import by_blocks
from incrowd.driver.solve import solve
from incrowd.lattice.emission import Emission
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Share, Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.candidates import Candidates, build_candidates
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.engine.greedy import greedy
from incrowd.solvers.engine.near_classes import LOOSE
from incrowd.solvers.engine.resumed import resumed
from incrowd.solvers.engine.search import Search
from incrowd.solvers.engine.windows import sorted_classes
from incrowd.solvers.progress import Progress

# of a time limit, of what is left: to release all rows, where deletions can save next to nothing
# and else; to price them; to anneal
ALMOST_ALL, PLAIN, PRICING, ANNEALING = 0.9, 0.6, 0.5, 0.5
FEW = 0.01  # of the rows: so many of stars are next to nothing


def by_search(
    problem: Problem, deletion: Deletion, context: Context, method: str = "engine"
) -> Found:
    """Search for a release, with certified prices beside it.

    ``method``: by which all rows are released first under a time limit, and those that are kept in
    the end.
    """
    instance, stop = problem.instance, context.stop
    share = ALMOST_ALL if saves_little(problem, deletion) else PLAIN
    classes, known = plain(problem, method, context, share)
    best = Best(problem, deletion, classes)
    prices, worth = priced(problem, deletion, known, context)
    bound = bound_of(prices, instance, deletion)
    best.offer_less(best.classes)
    traded_by_now = stop.time_limit is not None and loose(instance, prices, best.cost, bound)
    if not traded_by_now and not stop.now():
        best.offer(dealt(problem, deletion, prices, max(deletion.price, round(worth)), context))
    if not traded_by_now and not stop.satisfied(best.cost, bound) and not stop.now():
        if loose(instance, prices, best.cost, bound):
            best.offer_less(traded(problem, classes, prices, context))
        else:
            best.offer(again(problem, best.classes, method, context))
    best.offer_less(best.classes)
    if not stop.satisfied(best.cost, bound) and not stop.now():
        best.offer(by_blocks(problem, best.classes, deletion, context))
    return Found(best.classes, bound, "engine", how_ended(stop, best.cost, bound), prices)


def how_ended(stop: Stop, cost: int, bound: int) -> str:
    """Say why a search ended."""
    if cost <= bound:
        return "finished"
    if stop.satisfied(cost, bound):
        return "gap reached"
    return stop.why() if stop.now() else "stopped paying"


@dataclass
class Best:
    """The cheapest release so far: the class of each copy, and what it costs."""

    problem: Problem
    deletion: Deletion
    classes: Ints

    def __post_init__(self) -> None:
        self.cost = cost_of(self.problem, self.classes, self.deletion)

    def offer(self, classes: Ints) -> None:
        """Keep a release of some rows if it is cheaper."""
        if (classes == DELETED).all():
            return
        cost = cost_of(self.problem, classes, self.deletion)
        if cost < self.cost:
            self.classes, self.cost = classes, cost

    def offer_less(self, classes: Ints) -> None:
        """Offer a release without classes that pay more than their deletion, and single rows."""
        less = without_dear(self.problem, classes, self.deletion)
        self.offer(without_single(self.problem, less, self.deletion))


def saves_little(problem: Problem, deletion: Deletion) -> bool:
    """Whether the cheapest release with deletions costs next to nothing less than that of all rows.

    Where a deleted row costs as much as one of stars, those deleted may be a class of stars; where
    they are too few, a class of fewer than 2k rows joins them, the only ones that pay more.
    """
    root = sum(tree.dearest for tree in problem.instance.trees)
    beside = 2 * problem.smallest_class - 1
    return deletion.price >= root and beside <= FEW * problem.instance.rows


def plain(
    problem: Problem, method: str, context: Context, share: float
) -> tuple[Ints, Prices | None]:
    """Release all rows: by the method for a share of a time limit, else by levels of columns.

    Returns int64, shape (rows,): classes; and the prices that the method has found.
    """
    left = context.stop.left()
    if 0 < left < np.inf:
        part = replace(context, stop=Share.of(context.stop, share * left))
        solved = solve(problem, method, part)
        return solved.solution.classes, solved.prices
    search = search_of(problem, context)
    search.by_levels()
    return search.progress.best.classes, None


def search_of(problem: Problem, context: Context) -> Search:
    """Return the engine's search of all rows, which begins at stretches of the sorted table."""
    instance, k = problem.instance, problem.smallest_class
    progress = Progress(context, Solution.of(instance, sorted_classes(instance, k)))
    return Search(Engine(), instance, k, progress)


def priced(
    problem: Problem, deletion: Deletion, known: Prices | None, context: Context
) -> tuple[Prices, float]:
    """Return prices, and what a deleted row is worth."""
    context.tell("prices", share=0.0)
    share = Share.of(context.stop, PRICING * context.stop.left())
    return deletion_prices(
        problem.instance, problem.smallest_class, deletion, share,
        lambda bound, done: context.tell("prices", share=done), known,
    )  # fmt: skip


def candidates_with(instance: Instance, emission: Emission, worth: int) -> Candidates:
    """Return candidates whose last pattern takes deleted rows, at ``worth`` each."""
    root = sum(tree.dearest for tree in instance.trees)
    if worth > root:  # then the root is a pattern as others are
        everyone = np.arange(instance.distinct, dtype=np.int32)
        end = emission.offset[-1] + len(everyone)
        emission = Emission(
            np.append(emission.cost, root),
            np.append(emission.offset, end),
            np.concatenate([emission.rows, everyone]),
        )
    return build_candidates(instance, emission, worth)


def dealt(
    problem: Problem, deletion: Deletion, prices: Prices, worth: int, context: Context
) -> Ints:
    """Anneal with deleted rows as a pattern; int64, shape (rows,): classes, no row too many."""
    instance, k = problem.instance, problem.smallest_class
    search = search_of(problem, context)
    search.price = np.minimum(prices.price / prices.quantum, worth)
    context.tell("candidates")
    candidates = candidates_with(instance, search.emission(), worth)
    annealing = Annealing.suited(instance, k)
    left = context.stop.left()
    pattern = annealing.run(
        candidates,
        greedy(candidates, k, max(1, int(instance.cell / 10))),
        k,
        instance.cell,
        context.seed,
        context.stop.now,
        lambda cost, share: context.tell("annealing", share=share),
        search.price,
        None if left == np.inf else (ANNEALING * left, 1.0),
        always_open=True,
    )
    last = len(candidates.cost) - 1
    if deletion.most is not None:
        pattern = taken_back(candidates, pattern, deletion.most, k)
    return np.where(pattern == last, DELETED, pattern).astype(np.int64)


def taken_back(candidates: Candidates, pattern: Ints, most: int, k: int) -> Ints:
    """Put deleted rows back into their cheapest classes until at most so many are left.

    Those first that pay the least there.  Rows that no class would take go to the one of them all.
    """
    last = len(candidates.cost) - 1
    gone = np.flatnonzero(pattern == last)
    if len(gone) <= most:
        return pattern
    size = np.bincount(pattern, minlength=last + 1)
    size[last] = 0
    target = np.full(len(gone), -1)
    for z, row in enumerate(candidates.row_of[gone].tolist()):
        own = candidates.row_patterns[candidates.row_offset[row] : candidates.row_offset[row + 1]]
        is_open = np.flatnonzero(size[own] >= k)
        target[z] = own[is_open[0]] if len(is_open) else -1
    pays = np.where(target < 0, candidates.cost[-1], candidates.cost[target])
    back = np.argsort(pays, kind="stable")[: len(gone) - most]
    found = pattern.copy()
    found[gone[back]] = target[back]
    return with_strangers(found, last, k)


def with_strangers(pattern: Ints, last: int, k: int) -> Ints:
    """Make rows without a class (−1) one; if they are too few, with the smallest others.

    With deleted rows if there are no others.
    """
    strangers = pattern == -1
    if strangers.any():
        size = np.bincount(pattern[~strangers], minlength=last + 1)
        size[last] = 0
        for p in np.argsort(size, kind="stable"):
            if strangers.sum() >= k:
                break
            strangers |= (pattern == p) & (size[p] > 0)
        more = np.flatnonzero(pattern == last)[: max(0, k - int(strangers.sum()))]
        strangers[more] = True
    return np.where(strangers, last + 1, pattern)


def loose(instance: Instance, prices: Prices, cost: int, bound: int) -> bool:
    """Whether prices are so far below a release that they miss patterns which it needs.

    They list none where they are by sets of rows or groups of columns.  Then near classes trade
    rows, and who is dear there is deleted.
    """
    return instance.plain and (cost > LOOSE * bound or prices.wide)


def traded(problem: Problem, classes: Ints, prices: Prices, context: Context) -> Ints:
    """Let near classes of all rows trade; int64, shape (rows,): classes."""
    start = Solution.of(problem.instance, classes)
    return resumed(problem, prices, context, start).classes


def again(problem: Problem, classes: Ints, method: str, context: Context) -> Ints:
    """Release the rows that are kept by a method, as a table of their own."""
    kept = classes != DELETED
    if kept.sum() < problem.smallest_class:
        return classes
    smaller, place = kept_problem(problem, kept)
    solved = solve(smaller, method, context)
    found = np.full(len(classes), DELETED)
    found[kept] = solved.solution.classes[place]
    return found
