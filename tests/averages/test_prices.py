"""Prices of rows against all classes of a few rows, and the checker's own search."""

from itertools import combinations

import numpy as np
import pytest

from incrowd.averages.bound import nearest_of, pair_prices, prices_of
from incrowd.averages.strata import Points
from incrowd.checker.nearest import require_cheap
from incrowd.checker.rejection import RejectedError
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
    for _ in range(30):
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
