"""Groups of at least k people, each of whom weighs as much as the rows of the person: local search.

A group costs its weight times the cost of its join.  Two people who stand near each other in some
order of the columns exchange their groups, or one joins the other's where the own group can spare
one; Metropolis' rule decides.  Groups come from a search that knows no weights.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.rounds import fade
from incrowd.constraints.crowd import bounds_without, new_crowd, put, set_class, widen
from incrowd.kernels.jit import kernel
from incrowd.kernels.random import below, least_gain
from incrowd.kernels.types import Ints
from incrowd.problem.instance import NodeTables, order_of, tables_of
from incrowd.problem.join import join_cost
from incrowd.run.stop import Stop

ROUNDS = 400
REACH = 6  # places between two people who may exchange
HEAT = (0.1, 0.01)  # in what a person pays on average, from the first round to the last
MOST = 1 << 62


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
