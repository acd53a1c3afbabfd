"""From prices and odd sets in floating point to a certificate in integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.listing import within
from incrowd.bounds.odd_sets.classes import dearest_within, line_up
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import OddSet, PricingProblem
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import rounded_down
from incrowd.bounds.prices import Prices, WeightedSet
from incrowd.kernels.halt import NEVER, halted
from incrowd.kernels.jit import lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance

TRIES = 2_000_000  # per pattern
LOOKS, PART = 18_000_000, 2  # of the checker, which ends at 20 million; of what is left, for one
MOST_PAIRS = 6_000_000


@lean_kernel
def repair(pr: Any) -> int:
    """Lower integer prices until no class is worth more than nothing; return how often.

    A pattern whose search does not end within ``pr.tries`` steps obeys the plain inequality then,
    and so does one that would leave the checker more to look at than a part of what is left of
    ``LOOKS``.  Returns −1 when time ends first.
    """
    k, price, pad = pr.k, pr.price, pr.pad
    times = 0
    left = LOOKS
    for p in range(pr.lists.cost.size):
        while True:
            if halted(pr.halt):
                return -1
            n = line_up(p, pr)
            if n < k:
                break
            most = left // PART - n
            worth, size, spared = dearest_within(n, 0, pr, most)
            if size == 0:
                left -= most - spared + n
                break
            if size < 0:
                size = k
                worth = pad.ahead[k]
                for z in range(k):
                    pad.best[z] = pad.item[z]
                if worth <= 0:
                    break
            times += 1
            less = (worth + size - 1) // size
            for z in range(size):
                if z == 0 or pad.best[z] != pad.best[z - 1]:
                    price[pad.best[z]] -= less
    return times


def certify_with_sets(tree: PrefixTree, k: int, lifted: Lifted) -> Prices | None:
    """Return a certificate for all releases, from lifted prices that hold for some patterns.

    None when too many patterns break the plain inequality to look at each, or time ends first.
    """
    counts = tree.instance.counts
    quantum, price = rounded_down(lifted.price, counts)
    rounded = price / quantum
    doubt = 1e-9 * k * max(1.0, float(rounded.max(initial=0.0)))
    lists = within(tree, rounded, k, doubt, MOST_PAIRS)  # all that break the plain inequality
    return None if lists is None else settled(lists, lifted, tree.instance, k, tree.stop.overdue)


def settled(
    lists: Emission,
    lifted: Lifted,
    instance: Instance,
    k: int,
    word: NDArray[np.int64] = NEVER,
) -> Prices | None:
    """Round lifted prices and penalties down to integers; repair what classes of ``lists`` break.

    Returns prices per distinct row and sets of copies, for every class of these patterns; None when
    time ends first (``word``: see ``incrowd.kernels.halt``).
    """
    quantum, price = rounded_down(lifted.price, instance.counts)
    weights = [int(s.penalty / s.modulus * quantum) for s in lifted.sets]
    kept = [(s, w) for s, w in zip(lifted.sets, weights, strict=True) if w > 0]
    whole_penalties = [s._replace(penalty=s.modulus * w) for s, w in kept]  # integers
    problem = lists, instance.counts, k, price, whole_penalties, quantum, TRIES
    if repair(PricingProblem.of(*problem, word)) < 0:
        return None
    for s, w in kept:
        price[s.rows] -= w
    first = instance.first_copy.tolist()
    whole = [np.concatenate([np.arange(first[r], first[r + 1]) for r in s.rows]) for s, _ in kept]
    sets = zip(whole, kept, strict=True)
    terms = tuple(WeightedSet(copies, w, s.modulus) for copies, (s, w) in sets)
    return Prices(price, quantum, odd_sets=terms)


def exact(prices: Prices, lists: Emission, instance: Instance) -> Lifted:
    """Return what ``settled`` made, as lifted prices: no class is worth more than nothing."""
    lifted, sets = prices.price.astype(np.float64), []
    for copies, weight, modulus in prices.odd_sets:
        rows = np.unique(instance.copies[copies])
        lifted[rows] += weight
        sets.append(OddSet(rows, modulus, modulus * weight / prices.quantum))
    return Lifted(lists, lifted / prices.quantum, sets)
