"""What an m-invariant next release costs at least, given the signatures.

Claim.  Let survivors be the people who were published before, each with a signature; let f(v) be
the newcomers with value v.  Take prices u(r) of survivors, n(v) ≥ 0 of the places that newcomers
fill, and c ≥ 0 of counterfeits, such that for every signature S and every set A of survivors of S
with different values, whose join costs d a row,

    Σ u(r) over A  ≤  |A|·d + Σ over the values v of S that A lacks of min(d + n(v), c).

Then no m-invariant release of all these people with at most C counterfeits costs less than
Σ u − Σ n(v)·f(v) − c·C.

Argument.  A class with survivors has a signature S, that of each of them (m-invariance), and one
row of each value of S.  Let A be its survivors.  Each other place is a newcomer's, who pays at
least d, as all rows of a class pay what their join costs, and that is at least the join of A; or a
counterfeit's.  So the prices of A are at most what the class costs, and n(v) for each newcomer and
c for each counterfeit in it.  Classes without survivors cost at least 0.  Sum over classes: each
survivor stands in one, at most f(v) places of value v are newcomers', at most C are counterfeits'.

The best prices are the duals of a linear program, one column for each S, A and choice between the
two for each place that A lacks; columns are made where prices ask for them.  Only n and c tie
signatures together.  So a program of many survivors is solved for a few of each signature, with as
large a share of newcomers and counterfeits; and then for all survivors of one signature after
another, at the n and c that were found: the claim holds for any.  At last prices are rounded, those
of too dear sets are lowered, and all sets are asked again in whole numbers.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from incrowd.errors import VerificationError
from incrowd.hierarchy.family import Family
from incrowd.kernels.types import Floats, Ints
from incrowd.linear.highs import append_columns, model_of
from incrowd.problem.instance import NodeTables, tables_of
from incrowd.run.stop import Stop
from incrowd.series.dear_sets import Found, Signed, WholePrices

FEW = 5_000  # survivors in a program of all signatures
MANY = 2_000  # in one of a signature; larger ones are left out
JOINS = 100_000_000  # of survivors that are looked at in one signature; such with more likewise
SQUARES = 8_000_000  # of survivors of signatures one by one, in all: about what programs cost
ROUNDS = 60  # of columns
QUANTUM = 1 << 16  # parts of a unit of cost that prices are counted in
SLACK = 8  # of these parts: what rounding makes of a set that is not too dear
FIRST, HIGHER = 0.5, 1.4  # where prices may rise to at first, in cells, and later
# share of what is hoped for that too dear sets may cost, and of prices that may rise
SETTLED = 0.002


@dataclass(frozen=True, eq=False)
class People:
    """Those who are published.

    Attributes
    ----------
    leaves: int32, shape (people, columns): leaf codes; tables: the trees of the columns.
    cell, dearest: what a cell costs at most on the mean, and a row, in units of 1/scale.
    """

    leaves: NDArray[np.int32]
    tables: NodeTables
    cell: float
    dearest: int

    @classmethod
    def of(cls, leaves: NDArray[np.int32], trees: Sequence[Family]) -> "People":
        """Return people with these leaf codes."""
        dearest = sum(tree.dearest for tree in trees)
        return cls(np.ascontiguousarray(leaves), tables_of(trees), dearest / len(trees), dearest)

    def too_dear(self, one: Signed, prices: WholePrices, slack: int = 0) -> Found | None:
        """Return the sets of a signature that are too dear; None: too many to look at."""
        return one.too_dear(prices, self.leaves, self.tables, slack, JOINS)


@dataclass(frozen=True, eq=False)
class Places:
    """The places beside survivors: what they are priced at, and how many are to be had.

    Attributes
    ----------
    n: float64, shape (values,): price of a newcomer's place, by value; c: of a counterfeit.
    fresh: float64, shape (values,), and counterfeits: how many; None: the prices stay as given.
    """

    n: Floats
    c: float
    fresh: tuple[Floats, float] | None = None


@dataclass(eq=False)
class SurvivorProgram:
    """Prices of the survivors of some signatures, and the columns that bound them.

    Attributes
    ----------
    u: float64, shape (people,): prices of survivors so far; places: and of the places beside them.
    """

    people: People
    known: Sequence[Signed]
    u: Floats
    places: Places

    def solve(self, top: float, stop: Stop) -> bool:
        """Raise prices as far as sets allow; whether all sets could be looked at.

        No price may rise far at a time, at first to ``top``: else most sets are too dear, and each
        is looked at.
        """
        rows = np.unique(np.concatenate([one.rows for one in self.known]))
        index = np.full(len(self.u), -1, np.int64)
        index[rows] = np.arange(len(rows))
        tops, most = np.full(len(rows), top), 8.0 * self.people.dearest + 1
        model = self.begun(tops)
        best, surest = (self.u[rows], self.places), -np.inf
        for _ in range(ROUNDS):
            model.run()
            self.take(np.array(model.getSolution().row_dual), rows)
            hoped, found = float(model.getObjectiveValue()), self.ask(model, index)
            if found is None:
                return False
            sets, fall = found
            if hoped - fall > surest:
                best, surest = (self.u[rows], self.places), hoped - fall
            at_top = np.flatnonzero((self.u[rows] > tops - 1e-6) & (tops < most)).astype(np.int32)
            near = fall <= SETTLED * hoped and len(at_top) <= SETTLED * len(rows)
            if stop.now() or near or not (sets or len(at_top)):
                break
            tops[at_top] = np.minimum(tops[at_top] * HIGHER, most)
            model.changeColsCost(len(at_top), at_top, tops[at_top])
        self.u[rows], self.places = best
        return True

    def begun(self, tops: Floats) -> Any:
        """Return the model in which each survivor may be left out at such a price."""
        own, places = len(tops), self.places
        fresh = [] if places.fresh is None else [*places.fresh[0], places.fresh[1]]
        lower = np.concatenate([np.ones(own), np.full(len(fresh), -np.inf)])
        upper = np.concatenate([np.ones(own), fresh])
        start = csc_array((np.ones(own), (np.arange(own),) * 2), shape=(len(upper), own))
        return model_of(start, tops, np.full(own, np.inf), lower, upper)

    def take(self, dual: Floats, rows: Ints) -> None:
        """Take the prices from the duals of the model."""
        self.u[rows], fresh = dual[: len(rows)], self.places.fresh
        if fresh is not None:
            own = np.maximum(-dual[len(rows) :], 0)
            self.places = Places(own[:-1], float(own[-1]), fresh)

    def ask(self, model: Any, index: Ints) -> tuple[int, float] | None:
        """Add the sets that are too dear; how many, and by how much prices would have to fall.

        index: int64, shape (people,): the row of the model that each survivor has.  None: there
        are too many sets to look at.
        """
        prices, sets, fall = in_parts(self.u, self.places), 0, 0
        for one in self.known:
            found = self.people.too_dear(one, prices, SLACK)
            if found is None:
                return None
            sets += self.add(model, index, one, found)
            fall += int(found.fall.sum())
        return sets, fall / QUANTUM

    def add(self, model: Any, index: Ints, one: Signed, found: Found) -> int:
        """Add a column for each set that was found, and return how many; ``index``: see ``ask``."""
        root, kept = np.nonzero(found.worth > SLACK)
        sets, each = found.rows[root, kept], found.each[root, kept]
        n, c, fresh = self.places.n[one.values], self.places.c, self.places.fresh
        lacks, newcomer = sets < 0, each[:, None] + n < c
        pays = np.where(newcomer, each[:, None], 0) if fresh else np.minimum(each[:, None] + n, c)
        cost = (~lacks).sum(1) * each + np.where(lacks, pays, 0).sum(1)
        which, place = np.nonzero(~lacks)
        entries = [(index[sets[which, place]], which)]
        if fresh:
            first = int((index >= 0).sum())
            which, place = np.nonzero(lacks & newcomer)
            entries.append((first + one.values[place], which))
            which, _ = np.nonzero(lacks & ~newcomer)
            entries.append((np.full(len(which), first + len(fresh[0])), which))
        at, of = (np.concatenate(part) for part in zip(*entries, strict=True))
        # several counterfeits of one set are one entry: equal places are summed
        matrix = csc_array((np.ones(len(at)), (at, of)), shape=(model.getNumRow(), len(sets)))
        append_columns(model, cost, matrix)
        return len(sets)


def in_parts(u: Floats, places: Places) -> WholePrices:
    """Return prices in whole parts of a unit: those of survivors lower, of places higher."""
    n, c = (np.ceil(np.asarray(one) * QUANTUM).astype(np.int64) for one in (places.n, places.c))
    return WholePrices(np.floor(u * QUANTUM).astype(np.int64), n, int(c), QUANTUM)


def least_cost(
    signature: Sequence[frozenset[str] | None],
    values: Sequence[str],
    leaves: NDArray[np.int32],
    trees: Sequence[Family],
    counterfeits: int,
    stop: Stop,
) -> int:
    """Return what such a release of these people costs at least, in units of 1/scale.

    Parameters
    ----------
    signature: of each person published before, None for a newcomer; values: the sensitive ones.
    leaves: int32, shape (people, columns): leaf codes; trees: of the columns.
    counterfeits: how many such a release may have.
    stop: prices that are raised no more when it is time are lower, and as true.
    """
    number = {v: i for i, v in enumerate(sorted({*values}.union(*(s or () for s in signature))))}
    fresh = np.zeros(len(number))
    for s, v in zip(signature, values, strict=True):
        fresh[number[v]] += s is None
    known = listed(signature, values, number)
    if not known:
        return 0
    people = People.of(leaves, trees)
    u, places = best_prices(people, known, fresh, counterfeits, stop)
    return proven(people, known, in_parts(u, places), fresh.astype(np.int64), counterfeits)


def listed(
    signature: Sequence[frozenset[str] | None], values: Sequence[str], number: Mapping[str, int]
) -> list[Signed]:
    """Return the survivors of each signature, those of the fewest first, but for too large ones."""
    members: dict[frozenset[str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, s in enumerate(signature):
        if s is not None:
            members[s][values[row]].append(row)
    found = []
    for s, of in members.items():
        own = [np.array(of.get(v, []), np.int64) for v in sorted(s)]
        found.append(Signed(own, np.array([number[v] for v in sorted(s)], np.int64)))
    found.sort(key=lambda one: (len(one.rows), one.values.tolist()))
    return [one for one in found if len(one.rows) <= MANY]


def best_prices(
    people: People, known: Sequence[Signed], fresh: Floats, counterfeits: int, stop: Stop
) -> tuple[Floats, Places]:
    """Return prices of survivors and places; those of signatures too large to look at are 0."""
    survivors = sum(len(one.rows) for one in known)
    some = [one.few(FEW / survivors) for one in known]
    some = [one for one in some if len(one.rows)]
    rows = np.concatenate([one.rows for one in some])
    share = len(rows) / survivors
    u, none = np.zeros(len(people.leaves)), np.zeros(len(fresh))
    together = SurvivorProgram(
        people, some, u, Places(none, 0.0, (fresh * share, counterfeits * share))
    )
    if not together.solve(FIRST * people.cell, stop):
        return np.zeros(len(u)), Places(none, 0.0)
    places = replace(together.places, fresh=None)
    if share < 1:
        typical, left = float(u[rows].mean()), SQUARES
        u[:] = 0
        for one in known if typical else ():
            left -= len(one.rows) ** 2
            if left < 0 or stop.now():
                break
            if not SurvivorProgram(people, [one], u, places).solve(typical, stop):
                u[one.rows] = 0
    return u, places


def proven(
    people: People, known: Sequence[Signed], prices: WholePrices, fresh: Ints, counterfeits: int
) -> int:
    """Return what prices prove, in whole numbers: all sets are asked, and too dear ones lowered.

    Raises
    ------
    VerificationError: prices that were lowered break a set still; no input can do that.
    """
    for one in known:
        found = people.too_dear(one, prices)
        prices.u[one.rows] -= prices.u[one.rows] if found is None else found.fall[one.rows]
        again = people.too_dear(one, prices)
        if again is None or again.fall.any():
            raise VerificationError("the bound of this release does not stand up to its own test")
    total = int(prices.u.sum()) - int(prices.n @ fresh) - prices.c * counterfeits
    return max(0, -(-total // QUANTUM))
