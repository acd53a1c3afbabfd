"""Prove a release of a small table optimal: an exact problem over all that could matter.

Claim.  Let prices bound every release by LB, and let a release cost UB.  In a release of cost at
most UB − 1, each class (split into classes of k..2k−1 rows of the same pattern) has reduced cost
at most UB − 1 − LB, since reduced costs are nonnegative and sum to cost − LB.  So it uses only
(row, pattern) pairs whose least reduced cost is within that, and the exact problem over these
pairs finds it or shows that there is none.

Where prices with odd sets nearly reach the cost of a release, few classes have a reduced cost small
enough for a better one (Baldacci, Christofides and Mingozzi, Mathematical Programming 115, 2008,
finish vehicle routing that way).
"""

from math import floor, isfinite

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.listing import within
from incrowd.bounds.odd_sets.certificate import exact, settled
from incrowd.bounds.odd_sets.classes import all_classes
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes, PricingProblem
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.kernels.halt import NEVER
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.assignment import new_state
from incrowd.solvers.engine.block import BlockMaker
from incrowd.solvers.engine.branching.tree import Branching
from incrowd.solvers.engine.neighbourhood import apply_block, solve_block
from incrowd.solvers.engine.warm import with_solution

MOST_LISTED = 400_000
# pairs and branch-and-bound nodes that a proof may take: in a hurry, and patient
MOST_PAIRS = (2_500, 60_000)
NODES = (60, 100_000)
LEAST_STEP = 0.02  # cells by which a refuted cost raises the bound, for more to be worth it
# nodes of branching over patterns, and rows of a table, without a time limit
BRANCHED, MOST_ROWS = (60, 500), 1_500
SHARES = 0.15, 0.35, 1.0  # of the reduced cost that could matter
REACHES = (1.5, 1.0, 0.5)  # cells
# classes of a problem that are few, and that are not too many: in a hurry, and patient
FEW_CLASSES, MOST_CLASSES = (10_000, 100_000), (20_000, 400_000)


def prove(
    tree: PrefixTree,
    best: Solution,
    price: NDArray[np.float64],
    bound: int,
    k: int,
    stop: Stop,
    patient: bool,
    lifted: Lifted | None = None,
) -> tuple[Solution, int]:
    """Return a solution at least as good as ``best``, and a lower bound at least ``bound``.

    Does nothing when too many pairs could matter.

    Parameters
    ----------
    stop: the user's budget; without a time limit the effort is limited by counts, to be repeatable.
    patient: whether a proof is worth some minutes: a time limit or a gap was given.
    lifted: prices with odd sets, if known, over all pairs that a better release could use: there
        are far fewer pairs within reach of their bound.
    """
    if lifted is not None:
        return prove_by_patterns(tree.instance, best, bound, k, stop, patient, lifted)
    worth = float(price @ tree.instance.counts)
    shares = list(SHARES)
    while shares:  # a better release first makes the full problem smaller
        share = shares.pop(0)
        slack = best.cost - 1 - worth + 1e-6
        if slack < 0:
            return best, best.cost
        before = best.cost
        emission = within(tree, price, k, share * slack, MOST_PAIRS[patient])
        if emission is None:
            return best, bound
        best, proven = solve_whole(tree, best, emission, price, k, NODES[patient], stop)
        if share == 1.0:
            bound = max(bound, min(proven, best.cost))
        elif best.cost < before:
            shares = [1.0]
    return best, bound


def prove_by_patterns(
    instance: Instance,
    best: Solution,
    bound: int,
    k: int,
    stop: Stop,
    patient: bool,
    lifted: Lifted,
) -> tuple[Solution, int]:
    """As ``prove``: a cost is refuted, or reached, by branching over open patterns.

    Costs far above the bound call for very many classes: then lower ones come first.
    """
    certain = settled(lifted.lists, lifted, instance, k, stop.over)
    if certain is None:
        return best, bound
    lifted = exact(certain, lifted.lists, instance)
    worth = certain.total(instance.counts) / certain.quantum
    bound = max(bound, min(best.cost, certain.bound(instance.counts)))
    limited = isfinite(stop.left())
    if not limited and instance.distinct > MOST_ROWS:
        return best, bound
    nodes = NODES[True] if limited else BRANCHED[patient]
    while bound < best.cost and not stop.now():
        aim = aim_of(lifted, instance, k, worth, bound, best.cost - 1, patient, stop)
        if aim is None:
            break
        most, classes = aim
        if most < best.cost - 1 and most - bound < LEAST_STEP * instance.cell:
            break  # costs in millionths would be refuted one by one
        problem = classes, lifted, instance, k, most, nodes, stop.left
        found, complete = Branching().run(*problem)
        best = best if found is None else found
        if not complete:
            break
        bound = most + 1 if found is None else best.cost
    return best, bound


