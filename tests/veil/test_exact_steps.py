"""Tests of exact steps: the heaviest way against all ways, consistency, the ratio, what is told."""

import sys
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from test_lists import STAR, judge, law, released, veils

import incrowd as ic
from incrowd.errors import MissingExtraError, OutOfScopeError
from incrowd.run.stop import Stop
from incrowd.veil import heaviest as steps
from incrowd.veil.heaviest import (
    ONE,
    Weights,
    Width,
    fitting,
    kinds_of,
    made_exactly,
    settled,
)
from incrowd.veil.lists import Candidate, Classes, Known, Lots
from incrowd.veil.program import Program, cp_sat, heaviest

pytest.importorskip("ortools")


def ways(members, weight, cost, k):
    """Every way with what it weighs, heaviest first, by Hall's theorem."""
    sets = [set(rows.tolist()) for rows in members]
    found = []
    for way in product([False, True], repeat=len(members)):
        opened = [g for g, is_open in enumerate(way) if is_open]
        parts = [part for size in range(len(opened)) for part in combinations(opened, size + 1)]
        if all(len(set().union(*(sets[g] for g in part))) >= k * len(part) for part in parts):
            fits = set().union(*(sets[g] for g in opened))
            found.append((sum(weight[i] for i in fits) - sum(cost[g] for g in opened), list(way)))
    return sorted(found, reverse=True)


