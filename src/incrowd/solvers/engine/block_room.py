"""Room for a block of few classes, its copies, and the classes that could replace them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WIDEST = 60  # copies of a block: a bit each
LISTED = 4_000  # classes of a list


class BlockRoom(NamedTuple):
    """Room to work in.

    block: int64, shape (WIDEST,): the classes of the block.
    copy, row, worth: int64, int64, float64, same shape: its copies, the dearest first, with their
        distinct rows and prices.
    A set that grows, by the number of its members:
        span: int32, (2k, 2, columns): its least and greatest codes.
        chosen: int64, (2k,): the member that came last, as a place among the copies.
        may, may_end, may_at: int64, (2k, WIDEST), twice (2k,): the places that may come next, how
            many, and the next one.
        paid: float64, (2k,): prices of the members together.
    The list:
        mask, size, pays: int64, (LISTED,): the copies of each class as bits, how many, and what
            each pays.  above: float64, same shape: what it costs above prices, or above shares.
        first: int64, (WIDEST + 1,): where classes begin whose dearest copy is each.
        order: int64, (LISTED,): those of a copy by rising cost.
    share, least: float64, (WIDEST,): what a copy must pay above its price, and room to find it.
    A partition that grows, by the number of its classes: next, taken: int64, spent: float64,
        (WIDEST + 1,): place in ``order`` of the class to try, that taken, what those before cost.
    best: int64, (WIDEST,): the classes of the best partition.
    """

    block: NDArray[np.int64]
    copy: NDArray[np.int64]
    row: NDArray[np.int64]
    worth: NDArray[np.float64]
    span: NDArray[np.int32]
    chosen: NDArray[np.int64]
    may: NDArray[np.int64]
    may_end: NDArray[np.int64]
    may_at: NDArray[np.int64]
    paid: NDArray[np.float64]
    mask: NDArray[np.int64]
    size: NDArray[np.int64]
    pays: NDArray[np.int64]
    above: NDArray[np.float64]
    first: NDArray[np.int64]
    order: NDArray[np.int64]
    share: NDArray[np.float64]
    least: NDArray[np.float64]
    next: NDArray[np.int64]
    taken: NDArray[np.int64]
    spent: NDArray[np.float64]
    best: NDArray[np.int64]


def new_room(columns: int, k: int) -> BlockRoom:
    """Allocate room for classes of k to 2k − 1 copies."""

    def whole(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, np.int64)

    return BlockRoom(
        whole(WIDEST), whole(WIDEST), whole(WIDEST), np.zeros(WIDEST),
        np.zeros((2 * k, 2, columns), np.int32), whole(2 * k), whole(2 * k, WIDEST), whole(2 * k),
        whole(2 * k), np.zeros(2 * k),
        whole(LISTED), whole(LISTED), whole(LISTED), np.zeros(LISTED), whole(WIDEST + 1),
        whole(LISTED), np.zeros(WIDEST), np.zeros(WIDEST),
        whole(WIDEST + 1), whole(WIDEST + 1), np.zeros(WIDEST + 1), whole(WIDEST),
    )  # fmt: skip
