"""Prove a release of a small table optimal: one exact problem over all pairs that could matter.

Claim.  Let prices bound every release by LB, and let a release cost UB.  In a release of cost at
most UB − 1, each class (split into classes of k..2k−1 rows of the same pattern) has reduced cost
at most UB − 1 − LB, since reduced costs are nonnegative and sum to cost − LB.  So it uses only
(row, pattern) pairs whose least reduced cost is within that, and the exact problem over these
pairs finds it or shows that there is none.
"""

from collections.abc import Callable
from math import ceil

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.certificate import exact, settled
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.instance import Instance
from incrowd.patterns.listing import within
from incrowd.patterns.prefix_tree import Emission, PrefixTree
from incrowd.solution import Solution
from incrowd.solvers.engine.block import BlockMaker
from incrowd.solvers.engine.crowd import new_crowd
from incrowd.solvers.engine.neighbourhood import apply_block, solve_block
from incrowd.solvers.engine.partition import best_partition, classes_within, pairs_of
from incrowd.solvers.engine.warm import with_solution

# pairs and branch-and-bound nodes that a proof may take: without a time limit, and with one
MOST_PAIRS = (2_500, 60_000)
LIFTED_PAIRS = (700, 60_000)  # with odd sets, where fewer pairs take as long
NODES = (60, 100_000)
# of the reduced cost that could matter: without odd sets, and with
SHARES = (0.15, 0.35, 1.0), (0.15, 0.4, 1.0)
REACHES = (1.5, 1.0, 0.5)  # cells
FEW_CLASSES = 2.5  # per pair, up to which classes are chosen rather than pairs


def prove(
    tree: PrefixTree,
    best: Solution,
    price: NDArray[np.float64],
    bound: int,
    k: int,
    seconds: Callable[[], float],
    patient: bool,
    lifted: Lifted | None = None,
) -> tuple[Solution, int]:
    """Return a solution at least as good as ``best``, and a lower bound at least ``bound``.

    Does nothing when too many pairs could matter.

    Parameters
    ----------
    seconds: what is left of the user's time limit; ``patient``: whether there is one.  Otherwise
        the effort is limited by counts, to be repeatable.
    lifted: prices with odd sets, if known, over all pairs that a better release could use: there
        are far fewer pairs within reach of their bound.
    """
    worth = float(price @ tree.instance.counts)
    if lifted is not None:
        certain = settled(lifted.lists, lifted, tree.instance, k)
        lifted = exact(certain, lifted.lists, tree.instance)
        worth = certain.value(tree.instance.counts)
        bound = max(bound, min(best.cost, ceil(worth)))
    shares = list(SHARES[lifted is not None])
    while shares:  # a better release first makes the full problem smaller
        share = shares.pop(0)
        slack = best.cost - 1 - worth + 1e-6
        if slack < 0:
            return best, best.cost
        before = best.cost
        reach = share * slack, seconds(), patient
        if lifted is None:
            found = attempt_pairs(tree, best, price, k, *reach)
        else:
            found = attempt_classes(tree, best, price, lifted, k, *reach)
        if found is None:
            return best, bound
        best, proven = found
        if share == 1.0:
            bound = max(bound, min(proven, best.cost))
        elif best.cost < before:
            shares = [1.0]
    return best, bound


def pairs_in_reach(lifted: Lifted, instance: Instance, k: int) -> Emission | None:
    """Return the pairs of classes that cost little more than lifted prices pay; None if too many.

    Nearly all that good releases use, and far fewer than without odd sets.
    """
    for reach in REACHES:
        classes = classes_within(lifted, instance, k, reach * instance.cell)
        if classes is not None:
            return pairs_of(classes, lifted.lists, instance.distinct)
    return None


def attempt_pairs(
    tree: PrefixTree,
    best: Solution,
    price: NDArray[np.float64],
    k: int,
    slack: float,
    seconds: float,
    patient: bool,
) -> tuple[Solution, int] | None:
    """Solve the problem of all pairs within ``slack``; None when they are too many."""
    emission = within(tree, price, k, slack, MOST_PAIRS[patient])
    if emission is None:
        return None
    return solve_whole(tree, best, emission, price, k, NODES[patient], seconds)


def attempt_classes(
    tree: PrefixTree,
    best: Solution,
    price: NDArray[np.float64],
    lifted: Lifted,
    k: int,
    slack: float,
    seconds: float,
    patient: bool,
) -> tuple[Solution, int] | None:
    """As ``attempt_pairs`` for the classes within ``slack``, in the form that is likely faster."""
    instance = tree.instance
    classes = classes_within(lifted, instance, k, slack)
    if classes is None:
        return None
    emission = pairs_of(classes, lifted.lists, instance.distinct)
    if len(emission.rows) > LIFTED_PAIRS[patient]:
        return None
    if len(classes.size) <= FEW_CLASSES * len(emission.rows):
        problem = classes, lifted.lists.cost, price, best, NODES[patient], seconds
        return best_partition(*problem, lifted.sets)
    return solve_whole(tree, best, emission, price, k, NODES[patient], seconds)


def solve_whole(
    tree: PrefixTree,
    best: Solution,
    emission: Emission,
    price: NDArray[np.float64],
    k: int,
    nodes: int,
    seconds: float,
) -> tuple[Solution, int]:
    """Solve the whole table over these pairs and the classes of ``best``.

    Returns the better solution, and a lower bound on all solutions over these pairs.
    """
    candidates, pattern = with_solution(emission, best)
    crowd = new_crowd(candidates, pattern)
    torn = np.flatnonzero(crowd.size)
    far = int(candidates.cost.max()) + 1
    room = 2 * (len(candidates.rows) + tree.instance.distinct)
    block = BlockMaker(candidates, room).make(torn, k, -far, far, crowd)
    if block is None:
        return best, 0
    outside = np.zeros(len(crowd.size), np.bool_)
    taken, proven = solve_block(block, k, outside, crowd, price, nodes, seconds)
    if taken is not None:
        apply_block(block, taken, torn, k, crowd, candidates)
        found = Solution.of(tree.instance, crowd.pattern.astype(np.int64))
        best = found if found.cost < best.cost else best
    return best, proven
