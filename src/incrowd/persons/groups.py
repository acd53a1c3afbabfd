"""Groups of at least k people at the least cost: k-anonymity with a weight for each person.

The persons' table has a row for each person; to change a cell of it costs as often as the person
has rows.  Where all people have equally many rows the weights are a common factor, and any method
for k-anonymity serves.  Small tables are solved by integer programming over patterns.  Otherwise
groups come from a search without weights and are improved with them; the bound is one by prices
(``incrowd.persons.whole_price``).

A group costs its weight times the cost of its join.  Two people who stand near each other in some
order of the columns exchange their groups, or one joins the other's where the own group can spare
one; Metropolis' rule decides.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prices import Prices
from incrowd.bounds.rounds import fade
from incrowd.constraints.crowd import bounds_without, new_crowd, put, set_class, widen
from incrowd.driver.solve import TINY_EFFORT, Solved, solve
from incrowd.encoding.encoded import Coded
from incrowd.errors import StoppedError
from incrowd.hierarchy.family import Family
from incrowd.kernels.jit import kernel
from incrowd.kernels.random import below, least_gain
from incrowd.kernels.types import Ints
from incrowd.persons.whole_price import whole_prices
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.linear import Linear
from incrowd.problem.instance import Instance, NodeTables, from_codes, order_of, tables_of
from incrowd.problem.join import join_cost
from incrowd.problem.problem import Problem
from incrowd.run.stop import Share, Stop, watched
from incrowd.solvers.base import Context, Solver
from incrowd.solvers.fpt.patterns import closed_patterns, effort
from incrowd.solvers.fpt.program import TOLERANCES, build, solve_program

ROUNDS = 400  # of exchanges
REACH = 6  # places between two people who may exchange
HEAT = (0.1, 0.01)  # in what a person pays on average, from the first round to the last
MOST = 1 << 62
SMALL = 40  # people, whose groups an integer program finds
SEARCH, EXCHANGE = 0.3, 0.3  # shares of what is left of a time limit


@dataclass(frozen=True, eq=False)
class Persons:
    """A persons' table.

    Attributes
    ----------
    whose: int64, shape (rows,): whose each row of the table is, from 0.
    codes: int32, shape (people, columns): leaf codes.
    weight: int64, shape (people,): rows of each, at least 1.
    trees: one per column.  scale: of their costs.
    """

    whose: Ints
    codes: NDArray[np.int32]
    weight: Ints
    trees: tuple[Family, ...]
    scale: int

    @classmethod
    def of(cls, table: Coded, whose: Ints, columns: tuple[int, ...]) -> "Persons":
        """Return the persons' table with columns that are constant within each person."""
        _, first, dense, rows = np.unique(
            whose, return_index=True, return_inverse=True, return_counts=True
        )
        trees = tuple(table.instance.trees[j] for j in columns)
        codes = np.ascontiguousarray(table.leaves[first][:, list(columns)])
        return cls(
            dense.ravel().astype(np.int64), codes, rows.astype(np.int64), trees,
            table.instance.scale,
        )  # fmt: skip

    @cached_property
    def alone(self) -> tuple[Instance, Ints]:
        """The people, a row for each, as an instance; and the copy that each became."""
        return from_codes(self.codes, self.trees, None, self.scale)

    @cached_property
    def visits(self) -> "Visits":
        """The table of all rows, of which each person's are alike."""
        who = np.repeat(np.arange(len(self.weight)), self.weight)
        instance, copy = from_codes(self.codes[who], self.trees, who, self.scale)
        place = np.empty(len(self.weight), np.int64)
        place[who] = instance.copies[copy]
        return Visits(instance, place)


class Visits(NamedTuple):
    """A distinct row for each person, of as many copies as the person has rows.

    place: int64, shape (people,): the distinct row of each person.
    """

    instance: Instance
    place: Ints


class Grouped(NamedTuple):
    """Groups, and what is known of the cheapest ones.

    member: int64, shape (people,): group of each person, dense ids.  bound: in units of 1/scale.
    prices: per distinct row of ``Persons.visits``, or None.
    """

    member: Ints
    bound: int
    prices: Prices | None
    method: str
    ended: str


def dense(member: Ints) -> Ints:
    """Return groups renumbered from 0."""
    return np.unique(member, return_inverse=True)[1].ravel().astype(np.int64)


