"""Prove a release of a small table optimal: one exact problem over all pairs that could matter.

Claim.  Let prices bound every release by LB, and let a release cost UB.  In a release of cost at
most UB − 1, each class (split into classes of k..2k−1 rows of the same pattern) has reduced cost
at most UB − 1 − LB, since reduced costs are nonnegative and sum to cost − LB.  So it uses only
(row, pattern) pairs whose least reduced cost is within that, and the exact problem over these
pairs finds it or shows that there is none.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.patterns.prefix_tree import EMIT, Emission, PrefixTree, Sink, Slack
from incrowd.solution import Solution
from incrowd.solvers.engine.block import BlockMaker
from incrowd.solvers.engine.crowd import new_crowd
from incrowd.solvers.engine.neighbourhood import apply_block, solve_block
from incrowd.solvers.engine.warm import with_solution

MOST_PAIRS = 25_000
NODES = 20_000


def prove(
    tree: PrefixTree,
    best: Solution,
    price: NDArray[np.float64],
    bound: int,
    k: int,
    seconds: float,
) -> tuple[Solution, int]:
    """Return a solution at least as good as ``best``, and a lower bound at least ``bound``.

    Does nothing when more than ``MOST_PAIRS`` pairs could matter.
    """
    instance = tree.instance
    slack = best.cost - 1 - float(price @ instance.counts) + 1e-6
    if slack < 0:
        return best, best.cost
    sink = Sink(
        np.empty(MOST_PAIRS, np.int64),
        np.zeros(MOST_PAIRS + 1, np.int64),
        np.empty(MOST_PAIRS + instance.distinct, np.int32),
    )
    state = tree.run(EMIT, k, price, slack=Slack(slack / k, 0.0, True), sink=sink)
    if state[3] or state[1] > MOST_PAIRS:
        return best, bound
    p, z = int(state[0]), int(state[1])
    candidates, pattern = with_solution(
        Emission(sink.cost[:p], sink.offset[: p + 1], sink.rows[:z]), best
    )
    crowd = new_crowd(candidates, pattern)
    torn = np.flatnonzero(crowd.size)
    far = int(candidates.cost.max()) + 1
    block = BlockMaker(candidates, 4 * MOST_PAIRS + 2 * instance.distinct).make(
        torn, k, -far, far, crowd
    )
    if block is None:
        return best, bound
    outside = np.zeros(len(crowd.size), np.bool_)
    taken, proven = solve_block(block, k, outside, crowd, NODES, min(seconds, 600.0))
    if taken is not None:
        apply_block(block, taken, torn, k, crowd, candidates)
        found = Solution.of(instance, crowd.pattern.copy())
        best = found if found.cost < best.cost else best
    return best, max(bound, min(proven, best.cost))
