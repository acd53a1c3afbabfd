"""Prices of rows against all classes of a few rows, and the checker's own search."""

import random
import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import incrowd as ic
from averages.plain import spread
from dial import crossed, few
from incrowd.averages.bound import Priced, nearest_of, pair_prices, prices_of
from incrowd.averages.boxes import boxed, ends_of, within_reach
from incrowd.averages.lifting import least_room, mend
from incrowd.averages.program import programmed
from incrowd.averages.strata import Floats, Points
from incrowd.checker.nearest import cheap_by_pairs, require_cheap
from incrowd.checker.rejection import RejectedError
from incrowd.checker.runs import shortest
from incrowd.kernels.interpreted import interpreted
from incrowd.run.stop import Stop


def points(seed, rows, columns, k, absolute=False, twins=True):
    """Random points, some of them far from the others and some alike."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(rows, columns)) * rng.choice([1, 1, 6], (rows, 1))
    if twins:
        place[rows // 2] = place[0]
    stub = tuple(range(columns))  # of the columns only their number counts
    return Points(np.arange(rows), stub, place, np.full(columns, absolute), k)


UNIT = 10**9


def priced(given, stop=None):
    """Prices in units of 1/UNIT, and those for fewer rows."""
    return prices_of(given, UNIT, 0, stop or Stop())


def by_pairs(given):
    """Prices of nearest rows, likewise."""
    return np.floor(pair_prices(given, nearest_of(given, Stop())) * UNIT).astype(np.int64)


def take(given, k, price, fewer=None):
    """Have the checker look at prices."""
    absolute = given.absolute.tolist()
    require_cheap(given.place, absolute, k, price, UNIT, fewer or {})


def cost(place, absolute):
    """What a class costs by definition."""
    if absolute:
        return np.abs(place - np.median(place, axis=0)).sum()
    return ((place - place.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize(("k", "absolute"), crossed([2, 3, 4], [False, True]))
@pytest.mark.parametrize("seed", range(few(4, 2)))
def test_no_class_is_priced_above_its_cost(k, absolute, seed):
    """Tests all classes of k rows or more, whatever their size."""
    given = points(seed, 10, 2, k, absolute)
    for price in (by_pairs(given), priced(given).price):
        assert price.min() >= 0
        for size in range(k, 11):
            for one in combinations(range(10), size):
                assert price[list(one)].sum() / UNIT <= cost(given.place[list(one)], absolute)


@pytest.mark.parametrize(("columns", "k"), [(1, 4), (2, 5), (3, 6)])
@pytest.mark.parametrize("seed", range(2))
def test_no_rows_are_priced_above_their_cost_step_by_step(columns, k, seed):
    """Tests prices for two rows, three and so on, over all sets of so many."""
    given = points(seed, 10, columns, k)
    found = priced(given)
    assert sorted(found.fewer) == list(range(2, k))
    for size, price in (*found.fewer.items(), (k, found.price)):
        for one in combinations(range(10), size):
            assert price[list(one)].sum() / UNIT <= cost(given.place[list(one)], False)


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_lifted_prices_prove_more(k):
    """Tests that lifting pays, is repeatable, and that the checker takes what it makes."""
    given = points(1, 60, 3, k)
    pairs, lifted = by_pairs(given), priced(given)
    assert lifted.price.sum() > (1.02 if k == 2 else 1.2) * pairs.sum()
    assert (lifted.price == priced(given).price).all()
    take(given, k, lifted.price, lifted.fewer)
    take(given, k, pairs)


def test_steps_that_end_early_price_larger_classes(monkeypatch):
    """Tests k = 7 with smaller sets: no class of 7 rows or more is priced above its cost."""
    monkeypatch.setattr("incrowd.averages.bound.MOST_SETS", 50)
    given = points(3, 10, 2, 7)
    found = priced(given)
    assert 3 <= max(found.fewer) < 6
    for size in range(7, 11):
        for one in combinations(range(10), size):
            assert found.price[list(one)].sum() / UNIT <= cost(given.place[list(one)], False)
    take(given, 7, found.price, found.fewer)
    top = max(found.fewer)
    most = found.fewer[top] * (top * 6) // (7 * (top - 1))
    assert (found.price == most).all()
    with pytest.raises(RejectedError, match="price is too high"):
        take(given, 7, most * 3, found.fewer)


def test_work_that_is_bounded_leaves_lawful_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests a program and steps that end early: fewer rows are lifted, in fewer rounds."""
    given = points(1, 200, 3, 4)
    sums = [priced(given).price.sum()]
    monkeypatch.setattr("incrowd.averages.program.LOOKS", 3_000)
    monkeypatch.setattr("incrowd.averages.program.SHARE", 1)
    sums.append(priced(given).price.sum())
    monkeypatch.setattr("incrowd.averages.bound.PIECE", 7)
    monkeypatch.setattr("incrowd.averages.bound.MOST_SETS", 1_000)
    less = priced(given)
    take(given, 4, less.price, less.fewer)
    sums += [less.price.sum(), by_pairs(given).sum()]
    assert sums == sorted(sums, reverse=True) and len({*sums}) == 4


