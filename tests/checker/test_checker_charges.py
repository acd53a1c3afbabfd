"""Tests that patterns of one cost are charged once, and what all are charged is enough."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from dial import few
from incrowd.checker.inequality import Tables, merged, violations
from incrowd.checker.lawful import Lawful
from incrowd.checker.ranges import Windows
from partings import partitions

QUANTUM = 4
STEPS = [0, 0, 1, 2]


def tree(rng: np.random.Generator) -> Tables:
    """A hierarchy of four values, some of whose nodes cost no more than those below."""
    middle, upper = rng.integers(0, 3, 4), rng.integers(0, 2, 3)
    nodes = np.array([[0, 1, 2, 3], middle, upper[middle], [0] * 4])
    costs = np.zeros((4, 4), np.int64)
    costs[0] = rng.integers(0, 2, 4) * rng.integers(0, 2)
    for level in (1, 2, 3):
        for node in {*nodes[level].tolist()}:
            here = nodes[level] == node
            costs[level, here] = costs[level - 1, here].max() + rng.choice(STEPS)
    return nodes, costs * QUANTUM


def windows(numbers: list[int], missing: int, most: int = 9, wide: int = 0) -> Windows:
    """Intervals of numbers, each of which may be written in several ways; and missing values."""
    known, rest = len(numbers), [0] * missing
    down = np.array([*numbers, *rest])
    up = down + np.array([wide] * known + rest)
    reach = [max(b for b in range(a, known) if b == a or up[b] - down[a] <= most)
             for a in range(known)]  # fmt: skip
    star = int(up[:known].max() - down[:known].min()) + 1
    places = np.array([*reach, *range(known, known + missing)])
    return Windows(down, up, places, star, known).times(QUANTUM)


def cost_of(trees: list[Tables], leaves: list[np.ndarray], at: list[int]) -> int:
    """What rows cost a row, times ``QUANTUM``, by what each column shows of them."""
    total = 0
    for own, leaf in zip(trees, leaves, strict=True):
        some = sorted({*leaf[at].tolist()})
        low, high = some[0], some[-1]
        if isinstance(own, Windows):
            inside = high <= own.reach[low]
            total += (own.up[high] - own.down[low] if inside else own.star) * (low < high)
        else:
            level = next(n for n, nodes in enumerate(own[0]) if len({*nodes[some]}) == 1)
            total += own[1][level, low]
    return int(total)


def charged(
    model: dict[str, Any],
    values: list[str],
    k: int,
    price: np.ndarray,
    trees: list[Tables],
    leaves: list[np.ndarray],
) -> list[int]:
    """What each pattern is charged on top of those before."""
    stated = {"t": model["t"]} if "t" in model else model
    base = {"rule": "closeness" if "t" in model else "shares", **stated, "column": "a"}
    rules = [base, base | {"rule": "once"}]
    facts = {"pricing": rules[len(price) % 2 :], "price_k": k}
    proof: Any = SimpleNamespace(facts=facts, sets=pl.DataFrame())
    law = Lawful(proof, [model], pl.DataFrame({"a": values}))
    rows = merged(leaves, price, law.mark, trees)
    return [law.charge(rows, at, cost) or 0 for at, cost in violations(rows, 1, law.kept)]


def fits(model: dict[str, Any], some: list[str], values: list[str]) -> bool:
    """Whether a class is lawful, by definition."""
    gains = {v: Fraction(some.count(v), len(some)) for v in {*values}}
    due = {v: Fraction(values.count(v), len(values)) for v in gains}
    if "t" in model:
        return sum(max(gains[v] - due[v], 0) for v in gains) <= Fraction(model["t"])
    return all(gains[v] <= (1 + Fraction(model["beta"])) * due[v] for v in gains)


def test_what_charges_leave_is_no_more_than_the_least_cost() -> None:
    """Tests random prices of hierarchies and intervals against all ways to part the rows."""
    rng, met = np.random.default_rng(1), 0
    for _ in range(few(400)):
        n, k = int(rng.integers(4, 7)), int(rng.integers(1, 3))
        trees: list[Tables] = []
        for _ in range(int(rng.integers(1, 4))):
            numbers, missing = np.sort(rng.integers(0, 4, 3)).tolist(), int(rng.integers(0, 2))
            ends = numbers if missing else [*numbers, 4]
            some = windows(ends, missing, int(rng.choice([1, 2, 9])), int(rng.integers(0, 2)))
            trees.append(tree(rng) if rng.random() < 0.5 else some)
        leaves = [rng.integers(0, 4, n) for _ in trees]
        values = [*map(str, rng.integers(0, 3, n))]
        level = str(rng.choice(["1/4", "1/3", "1/2", "1"]))
        kind = {"model": "t-closeness", "t": level, "distance": "equal"}
        model = {"model": "basic-beta", "beta": level} if rng.random() < 0.5 else kind
        price = rng.integers(-2, 4 * QUANTUM * len(trees), n)
        taken = charged(model | {"columns": ["a"]}, values, k, price, trees, leaves)
        costs = [
            sum(len(one) * cost_of(trees, leaves, one) for one in way)
            for way in partitions(range(n), k)
            if all(fits(model, [values[i] for i in one], values) for one in way)
        ]
        assert price.sum() - sum(taken) <= min(costs)
        met += sum(taken) > 0 and min(costs) > 0
    assert met > few(400) // 3


def test_a_number_in_two_writings_is_charged_once() -> None:
    """Tests intervals that cost alike, of which each was charged: 4.13 was proven, not 5.99.

    And a missing value, which has no place among numbers, beside those at its code's place.
    """
    model = {"model": "t-closeness", "t": "1", "distance": "equal", "columns": ["a"]}
    price, values = np.array([9, 8, 7, 6]), [*"0101"]
    twice = charged(model, values, 1, price, [windows([5, 5], 0)], [np.array([0, 0, 1, 1])])
    assert sum(twice) == 9 + 8 + 7 + 6
    assert len(twice) > 1
    free = np.array([[0, 1], [0, 0]]), np.zeros((2, 2), np.int64)  # a column of weight 0
    weightless = charged(model, values, 1, price, [free], [np.array([0, 0, 1, 1])])
    assert sum(weightless) == 9 + 8 + 7 + 6
    apart = charged(model, values, 1, price, [windows([0], 1)], [np.array([0, 0, 1, 1])])
    assert sum(apart) == 9 + 8 + 7 + 6 + (9 - QUANTUM) + (8 - QUANTUM) + (7 - QUANTUM) + (
        6 - QUANTUM
    )


def test_a_pattern_that_none_of_its_rows_needs_is_not_charged() -> None:
    """Tests a star of rows that a later column leaves with one value, which was charged, too."""
    model = {"model": "t-closeness", "t": "1", "distance": "equal", "columns": ["a"]}
    star = np.array([[0, 1], [0, 0]]), np.array([[0, 0], [QUANTUM, QUANTUM]])
    leaves = [np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])]
    price = np.array([9, 8, 7, 6])
    taken = charged(model, [*"0101"], 1, price, [star, star], leaves)
    assert sum(taken) == 9 + 8 + 7 + 6
    assert len(taken) > 2
