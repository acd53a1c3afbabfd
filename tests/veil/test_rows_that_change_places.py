"""Tests of classes whose rows change places: against all placements, consistency, the ratio."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from test_levels import COSTS, PARENTS
from test_lists import STAR, judge, law, released, veils

from dial import enough, few
from incrowd.veil.exchange import placed
from incrowd.veil.lists import Known, Lots, made, with_levels


def brute(groups, turn, k):
    """Open groups one by one, then take the first of all placements of whoever fits."""
    fits = [[g for g, rows in enumerate(groups) if i in rows] for i in range(len(turn))]

    def placements(opened):
        ways = [[g for g in fit if g in opened] or [-1] for fit in fits]
        for way in product(*(ways[i] for i in np.argsort(turn))):
            if all(way.count(g) >= k for g in opened):
                yield way

    opened: set[int] = set()
    for g in range(len(groups)):
        if any(True for _ in placements(opened | {g})):
            opened.add(g)
    found = np.empty(len(turn), np.int64)
    found[np.argsort(turn)] = next(placements(opened))  # product() gives the first one first
    return found


@pytest.mark.parametrize("k", [1, 2, 3])
def test_against_all_placements(k: int):
    rng = np.random.default_rng(k)
    refused = moved = 0
    for _ in range(few(140)):
        rows, number = int(rng.integers(1, 9)), int(rng.integers(0, 6))
        groups = [np.flatnonzero(rng.random(rows) < 0.5) for _ in range(number)]
        turn = rng.permutation(rows)
        found = placed(groups, turn, k)
        assert found.tolist() == brute(groups, turn, k).tolist()
        opened = set(found.tolist()) - {-1}
        refused += sum(len(rows) >= k and g not in opened for g, rows in enumerate(groups))
        first = [next((g for g in sorted(opened) if i in groups[g]), -1) for i in range(rows)]
        moved += found.tolist() != first
    assert k == 1 or (refused > enough(10) and moved > enough(2))


def lots_of(rng, rows: int) -> Lots:
    """Lots under which nobody helps."""
    return Lots(np.zeros(rows, bool), rng.permutation(rows))


@pytest.mark.parametrize("k", [2, 3])
def test_consistent(k: int):
    """Tests on all veils of small tables that to hide a cell which is hidden changes nothing."""
    rng = np.random.default_rng(10 + k)
    seen = 0
    for _ in range(few(2, 1)):
        codes, weights, lots = rng.integers(0, 2, (5, 2)), rng.integers(1, 3, 2), lots_of(rng, 5)

        def method(codes, veiled, weights, lawful, lots=lots):
            return made(codes, veiled, weights, lawful, lots, k)

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
    assert seen > 80 * few(2, 1)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_consistent_on_wider_tables(k: int):
    """Tests random veils of tables whose sets of columns compete."""
    rng = np.random.default_rng(20 + k)
    seen = 0
    for _ in range(few(6, 2)):
        rows = 6 * k
        codes, weights = rng.integers(0, 3, (rows, 4)), rng.integers(1, 3, 4)
        lots, veiled = lots_of(rng, rows), rng.random((rows, 4)) < 0.1
        veiled[:k] = True  # set aside
        found = made(codes, veiled, weights, judge(k), lots, k)
        hidden = found.hidden[found.of_row]
        assert np.bincount(found.of_row).min() >= k
        for i, c in zip(*np.nonzero(hidden & ~veiled), strict=True):
            more = veiled.copy()
            more[i, c] = True
            again = made(codes, more, weights, judge(k), lots, k)
            assert np.array_equal(again.hidden[again.of_row], hidden)
            seen += 1
    assert seen > 7 * few(6, 2)


@pytest.mark.parametrize("k", [2, 3])
def test_consistent_with_hierarchies(k: int):
    """Tests that a cell known from its published level on only changes nothing."""
    rng = np.random.default_rng(30 + k)
    seen = 0
    for _ in range(few(25)):
        codes = rng.integers(0, [4, 3], (12, 2))
        nodes = [PARENTS[:, codes[:, 0]], PARENTS[::2, codes[:, 1]]]
        lowest = (rng.random((12, 2)) < 0.2) * rng.integers(0, [3, 2], (12, 2))
        lots = lots_of(rng, 12)

        def levels(lowest, nodes=nodes, lots=lots):
            found = with_levels(Known(nodes, lowest), COSTS, judge(k), lots, k)
            return found.levels[found.of_row]

        release = levels(lowest)
        for i, c in zip(*np.nonzero(release > lowest), strict=True):
            more = lowest.copy()
            more[i, c] = release[i, c]
            assert (levels(more) == release).all()
            seen += 1
    assert seen > enough(90)


@pytest.mark.parametrize("k", [2, 3])
def test_ratio(k: int):
    """Tests, by adding up all veils, that a release which hides a cell favours no value by 1/q."""
    rng = np.random.default_rng(40 + k)
    chance, weights = [Fraction(1, 4), Fraction(1, 2)], np.ones(2, np.int64)
    worst = Fraction(0)
    for _ in range(few(2, 1)):
        codes, lots = rng.integers(0, 3, (4, 2)), lots_of(rng, 4)

        def method(codes, veiled, weights, lawful, lots=lots):
            return made(codes, veiled, weights, lawful, lots, k)

        i, c = rng.integers(4), rng.integers(2)
        laws = [law(codes, (i, c, v), chance, weights, judge(k), method) for v in range(3)]
        for release in set().union(*laws):
            if np.frombuffer(release, codes.dtype).reshape(4, 2)[i, c] == STAR:
                likely = [one[release] for one in laws]
                assert max(likely) <= min(likely) / chance[c]
                worst = max(worst, max(likely) / min(likely) * chance[c])
    assert worst > Fraction(1, 2)  # the bound is not far off


def test_a_row_gives_way():
    """Tests that a row joins the group that lacks one, which a class of three can spare."""
    codes = np.array([[0, 0], [0, 1], [0, 2], [1, 2], [3, 3], [4, 4]])
    weights, lots = np.ones(2, np.int64), Lots(np.zeros(6, bool), np.arange(6))
    stars = []
    for k in (0, 2):
        found = made(codes, codes > 2, weights, judge(2), lots, k)
        stars.append(int(found.hidden[found.of_row][:4].sum()))
    assert stars == [5, 4]