def test_steps_too_long_for_the_checker_end(monkeypatch):
    """Tests that prices are those of the last step that is checked in time, or of pairs."""
    given = points(1, 60, 3, 6)
    whole = priced(given)
    monkeypatch.setattr("incrowd.averages.bound.CHECKED", 4)
    some = priced(given)
    assert some.fewer and max(some.fewer) < max(whole.fewer)
    take(given, 6, some.price, some.fewer)
    monkeypatch.setattr("incrowd.averages.bound.CHECKED", 0)
    none = priced(given)
    assert not none.fewer and (none.price == by_pairs(given)).all()


def test_what_takes_too_long_is_rejected(monkeypatch):
    """Tests prices below what classes cost, by sets of rows without number: all rows share steps.

    Each row once had a million of its own, half a minute: a proof of some hundred took hours.
    """
    place = np.array([(x, y) for x in range(10) for y in range(10)], float)
    price = np.full(100, 14)
    require_cheap(place, [False] * 2, 10, price, 10)
    monkeypatch.setattr("incrowd.checker.nearest.SETS", 4)
    with pytest.raises(RejectedError, match="too many sets of rows"):
        require_cheap(place, [False] * 2, 10, price, 10)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_checker_finds_every_broken_price(k, seed):
    """Tests that a price is rejected exactly where some rows are priced above their cost.

    Those for k rows or for fewer, by which others are checked.
    """
    given, rng = points(seed, 9, 2, k, twins=False), np.random.default_rng(seed)
    lifted, found = priced(given), set()
    known = {**lifted.fewer, k: lifted.price}
    for _ in range(few(30)):
        room, tried = np.inf, {}
        for size, price in known.items():
            fair = 0.5 ** (1 / len(known))
            share = rng.choice([0.6, 1], 9, p=[0.3, 0.7])
            share *= rng.choice([0.99, 1.2], p=[fair, 1 - fair])
            tried[size] = np.floor(price * share).astype(np.int64)
            for one in map(list, combinations(range(9), size)):
                room = min(room, cost(given.place[one], False) - tried[size][one].sum() / UNIT)
        if abs(room) < 1e-6:
            continue
        found.add(room < 0)
        price = tried.pop(k)
        if room < 0:
            with pytest.raises(RejectedError, match="price is too high"):
                take(given, k, price, tried)
        else:
            take(given, k, price, tried)
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
    rules = place, np.zeros(40), np.zeros((3, 40)), 0.0, 3, 1e9, 1_000
    others = np.zeros((2, 2), np.int64)
    with interpreted():  # no kernel is compiled for this test alone
        found, better, looked = least_room(*rules, np.zeros(1, np.int64), others)
        beyond = least_room(*rules, np.ones(1, np.int64), others)
    assert 0 < found < 1e9 and looked <= 1_000 and better >= 1
    three = np.vstack([np.zeros(2), place[others[(better - 1) % 2]]])
    assert found == pytest.approx(cost(three, False))
    assert beyond == (1e9, 0, 1_001)


def test_kernels_of_averages_learn_that_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that somebody writes their word: nothing else ends one that is under way."""
    heard = []

    def waiting(points: Points, unit: int, seed: int, stop: Stop) -> Priced:
        for _ in range(3_000):
            if stop.over[0]:
                break
            time.sleep(0.01)
        heard.append(int(stop.over[0]))
        return Priced(np.zeros(points.count, np.int64), {})

    monkeypatch.setattr("incrowd.averages.of_table.prices_of", waiting)
    frame = pl.DataFrame({"x": [1, 4, 6, 9, 12], "y": [3, 8, 1, 7, 2]})
    release = ic.anonymize(frame, 2, hierarchies={"x": "mean", "y": "mean"}, time_limit=0.05)
    assert heard == [1] and release.ended == "time limit"


def test_the_search_leaves_time_for_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that annealing has half of a time limit where several columns are averaged."""
    given: list[float] = []
    monkeypatch.setattr(
        "incrowd.averages.search.annealed",
        lambda place, classes, k, seed, stop: given.append(stop.left()) or classes,
    )
    frame = pl.DataFrame({"x": range(40), "y": [x * x % 41 for x in range(40)]})
    for names, limit in (("xy", 1_000), ("x", 1_000), ("xy", None)):
        rules = dict.fromkeys(names, "mean")
        ic.anonymize(
            frame, 2, qi=[*names], id=[*({*"xy"} - {*names})], hierarchies=rules,
            method="microaggregation", time_limit=limit,
        )  # fmt: skip
    assert 400 < given[0] < 500 and 900 < given[1] <= 1_000 and given[2] == float("inf")


def test_time_that_is_up_leaves_prices_of_pairs() -> None:
    """Tests that a search which took all the time leaves something proven."""
    given = points(4, 30, 2, 3)
    pairs, stop = by_pairs(given), Stop()
    stop.halt()
    assert pairs.sum() > 0 and (priced(given, stop).price == pairs).all()


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