def questions(seed: int, times: int):
    """Groups that share rows, with whole weights so small that ways often weigh as much."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        k, number, rows = (int(rng.integers(*span)) for span in ((1, 4), (1, 6), (1, 12)))
        members = [np.flatnonzero(rng.random(rows) < 0.5) for _ in range(number)]
        members = [rows for rows in members if len(rows)] or [np.array([0])]
        yield members, rng.integers(10, 20, rows), rng.integers(0, 60, len(members)).tolist(), k


def test_the_heaviest_of_all_ways():
    """Tests that a way is returned if, and only if, it alone is the heaviest."""
    unique = tied = 0
    for members, weight, cost, k in questions(1, 100):
        nobody = np.zeros(len(weight), bool)
        program = Program(kinds_of(fitting(members), weight, nobody), cost, k)
        known = ways(members, weight, cost, k)
        assert all(program.weight(way) == weighs for weighs, way in known)
        best = [way for weighs, way in known if weighs == known[0][0]]
        if len(best) == 1:
            assert heaviest(program, {}, 10.0, Stop()) == best[0]
            unique += 1
        else:
            with pytest.raises(OutOfScopeError, match="two weigh as much"):
                heaviest(program, {}, 10.0, Stop())
            tied += 1
    assert unique > 80
    assert tied


def test_what_is_settled_before():
    """Tests groups that open, or stay closed, for sure against the heaviest ways."""
    seen = 0
    for members, weight, cost, k in questions(2, 150):
        sure = settled(members, cost, weight, k)
        known = ways(members, weight, cost, k)
        for weighs, way in known:
            if weighs == known[0][0]:
                assert not (sure.opened & ~np.array(way)).any()
                assert not (sure.closed & np.array(way)).any()
        seen += int(sure.opened.sum() + sure.closed.sum())
    assert seen > 150


def weights_of(rng, shape: tuple[int, int], values: int) -> Weights:
    """Lots for some rows, and for each value of each column."""
    drawn = rng.integers(0, 1 << 62, (values, shape[1]))
    return Weights(ONE + rng.integers(0, ONE, shape[0]), drawn.astype(np.uint64))


def method_of(rng, shape: tuple[int, int], values: int, k: int):
    """The method under lots of its own."""
    lots = Lots(np.zeros(shape[0], bool), rng.permutation(shape[0]))
    weighed = weights_of(rng, shape, values)

    def method(codes, veiled, weights, lawful):
        signs = np.take_along_axis(weighed.signs, codes, axis=0)
        costs = [np.array([0, weight]) for weight in weights.tolist()]
        known = Known.plain(codes, veiled)
        drawn = Weights(weighed.rows, signs)
        found = made_exactly(known, costs, lawful, lots, k, drawn, Stop())
        return Classes(found.of_row, found.levels > 0)

    return method


@pytest.mark.parametrize(("hidden", "dearest"), [(0, 2), (1, 2), (2, 2), (3, 3), (4, 5), (5, 6)])
def test_what_classes_cost(hidden: int, dearest: int):
    """Tests that a class costs a lot from 0 to so many rows, by how many columns it hides.

    With k = 10 it costs up to three times as much.
    """
    rng = np.random.default_rng(hidden)
    choice = (1,) * hidden + (0,) * (6 - hidden)
    signs = rng.integers(0, 1 << 62, (500, 6)).astype(np.uint64)
    weights = Weights(np.full(500, ONE), signs)
    for k, times in ((2, 1), (5, 1), (10, 3)):
        asked = [Candidate(0.0, 0, np.array([i]), choice) for i in range(500)]
        costs = [weights.cost(one, k) / ONE / times for one in asked]
        assert 0 <= min(costs) < 0.1
        assert dearest - 0.1 < max(costs) < dearest


@pytest.mark.parametrize("k", [2, 3])
def test_consistent(k: int):
    """Tests on all veils of small tables that to hide a cell which is hidden changes nothing."""
    rng = np.random.default_rng(10 + k)
    seen = 0
    for _ in range(1):
        codes, weights = rng.integers(0, 2, (5, 2)), np.ones(2, np.int64)
        method = method_of(rng, (5, 2), 2, k)
        known = {
            veiled.tobytes(): released(codes, veiled, weights, judge(k), method)
            for veiled in veils(5, 2)
        }
        for bits, release in known.items():
            veiled = np.frombuffer(bits, bool).reshape(5, 2)
            shown = np.frombuffer(release, codes.dtype).reshape(5, 2)
            for i, c in zip(*np.nonzero((shown == STAR) & ~veiled), strict=True):
                more = veiled.copy()
                more[i, c] = True
                assert known[more.tobytes()] == release
                seen += 1
    assert seen > 150


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_consistent_on_wider_tables(k: int, few: bool, monkeypatch: pytest.MonkeyPatch):
    """Tests random veils of tables whose groups compete, also where steps take few sets.

    How many they take depends on who waits.
    """
    if few:
        narrow = {1: Width(3, 3, 0), 2: Width(1, 4, 3 * k), 3: Width(1, 2, 2 * k)}
        monkeypatch.setattr(steps, "WIDTHS", narrow)
    asked = 0

    def counted(program, *others):
        nonlocal asked
        asked += 1
        return heaviest(program, *others)

    monkeypatch.setattr(steps, "heaviest", counted)
    rng = np.random.default_rng(20 + k + few)
    seen = 0
    for _ in range(6 if few else 3):
        shape = (8 * k, 4)
        codes, weights = rng.integers(0, 3, shape), rng.integers(1, 3, 4)
        method, veiled = method_of(rng, shape, 3, k), rng.random(shape) < 0.1
        veiled[:k] = True  # set aside
        found = method(codes, veiled, weights, judge(k))
        hidden = found.hidden[found.of_row]
        assert np.bincount(found.of_row).min() >= k
        for i, c in zip(*np.nonzero(hidden & ~veiled), strict=True):
            more = veiled.copy()
            more[i, c] = True
            again = method(codes, more, weights, judge(k))
            assert np.array_equal(again.hidden[again.of_row], hidden)
            seen += 1
    assert seen > 50
    assert asked > 20


@pytest.mark.parametrize("k", [2, 3])
def test_ratio(k: int):
    """Tests, by adding up all veils, that a release which hides a cell favours no value by 1/q."""
    rng = np.random.default_rng(40 + k)
    chance, weights = [Fraction(1, 4), Fraction(1, 2)], np.ones(2, np.int64)
    worst = Fraction(0)
    for _ in range(1):
        codes, method = rng.integers(0, 3, (4, 2)), method_of(rng, (4, 2), 3, k)
        i, c = rng.integers(4), rng.integers(2)
        laws = [law(codes, (i, c, v), chance, weights, judge(k), method) for v in range(3)]
        for release in set().union(*laws):
            if np.frombuffer(release, codes.dtype).reshape(4, 2)[i, c] == STAR:
                likely = [one[release] for one in laws]
                assert max(likely) <= min(likely) / chance[c]
                worst = max(worst, max(likely) / min(likely) * chance[c])
    assert worst > Fraction(1, 2)  # the bound is not far off


def people(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(rows)
    values = {"age": 12, "sex": 2, "zip": 6, "job": 3}
    return pl.DataFrame({n: rng.integers(0, v, rows) for n, v in values.items()}).cast(pl.String)


def test_a_release():
    release = ic.anonymize(people(100), k=3, veil=0.1, method="exact-steps")
    assert release.verify()
    assert release.method == "exact-steps"
    assert release.lower_bound <= release.veiled_bound <= release.cost


def test_no_proof_no_release(monkeypatch: pytest.MonkeyPatch):
    """Tests that a step that is not proven is an error, which names what to do."""
    monkeypatch.setattr(steps, "EFFORT", 0.0)
    with pytest.raises(OutOfScopeError, match=r"effort is used up.*--method consistent"):
        ic.anonymize(people(300), k=3, veil=0.1, method="exact-steps")


def test_other_models_are_refused():
    frame = people(100)
    with pytest.raises(OutOfScopeError, match="exact-steps but for k-anonymity"):
        ic.anonymize(frame, k=2, l=2, sensitive="job", veil=0.1, method="exact-steps")


def test_without_or_tools(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ortools", None)
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    monkeypatch.delitem(sys.modules, "ortools.sat.python.cp_model", raising=False)
    with pytest.raises(MissingExtraError, match=r"incrowd\[veil\]"):
        cp_sat()


def test_the_more_rows_wait_the_fewer_sets_a_step_takes():
    width = Width(8, 50, 1000)
    assert [width.sets(waiting, 5) for waiting in (0, 1, 1000)] == [50, 50, 50]
    assert [width.sets(waiting, 2) for waiting in (1001, 2000, 6250, 10**7)] == [49, 25, 8, 8]
    assert [width.sets(waiting, 10) for waiting in (500, 1000, 10**7)] == [50, 25, 8]
