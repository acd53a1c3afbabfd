"""The linear program over the classes of a whole table, with odd sets.

Classes are generated as the prices call for them, and odd sets as the fractional release breaks
them.  The patterns at hand are all that a better release could use.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import OddSet, Tolls, dearest_classes, new_pad, tolls_of
from incrowd.bounds.odd_sets.separation import Fractional, broken_sets
from incrowd.patterns.prefix_tree import Emission

TRIES = 300_000  # per pattern and pricing
OVERLAP = 4  # new classes that a row may be in, per turn
PATIENCE = 2  # turns that an odd set may stay without a toll
TINY = 1e-7
DUAL, PRIMAL = 1, 4  # HiGHS's numbers of simplex strategies


class Program:
    """The program of one table; prices, tolls and costs are in cells.

    Attributes
    ----------
    lists: patterns and their rows, costs in cells.
    counts: int64, shape (distinct,).
    k: least size of a class.
    price: float64, shape (distinct,): the best prices found.
    sets: odd sets with their tolls.
    """

    def __init__(
        self, lists: Emission, counts: NDArray[np.int64], k: int, price: NDArray[np.float64]
    ) -> None:
        self.lists, self.counts, self.k = lists, counts, k
        self.price = price.copy()
        self.sets: list[OddSet] = []
        self.idle: list[int] = []  # turns without a toll, per set
        self.patterns = np.arange(len(lists.cost))
        self.pad = new_pad(int(np.diff(lists.offset).max(initial=1)), k)
        self.classes: list[NDArray[np.int64]] = []
        self.classes_of: list[list[int]] = [[] for _ in counts]
        self.known: set[tuple[int, ...]] = set()
        self.model = new_model()
        self.index_tolls()
        self.start()

    def index_tolls(self) -> None:
        """List the sets by row."""
        self.tolls: Tolls = tolls_of(self.sets, len(self.counts))

    def start(self) -> None:
        """Set up the program with one column per row that is dearer than any class."""
        import highspy

        n = len(self.counts)
        counts = self.counts.astype(np.float64)
        no_entries = np.zeros(0, np.int32), np.zeros(0)
        inf = highspy.kHighsInf
        self.model.addRows(n, counts, np.full(n, inf), 0, np.zeros(n, np.int32), *no_entries)
        at = np.arange(n, dtype=np.int32)
        self.top = self.k * float(self.lists.cost.max(initial=0.0)) + 1.0
        free = np.zeros(n), np.full(n, inf)
        self.model.addCols(n, np.full(n, self.top), *free, n, at, at, np.ones(n))

    def add_row(self, members: NDArray[np.int64]) -> None:
        """Add the constraint of an odd set."""
        import highspy

        shared = np.zeros(len(self.classes))
        for r in members:
            for c in self.classes_of[r]:
                shared[c] += np.count_nonzero(self.classes[c] == r)
        held = shared // 2
        at = np.flatnonzero(held)
        most = self.counts[members].sum() // 2
        columns = (at + len(self.counts)).astype(np.int32)
        self.model.addRow(-highspy.kHighsInf, float(most), len(at), columns, held[at])

    def add_classes(self, patterns: Any, classes: list[NDArray[np.int64]]) -> int:
        """Add columns for classes (rows, copies written out) that are new; return how many."""
        import highspy

        starts, index, value, costs = [], [], [], []
        for p, members in zip(patterns, classes, strict=True):
            key = (int(p), *np.sort(members).tolist())
            if key in self.known:
                continue
            self.known.add(key)
            rows, copies = np.unique(members, return_counts=True)
            starts.append(len(index))
            held = shared_pairs(members, self.tolls)
            own = np.flatnonzero(held)
            index += rows.tolist() + (own + len(self.counts)).tolist()
            value += copies.astype(float).tolist() + held[own].astype(float).tolist()
            costs.append(len(members) * float(self.lists.cost[p]))
            for r in rows:
                self.classes_of[r].append(len(self.classes))
            self.classes.append(members)
        n = len(starts)
        if n:
            self.model.setOptionValue("simplex_strategy", PRIMAL)  # the basis stays feasible
            bounds = np.zeros(n), np.full(n, highspy.kHighsInf)
            entries = np.array(index, np.int32), np.array(value, np.float64)
            first = np.array(starts, np.int32)
            self.model.addCols(n, np.array(costs), *bounds, len(index), first, *entries)
        return n

    def solve(self, stop: Callable[[], bool]) -> bool:
        """Generate classes until none is worth more than nothing; return whether none is."""
        k = self.k
        room = len(self.patterns)
        worth, size = np.zeros(room), np.zeros(room, np.int64)
        rows = np.zeros((room, 2 * k - 1), np.int64)
        while not stop():
            self.model.run()
            dual = np.array(self.model.getSolution().row_dual)
            n = len(self.counts)
            price = np.clip(dual[:n], 0.0, self.top)
            self.tolls.toll[:] = np.maximum(-dual[n:], 0.0)
            found = worth, size, rows
            problem = self.patterns, self.lists, price, self.counts, k
            whole = dearest_classes(*problem, TINY, TRIES, self.tolls, self.pad, *found)
            chosen = self.choose(worth, size, rows)
            classes = [rows[j, : size[j]].copy() for j in chosen]
            if not self.add_classes(self.patterns[chosen], classes):
                self.price = price
                tolls = self.tolls.toll.tolist()
                self.sets = [(s, t) for (s, _), t in zip(self.sets, tolls, strict=True)]
                return whole
        return False

    def choose(
        self, worth: NDArray[np.float64], size: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> list[int]:
        """Choose classes to add: the dearest, few of them over any row."""
        load = np.zeros(len(self.counts), np.int64)
        chosen: list[int] = []
        order = np.argsort(-worth, kind="stable")
        for j in order[size[order] > 0]:
            members = rows[j, : size[j]]
            if load[members].min() < OVERLAP:
                load[members] += 1
                chosen.append(int(j))
        return chosen

    def value(self) -> float:
        """Return the bound: Σ counts·price − Σ toll·(|S| − 1)/2."""
        paid = sum(toll * (self.counts[s].sum() // 2) for s, toll in self.sets)
        return float(self.counts @ self.price - paid)

    def fractional(self) -> tuple[list[int], NDArray[np.float64]]:
        """Return the classes that the fractional release uses, and their shares."""
        x = np.array(self.model.getSolution().col_value)[len(self.counts) :]
        used = np.flatnonzero(x > TINY)
        return used.tolist(), x[used]

    def cut(self, starts: int, most: int, seed: int) -> int:
        """Add odd sets that the fractional release breaks; drop those that bind nothing."""
        used, share = self.fractional()
        if not used:
            return 0
        classes = np.full((len(used), 2 * self.k - 1), -1)
        for i, c in enumerate(used):
            classes[i, : len(self.classes[c])] = self.classes[c]
        usable = self.counts < self.k
        fractional = Fractional.of(classes, share)
        found = broken_sets(fractional, self.counts, usable, starts, most, seed)
        self.drop_idle()
        self.model.setOptionValue("simplex_strategy", DUAL)  # new rows leave the prices feasible
        for members in found:
            self.sets.append((members, 0.0))
            self.idle.append(0)
            self.add_row(members)
        self.index_tolls()
        return len(found)

    def drop_idle(self) -> None:
        """Drop the odd sets without a toll."""
        self.idle = [
            0 if toll > TINY else n + 1 for n, (_, toll) in zip(self.idle, self.sets, strict=True)
        ]
        idle = [i for i, n in enumerate(self.idle) if n > PATIENCE]
        if idle:
            rows = (np.array(idle) + len(self.counts)).astype(np.int32)
            self.model.deleteRows(len(rows), rows)
            self.sets = [s for i, s in enumerate(self.sets) if i not in set(idle)]
            self.idle = [n for n in self.idle if n <= PATIENCE]


def shared_pairs(members: NDArray[np.int64], tolls: Tolls) -> NDArray[np.int64]:
    """int64, shape (sets,): ⌊|C∩S|/2⌋ for a class."""
    held = np.zeros(len(tolls.toll), np.int64)
    for r in members:
        np.add.at(held, tolls.sets[tolls.first[r] : tolls.first[r + 1]], 1)
    return held // 2


def new_model() -> Any:
    """Return an empty program: one thread, silent."""
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    return model