def grouped(
    persons: Persons, k: int, method: str | Solver, context: Context, bounded: bool = True
) -> Grouped:
    """Find groups of at least k people; ``bounded``: whether a bound is asked for."""
    stop, even = context.stop, bool((persons.weight == persons.weight[0]).all())
    part = stop if even else Share.of(stop, SEARCH * stop.left())
    instance, copy = persons.alone
    try:  # a search that knows no weights
        solved = solve(Problem(instance, KAnonymity(k)), method, replace(context, stop=part))
    except StoppedError:  # everybody as one group is lawful, if dear
        one = np.zeros(len(persons.weight), np.int64)
        return Grouped(one, 0, None, "groups", stop.why())
    member = dense(solved.solution.classes[copy])
    if even:
        bound = solved.bound * int(persons.weight[0])
        prices = priced_evenly(persons, solved) if bounded else None
        return Grouped(member, bound, prices, solved.method, solved.ended)
    if bounded and len(persons.weight) <= SMALL:
        found = by_patterns(persons, k, context)
        if found is not None:
            return Grouped(dense(found[0]), found[1], None, "pattern-milp", "finished")
    return weighed(persons, k, member, solved, context, bounded)


def weighed(
    persons: Persons, k: int, member: Ints, solved: Solved, context: Context, bounded: bool
) -> Grouped:
    """Improve groups, and bound them, with the weights of people."""
    stop = context.stop
    part = Share.of(stop, EXCHANGE * stop.left()) if bounded else stop
    member, cost = exchanged(
        persons.codes, persons.weight, persons.trees, member, k, context.seed, part,
        lambda share: context.tell("exchanging people", share=share),
    )  # fmt: skip
    if not bounded:
        return Grouped(dense(member), 0, None, "groups", "finished")
    context.tell("prices", share=0.0)
    visits = persons.visits.instance
    start = priced_evenly(persons, solved)
    prices = whole_prices(
        visits, k, stop, start, lambda bound, share: context.tell("prices", share=share)
    )
    bound = min(max(0, prices.bound(visits.counts)), cost)
    ended = "finished" if bound == cost else stop.why() if stop.now() else "stopped paying"
    return Grouped(dense(member), bound, prices, "groups", ended)


def priced_evenly(persons: Persons, solved: Solved) -> Prices | None:
    """Return the prices of a search without weights as those of each row of a person.

    They hold where all people have equally many rows: Σ w·(u − cost) over people is a multiple of
    Σ (u − cost).  Elsewhere they are near those that do.  None where there are none of that kind.
    """
    prices = solved.prices
    if prices is None or prices.odd_sets or prices.groups or prices.charge or prices.by_rows:
        return None
    instance, copy = persons.alone
    of_person = prices.price[instance.copies[copy]]
    price = np.zeros(persons.visits.instance.distinct, np.int64)
    price[persons.visits.place] = of_person
    return Prices(price, prices.quantum)


def by_patterns(persons: Persons, k: int, context: Context) -> tuple[Ints, int] | None:
    """Return the cheapest groups and their cost; None where it takes long or cannot be sure.

    As ``pattern-milp``, but that a person pays a pattern's cost once for each row: people alike who
    have equally many rows are copies.
    """
    instance, copy = from_codes(persons.codes, persons.trees, persons.weight, persons.scale)
    if effort(instance) > 2 * TINY_EFFORT:
        return None
    rows_of = instance.sensitive_codes[:, 0].astype(np.int64)
    try:
        patterns = closed_patterns(instance, k, context.stop)
    except StoppedError:
        return None
    scaled, unit = patterns.scaled()
    program, columns = build(instance, scaled, Linear(k=k))
    pays = scaled.cost[columns.pattern] * rows_of[columns.row]
    program.cost[0] = pays.astype(np.float64)
    context.tell("integer program over patterns")
    for tolerance in TOLERANCES:
        try:
            with watched(context.stop):
                values, bound, finished = solve_program(program, columns, context, tolerance)
        except StoppedError:
            return None
        if values is None or not finished:
            return None
        taken = np.rint(values[columns.x]).astype(np.int64)
        used = np.bincount(columns.pattern, weights=taken)
        cost = int(np.dot(taken, pays))
        if (used[used > 0] >= k).all() and cost - bound < 0.5:
            return columns.spread(instance, taken)[copy], cost * unit
    return None


