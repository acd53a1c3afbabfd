"""Raise price bounds beyond the linear program: exactly on small tables, else by ascent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import OddSet
from incrowd.bounds.odd_sets.lifting import Lifting
from incrowd.bounds.odd_sets.program import Program
from incrowd.bounds.price import fade
from incrowd.patterns.prefix_tree import Emission

PAYS = 0.03  # share of what a program has gained that three more rounds must add


class Lifted(NamedTuple):
    """Lifted prices and odd sets with tolls (distinct rows, toll), in the units of costs.

    They hold up to rounding for the classes of ``lists``: see ``certificate``.
    """

    lists: Emission
    price: NDArray[np.float64]
    sets: list[OddSet]


@dataclass(frozen=True, kw_only=True)
class OddSets:
    """How the bound is raised.

    Attributes
    ----------
    rounds: rounds of odd sets in a linear program.
    starts, most: searches per size of set and round; sets added per round.
    room: how far a price may rise in an ascent, in suppressed cells: patterns that could matter
        only beyond are not looked at.
    steps, searches: steps of an ascent between two searches for odd sets; searches per size.
    rate: its first and last step, in suppressed cells.
    """

    rounds: int = 30
    starts: int = 500
    most: int = 120
    room: float = 0.45
    steps: int = 100
    searches: int = 12_000
    rate: tuple[float, float] = (0.008, 0.0004)

    def whole(
        self,
        lists: Emission,
        counts: NDArray[np.int64],
        k: int,
        price: NDArray[np.float64],
        cell: float,
        seed: int,
        stop: Callable[[], bool],
    ) -> Lifted:
        """Solve the program of a whole table over the classes of ``lists``; see ``Lifted``."""
        program = Program(lists._replace(cost=lists.cost / cell), counts, k, price / cell)
        if program.solve(stop):
            self.add_sets(program, seed, stop)
        sets = [(rows, toll * cell) for rows, toll in program.sets if toll > 0]
        return Lifted(lists, program.price * cell, sets)

    def add_sets(self, program: Program, seed: int, stop: Callable[[], bool]) -> None:
        """Add odd sets while they pay."""
        first = before = program.value()
        for n in range(self.rounds):
            if not program.cut(self.starts, self.most, seed + n) or not program.solve(stop):
                break
            if n % 3 == 2:
                if program.value() - before <= PAYS * max(program.value() - first, 0.1):
                    break
                before = program.value()

    def climb(
        self,
        lists: Emission,
        counts: NDArray[np.int64],
        k: int,
        price: NDArray[np.float64],
        cell: float,
        seed: int,
        progress: Callable[[int], float],
        report: Callable[[float], None] = lambda share: None,
        least: int = 0,
    ) -> Lifted | None:
        """Go up from ``price`` until ``progress`` (of the rounds done) is 1.

        ``lists``: the patterns that matter below ``price`` + ``room``.  Odd sets are sought during
        the first four fifths.  None when it seems, after the first step, that ``least`` steps will
        not fit in.
        """
        lifting = Lifting(
            lists._replace(cost=lists.cost / cell), counts, k, price / cell, self.room
        )
        lifting.climb(1, 0.0)
        before, n = progress(0), 0
        lifting.climb(1, 0.0)
        if least * (progress(0) - before) > 1.0:
            return None
        while (share := progress(n)) < 1.0:
            report(share)
            fractional = lifting.climb(self.steps, fade(self.rate, share))
            n += 1
            if progress(n) < 0.8 and len(fractional.share):
                lifting.cut(fractional, self.searches, self.searches, seed + n)
        sets = [(rows, toll * cell) for rows, toll in lifting.sets]
        return Lifted(lists, lifting.price * cell, sets)
