"""The linear program over the classes that touch a region of the table, with odd sets.

Rows outside keep their prices: a class may take them along for the price less.  So the optimal
prices and tolls inside, with those outside as they were, obey every inequality again, and the bound
rises by what the program gained: block-coordinate ascent, never back.  With the whole table as the
region it is the linear program itself.

Classes are generated as the prices call for them, and odd sets as the fractional release breaks
them.  No price rises beyond ``ceiling``: the patterns at hand are those that can matter below it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import Tolls, dearest_classes, new_pad, tolls_of
from incrowd.bounds.odd_sets.separation import broken_sets
from incrowd.patterns.prefix_tree import Emission

OddSet = tuple[NDArray[np.int64], float]  # distinct rows of one copy each; toll
TRIES = 300_000  # per pattern and pricing
OVERLAP = 4  # new classes that a row may be in, per turn
PATIENCE = 2  # turns that an odd set may stay without a toll
TINY = 1e-7
DUAL, PRIMAL = 1, 4  # HiGHS's numbers of simplex strategies


class Ground(NamedTuple):
    """What regions share.

    lists: patterns and their rows, costs in cells.
    row_offset, row_patterns: the same by row.
    counts: int64, shape (distinct,).
    k: least size of a class.
    ceiling: float64, shape (distinct,): highest price allowed, in cells.
    """

    lists: Emission
    row_offset: NDArray[np.int64]
    row_patterns: NDArray[np.int32]
    counts: NDArray[np.int64]
    k: int
    ceiling: NDArray[np.float64]


class Region:
    """The program of one region; prices, tolls and costs are in cells.

    Attributes
    ----------
    price: float64, shape (distinct,): the best prices found; as given outside the region.
    sets: odd sets within the region, with their tolls.
    value: bound of the region's rows: Σ counts·price − Σ toll·(|S| − 1)/2, over the region.
    """

    def __init__(
        self,
        ground: Ground,
        inside: NDArray[np.int64],
        price: NDArray[np.float64],
        sets: list[OddSet],
    ) -> None:
        g = ground
        self.ground, self.inside = g, inside
        self.place = np.full(len(g.counts), -1, np.int64)
        self.place[inside] = np.arange(len(inside))
        self.price = price.copy()
        self.sets = [s for s in sets if (self.place[s[0]] >= 0).all()]
        self.idle = [0] * len(self.sets)  # turns without a toll
        own = {id(s[0]) for s in self.sets}
        self.others = [s for s in sets if id(s[0]) not in own]
        touching = [g.row_patterns[g.row_offset[r] : g.row_offset[r + 1]] for r in inside]
        self.patterns = np.unique(np.concatenate(touching)).astype(np.int64)
        widest = int(np.diff(g.lists.offset)[self.patterns].max(initial=1))
        self.pad = new_pad(widest, g.k)
        self.classes: list[NDArray[np.int64]] = []
        self.classes_of: dict[int, list[int]] = {int(r): [] for r in inside}
        self.known: set[tuple[int, ...]] = set()
        self.model = new_model()
        self.index_tolls()
        self.start()

    def index_tolls(self) -> None:
        """List all sets by row, those of this region first."""
        self.tolls: Tolls = tolls_of(self.sets + self.others, len(self.place))
        self.others_only = tolls_of(self.others, len(self.place))

    def start(self) -> None:
        """Set up the program with one column per row that prices it at the ceiling."""
        import highspy

        n = len(self.inside)
        counts = self.ground.counts[self.inside].astype(np.float64)
        no_entries = np.zeros(0, np.int32), np.zeros(0)
        inf = highspy.kHighsInf
        self.model.addRows(n, counts, np.full(n, inf), 0, np.zeros(n, np.int32), *no_entries)
        at = np.arange(n, dtype=np.int32)
        top = self.ground.ceiling[self.inside]
        self.model.addCols(n, top, np.zeros(n), np.full(n, inf), n, at, at, np.ones(n))
        for members, _ in self.sets:
            self.add_row(members)

    def add_row(self, members: NDArray[np.int64]) -> None:
        """Add the constraint of an odd set."""
        import highspy

        shared = np.zeros(len(self.classes))
        for r in members:
            np.add.at(shared, self.classes_of[r], 1)
        held = shared // 2
        at = np.flatnonzero(held)
        most = len(members) // 2
        columns = (at + len(self.inside)).astype(np.int32)
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
            at = self.place[rows]
            starts.append(len(index))
            index += at[at >= 0].tolist()
            value += copies[at >= 0].astype(float).tolist()
            held = shared_pairs(members, self.tolls)
            own = np.flatnonzero(held[: len(self.sets)])
            index += (own + len(self.inside)).tolist()
            value += held[own].astype(float).tolist()
            costs.append(self.reduced(int(p), members, held))
            for r in rows[at >= 0]:
                self.classes_of[int(r)].append(len(self.classes))
            self.classes.append(members)
        n = len(starts)
        if n:
            self.model.setOptionValue("simplex_strategy", PRIMAL)  # the basis stays feasible
            bounds = np.zeros(n), np.full(n, highspy.kHighsInf)
            entries = np.array(index, np.int32), np.array(value, np.float64)
            first = np.array(starts, np.int32)
            self.model.addCols(n, np.array(costs), *bounds, len(index), first, *entries)
        return n

    def reduced(self, p: int, members: NDArray[np.int64], held: NDArray[np.int64]) -> float:
        """Return what a class costs less the prices outside, plus the tolls of outside sets."""
        outside = members[self.place[members] < 0]
        cost = len(members) * float(self.ground.lists.cost[p]) - float(self.price[outside].sum())
        return cost + float(held[len(self.sets) :] @ self.tolls.toll[len(self.sets) :])

    def solve(self, stop: Callable[[], bool]) -> bool:
        """Generate classes until none is worth more than nothing; return whether none is."""
        g, k = self.ground, self.ground.k
        room = len(self.patterns)
        worth, size = np.zeros(room), np.zeros(room, np.int64)
        rows = np.zeros((room, 2 * k - 1), np.int64)
        while not stop():
            self.model.run()
            dual = np.array(self.model.getSolution().row_dual)
            n = len(self.inside)
            price = self.price.copy()
            price[self.inside] = np.clip(dual[:n], 0.0, g.ceiling[self.inside])
            self.tolls.toll[: len(self.sets)] = np.maximum(-dual[n:], 0.0)
            found = worth, size, rows
            problem = self.patterns, g.lists, price, g.counts, k
            whole = dearest_classes(*problem, TINY, TRIES, self.tolls, self.pad, *found)
            chosen = self.choose(worth, size, rows)
            classes = [rows[j, : size[j]].copy() for j in chosen]
            if not self.add_classes(self.patterns[chosen], classes):
                self.price = price
                tolls = self.tolls.toll[: len(self.sets)].tolist()
                self.sets = [(s, t) for (s, _), t in zip(self.sets, tolls, strict=True)]
                return whole
        return False

    def choose(
        self, worth: NDArray[np.float64], size: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> list[int]:
        """Choose classes to add: the dearest, few of them over any row."""
        load = np.zeros(len(self.place), np.int64)
        chosen: list[int] = []
        order = np.argsort(-worth, kind="stable")
        for j in order[size[order] > 0]:
            members = rows[j, : size[j]]
            if load[members].min() < OVERLAP:
                load[members] += 1
                chosen.append(int(j))
        return chosen

    def value(self) -> float:
        """Return the region's share of the bound."""
        paid = self.ground.counts[self.inside] @ self.price[self.inside]
        return float(paid - sum(toll * (len(s) // 2) for s, toll in self.sets))

    def fractional(self) -> tuple[list[int], NDArray[np.float64]]:
        """Return the classes that the fractional release uses, and their shares."""
        x = np.array(self.model.getSolution().col_value)[len(self.inside) :]
        used = np.flatnonzero(x > TINY)
        return used.tolist(), x[used]

    def cut(self, starts: int, most: int, seed: int) -> int:
        """Add odd sets that the fractional release breaks; drop those that bind nothing."""
        used, share = self.fractional()
        if not used:
            return 0
        usable = (self.place >= 0) & (self.ground.counts == 1)
        classes = [np.unique(self.classes[c]) for c in used]
        found = broken_sets(classes, share, usable, starts, most, seed)
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
            rows = (np.array(idle) + len(self.inside)).astype(np.int32)
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
