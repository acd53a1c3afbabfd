"""Annealing of large tables under sensitive models by regions beside each other.

As ``incrowd.solvers.engine.regions`` says, but classes are whole: a part of a lawful class need
not be lawful.  Models here are closed under union, so that lawful classes of one pattern in two
regions are lawful together.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.halt import NEVER
from incrowd.run.threads import together, within_room
from incrowd.solvers.engine.candidates import Candidates
from incrowd.solvers.engine.regions import SLICE, Cutter, Region, dealt, regions_of
from incrowd.solvers.sensitive.assignment import LawfulState, Rules
from incrowd.solvers.sensitive.journal import Search, new_search

EPOCHS = 25  # how often regions are cut anew
NEAR = 50  # smallest classes that a pattern which makes rows neighbours may hold

Span = tuple[int, int, int]


class Lists(NamedTuple):
    """A table to be annealed: what it may use, its rules, its rows' prices, where it starts.

    ``halt``: the word that ends a slice of moves (``incrowd.kernels.halt``).
    """

    c: Candidates
    rules: Rules
    price: NDArray[np.float64]
    pattern: NDArray[np.int64]
    halt: NDArray[np.int64] = NEVER


Anneal = Callable[[Lists, Iterable[Span], NDArray[np.uint64]], NDArray[np.integer]]
"""Spends the moves of spans (first, last + 1, of how many) on a table; returns its assignment."""
Spend = Callable[[Span, NDArray[np.intp], Search, NDArray[np.int64]], Any]
"""Spends the moves of one span, many of them on some copies, until a word ends them."""


def dear(lists: Lists, state: LawfulState, cell: float) -> NDArray[np.intp]:
    """Return the copies that pay more than a cell and a half above their price."""
    paid = lists.c.cost[state.pattern] - lists.price[lists.c.row_of]
    return np.flatnonzero(paid > 1.5 * cell)


def annealed(
    spend: Spend,
    mix: Any,
    cell: float,
    stop: Callable[[], bool],
    lists: Lists,
    spans: Iterable[Span],
    rng: NDArray[np.uint64],
) -> NDArray[np.int32]:
    """Spend the moves of spans on a table or a region; return its assignment."""
    search = new_search(mix, lists.c, lists.rules, lists.pattern, rng)
    for span in spans:
        spend(span, dear(lists, search.state, cell), search, lists.halt)
        if stop():
            break
    return search.state.pattern


def rules_in(region: Region, rules: Rules) -> Rules:
    """Return the rules of a region, with room of their own to calculate in.

    ``sample`` still tells rows of the table: moves do not look at it.
    """
    laws = rules.laws._replace(pad=rules.laws.pad.copy())
    exempt = np.array([-1 if rules.exempt[0] < 0 else len(region.patterns) - 1], np.int64)
    places, profile = rules.places[region.rows], rules.profile[region.rows]
    return rules._replace(laws=laws, places=places, profile=profile, exempt=exempt)


@dataclass(eq=False)
class LawfulRegions:
    """An assignment that is annealed region by region.

    Attributes
    ----------
    pattern: int64, shape (copies,): the assignment, which changes.
    """

    lists: Lists
    seed: int
    threads: int

    def __post_init__(self) -> None:
        self.c, self.rules = self.lists.c, self.lists.rules
        self.pattern = self.lists.pattern.astype(np.int64)
        self.epoch = 0
        self.regions = regions_of(len(self.pattern))
        self.least = max(1, int(self.rules.least[0]))
        self.threads = within_room(self.threads, 200 * (len(self.c.cost) + len(self.pattern)))
        self.cutter = Cutter(self.c, self.threads)

    def run(self, span: Span, anneal: Anneal) -> None:
        """Spend the moves of a span (first, last + 1, of how many) on all regions."""
        near = max(200, NEAR * self.least)
        whole = len(self.pattern) + 1  # no class is cut
        seed = self.seed * 1009 + self.epoch
        parts = dealt(self.c, self.pattern, whole, self.regions, seed, near)
        works = [
            partial(self.anneal, copies, span, anneal, number)
            for number, copies in enumerate(parts)
        ]
        together(works, self.threads)
        self.epoch += 1

    def anneal(self, copies: NDArray[np.int64], span: Span, anneal: Anneal, number: int) -> None:
        """Spend a region's part of the moves, at the temperatures of the span."""
        region = self.cutter.region(copies, self.pattern, self.least)
        part = len(copies) / len(self.pattern)
        first, last, total = (max(1, round(part * n)) if n else 0 for n in span)
        edges = [*range(first, last, SLICE), last]
        spans = [(a, b, total) for a, b in pairwise(edges)]
        dice = np.random.default_rng([self.seed, self.epoch, number])
        rng = dice.integers(1 << 63, size=1).astype(np.uint64)
        price = self.lists.price[region.rows]
        rules, halt = rules_in(region, self.rules), self.lists.halt
        lists = Lists(region.candidates, rules, price, region.pattern, halt)
        found = anneal(lists, spans, rng)
        self.pattern[copies] = region.patterns[found]
