"""Patterns, and the rows that take part, listed by reduced cost."""

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prefix_tree import EMIT, PrefixTree, Slack
from incrowd.lattice.emission import Emission, new_sink

DOUBT = 1e-9  # of the dearest row, that prices may be off


def within(
    tree: PrefixTree, price: NDArray[np.float64], k: int, slack: float, most_pairs: int
) -> Emission | None:
    """List the pairs that a class of k rows with reduced cost up to ``slack`` may have.

    Parameters
    ----------
    price: float64, shape (distinct,); ``slack``: in the same units.
    most_pairs: beyond which the answer is None.
    """
    room = most_pairs + tree.instance.distinct
    sink = new_sink(room, room)
    state = tree.run(EMIT, k, price, slack=Slack(slack / k, True), sink=sink)
    if state[3] or state[1] > most_pairs:
        return None
    return sink.first(int(state[0]))


def in_reach(
    tree: PrefixTree, price: NDArray[np.float64], k: int, slack: float, most: int
) -> Emission | None:
    """List the pairs of classes whose reduced cost is ``slack`` at most; None for over ``most``.

    Prices are those with odd sets.

    Claim.  Let prices u and penalties ≥ 0 leave every class of k to 2k − 1 copies a reduced cost of
    at least 0: what it costs above its prices, plus its penalties.  If the reduced cost of a class
    C of pattern p is ``slack`` at most, then for each copy r of C so is what r and the k − 1
    dearest others of C cost above their prices, without penalties.

    Argument.  Let C have more than k copies.  Where the others left out are worth no more than
    cost(p) on average, leaving them out makes C no dearer.  Where they are worth more, so is each
    of the k − 1 dearest, and r and these cost at most cost(p) − u_r above prices.  But C without r
    is a class, whose reduced cost is at least 0, and pays no more penalties than C, which costs
    cost(p) − u_r more then.

    Parameters
    ----------
    price: float64, shape (distinct,): prices that hold for all patterns, with penalties.
    slack: in the units of prices.
    """
    doubt = DOUBT * k * max(1.0, float(price.max(initial=0.0)))
    return within(tree, price, k, slack + doubt, most)
