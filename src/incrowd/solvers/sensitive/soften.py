"""Annealing through unlawful releases: the schedule of ``incrowd.solvers.sensitive.soft``."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from incrowd.solvers.engine.regions import regions_of
from incrowd.solvers.sensitive.anneal import slices
from incrowd.solvers.sensitive.by_regions import EPOCHS, LawfulRegions, Lists, Span, annealed
from incrowd.solvers.sensitive.journal import most_found
from incrowd.solvers.sensitive.soft import SoftMix, soft_slice


@dataclass(frozen=True, kw_only=True)
class SoftAnnealing:
    """How moves are mixed.

    Attributes
    ----------
    mix: shares of relocations (with up to three copies passed on), of exchanges, and of classes
        dissolved; the rest are pulls.
    found: copies that a pull chooses from.
    breaking, focus: as in ``LawfulAnnealing``.
    """

    mix: tuple[float, float, float] = (0.4, 0.2, 0.02)
    found: int = 150
    breaking: float = 0.7
    focus: float = 0.5

    def run(
        self,
        lists: Lists,
        cell: float,
        moves: float,
        heat: tuple[float, float],
        penalty: tuple[float, float],
        seed: int,
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[float], None] = lambda share: None,
        pace: Callable[[], float] = lambda: 0.0,
        threads: int = 1,
    ) -> NDArray[np.int64]:
        """Anneal an assignment (int64, copies → patterns); its classes may come and go unlawful.

        ``lists``: where it starts; ``moves`` per copy; ``heat``: first and last temperature in
        units of 1/scale; ``penalty``: first and last penalty of a row lacking, in cells; ``pace``
        as in ``slices``.  ``threads``: of large tables, which are searched by regions; no influence
        on the result.
        """
        copies, least = len(lists.pattern), int(lists.rules.least[0])
        total = max(1, int(moves * copies))
        rng = np.array([(seed * 0x9E3779B9 + 4441) & 0xFFFFFFFFFFFF], np.uint64)
        penalties = penalty[0] * cell, penalty[1] * cell

        mix = SoftMix(
            *self.mix, float(max(1, round(cell))), self.breaking,
            min(self.found, most_found(least)), max(60, 3 * least), self.focus,
        )  # fmt: skip
        spend = partial(soft_slice, heat, penalties)

        def told(number: int) -> Iterator[Span]:
            for first, last in slices(total, pace, number):
                yield first, last, total
                report(last / total)

        anneal = partial(annealed, spend, mix, cell, stop)
        if not regions_of(copies):
            return anneal(lists, told(0), rng).astype(np.int64)
        regions = LawfulRegions(lists, seed, threads)
        for span in told(EPOCHS):
            regions.run(span, anneal)
            if stop():
                break
        return regions.pattern
