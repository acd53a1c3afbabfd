"""Prices of rows against all classes of a few rows, and the checker's own search."""

import random
import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from averages.plain import spread
from dial import few
from incrowd.averages.bound import nearest_of, pair_prices, prices_of
from incrowd.averages.lifting import least_room
from incrowd.averages.strata import Points
from incrowd.checker.nearest import cheap_by_pairs, require_cheap
from incrowd.checker.rejection import RejectedError
from incrowd.checker.runs import shortest
from incrowd.run.stop import Stop


def points(seed, rows, columns, k, absolute=False, twins=True):
    """Random points, some of them far from the others and some alike."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(rows, columns)) * rng.choice([1, 1, 6], (rows, 1))
    if twins:
        place[rows // 2] = place[0]
    stub = tuple(range(columns))  # of the columns only their number counts
    return Points(np.arange(rows), stub, place, np.full(columns, absolute), k)


def cost(place, absolute):
    """What a class costs by definition."""
    if absolute:
        return np.abs(place - np.median(place, axis=0)).sum()
    return ((place - place.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_class_is_priced_above_its_cost(k, absolute, seed):
    """Tests all classes of k rows or more, whatever their size."""
    given = points(seed, 10, 2, k, absolute)
    for price in (pair_prices(given, nearest_of(given, Stop())), prices_of(given, 0, Stop())):
        assert price.min() >= 0
        for size in range(k, 11):
            for one in combinations(range(10), size):
                assert price[list(one)].sum() <= cost(given.place[list(one)], absolute)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_lifted_prices_prove_more(k):
    """Tests that lifting pays, is repeatable, and that the checker takes what it makes."""
    given = points(1, 60, 3, k)
    pairs, lifted = pair_prices(given, nearest_of(given, Stop())), prices_of(given, 0, Stop())
    assert lifted.sum() > (1.02 if k == 2 else 1.2) * pairs.sum()
    assert (lifted == prices_of(given, 0, Stop())).all()
    require_cheap(given.place, [False] * 3, k, lifted)
    require_cheap(given.place, [False] * 3, k, pairs)


def test_larger_classes_are_priced_by_sets_of_five():
    """Tests k = 7: no class of 7 rows or more is priced above its cost, and more is proven."""
    given = points(3, 10, 2, 7)
    price = prices_of(given, 0, Stop())
    for size in range(7, 11):
        for one in combinations(range(10), size):
            assert price[list(one)].sum() <= cost(given.place[list(one)], False)
    given = points(1, 60, 3, 7)
    pairs, lifted = pair_prices(given, nearest_of(given, Stop())), prices_of(given, 0, Stop())
    assert lifted.sum() > 1.02 * pairs.sum()
    require_cheap(given.place, [False] * 3, 7, lifted)
    with pytest.raises(RejectedError):
        require_cheap(given.place, [False] * 3, 7, lifted * 3)


def test_what_takes_too_long_is_rejected(monkeypatch):
    """Tests prices below what classes cost, by sets of rows without number: all rows share steps.

    Each row once had a million of its own, half a minute: a proof of some hundred took hours.
    """
    place = np.array([(x, y) for x in range(10) for y in range(10)], float)
    price = np.full(100, 1.4)
    require_cheap(place, [False] * 2, 10, price)
    monkeypatch.setattr("incrowd.checker.nearest.SETS", 4)
    with pytest.raises(RejectedError, match="too many sets of rows"):
        require_cheap(place, [False] * 2, 10, price)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_checker_finds_every_broken_price(k, seed):
    """Tests that a price is rejected exactly where some k rows are priced above their cost."""
    given, rng = points(seed, 9, 2, k, twins=False), np.random.default_rng(seed)
    lifted, found = prices_of(given, 0, Stop()), set()
    for _ in range(few(30)):
        price = lifted * rng.choice([0.6, 1], 9, p=[0.3, 0.7]) * rng.choice([0.99, 1.2])
        room = min(
            cost(given.place[list(one)], False) - price[list(one)].sum()
            for one in combinations(range(9), k)
        )
        if abs(room) < 1e-6:
            continue
        found.add(room < 0)
        if room < 0:
            with pytest.raises(RejectedError, match="price is too high"):
                require_cheap(given.place, [False] * 2, k, price)
        else:
            require_cheap(given.place, [False] * 2, k, price)
    assert found == {True, False}


@pytest.mark.parametrize("kind", ["mean", "median"])
def test_runs_are_the_cheapest(kind):
    """Tests against all ends of each run, of numbers alike, near, far and fractional."""
    draw = random.Random(kind)
    for _ in range(few(150)):
        rows = draw.randint(1, 12)
        k = draw.randint(1, rows)
        wide = draw.choice([3, 10, 1000])
        numbers = [Fraction(draw.randint(-wide, wide), draw.choice([1, 3])) for _ in range(rows)]
        rising = sorted(numbers)
        best = {0: Fraction(0)}
        for end in range(k, rows + 1):
            ways = [best[a] + spread(rising[a:end], kind) for a in range(end - k + 1) if a in best]
            if ways:
                best[end] = min(ways)
        assert shortest(rising, k, kind) == best[rows]


def test_near_rows_are_looked_at():
    """Tests prices at their limits, and above in one row, against all pairs of rows."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(300):
        rows, columns = rng.integers(2, 40), rng.integers(1, 4)
        k, absolute = int(rng.integers(1, min(rows, 6) + 1)), rng.random(columns) < 0.4
        place = rng.normal(size=(rows, columns)) * rng.choice([1, 0.01, 30])
        place = np.round(place) if rng.random() < 0.4 else place
        way = np.abs(place[:, None] - place)
        apart = np.where(absolute, way, way**2).sum(axis=2)
        most = np.sort(apart, axis=1)[:, :k].sum(axis=1) / (2 * k)
        price = most * rng.choice([1, 0.5]) * (1 - 1e-12)
        price[rng.integers(rows)] *= rng.choice([1.01, 3, 1, -1])
        found.append(bool((price <= most).all()))
        assert cheap_by_pairs(place, absolute.tolist(), k, price) == found[-1]
    assert 50 < sum(found) < 250


