"""Patterns, and the rows that take part, listed by reduced cost."""

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prefix_tree import EMIT, PrefixTree, Slack
from incrowd.lattice.emission import Emission, new_sink


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
