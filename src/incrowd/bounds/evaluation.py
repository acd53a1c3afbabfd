"""An evaluation of the price bound by several threads, each with scratch of its own.

The result is that of one thread, to the last bit: see ``incrowd.bounds.reductions``.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.pricing import Pricing
from incrowd.bounds.reductions import (
    Found,
    beside,
    keep_larger,
    load_cutters,
    reductions,
    take_loaded,
)
from incrowd.bounds.top_copies import LOOKS, Pad
from incrowd.bounds.top_copies import beside as pad_beside
from incrowd.lattice.emission import Emission
from incrowd.lattice.topk import top_k_buffers
from incrowd.run.threads import together, within_room

PAIRS = 10_000  # (row, pattern) pairs that are worth a thread: a tenth of a millisecond
PIECES = 4  # spans of patterns per thread, for some take longer than others
Span = tuple[int, int]


class Hand(NamedTuple):
    """The scratch of one thread: of ``top_k``, of a model's pricing, and of the evaluation."""

    pad: tuple[Any, Any, Any]
    lawful: tuple[Pricing, Pad] | None
    found: Found


class Evaluation:
    """F and its supergradient over the first ``patterns`` of some lists.

    Attributes
    ----------
    found: what the last evaluation found.
    """

    def __init__(
        self,
        lists: Emission,
        patterns: int,
        counts: NDArray[np.int64],
        k: int,
        lawful: tuple[Pricing, Pad] | None,
        found: Found,
        threads: int,
    ) -> None:
        self.lists, self.patterns, self.counts, self.k = lists, patterns, counts, k
        self.found, self.lawful = found, lawful
        pairs = int(lists.offset[patterns])
        each = 40 * len(counts) + (0 if lawful is None else sum(x.nbytes for x in lawful[1]))
        self.hands = [Hand(top_k_buffers(k, np.float64), lawful, found)]
        for _ in range(1, within_room(min(threads, pairs // PAIRS), each)):
            own = None if lawful is None else (lawful[0], pad_beside(lawful[1]))
            self.hands.append(Hand(top_k_buffers(k, np.float64), own, beside(found)))
        pieces = PIECES * len(self.hands) if len(self.hands) > 1 else 1
        shares = np.arange(1, pieces) * pairs // pieces
        edges = [0, *np.searchsorted(lists.offset[:patterns], shares).tolist(), patterns]
        self.spans = list(pairwise(edges))

    def at(self, u: NDArray[np.float64], risen: float, room: float) -> float:
        """Return F at u; leave cuts and the supergradient in ``found``; see ``reductions``."""
        found, others = self.found, [hand.found for hand in self.hands[1:]]
        self.share_out(partial(self.cut, u, risen, room), self.spans)
        for other in others:
            keep_larger(found, other)
        bound, loaded = load_cutters(u, self.counts, found)
        step = max(1, -(-loaded // len(self.spans)))
        spans = [(x, min(x + step, loaded)) for x in range(0, loaded, step)]
        for other in others:
            other.gradient.fill(0.0)
        self.share_out(partial(self.take, u), spans)
        for other in others:
            np.add(found.gradient, other.gradient, out=found.gradient)
        self.gather_looks()
        return float(bound)

    def share_out(self, do: Callable[[Iterator[Span], Hand], None], spans: list[Span]) -> None:
        """Let all hands take spans from one list until none is left."""
        left = iter(spans)  # one step of it is one for all threads
        if len(self.hands) == 1:  # steps of small tables take less than it does to share them out
            do(left, self.hands[0])
            return
        together([partial(do, left, hand) for hand in self.hands], len(self.hands))

    def cut(
        self,
        u: NDArray[np.float64],
        risen: float,
        room: float,
        spans: Iterator[Span],
        hand: Hand,
    ) -> None:
        """Find the cuts of the spans that come to this hand, which come in order."""
        hand.found.cut.fill(0.0)
        hand.found.cutter.fill(-1)
        for span in spans:
            reductions(u, self.lists, span, self.counts, self.k, hand.lawful, hand.pad,
                       hand.found, risen, room)  # fmt: skip

    def take(self, u: NDArray[np.float64], spans: Iterator[Span], hand: Hand) -> None:
        """Take the dearest classes of the spans that come to this hand."""
        for span in spans:
            take_loaded(u, self.lists, span, self.counts, self.k, hand.lawful, hand.pad, hand.found)

    def gather_looks(self) -> None:
        """Count the copies that all have looked at where one thread counts its own."""
        if self.lawful is None:
            return
        for hand in self.hands[1:]:
            assert hand.lawful is not None
            self.lawful[1].state[LOOKS] += hand.lawful[1].state[LOOKS]
            hand.lawful[1].state[LOOKS] = 0
