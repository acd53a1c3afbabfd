"""Candidate pairs in stages: first those that a fractional release uses, then ever dearer ones.

Let C be the dearest lawful class of pattern p, of K rows and reduced cost K·(cost(p) − mean price).
A row that is not in C comes into a class like it for the cheapest row of its own value (of any,
where there is none), or as a further row, which costs cost(p) minus its price.  Rows that balance
dear ones are cheap, and cheap patterns could house them too; there they are lost to the dear ones.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import answer, dearest
from incrowd.kernels.jit import lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.solvers.engine.candidates import Candidates, build_candidates

FAR = 1e300


@lean_kernel
def fill_reduced_costs(
    offset: Any, rows: Any, cost: Any, u: Any, counts: Any, pr: Any, pad: Any, low: Any,
    inside: Any, reduced: Any,
) -> None:  # fmt: skip
    """Fill ``reduced`` (per pair); ``low`` (per value) is scratch, ``inside`` (per row) too."""
    for p in range(cost.size):
        begin = offset[p]
        end = offset[p + 1]
        mean, which = dearest(rows, begin, end, u, counts, -FAR, pr, pad)
        if which < 0 or mean <= -FAR:
            reduced[begin:end] = FAR
            continue
        _, out = answer(which, rows, begin, end, u, counts, -FAR, pr, pad)
        value = pr.value[pr.attribute[which]]
        low[:] = FAR
        least = FAR
        for j in range(out):
            r = pad.out_row[j]
            inside[r] = True
            low[value[r]] = min(low[value[r]], u[r])
            least = min(least, u[r])
        base = pr.least[0] * (cost[p] - mean)
        for i in range(begin, end):
            r = rows[i]
            leaves = low[value[r]] if low[value[r]] < FAR else least
            more = max(min(leaves, float(cost[p])) - u[r], 0.0)
            reduced[i] = base if inside[r] else base + more
        for j in range(out):
            inside[pad.out_row[j]] = False


def reduced_costs(
    tree: LawfulTree, price: NDArray[np.float64], emission: Emission
) -> NDArray[np.float64]:
    """float64, shape (pairs,): reduced cost of a cheap class with this row, in units of 1/scale."""
    reduced = np.empty(len(emission.rows))
    fill_reduced_costs(
        emission.offset, emission.rows, emission.cost, price, tree.instance.counts, tree.pricing,
        tree.pad, np.zeros(int(tree.pricing.value.max()) + 1),
        np.zeros(tree.instance.distinct, np.bool_), reduced,
    )  # fmt: skip
    return reduced


def owners(emission: Emission) -> NDArray[np.int64]:
    """int64, shape (pairs,): the pattern of each pair."""
    return np.repeat(np.arange(len(emission.cost)), np.diff(emission.offset))


def narrowed(emission: Emission, keep: NDArray[np.bool_]) -> tuple[Emission, NDArray[np.int64]]:
    """Keep some pairs; also return each pattern's new number, −1 for those that are gone."""
    length = np.bincount(owners(emission)[keep], minlength=len(emission.cost))
    some = length > 0
    offset = np.concatenate([[0], np.cumsum(length[some])]).astype(np.int64)
    number = np.where(some, np.cumsum(some) - 1, -1)
    return Emission(emission.cost[some], offset, emission.rows[keep]), number


def with_start(
    instance: Instance, emission: Emission, keep: NDArray[np.bool_], pattern: NDArray[np.int64]
) -> tuple[Candidates, NDArray[np.int64]]:
    """Return candidates for the pairs kept and those of a start, and the start's assignment.

    ``pattern``: int64, shape (rows,): each copy's pattern in the emission; −1: at the root.
    """
    there = np.flatnonzero(pattern >= 0)
    used = pattern[there] * instance.distinct + instance.copies[there]
    pairs = owners(emission) * instance.distinct + emission.rows
    kept, number = narrowed(emission, keep | np.isin(pairs, used))
    candidates = build_candidates(instance, kept)
    root = len(candidates.cost) - 1
    place = np.empty(len(kept.cost), np.int64)  # candidates are numbered by rising cost
    place[np.argsort(kept.cost, kind="stable")] = np.arange(len(place))
    start = np.full(instance.rows, root, np.int64)
    start[there] = np.minimum(place[number[pattern[there]]], root)
    return candidates, start


def united(
    one: Emission, other: Emission, share: NDArray[np.float64], distinct: int
) -> tuple[Emission, NDArray[np.float64]]:
    """Return the patterns of both, those with the same rows once, and the shares over their pairs.

    ``share``: float64, of the pairs of ``other``; the pairs of ``one`` alone carry nothing.
    """
    sign = np.random.default_rng(29).integers(1 << 62, size=distinct, dtype=np.uint64)
    keys = np.concatenate([signs(one, sign), signs(other, sign)])
    kept, first, number = np.unique(keys, return_index=True, return_inverse=True)
    of_pair = number[np.concatenate([owners(one), owners(other) + len(one.cost)])]
    rows = np.concatenate([one.rows, other.rows])
    pairs, place = np.unique(of_pair * distinct + rows, return_inverse=True)
    carried = np.concatenate([np.zeros(len(one.rows)), share])
    length = np.bincount(pairs // distinct, minlength=len(kept))
    offset = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    cost = np.concatenate([one.cost, other.cost])[first]
    both = Emission(cost, offset, (pairs % distinct).astype(np.int32))
    return both, np.bincount(place, carried, len(pairs)).astype(np.float64)


def signs(emission: Emission, sign: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """uint64, shape (patterns,): a number for the set of each pattern's rows."""
    if len(emission.cost) == 0:
        return np.zeros(0, np.uint64)
    return np.add.reduceat(sign[emission.rows], emission.offset[:-1])
