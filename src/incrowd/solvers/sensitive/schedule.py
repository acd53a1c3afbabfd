"""How the engine for sensitive models spends its moves, stage by stage."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.lawful_price import LawfulPriceBound
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.privacy.pricing import DISTINCT, RANKED, VARIATION
from incrowd.run.stop import Stop

Span = tuple[float, float]

# candidates by reduced cost (share of the slack) or copies carried, share of the moves, warmth
STAGES = ((-1.0, 0.05, 0.15, 1.0), (0.1, 0.02, 0.15, 0.3), (0.3, 0.02, 0.25, 0.3))
# candidates as above, share of the moves, first and last temperature and penalty (in cells)
SOFT_STAGES = (
    (0.1, 0.02, 0.12, (4.0, 1.5), (15.0, 30.0)),
    (0.3, 0.02, 0.12, (1.5, 0.7), (20.0, 30.0)),
    (1.0, 0.0, 0.16, (1.0, 0.3), (25.0, 80.0)),
)
SOFT_REST = 0.4  # share of the moves that mend the last of them
# The same where prices by size have settled more beforehand: less heat, the last stage over more
# candidates and longer, for the law comes dear to it; what is then left to mend is little where
# classes are large.
SIZED_STAGES = (
    (0.06, 0.02, 0.12, (1.6, 0.6), (15.0, 30.0)),
    (0.18, 0.02, 0.12, (0.6, 0.28), (20.0, 30.0)),
    (1.0, 0.0, 0.5, (0.4, 0.12), (25.0, 80.0)),
)
SIZED_REST = 0.25
SMALL, SMALL_EFFORT = 6, 2.5  # smaller classes take half the time: so many times the moves then
LARGE = 50  # rows of a smallest class, beyond which lawful moves are fewer: each does more
SCARCE = 20  # rows of the smallest class with a value, from which on the value counts as scarce
REST = 0.45  # share of the moves over all candidates
AGAIN = 0.05  # share of the moves of each turn after that without a limit
PRICING = 0.4  # share of a time limit that prices may use
SHARING = 0.25  # share of the time left then that a fractional release may use
HOPELESS = 0.8  # share of the bound below which k-anonymity's first bound is not raised further
# times the bound before that charges have to prove for a fractional release to go by them; with
# less the search ended no better (t = .1 on adult, 1.029)
TELLING = 1.033
CHARGING = 0.5  # likewise prices with charges, which prove much in little time
# times what prices say in all, from which on a release is sought among near rows, too
LOOSE = 1.15
COOL = 0.3  # warmth of every search that starts from the result of another
# where a few large classes hold all rows: how warm, and which patterns may be above their prices
HOST_WARMTH = 0.02
HOST_REACH = 0.3  # in cells a row


def price_schedules(
    tree: LawfulTree,
    given: LawfulPriceBound | None,
    first: NDArray[np.float64],
    price: NDArray[np.float64],
) -> tuple[tuple[LawfulPriceBound, ...], NDArray[np.float64]]:
    """Return schedules for one after the other, and the prices that they start from.

    ``given`` is the schedule asked for; ``first`` are the prices by classes alone, ``price`` the
    best known (float64, distinct).
    """
    kind = tree.pricing.kind
    if given is not None:
        return (given,), price
    box = LawfulPriceBound.one_box()
    if (kind == DISTINCT).all() and box.fits(tree, first):
        return (box, LawfulPriceBound.close_up()), first
    if (kind == VARIATION).any():
        return (LawfulPriceBound.before_sizes(),), price
    if (kind == RANKED).any() and price is not first:
        return (LawfulPriceBound.from_near(),), price
    return (LawfulPriceBound(),), price


def scarce(tree: LawfulTree) -> bool:
    """Whether some values are so scarce under a law of shares that whole rows of them matter.

    Then prices prove little: in their relaxation any class may hold a part of such a row.
    """
    allowed = tree.shares
    return few_classes(tree) or (allowed is not None and bool(allowed.caps.min() * SCARCE < 1))


def few_classes(tree: LawfulTree) -> bool:
    """Whether every class needs some copies of scarce values, so that only few can be."""
    allowed = tree.shares
    return allowed is not None and bool(allowed.lows.any())


def pace_of(stop: Stop, part: float) -> Callable[[], float]:
    """Return what tells how much of a part of the time left is over; nothing without limit."""
    begun, span = stop.elapsed(), max(part * stop.left(), 1e-9)
    return lambda: (stop.elapsed() - begun) / span


def hopeless(tree: PrefixTree, k: int, bound: int, visits: int, known: int | None = None) -> bool:
    """Whether k-anonymity's first prices are so far below a bound that time is better spent.

    As where people are told apart: a person's own rows are alike, and no class by themselves.
    ``known``: what these prices prove, where that is known.
    """
    if known is None:
        support, complete = support_prices(tree, k, visits)
        if not complete:
            return False
        known = int(support @ tree.instance.counts)
    return known < HOPELESS * bound


def soft_schedule(
    k: int, sized: bool
) -> tuple[tuple[tuple[float, float, float, Span, Span], ...], float, float, float]:
    """Return the stages, the moves that mend what is left, and factors: effort, and less heat.

    ``k``: rows of the smallest class; ``sized``: whether prices by size guide the search.
    """
    # moves in smaller classes are cheaper, and so are their stakes: heat would only undo what
    # the fractional release has settled; large ones by size get by with fewer moves
    effort = min(4.0, max(0.5 if sized else 1.0, (7 / k) ** 3))
    calm = max(1.0, effort)
    stages, rest = (SIZED_STAGES, calm * SIZED_REST) if sized else (SOFT_STAGES, SOFT_REST)
    if sized and k < SMALL:
        effort, rest = SMALL_EFFORT * effort, SMALL_EFFORT * rest
    return stages, rest, effort, calm