class Scratch(NamedTuple):
    """int32, shape (columns,): ends of a group without a person, with another, and of the other."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    low_b: NDArray[np.int32]
    high_b: NDArray[np.int32]


@kernel
def worth(low: Any, high: Any, weight: int, tables: Any) -> int:
    """Return what a group between these codes costs."""
    return weight * join_cost(low, high, tables, MOST)


@kernel
def moved(a: int, to: int, weight: Any, crowd: Any, tables: Any, pad: Any, go: bool) -> int:
    """Return what it costs that a joins a group; do it where ``go``."""
    old = crowd.member[a]
    bounds_without(crowd, old, a, pad.low, pad.high)
    for j in range(pad.low_b.size):
        pad.low_b[j], pad.high_b[j] = crowd.low[to, j], crowd.high[to, j]
    widen(crowd, a, pad.low_b, pad.high_b)
    less, more = crowd.weight[old] - weight[a], crowd.weight[to] + weight[a]
    one, two = worth(pad.low, pad.high, less, tables), worth(pad.low_b, pad.high_b, more, tables)
    change = one + two - crowd.value[old] - crowd.value[to]
    if go:
        put(crowd, a, to)
        set_class(crowd, old, pad.low, pad.high, crowd.size[old] - 1, less, one)
        set_class(crowd, to, pad.low_b, pad.high_b, crowd.size[to] + 1, more, two)
    return change


@kernel
def swapped(a: int, b: int, weight: Any, crowd: Any, tables: Any, pad: Any, go: bool) -> int:
    """Return what it costs that a and b exchange their groups; do it where ``go``."""
    one, two = crowd.member[a], crowd.member[b]
    bounds_without(crowd, one, a, pad.low, pad.high)
    bounds_without(crowd, two, b, pad.low_b, pad.high_b)
    widen(crowd, b, pad.low, pad.high)
    widen(crowd, a, pad.low_b, pad.high_b)
    at_one = crowd.weight[one] - weight[a] + weight[b]
    at_two = crowd.weight[two] - weight[b] + weight[a]
    cost_one = worth(pad.low, pad.high, at_one, tables)
    cost_two = worth(pad.low_b, pad.high_b, at_two, tables)
    change = cost_one + cost_two - crowd.value[one] - crowd.value[two]
    if go:
        put(crowd, a, two)
        put(crowd, b, one)
        set_class(crowd, one, pad.low, pad.high, crowd.size[one], at_one, cost_one)
        set_class(crowd, two, pad.low_b, pad.high_b, crowd.size[two], at_two, cost_two)
    return change


@kernel
def sweep(
    order: Any, weight: Any, crowd: Any, k: int, heat: float, tables: Any, pad: Any, rng: Any
) -> Any:
    """Let each person meet another one near by; return the change of cost."""
    total = np.int64(0)
    for x in range(order.size - 1):
        y = x + 1 + below(rng, min(REACH, order.size - 1 - x))
        a, b = order[x], order[y]
        one, two = crowd.member[a], crowd.member[b]
        if one == two or (crowd.value[one] == 0 and crowd.value[two] == 0):
            continue
        best, which = swapped(a, b, weight, crowd, tables, pad, False), 0
        if crowd.size[one] > k:
            change = moved(a, two, weight, crowd, tables, pad, False)
            if change <= best:
                best, which = change, 1
        if crowd.size[two] > k:
            change = moved(b, one, weight, crowd, tables, pad, False)
            if change <= best:
                best, which = change, 2
        if best > 0 and -best < least_gain(heat, rng):
            continue
        if which == 0:
            swapped(a, b, weight, crowd, tables, pad, True)
        elif which == 1:
            moved(a, two, weight, crowd, tables, pad, True)
        else:
            moved(b, one, weight, crowd, tables, pad, True)
        total += best
    return total


@kernel
def weigh(weight: Any, crowd: Any, tables: Any) -> Any:
    """Work out weight and cost of all groups; return what they cost together."""
    total = np.int64(0)
    crowd.weight[:] = 0
    for a in range(weight.size):
        crowd.weight[crowd.member[a]] += weight[a]
    for c in range(crowd.size.size):
        if crowd.size[c] > 0:
            crowd.value[c] = worth(crowd.low[c], crowd.high[c], crowd.weight[c], tables)
            total += crowd.value[c]
    return total


def exchanged(
    codes: NDArray[np.int32],
    weight: Ints,
    trees: Any,
    member: Ints,
    k: int,
    seed: int,
    stop: Stop,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[Ints, int]:
    """Improve groups; return the group of each person and what all cost.

    Parameters
    ----------
    codes: int32, shape (people, columns).  weight: int64, shape (people,): rows of each.
    member: int64, shape (people,): dense ids of groups of at least k people.
    report: called with the share that is done.
    """
    tables: NodeTables = tables_of(trees)
    crowd = new_crowd(codes, np.zeros(len(codes), np.int64), member, k)
    pad = Scratch(*np.zeros((4, codes.shape[1]), np.int32))
    cost = int(weigh(weight, crowd, tables))
    best, found = cost, crowd.member.copy()
    mean = cost / max(1, len(codes))
    rng = np.random.default_rng([seed, 0xA11CE])
    state = np.array([seed * 0x9E3779B9 + 77], np.uint64)
    for i in range(ROUNDS if cost else 0):
        report(i / ROUNDS)
        if stop.now():
            break
        mixed = rng.permutation(len(codes))
        columns = rng.permutation(codes.shape[1])
        order = mixed[order_of([codes[mixed, j] for j in columns], len(codes))]
        heat = mean * fade(HEAT, i / ROUNDS)
        cost += int(sweep(order, weight, crowd, k, heat, tables, pad, state))
        if cost < best:
            best, found = cost, crowd.member.copy()
    return found, best
