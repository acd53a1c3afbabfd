"""From prices and odd sets in floating point to a certificate in integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.listing import within
from incrowd.bounds.odd_sets.classes import dearest_within, line_up
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import OddSet, PricingProblem
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import fitting, quantum_of, rounded_down
from incrowd.bounds.prices import Prices, WeightedSet
from incrowd.kernels.halt import NEVER, halted
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance

TRIES = 2_000_000  # per pattern
# looks of the checker, which ends a tenth later: so many, and for each row more, at most
LOOKS, EACH, MOST_LOOKS = 18_000_000, 1_800, 90_000_000
PART = 2  # of the looks that are left, for one pattern
FIRST_LOOKS, MORE = 2_000, 4  # for one pattern in the first round, and times as many in the next
MOST_PAIRS = 6_000_000
HEAVIEST = (1 << 50) - 1  # a set's weight in a proof; a lighter one proves less
LOST = 2e-4  # share of what prices and sets come to that is lost to too many looks, or little else
LEFT_OUT = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7)  # shares of the sets that are left out then, in turn


@inner_kernel
def obey_plainly(k: int, pad: Any) -> Any:
    """Choose the k dearest copies of the pattern lined up; return what they are worth together."""
    for z in range(k):
        pad.best[z] = pad.item[z]
    return pad.ahead[k]


@lean_kernel
def repair_pattern(p: int, most: int, last: bool, pr: Any) -> Any:
    """Lower prices until no class of pattern p is worth more than nothing.

    Each search has at most so many looks.  Returns how often prices fell, and how many looks the
    last search took: −1 where it did not end, and then the pattern obeys the plain inequality if
    this is the ``last`` time.
    """
    k, price, pad = pr.k, pr.price, pr.pad
    times = 0
    while not halted(pr.halt):
        n = line_up(p, pr)
        if n < k:
            return times, 0
        worth, size, spared = dearest_within(n, 0, pr, most - n)
        if size == 0:
            return times, most - spared
        if size < 0:
            if not last:
                return times, -1
            size = k
            worth = obey_plainly(k, pad)
            if worth <= 0:
                return times, -1
        times += 1
        less = (worth + size - 1) // size
        for z in range(size):
            if z == 0 or pad.best[z] != pad.best[z - 1]:
                price[pad.best[z]] -= less
    return times, -1


@lean_kernel
def repair(pr: Any, todo: Any, left: int) -> int:
    """Lower integer prices until no class is worth more than nothing; return how often.

    Patterns that take few looks come first, others later, with more allowed to each: of what the
    checker looks at many get their part, and not the first few all.  A pattern whose search does
    not end within ``pr.tries`` steps obeys the plain inequality then, and so does one that would
    leave the checker more to look at than a part of what is left.  Returns −1 when time ends first.
    ``todo``: int64, shape (patterns,), all patterns, scratch.  ``left``: looks of the checker.
    """
    times = 0
    most = FIRST_LOOKS
    waiting = todo.size
    while waiting > 0:
        last = most >= left // PART
        kept = 0
        for x in range(waiting):
            p = todo[x]
            more, looked = repair_pattern(p, min(most, left // PART), last, pr)
            if halted(pr.halt):
                return -1
            times += more
            left -= max(0, looked)
            if looked < 0 and not last:
                todo[kept] = p
                kept += 1
        waiting = kept
        most *= MORE
    return times


def certify_with_sets(tree: PrefixTree, k: int, lifted: Lifted) -> Prices | None:
    """Return a certificate for all releases, from lifted prices that hold for some patterns.

    Where the checker would have too many classes to try, sets of small penalties are left out: they
    prove little and take as many looks as others.  None when too many patterns break the plain
    inequality to look at each, or time ends first.
    """
    counts = tree.instance.counts
    penalties = [one.penalty for one in lifted.sets]
    best, proven = None, -np.inf
    for share in LEFT_OUT:
        least = float(np.quantile(penalties, share)) if share and penalties else 0.0
        some = without_small(lifted, least)
        found = certified(tree, k, some)
        bound = -np.inf if found is None else found.bound(counts)
        if bound > proven:
            best, proven = found, bound
        enough = (1 - LOST) * some.value(counts)
        if bound >= enough or proven > enough or tree.stop.now():
            break
    return best


def without_small(lifted: Lifted, least: float) -> Lifted:
    """Return what is left without sets whose penalty is less than ``least``.

    What a class pays for such a set is at most its part of the penalty for each row: the prices of
    the set's rows fall by that, so that all classes stay within their costs.
    """
    price = lifted.price.copy()
    kept = []
    for one in lifted.sets:
        if one.penalty >= least:
            kept.append(one)
        else:
            price[one.rows] -= one.penalty / one.modulus
    return Lifted(lifted.lists, price, kept)


def certified(tree: PrefixTree, k: int, lifted: Lifted) -> Prices | None:
    """As ``certify_with_sets``, with all sets."""
    quantum, price = in_units(lifted, tree.instance, k)
    rounded = price / quantum
    doubt = 1e-9 * k * max(1.0, float(rounded.max(initial=0.0)))
    lists = within(tree, rounded, k, doubt, MOST_PAIRS)  # all that break the plain inequality
    return None if lists is None else settled(lists, lifted, tree.instance, k, tree.stop.overdue)


def in_units(lifted: Lifted, instance: Instance, k: int) -> tuple[int, NDArray[np.int64]]:
    """Return a quantum in whose units all sums fit 64 bits, and lifted prices rounded down."""
    quantum = fitting(quantum_of(lifted.price, instance.counts), instance, k)
    return rounded_down(lifted.price, instance.counts, quantum)


def settled(
    lists: Emission, lifted: Lifted, instance: Instance, k: int, word: NDArray[np.int64] = NEVER
) -> Prices | None:
    """Round lifted prices and penalties down to integers; repair what classes of ``lists`` break.

    Returns prices per distinct row and sets of copies, for every class of these patterns; None when
    time ends first (``word``: see ``incrowd.kernels.halt``).
    """
    quantum, price = in_units(lifted, instance, k)
    weights = [min(int(s.penalty / s.modulus * quantum), HEAVIEST) for s in lifted.sets]
    kept = [(s, w) for s, w in zip(lifted.sets, weights, strict=True) if w > 0]
    whole_penalties = [s._replace(penalty=s.modulus * w) for s, w in kept]  # integers
    problem = lists, instance.counts, k, price, whole_penalties, quantum, TRIES
    looks = min(LOOKS + EACH * instance.rows, MOST_LOOKS)
    if repair(PricingProblem.of(*problem, word), np.arange(len(lists.cost)), looks) < 0:
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