def test_a_search_for_one_row_ends_when_time_does() -> None:
    """Tests that it gives up, as beyond its budget: one of many rows in reach may take seconds."""
    place = np.random.default_rng(3).normal(size=(40, 2))
    rules = place, np.zeros(40), 0.0, 3, 1e9, 1_000
    found, looked = least_room(*rules, np.zeros(1, np.int64))
    assert 0 < found < 1e9 and looked <= 1_000
    assert least_room(*rules, np.ones(1, np.int64)) == (1e9, 1_001)


def test_kernels_of_averages_learn_that_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that somebody writes their word: nothing else ends one that is under way."""
    heard = []

    def waiting(points: Points, seed: int, stop: Stop) -> np.ndarray:
        for _ in range(3_000):
            if stop.over[0]:
                break
            time.sleep(0.01)
        heard.append(int(stop.over[0]))
        return np.zeros(points.count)

    monkeypatch.setattr("incrowd.averages.of_table.prices_of", waiting)
    frame = pl.DataFrame({"x": [1, 4, 6, 9, 12], "y": [3, 8, 1, 7, 2]})
    release = ic.anonymize(frame, 2, hierarchies={"x": "mean", "y": "mean"}, time_limit=0.05)
    assert heard == [1] and release.ended == "time limit"


def test_time_that_is_up_leaves_prices_of_pairs() -> None:
    """Tests that a search which took all the time leaves something proven."""
    given = points(4, 30, 2, 3)
    pairs, stop = pair_prices(given, nearest_of(given, Stop())), Stop()
    stop.halt()
    assert pairs.sum() > 0 and (prices_of(given, 0, stop) == pairs).all()


@pytest.mark.parametrize("kind", ["mean", "median"])
def test_runs_of_long_numbers(kind):
    """Tests numbers and denominators that neither 64 bits nor a float holds."""
    low, high = Fraction(1, 3), Fraction(2**64 + 1)
    rising = [low, low + 2**63 + 5, high + 3]
    middle = sum(rising) / 3 if kind == "mean" else rising[1]
    power = 2 if kind == "mean" else 1
    assert shortest(rising, 2, kind) == sum(abs(x - middle) ** power for x in rising)
    near = [Fraction(1, 10**19), Fraction(1, 3), Fraction(1)]
    middle = sum(near) / 3 if kind == "mean" else near[1]
    assert shortest(near, 2, kind) == sum(abs(x - middle) ** power for x in near)
