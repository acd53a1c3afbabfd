"""Annealing over the moves: a kernel for a slice of moves, and the loop that cools it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import lean_kernel
from incrowd.kernels.random import below, draw
from incrowd.solvers.engine.assignment import total_cost
from incrowd.solvers.engine.regions import regions_of
from incrowd.solvers.sensitive.assignment import new_state, shortfall
from incrowd.solvers.sensitive.by_regions import EPOCHS, LawfulRegions, Lists, annealed, dear
from incrowd.solvers.sensitive.journal import new_search
from incrowd.solvers.sensitive.moves import NONE, Mix, one_move
from incrowd.solvers.sensitive.start import mend_root

FAR = 1 << 60
SLICES = 40  # at least, of the moves for one table


@lean_kernel
def anneal_slice(heats: Any, span: Any, active: Any, search: Any, halt: Any) -> int:
    """Run the moves of a span (first, last + 1, of how many); return the change of cost.

    ``active``: the copies that a share of the moves starts at; ``halt``: the word that ends them.
    """
    state, c, rng = search.state, search.c, search.rng
    copies = state.pattern.size
    change = 0
    first, last, total = span
    hot, cold = heats
    ratio = np.log(cold / hot)
    for number in range(first, last):
        if halted(halt):
            break
        if active.size and draw(rng) < search.mix.focus:
            i = active[below(rng, active.size)]
        else:
            i = below(rng, copies)
        if c.cost[state.pattern[i]] == 0:
            continue
        heat = hot * np.exp(ratio * number / total)
        delta = one_move(i, number, heat, search)
        if delta != NONE:
            change += delta
    return change


def slices(total: int, pace: Callable[[], float], number: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the first move of each slice and the one after its last, up to ``total``.

    ``number``: how many there are; 0 for what suits one table.

    ``pace`` tells the share of its time that the search has used: behind the clock, moves are left
    out, so that the temperature comes down in time.  The last slice has its turn in any case.
    Where moves are so slow that a slice takes more than its part of the time, later ones are
    shorter: a few would have left no time to cool.
    """
    longest = -(-total // number) if number else max(1, min(100_000, total // SLICES))
    first, before, length = 0, 0.0, longest
    while first < total:
        last = min(first + length, total)
        yield first, last
        used = pace()
        if not number:
            slower = max(0.5, (used - before) * SLICES)
            length = min(longest, max(1, int(length / slower)))
        first, before = max(last, min(int(total * used), total - length)), used


@dataclass(frozen=True, kw_only=True)
class LawfulAnnealing:
    """A cooling schedule.

    Attributes
    ----------
    moves: moves per copy of the table.
    heat: first and last temperature, in suppressed cells times k ** ``growth``, k the smallest
        class: a step stars or frees a few cells, more of them where classes are larger.
    shifts: share of shifts among the moves that open or widen.
    focus: share of moves that start at copies which pay more than a unit above their price.
    breaking: share of pulls that may break one further class, and then dissolve or refill it.
    breaks: further classes that a pull may break, at most.
    penalty: what a row costs that the root's class lacks to be lawful, as a multiple of the root's
        cost.
    """

    moves: float = 200
    heat: tuple[float, float] = (1.0, 0.05)
    growth: float = 0.45
    shifts: float = 0.05
    breaking: float = 0.7
    breaks: int = 3
    focus: float = 0.5
    penalty: float = 5.0

    def mix(self, cell: float, root: float, least: int) -> Mix:
        """Return how moves are mixed, where the root's pattern costs so much."""
        return Mix(
            float(max(1, round(cell))), self.penalty * root, self.shifts, self.breaking,
            self.breaks, max(60, 3 * least), self.focus,
        )  # fmt: skip

    def run(
        self,
        lists: Lists,
        cell: float,
        warmth: float,
        seed: int,
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[int, float], None] = lambda cost, share: None,
        pace: Callable[[], float] = lambda: 0.0,
        threads: int = 1,
    ) -> NDArray[np.int64]:
        """Improve an assignment (int64, copies → patterns); return the best lawful one met.

        All classes are lawful throughout but the root's, which pays for it: copies wait there for
        their turn, which a lawful class would allow in lawful bundles only.
        ``lists``: where it starts; its prices tell where to look.  ``cell`` is what suppressing one
        cell typically costs; ``warmth`` scales the temperatures; ``pace`` as in ``slices``;
        ``threads``: of large tables, which are searched by regions; no influence on the result.
        """
        c, rules, pattern = lists.c, lists.rules, lists.pattern
        rng = np.array([(seed * 0x9E3779B9 + 777) & 0xFFFFFFFFFFFF], np.uint64)
        copies = len(pattern)
        total = max(1, int(self.moves * copies))
        least = int(rules.least[0])
        hot, cold = (warmth * heat * cell * least**self.growth for heat in self.heat)
        root = len(c.cost) - 1
        lenient = rules._replace(exempt=np.array([root], np.int64))
        mix = self.mix(cell, float(c.cost[root]), least)
        search = new_search(mix, c, lenient, pattern, rng)
        state = search.state
        cost, best_pattern = total_cost(state, c), pattern.copy()
        best = cost if shortfall(state, lenient) == 0 else FAR
        lists = lists._replace(rules=lenient)
        regions = LawfulRegions(lists, seed, threads) if regions_of(copies) else None

        spend = partial(anneal_slice, (hot, cold))
        for first, last in slices(total, pace, EPOCHS if regions else 0):
            span = first, last, total
            if regions is not None:
                regions.run(span, partial(annealed, spend, mix, cell, stop))
                state = new_state(c, rules, regions.pattern)
                cost = total_cost(state, c)
            else:
                cost += spend(span, dear(lists, state, cell), search, lists.halt)
            if cost < best and shortfall(state, lenient) == 0:
                best = cost
                best_pattern[:] = state.pattern
            report(best, last / total)
            if stop():
                break
        owing = shortfall(state, lenient) > 0 and cost < best
        if owing and mend_root(state, rules, c, rng) and total_cost(state, c) < best:
            best, best_pattern[:] = total_cost(state, c), state.pattern
        if best == FAR:
            best_pattern[:] = root
        return best_pattern