def aim_of(
    lifted: Lifted,
    instance: Instance,
    k: int,
    worth: float,
    bound: int,
    most: int,
    patient: bool,
    stop: Stop,
) -> tuple[int, Classes] | None:
    """Return a cost of ``bound`` to ``most`` and all classes of releases of that cost.

    The highest, halving the way to what is proven, with few classes; None if there are too many.
    """
    proven = max(worth, bound)
    while not stop.now():
        classes = classes_within(lifted, instance, k, most - worth + 1e-6, stop.over)
        if classes is not None and len(classes.size) <= FEW_CLASSES[patient]:
            return most, classes
        lower = max(bound, floor(proven + (most - proven) / 2))
        if lower >= most:
            enough = classes is not None and len(classes.size) <= MOST_CLASSES[patient]
            return (most, classes) if enough and classes is not None else None
        most = lower
    return None


def pairs_in_reach(lifted: Lifted, instance: Instance, k: int, stop: Stop) -> Emission | None:
    """Return the pairs of classes that cost little more than lifted prices pay; None if too many.

    Nearly all that good releases use, and far fewer than without odd sets.
    """
    for reach in REACHES:
        classes = classes_within(lifted, instance, k, reach * instance.cell, stop.over)
        if classes is not None:
            return pairs_of(classes, lifted.lists, instance.distinct)
    return None


def solve_whole(
    tree: PrefixTree,
    best: Solution,
    emission: Emission,
    price: NDArray[np.float64],
    k: int,
    nodes: int,
    stop: Stop,
) -> tuple[Solution, int]:
    """Solve the whole table over these pairs and the classes of ``best``.

    Returns the better solution, and a lower bound on all solutions over these pairs.
    """
    candidates, pattern = with_solution(emission, best)
    state = new_state(candidates, pattern)
    torn = np.flatnonzero(state.size)
    far = int(candidates.cost.max()) + 1
    room = 2 * (len(candidates.rows) + tree.instance.distinct)
    block = BlockMaker(candidates, room).make(torn, k, -far, far, state)
    if block is None:
        return best, 0
    outside = np.zeros(len(state.size), np.bool_)
    taken, proven = solve_block(block, k, outside, state, price, nodes, stop)
    if taken is not None:
        apply_block(block, taken, torn, k, state, candidates)
        found = Solution.of(tree.instance, state.pattern.astype(np.int64))
        best = found if found.cost < best.cost else best
    return best, proven


def classes_within(
    lifted: Lifted, instance: Instance, k: int, slack: float, word: NDArray[np.int64] = NEVER
) -> Classes | None:
    """List the classes whose reduced cost under prices and odd sets is within ``slack``.

    None when they are more than ``MOST_LISTED``, or time ends first (``word``: see
    ``incrowd.kernels.halt``).
    """
    prices = lifted.price, lifted.sets
    problem = PricingProblem.of(lifted.lists, instance.counts, k, *prices, halt=word)
    room = Classes.room(MOST_LISTED, k)
    n = all_classes(problem, slack, room)
    return None if n < 0 else room.first(n)


def pairs_of(classes: Classes, lists: Emission, distinct: int) -> Emission:
    """Return the patterns of some classes, with the rows that these hold."""
    pairs = np.unique(
        np.repeat(classes.pattern, classes.size) * distinct + classes.rows[classes.taken]
    )
    used, first = np.unique(pairs // distinct, return_index=True)
    offset = np.append(first, len(pairs)).astype(np.int64)
    return Emission(lists.cost[used], offset, (pairs % distinct).astype(np.int32))
