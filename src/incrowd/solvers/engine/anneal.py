"""Annealing over the moves: a kernel for a slice of moves, and the loop that cools it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.rounds import fade
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw
from incrowd.problem.instance import Instance
from incrowd.run import clock
from incrowd.run.threads import together, within_room
from incrowd.solvers.engine.assignment import State, new_pad, new_state, total_cost
from incrowd.solvers.engine.candidates import Candidates
from incrowd.solvers.engine.moves import NONE, Mix, regroup, relocate, shift
from incrowd.solvers.engine.pull import pull
from incrowd.solvers.engine.regions import SLICE, Cutter, dealt, order_of, regions_of, work_of
from incrowd.solvers.engine.swap import MOST_CLOSED, swap

MODERATE = 40_000  # rows
EPOCHS = (8, 100)  # how often regions are cut anew, at least and at most
CUTTING = (0.2, 1.0)  # moves per pair and copy that regions must stay for, to be worth the cutting
MORE = 1.4  # times as many moves by regions: borders cost some thousandths, and moves are faster
ALWAYS = 1 << 20  # copies beyond which a class counts as large in every move


@inner_kernel
def one_move(
    i: int, number: int, heat: float, mix: Any, state: Any, pad: Any, c: Any, rng: Any
) -> int:
    """Try a move of copy i, which is not free; return the change of cost or ``NONE``."""
    q = state.pattern[i]
    if state.size[q] > mix.k:
        delta = relocate(i, mix.k, state, pad, c, rng)
        if delta != NONE:
            return delta
    elif draw(rng) < mix.shifts:
        return shift(i, mix.k, heat, state, c, rng)
    elif draw(rng) < mix.regroups:
        return regroup(i, number, heat, mix, state, pad, c, rng)
    if state.size[q] <= MOST_CLOSED * mix.k and draw(rng) < mix.swaps:
        return swap(i, number, heat, mix, state, pad, c, rng)
    return pull(i, number, heat, mix, state, pad, c, rng)


@lean_kernel
def anneal_slice(
    span: Any,
    heats: Any,
    mix: Any,
    state: Any,
    pad: Any,
    c: Any,
    rng: Any,
    paying: Any,
    active: Any,
) -> int:
    """Run moves first..last−1, cooling from one heat to the other; return the change of cost.

    A share of them starts at a copy of the list ``active``, the others at one of ``paying``.
    """
    change = 0
    first, last = span
    hot, cold = heats
    ratio = np.log(cold / hot) / (last - first)
    for number in range(first, last):
        heat = hot * np.exp(ratio * (number - first))
        if active.size and draw(rng) < mix.focus:
            i = active[below(rng, active.size)]
        else:
            i = paying[below(rng, paying.size)]
        if c.cost[state.pattern[i]] == 0:
            continue
        delta = one_move(i, number, heat, mix, state, pad, c, rng)
        if delta != NONE:
            change += delta
    return change


def paying_copies(state: State, c: Candidates) -> NDArray[np.int64]:
    """List the copies whose class is not free."""
    return np.flatnonzero(c.cost[state.pattern] > 0)


def above_price(
    state: State, c: Candidates, price: NDArray[np.float64], least: float
) -> NDArray[np.int64]:
    """List the copies whose class pays more than ``least`` above the prices of its rows."""
    pattern = state.pattern
    worth = np.bincount(pattern, weights=price[c.row_of], minlength=len(c.cost))
    return np.flatnonzero((state.size * c.cost - worth)[pattern] > least)


@dataclass
class Clock:
    """How far an annealing has come: by its moves alone, or also by the time it has.

    Attributes
    ----------
    total, length: moves in all and per slice.
    seconds: (wall seconds to use at most, factor on the moves in that time), or None: cooling
        is then a matter of moves alone, and so repeatable.
    """

    total: int
    length: int
    seconds: tuple[float, float] | None

    def __post_init__(self) -> None:
        self.done = 0
        self.share = 0.0 if self.total else 1.0
        self.step = self.length / max(1, self.total)
        self.begin = clock.now()

    def ends(self) -> tuple[float, float]:
        """Return the shares at the begin and (about) at the end of the next slice."""
        return self.share, min(1.0, self.share + self.step)

    def tick(self) -> None:
        """Note that a slice is done."""
        before = self.share
        self.done += self.length
        if self.seconds is None:
            self.share = min(1.0, self.done / self.total)
        else:
            most, factor = self.seconds
            by_time = (clock.now() - self.begin) / max(most, 1e-3)
            self.share = min(1.0, max(by_time, self.done / (factor * self.total)))
            self.step = self.share - before


@dataclass(frozen=True, kw_only=True)
class Annealing:
    """A cooling schedule.

    What a cell costs, not what a row pays, is the natural unit of temperature: a step to a
    neighbouring state stars or frees a few cells, whatever the others of its rows cost.  Classes
    of more copies take larger steps, hence the factor k ** ``growth``.

    Attributes
    ----------
    moves: moves per copy that is not released as it is; ``least`` and ``most`` moves in all, for
        small tables and large ones.  each: how many a copy are enough below 100 copies.
    heat: first and last temperature, in suppressed cells times k ** ``growth``.
    shifts, regroups, swaps: shares of those moves where they apply; the others are pulls.
    cheaper: share of pulls that aim at a strictly cheaper pattern.
    most_support: widest pattern that a pull may open.
    focus: share of moves that start in a class that pays above the prices of its rows.
    """

    moves: float = 250
    heat: tuple[float, float] = (1.0, 0.085)
    growth: float = 0.45
    shifts: float = 0.25
    regroups: float = 0.4
    swaps: float = 0.25
    cheaper: float = 0.05
    most_support: int = 2000
    focus: float = 0.5
    least: int = 1_000_000
    most: int = 60_000_000
    each: int = 4_000

    @classmethod
    def suited(cls, instance: Instance, k: int) -> "Annealing":
        """Return a schedule for this table: real hierarchies leave more to be decided.

        Their patterns are wide: a move takes time in proportion to k, and swaps succeed more often
        than pulls.  On large tables three times the moves save less than a thousandth.
        """
        if instance.plain:
            return cls()
        most = 30_000_000 if instance.rows <= MODERATE else 10_000_000
        moves = 1000 * min(1.0, (5 / k) ** 0.43)
        return cls(moves=moves, swaps=0.6, most=most, each=10_000)

    def mix(self, k: int, unit: int) -> Mix:
        """Return what the moves need to know; ``unit``: what a cell costs."""
        return Mix(
            k,
            unit,
            self.shifts,
            self.regroups,
            self.swaps,
            self.cheaper,
            self.most_support,
            self.focus,
        )

    def heat_at(self, share: float) -> float:
        """Return the temperature after a share of the way, in the units of ``heat``."""
        return float(fade(self.heat, share))

    def total_moves(self, copies: int) -> int:
        """Return the number of moves for so many copies."""
        least = min(self.least, copies * max(self.each, 100 * copies))
        return int(min(max(self.moves * copies, least), self.most))

    def run(
        self,
        candidates: Candidates,
        pattern: NDArray[np.int64],
        k: int,
        cell: float,
        seed: int,
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[int, float], None] = lambda cost, share: None,
        price: NDArray[np.float64] | None = None,
        seconds: tuple[float, float] | None = None,
        always_open: bool = False,
        threads: int = 1,
    ) -> NDArray[np.int64]:
        """Improve an assignment (int64, copies → patterns); return the best one met at a rest.

        ``cell`` is what suppressing one cell typically costs; ``seconds``: see ``Clock``.
        ``always_open``: whether the last pattern takes any number of copies, fewer than k too.
        ``threads``: of large tables, which are searched by regions; no influence on the result.
        """
        if regions_of(len(pattern)) and not always_open:
            search = ByRegions(self, candidates, pattern, k, cell, seed, price, threads)
            return search.run(seconds, stop, report)
        state = new_state(candidates, pattern)
        state.size[-1] += ALWAYS if always_open else 0  # as if so many others never left it
        pad = new_pad(candidates, k, self.most_support)
        rng = np.array([seed * 0x9E3779B9 + 12345], np.uint64)
        paying = paying_copies(state, candidates)
        total = self.total_moves(len(paying))
        cost = total_cost(state, candidates)
        best = cost = cost - ALWAYS * int(candidates.cost[-1]) if always_open else cost
        best_pattern = pattern.copy()
        mix = self.mix(k, max(1, round(cell)))
        clock = Clock(total, max(1, min(200_000, total // 40)), seconds)
        if total == 0:  # everything is free already
            report(best, 1.0)
        active = np.empty(0, np.int64)
        while clock.share < 1.0:
            paying = paying_copies(state, candidates)
            if len(paying) == 0:
                break
            if self.focus and price is not None:
                active = above_price(state, candidates, price, 0.02 * cell)
            hot, cold = (self.heat_at(share) * cell * k**self.growth for share in clock.ends())
            cost += anneal_slice(
                (clock.done, clock.done + clock.length),
                (hot, cold),
                mix,
                state,
                pad,
                candidates,
                rng,
                paying,
                active,
            )
            clock.tick()
            if cost < best:
                best = cost
                best_pattern[:] = state.pattern
            report(best, clock.share)
            if stop():
                break
        return best_pattern


@dataclass(eq=False)
class ByRegions:
    """An annealing of a large table: regions beside each other, cut anew from time to time."""

    annealing: Annealing
    candidates: Candidates
    pattern: NDArray[np.int64]
    k: int
    cell: float
    seed: int
    price: NDArray[np.float64] | None
    threads: int
    stop: Callable[[], bool] = lambda: False
    order: NDArray[np.int64] | None = None

    def run(
        self,
        seconds: tuple[float, float] | None,
        stop: Callable[[], bool],
        report: Callable[[int, float], None],
    ) -> NDArray[np.int64]:
        """See ``Annealing.run``."""
        c, self.stop, self.pattern = self.candidates, stop, self.pattern.astype(np.int64)
        cost = best = int(c.cost[self.pattern].sum())
        best_pattern = self.pattern.copy()
        total = int(MORE * self.annealing.total_moves(int((c.cost[self.pattern] > 0).sum())))
        regions = regions_of(len(self.pattern))
        cutting = CUTTING[0] * len(c.rows) + CUTTING[1] * len(self.pattern)
        epochs = min(max(int(total / cutting), EPOCHS[0]), EPOCHS[1])
        clock = Clock(total, max(1, total // epochs), seconds)
        threads = within_room(self.threads, 100 * len(c.cost))
        self.cutter = Cutter(c, threads)
        if total == 0:
            report(best, 1.0)
        epoch = 0
        while clock.share < 1.0:
            heats = [self.annealing.heat_at(s) * self.cell * self.k**self.annealing.growth
                     for s in clock.ends()]  # fmt: skip
            change = self.each_region(regions, clock.length, (heats[0], heats[1]), epoch, threads)
            if change is None:
                break
            cost += change
            clock.tick()
            epoch += 1
            if cost < best:
                best = cost
                best_pattern[:] = self.pattern
            report(best, clock.share)
            if stop():
                break
        return best_pattern

    def each_region(
        self, regions: int, length: int, heats: tuple[float, float], epoch: int, threads: int
    ) -> int | None:
        """Spend so many moves on regions that are cut anew; return the change of cost.

        None where nothing pays.
        """
        c, seed = self.candidates, self.seed * 1009 + epoch
        work = work_of(c, self.pattern, regions)
        parts = dealt(c, self.pattern, self.k, regions, seed, order=self.order, work=work)
        paying = [int((c.cost[self.pattern[copies]] > 0).sum()) for copies in parts]
        if not sum(paying):
            return None
        moves = [length * n // sum(paying) for n in paying]
        works = [
            partial(self.anneal, copies, n, heats, (self.seed, epoch, number))
            for number, (copies, n) in enumerate(zip(parts, moves, strict=True))
        ]
        longest = sorted(works, key=lambda work: -work.args[1])  # first: nobody waits for it alone
        ahead = partial(self.put_in_order, seed + 1)  # by whoever is free then
        return sum(together([*longest, ahead], threads))

    def put_in_order(self, seed: int) -> int:
        """Put the rows in order for regions of a seed to come; return 0: it changes no cost."""
        self.order = order_of(self.candidates.codes, seed)
        return 0

    def anneal(
        self,
        copies: NDArray[np.int64],
        moves: int,
        heats: tuple[float, float],
        seed: tuple[int, int, int],
    ) -> int:
        """Anneal the region of these copies; return the change of cost."""
        annealing, k, cell = self.annealing, self.k, self.cell
        if moves == 0:
            return 0
        region = self.cutter.region(copies, self.pattern, k)
        c = region.candidates
        state = new_state(c, region.pattern)
        pad, mix = new_pad(c, k, annealing.most_support), annealing.mix(k, max(1, round(cell)))
        rng = np.random.SeedSequence(seed).generate_state(1, np.uint64)
        price = None if self.price is None else self.price[region.rows]
        change = 0
        active = np.empty(0, np.int64)
        slices = -(-moves // SLICE)
        for n in range(slices):
            paying = paying_copies(state, c)
            if len(paying) == 0 or (n and self.stop()):
                break
            if annealing.focus and price is not None:
                active = above_price(state, c, price, 0.02 * cell)
            span = moves * n // slices, moves * (n + 1) // slices
            hot, cold = (fade(heats, m / moves) for m in span)
            change += anneal_slice(span, (hot, cold), mix, state, pad, c, rng, paying, active)
        self.pattern[copies] = region.patterns[state.pattern]
        return int(change)