@pytest.mark.parametrize(("columns", "k"), [(1, 3), (2, 4), (3, 3)])
@pytest.mark.parametrize("seed", range(2))
def test_the_program_nears_its_optimum(columns: int, k: int, seed: int) -> None:
    """Tests prices against all sets of k rows, and their sum against the program of all sets."""
    given = points(seed, 14, columns, k)
    found = nearest_of(given, Stop())
    assert found is not None
    place, fewer = found.place, np.zeros((k, 14))
    begun = found.distance[:, : k - 1].sum(axis=1) / (2 * k)
    price = programmed(place, begun, fewer, Stop())
    sets = np.array([*combinations(range(14), k)])
    costs = np.array([cost(place[one], False) for one in sets])
    assert (price[sets].sum(axis=1) <= costs + 1e-9).all()
    holds = np.zeros((len(sets), 14))
    np.put_along_axis(holds, sets, 1, axis=1)
    box = np.column_stack([np.zeros(14), 3 * begun + 0.05 * begun.mean()])
    best = linprog(-np.ones(14), A_ub=holds, b_ub=costs, bounds=box).fun
    assert begun.sum() < price.sum() <= -best + 1e-6
    assert price.sum() > -best * 0.999


@pytest.mark.parametrize("seed", range(few(12)))
def test_mended_prices_are_lawful(seed: int) -> None:
    """Tests against all sets of k rows, with prices far too high and rows alike among them."""
    rng = np.random.default_rng(seed)
    k, place = int(rng.integers(2, 5)), rng.normal(size=(12, 2))
    place[:3] = place[0]
    given = rng.exponential(size=12) * 10.0 ** rng.integers(-3, 2, size=12)
    price, fewer, running = given.copy(), np.zeros((k, 12)), np.zeros(1, np.int64)
    found, looked = mend(place, ends_of(place), price, fewer, k, 100_000, running)
    sets = np.array([*combinations(range(12), k)])
    costs = np.array([cost(place[one], False) for one in sets])
    assert (price >= 0).all() and (price <= given).all() and looked > 0
    assert (price[sets].sum(axis=1) <= costs + 1e-9 * given.max()).all()
    lacking = costs - given[sets].sum(axis=1)
    broken = {tuple(one) for one in sets[lacking < 0]}
    told = {tuple(sorted(one)) for one in found.tolist()}
    assert broken and told <= broken and len(told) == len(found)
    ends, over = ends_of(place), np.ones(1, np.int64)
    assert mend(place, ends, given.copy(), fewer, k, 3, running)[1] == -1
    assert mend(place, ends, given.copy(), fewer, k, 100_000, over)[1] == -1


@pytest.mark.parametrize("k", [2, 3, 5])
def test_rows_within_reach_are_those_that_boxes_leave(k: int) -> None:
    """Tests against all rows, whatever room there is; of one box of three none may be taken."""
    rng = np.random.default_rng(k)
    place = rng.normal(size=(90, 2)) * rng.choice([1, 9], (90, 1))
    turn = boxed(place)
    assert sorted(turn) == [*range(90)]
    place, most = place[turn], rng.exponential(size=90)
    most[32:64] = -np.inf
    top, counts = np.array([most[:32].max(), -np.inf, most[64:].max() + 0.1]), set()
    for i in range(90):
        worth = ((place - place[i]) ** 2).sum(axis=1) / k - most
        least, room = np.sort(worth)[: k - 2].sum(), rng.normal() * 3
        scratch = np.zeros(90, np.int64), np.zeros(90)
        with interpreted():
            found = within_reach(place, ends_of(place), most, top, i, k, room, *scratch)
        right = np.flatnonzero(worth < room - least)
        assert found.tolist() == right.tolist() or len(right) < k - 1
        counts.add(len(found))
    assert len(counts) > 8 and 0 in counts


def test_prices_that_are_lawful_need_no_mending() -> None:
    given = points(5, 14, 2, 3)
    found = nearest_of(given, Stop())
    assert found is not None
    price = found.distance[:, :2].sum(axis=1) / 6
    before, running = price.copy(), np.zeros(1, np.int64)
    sets, _ = mend(found.place, ends_of(found.place), price, np.zeros((3, 14)), 3, 100_000, running)
    assert (price == before).all() and sets.shape == (0, 3)


def test_a_program_without_time_leaves_prices_as_they_are() -> None:
    given = points(2, 14, 2, 3)
    found = nearest_of(given, Stop())
    assert found is not None
    begun = found.distance[:, :2].sum(axis=1) / 6
    ended = Stop()
    ended.interrupt()
    assert (programmed(found.place, begun, np.zeros((3, 14)), ended) == begun).all()


def test_prices_of_a_program_outlast_the_end_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that what the program has found when time is up is checked, and taken."""

    def ended(place: Floats, price: Floats, fewer: Floats, stop: Stop) -> Floats:
        found = programmed(place, price, fewer, stop)
        stop.halt()
        return found

    given = points(1, 30, 2, 3)
    whole = priced(given).price.sum()
    monkeypatch.setattr("incrowd.averages.bound.programmed", ended)
    assert priced(given).price.sum() == whole
    monkeypatch.setattr("incrowd.averages.bound.programmed", lambda place, price, *rest: price)
    assert priced(given).price.sum() < whole
