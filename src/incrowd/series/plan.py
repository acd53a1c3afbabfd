"""Classes of the next release: each of pairwise different sensitive values, signatures kept.

1. Each signature keeps as many of its last classes as its commonest value needs, those with most
   survivors; people of the others, and people who return, take open places there.
2. Newcomers take open places of their value, at the least cost.
3. Newcomers for whom there is no place make classes of their own: dealt by value from a release
   under frequency m-diversity where they allow one, else with counterfeits.
4. What is open still is a counterfeit.  So many there have to be (``fewest``), if the signatures of
   classes under 3 have m values or more.

A class is a mapping from value to row, −1 for nobody.

How few counterfeits the next m-invariant release needs (docs/how-to/republish.md).

Theorem.  Let c(S, v) be the published people of signature S with value v who are still there,
D(v) = Σ_S (max_w c(S, w) − c(S, v)) the places open to v, f(v) the newcomers with value v,
F = Σ f, and low(v) = (f(v) − D(v))⁺.  Every m-invariant next release has at least
Σ D − F + max(Σ low, m·max low) counterfeits, and at least 0.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from incrowd.hierarchy.family import Family

Layer = dict[str, int]
Signature = frozenset[str]
NOWHERE = np.iinfo(np.int32).max  # above all codes
KEEP_ALL = 1
"""Classes with so many survivors stay as they are; none is given up."""


@dataclass(frozen=True)
class Need:
    """What the next release needs.

    Attributes
    ----------
    counterfeits: the fewest.
    low: by value, newcomers who find no open place.
    extra: rows of classes beyond those that survivors need.
    """

    counterfeits: int
    low: Mapping[str, int]
    extra: int


def need(survivors: Mapping[frozenset[str], Counter[str]], fresh: Counter[str], m: int) -> Need:
    """Return what the theorem says.

    Parameters
    ----------
    survivors: by signature, how many of them have each value.  fresh: newcomers by value.
    """
    places: Counter[str] = Counter()
    for signature, count in survivors.items():
        top = max(count[v] for v in signature)
        for v in signature:
            places[v] += top - count[v]
    low = {v: max(n - places[v], 0) for v, n in fresh.items()}
    extra = max(sum(low.values()), m * max(low.values(), default=0))
    return Need(max(0, places.total() - fresh.total() + extra), low, extra)


@dataclass(eq=False)
class Planner:
    """What classes are made from.

    Attributes
    ----------
    values: the sensitive value of each row.
    signature: of each row that was published before; None for a newcomer.
    leaves: shape (rows, columns): leaf codes; trees: of the columns.
    m: least number of values of a class.
    known: all values, the most frequent first.
    deal: classes of rows that allow for lawful ones without counterfeits; lists of rows.
    """

    values: Sequence[str]
    signature: Sequence[Signature | None]
    leaves: NDArray[np.int32]
    trees: tuple[Family, ...]
    m: int
    known: Sequence[str]
    deal: Callable[[list[int]], Iterable[list[int]]]
    needed: Need = field(init=False)

    def plan(self, last: Sequence[Layer], keep_from: int, most: float = inf) -> list[Layer]:
        """Return the classes.

        Parameters
        ----------
        last: the classes of the last release, −1 where nobody is there any more.
        keep_from: classes with so many survivors stay all the same: fewer changed cells, more
            counterfeits than the fewest.
        most: what a newcomer who takes an open place may add to the cost; likewise.
        """
        buckets = self.returned(last)
        survivors = {
            s: Counter(v for layer in layers for v, row in layer.items() if row >= 0)
            for s, layers in buckets.items()
        }
        fresh: dict[str, list[int]] = defaultdict(list)
        for row, signature in enumerate(self.signature):
            if signature is None:
                fresh[self.values[row]].append(row)
        counts = Counter({v: len(rows) for v, rows in fresh.items()})
        self.needed = need(survivors, counts, self.m)
        classes = []
        for signature, layers in buckets.items():
            top = max(survivors[signature].values())
            classes += self.fewer(layers, top, keep_from)
        rest = self.seated(classes, fresh, self.kept_apart(counts), most)
        return classes + self.alone(rest)

    def returned(self, last: Sequence[Layer]) -> dict[Signature, list[Layer]]:
        """Return the last classes that somebody is left in by signature, with who returns."""
        buckets: dict[Signature, list[Layer]] = defaultdict(list)
        seated = set()
        for layer in last:
            here = {row for row in layer.values() if row >= 0}
            if here:
                buckets[frozenset(layer)].append(dict(layer))
                seated |= here
        for row, signature in enumerate(self.signature):
            if signature is not None and row not in seated:
                v = self.values[row]
                free = next((one for one in buckets[signature] if one[v] < 0), None)
                if free is None:
                    free = dict.fromkeys(sorted(signature), -1)
                    buckets[signature].append(free)
                free[v] = row
        return buckets

    def fewer(self, layers: list[Layer], top: int, keep_from: int) -> list[Layer]:
        """Give up classes of one signature beyond ``top``, those with the fewest survivors."""
        layers = sorted(layers, key=survivors_of)
        while len(layers) > top and survivors_of(layers[0]) < keep_from:
            for v, row in layers.pop(0).items():
                if row >= 0:
                    free = [layer for layer in layers if layer[v] < 0]
                    least = np.argmin([self.added(layer, [row])[0] for layer in free])
                    free[int(least)][v] = row
        return layers

    def kept_apart(self, counts: Counter[str]) -> dict[str, int]:
        """Return by value how many newcomers stay for classes of their own."""
        low, extra = dict(self.needed.low), self.needed.extra
        lacking, layers = extra - sum(low.values()), extra // self.m
        for v in sorted(counts, key=lambda v: (-counts[v], v)):
            more = min(lacking, max(0, min(counts[v], layers) - low.get(v, 0)))
            low[v] = low.get(v, 0) + more
            lacking -= more
        return low

    def seated(
        self,
        classes: list[Layer],
        fresh: Mapping[str, list[int]],
        apart: Mapping[str, int],
        most: float,
    ) -> list[int]:
        """Let newcomers take open places at the least cost; return those who are left."""
        rest: list[int] = []
        for v, rows in fresh.items():
            free = [layer for layer in classes if layer.get(v, 0) == -1]
            number = min(len(free), len(rows) - apart.get(v, 0))
            taken: set[int] = set()
            if number > 0:
                cost = np.array([self.added(layer, rows) for layer in free])
                place, who = linear_sum_assignment(np.minimum(cost, most))
                cheap = cost[place, who] <= most
                place, who = place[cheap], who[cheap]
                for at in np.argsort(cost[place, who], kind="stable")[:number]:
                    free[place[at]][v] = rows[who[at]]
                    taken.add(rows[who[at]])
            rest += [row for row in rows if row not in taken]
        return sorted(rest)

    def alone(self, rest: list[int]) -> list[Layer]:
        """Return classes of newcomers only."""
        counts = Counter(self.values[row] for row in rest)
        if not rest:
            return []
        if max(counts.values()) * self.m <= len(rest):
            dealt = [{self.values[row]: row for row in rows} for rows in self.deal(rest)]
            return trimmed(dealt, self.m)
        number = max(max(counts.values()), len(rest) // self.m)
        layers: list[Layer] = [{} for _ in range(number)]
        ranked = sorted(rest, key=lambda row: (-counts[self.values[row]], self.values[row], row))
        for at, row in enumerate(ranked):
            layers[at % number][self.values[row]] = row
        for layer in layers:
            others = [v for v in self.known if v not in layer]
            layer.update(dict.fromkeys(others[: max(0, self.m - len(layer))], -1))
        return layers

    def added(self, layer: Layer, rows: list[int]) -> NDArray[np.int64]:
        """int64, shape (rows,): what each would add to the cost of a class."""
        here = [row for row in layer.values() if row >= 0]
        total = np.full(len(rows), -self.cost(here))
        for j, tree in enumerate(self.trees):
            own = self.leaves[rows, j]
            codes = self.leaves[here, j]
            low = np.minimum(own, codes.min(initial=NOWHERE))
            total += (len(here) + 1) * tree.join_costs(low, np.maximum(own, codes.max(initial=-1)))
        return total

    def cost(self, rows: list[int]) -> int:
        """Return the cost of some rows under their join."""
        total = 0
        for j, tree in enumerate(self.trees):
            codes = self.leaves[rows, j]
            if len(codes):
                ends = codes.min(keepdims=True), codes.max(keepdims=True)
                total += len(codes) * int(tree.join_costs(*ends)[0])
        return total


def survivors_of(layer: Layer) -> int:
    """Return how many places of a class are taken."""
    return sum(row >= 0 for row in layer.values())


def trimmed(classes: list[Layer], m: int) -> list[Layer]:
    """Make classes of what others have beyond m people, as far as that goes.

    A signature of more values has more places open in every later release, and more people pay for
    what its classes hide.
    """
    spare: dict[str, list[tuple[int, Layer]]] = defaultdict(list)
    for one in classes:
        while len(one) > m:
            v = min(one, key=lambda v: (len(spare[v]), v))
            spare[v].append((one.pop(v), one))
    while True:
        common = sorted((v for v in spare if spare[v]), key=lambda v: (-len(spare[v]), v))[:m]
        if len(common) < m:
            break
        classes.append({v: spare[v].pop()[0] for v in common})
    for v, rows in spare.items():
        for row, one in rows:
            one[v] = row
    return classes
