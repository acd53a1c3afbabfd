"""An evaluation of the price bound by several threads, each with scratch of its own.

The result is that of one thread, to the last bit: see ``incrowd.bounds.reductions``.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.pricing import Pricing
from incrowd.bounds.reductions import (
    CUT,
    JUDGE,
    LOAD,
    LOADED,
    MOVE,
    STEP,
    TAKE,
    Found,
    Path,
    beside,
    keep_larger,
    walk,
)
from incrowd.bounds.strides import Law
from incrowd.bounds.top_copies import LOOKS, Pad
from incrowd.bounds.top_copies import beside as pad_beside
from incrowd.lattice.emission import Emission
from incrowd.lattice.topk import top_k_buffers
from incrowd.run.threads import together, within_room

PAIRS = 10_000  # (row, pattern) pairs that are worth a thread: a tenth of a millisecond
PIECES = 4  # spans of patterns per thread, for some take longer than others
Span = tuple[int, int]
NOWHERE = 0, 0  # the span of parts of a step that are of no span


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

    def walk(
        self, path: Path, law: Law | None, first: int, rates: NDArray[np.float64], parts: int = STEP
    ) -> None:
        """Walk as many steps as there are rates; leave cuts and the supergradient in ``found``.

        ``law`` says how far mean prices rise; ``parts`` of each step, see ``reductions.walk``.
        """
        do = partial(self.call, path, law)
        if len(self.hands) == 1:  # steps of small tables take less than it does to share them out
            do(parts, self.spans[0], self.hands[0], first, rates)
            return
        for n in range(len(rates)):
            at = {"first": first + n, "rates": rates[n : n + 1]}
            self.step(path, lambda some, *who, at=at: do(some & parts, *who, **at))

    def call(
        self,
        path: Path,
        law: Law | None,
        parts: int,
        span: Span,
        hand: Hand,
        first: int,
        rates: NDArray[np.float64],
    ) -> None:
        """Let one hand do some parts of steps."""
        walk(parts, path, law, self.lists, span, self.counts, self.k, hand.lawful, hand.pad,
             hand.found, first, rates)  # fmt: skip

    def step(self, path: Path, do: Callable[[int, Span, Hand], None]) -> None:
        """Do one step, of which all hands take their parts."""
        lead, others = self.hands[0], [hand.found for hand in self.hands[1:]]
        do(MOVE, NOWHERE, lead)
        for other in others:
            other.cut.fill(0.0)
            other.cutter.fill(-1)
        self.share_out(partial(do, CUT), self.spans)
        for other in others:
            keep_larger(self.found, other)
        do(LOAD, NOWHERE, lead)
        loaded = int(path.number[LOADED])
        step = max(1, -(-loaded // len(self.spans)))
        for other in others:
            other.gradient.fill(0.0)
        self.share_out(
            partial(do, TAKE), [(x, min(x + step, loaded)) for x in range(0, loaded, step)]
        )
        for other in others:
            np.add(self.found.gradient, other.gradient, out=self.found.gradient)
        self.gather_looks()
        do(JUDGE, NOWHERE, lead)

    def share_out(self, do: Callable[[Span, Hand], None], spans: list[Span]) -> None:
        """Let all hands take spans from one list, in order, until none is left."""
        left = iter(spans)  # one step of it is one for all threads

        def work(hand: Hand) -> None:
            for span in left:
                do(span, hand)

        together([partial(work, hand) for hand in self.hands], len(self.hands))

    def gather_looks(self) -> None:
        """Count the copies that all have looked at where one thread counts its own."""
        if self.lawful is None:
            return
        for hand in self.hands[1:]:
            assert hand.lawful is not None
            self.lawful[1].state[LOOKS] += hand.lawful[1].state[LOOKS]
            hand.lawful[1].state[LOOKS] = 0
