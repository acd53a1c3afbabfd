"""Ascent along supergradients of a price bound, within one box of prices.

With μ_p(u) the mean price of the dearest class that pattern p may hold, F(u) = Σ counts_r·(u_r −
max over p∋r of (μ_p(u) − cost_p)⁺) is concave, and u minus that reduction keeps to the cost of
every pattern listed.  Which class is the dearest is said by a model's pricing, or it is that of the
k dearest rows.  Steps are scaled as Adam does.

Several threads evaluate F, each with scratch of its own.  The result is that of one thread, to the
last bit: see ``incrowd.bounds.reductions``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.pricing import Pricing
from incrowd.bounds.reductions import (
    BEST,
    BOUND,
    CUT,
    JUDGE,
    LOAD,
    LOADED,
    MOVE,
    RISEN,
    STAYS,
    STEP,
    TAKE,
    Found,
    Path,
    adam_step,
    beside,
    keep_larger,
    new_found,
    walk,
)
from incrowd.bounds.strides import Law, Reach, Strides
from incrowd.bounds.top_copies import LOOKS, Pad
from incrowd.bounds.top_copies import beside as pad_beside
from incrowd.lattice.emission import Emission
from incrowd.lattice.topk import top_k_buffers
from incrowd.run.threads import together, within_room

PAIRS = 10_000  # (row, pattern) pairs that are worth a thread: a tenth of a millisecond
PIECES = 4  # spans of patterns per thread, for some take longer than others
Span = tuple[int, int]
NOWHERE = 0, 0  # the span of parts of a step that are of no span
WORK = 5_000_000_000  # copies that pricing may look at: some 4 ns each where classes are large
LEAST_STEPS = 10  # of an ascent, whatever they take
# of what one call looks at, some .2 milliseconds, while nobody is asked whether to end; and steps
AT_ONCE, MOST_STEPS = 20_000, 25


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
        self, path: Path, law: Law, first: int, rates: NDArray[np.float64], parts: int = STEP
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
        law: Law,
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


def nobody(steps: int) -> None:
    """Tell nobody how many steps are done."""


@dataclass
class Ascent:
    """Patterns to respect, and the ascent within one box around a centre.

    Attributes
    ----------
    lists: the patterns, ``patterns`` of them; there may be room for more.
    counts: int64, shape (distinct,): copies of each row.
    k: rows of the smallest class.
    lowest, highest: the least and the most that a price may be.
    lawful: a model's pricing of classes and its scratch; None for any k rows.
    strides: how far each row's price goes in a step; None for the same for all.
    work: copies that pricing may look at, in as many steps as there is work for if all that follow
        look at as many as the last; by the count, not by the clock, so that a run can be repeated.
        None for no end of it.
    threads: that may share the patterns out among themselves; no influence on the result.
    reach: how many of the box's half-widths each price may go in all; None for one.
    told: is told how many steps were done whenever some were.
    """

    lists: Emission
    patterns: int
    counts: NDArray[np.int64]
    k: int
    lowest: float = 0.0
    lawful: tuple[Pricing, Pad] | None = None
    strides: Strides | None = None
    work: int | None = None
    highest: float = np.inf
    threads: int = 1
    reach: Reach | None = None
    told: Callable[[int], None] = nobody

    def __post_init__(self) -> None:
        if self.strides is None:
            self.strides = Strides.even(len(self.counts))
        self._looked = self.looked()
        self.each = int(self.lists.offset[self.patterns])
        if self.lawful is not None:
            self.each = AT_ONCE  # nobody knows yet

    def looked(self) -> int:
        """Return how many copies pricing has looked at so far."""
        return 0 if self.lawful is None else int(self.lawful[1].state[LOOKS])

    def planned(self, done: int, most: int, last: int) -> int:
        """Return how many steps there will be in all, some done and ``most`` asked for.

        ``last``: of those that are done, how many since this was asked.  The first step asks all
        patterns, later ones only those that are due: plan after each.
        """
        if self.work is None:
            return most
        looked = self.looked()
        step, self._looked = looked - self._looked, looked
        self.work = max(0, self.work - step)
        self.each = -(-step // last)
        return min(most, max(LEAST_STEPS, done + self.work // max(1, self.each)))

    def at_once(self, left: int) -> int:
        """Return how many of the steps that are left one call may walk."""
        if self.work is not None and self.each * left > self.work // 2:
            return 1
        return max(1, min(left, MOST_STEPS, AT_ONCE // max(1, self.each)))

    def run(
        self,
        centre: NDArray[np.float64],
        half_width: float,
        iterations: int,
        rate: tuple[float, float],
        stop: Callable[[], bool],
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the best F seen and its feasible point (for the patterns at hand)."""
        steps = Steps(self, centre, half_width)
        done, planned = 0, iterations
        while done < planned:
            some = self.at_once(planned - done)
            ways = ((i - 1) / planned for i in range(done, done + some))
            steps.walk(done, [rate[0] * (rate[1] / rate[0]) ** way for way in ways])
            done += some
            self.told(some)
            planned = self.planned(done, iterations, some)
            if stop():
                break
        return float(steps.path.number[BEST]), steps.path.best

    def shares(
        self,
        centre: NDArray[np.float64],
        half_width: float,
        iterations: int,
        rate: float,
        stop: Callable[[], bool] = lambda: False,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a fractional release near the optimum, and the prices at the end.

        float64, shape (pairs,): how many copies each pair carries.  Near the best prices the
        supergradient is what a fractional release leaves uncovered; the mean over many small steps
        covers every row almost exactly (Barahona and Anbil, The volume algorithm, Mathematical
        Programming 87, 2000).  The first quarter of the steps does not count.
        """
        steps = Steps(self, centre, half_width, int(self.lists.offset[self.patterns]))
        steps.path.number[BEST] = np.inf  # nothing is better: no step goes back to the best
        done, counted, begin = 0, 0, iterations // 4
        while done < iterations and not stop():
            if done == begin:
                steps.found.share[:], counted = 0, 0
            some = self.at_once((begin if done < begin else iterations) - done)
            steps.walk(done, [rate] * some)
            done, counted = done + some, counted + some
            self.told(some)
        if done:
            steps.advance(rate)
        return steps.found.share / max(1, counted), steps.u


class Steps:
    """A point that moves along supergradients within a box, and its scratch space.

    Attributes
    ----------
    path: where it is, and the best point so far.
    found: what was found there.
    """

    def __init__(
        self, ascent: Ascent, centre: NDArray[np.float64], half_width: float, pairs: int = 0
    ) -> None:
        assert ascent.strides is not None
        self.ascent, self.law = ascent, ascent.strides.law()
        reach = ascent.reach or Reach(len(centre))
        u, half = np.minimum(centre, ascent.highest), half_width * ascent.strides.of_row
        number = np.zeros(6)
        number[BEST], number[STAYS] = -np.inf, True
        self.path = Path(
            u, np.maximum(u - half * reach.down, ascent.lowest),
            np.minimum(u + half * reach.up, ascent.highest),
            ascent.strides.of_row * np.maximum(reach.down, reach.up),
            np.zeros_like(u), np.zeros_like(u), u.copy(), centre.copy(), number,
        )  # fmt: skip
        self.found = new_found(len(u), ascent.patterns, pairs)
        self.evaluation = Evaluation(
            ascent.lists, ascent.patterns, ascent.counts, ascent.k, ascent.lawful, self.found,
            ascent.threads,
        )  # fmt: skip

    @property
    def u(self) -> NDArray[np.float64]:
        """The point: float64, shape (distinct,)."""
        return self.path.u

    @property
    def risen(self) -> float:
        """By how much the mean price of any class can have risen since the start."""
        return float(self.path.number[RISEN])

    def walk(self, first: int, rates: list[float], parts: int = STEP) -> None:
        """Walk steps of these rates, the first of them number ``first``."""
        self.evaluation.walk(self.path, self.law, first, np.array(rates), parts)

    def evaluate(self) -> float:
        """Return F here; leave its reductions and its supergradient behind."""
        self.path.number[STAYS] = True
        self.walk(0, [0.0], STEP & ~JUDGE)
        return float(self.path.number[BOUND])

    def advance(self, rate: float) -> None:
        """Step along the supergradient."""
        path, counts = self.path, self.ascent.counts
        adam_step(
            path.u, self.found.gradient, counts, path.mean, path.square, rate, path.stride, 1e-2,
            path.low, path.high,
        )  # fmt: skip
