"""Which pairs of a row and a pattern a better release may have, by prices with odd sets.

Claim.  Let prices u and penalties ≥ 0 leave every class of k to 2k − 1 copies a reduced cost of at
least 0: what it costs above its prices, plus its penalties.  If the reduced cost of a class C of
pattern p is ``slack`` at most, then for each copy r of C so is what r and the k − 1 dearest others
of C cost above their prices, without penalties.

Argument.  Let C have more than k copies.  Where the others left out are worth no more than cost(p)
on average, leaving them out makes C no dearer.  Where they are worth more, so is each of the k − 1
dearest, and r and these cost at most cost(p) − u_r above prices.  But C without r is a class, whose
reduced cost is at least 0, and pays no more penalties than C, which costs cost(p) − u_r more then.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.listing import within
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.lattice.emission import Emission

DOUBT = 1e-9  # of the dearest row, that prices may be off


def in_reach(
    tree: PrefixTree, price: NDArray[np.float64], k: int, slack: float, most: int
) -> Emission | None:
    """List the pairs of classes whose reduced cost is ``slack`` at most; None for over ``most``.

    Parameters
    ----------
    price: float64, shape (distinct,): prices that hold for all patterns, with penalties.
    slack: in the units of prices.
    """
    doubt = DOUBT * k * max(1.0, float(price.max(initial=0.0)))
    return within(tree, price, k, slack + doubt, most)
