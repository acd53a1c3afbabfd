"""Tests of the optimum for k = 2 under a veil, against all releases of small tables."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from test_lists import STAR, judge, law, veils

from dial import enough, few
from incrowd.errors import OutOfScopeError
from incrowd.solvers.base import Context
from incrowd.solvers.matching.branching import Branch
from incrowd.solvers.matching.nodes import FAR, costs_of
from incrowd.solvers.matching.pipeline import Effort
from incrowd.solvers.matching.reduction import any_groups
from incrowd.veil import matching, ties
from incrowd.veil.lists import Classes
from incrowd.veil.matching import UNIT, bits_of_lots, cheapest, matched, nodes_of
from incrowd.veil.optimum import best, hidden_of_sets
from incrowd.veil.usable import profitable


def cheapest_without_lots(codes, veiled, weights, lawful):
    """The method as the others are called."""
    return cheapest(codes, veiled, weights, np.zeros(codes.shape, np.int64), Context())


def hidden_in(found: Classes) -> np.ndarray:
    return found.hidden[found.of_row]


def drawn(rng: np.random.Generator, most: int = 11):
    """A small table, its veil, weights and lots; sometimes none of these."""
    rows, columns = int(rng.integers(2, most)), int(rng.integers(1, 5))
    shape = rows, columns
    codes = rng.integers(0, rng.integers(2, 4), shape)
    veiled = rng.random(shape) < rng.choice([0, 0.1, 0.3])
    weights = rng.integers(1, 4, columns)
    return codes, veiled, weights, rng.integers(0, rng.choice([1, 2, 8, 500]), shape)


def test_the_same_as_for_small_tables():
    """Tests that without lots it is the release of ``optimum``, ties and all."""
    rng = np.random.default_rng(1)
    for _ in range(few(40)):
        codes, veiled, weights, lots = drawn(rng, 9)
        found = cheapest(codes, veiled, weights, 0 * lots, Context())
        assert (hidden_in(found) == hidden_in(best(codes, veiled, weights, judge(2)))).all()
        assert np.bincount(found.of_row).min() > 1


def test_the_first_of_the_cheapest():
    """Tests cost, then lots, then the order, against all partitions into pairs and triples."""
    rng = np.random.default_rng(2)
    for _ in range(few(30)):
        codes, veiled, weights, lots = drawn(rng, 9)
        weights = weights // np.gcd.reduce(weights)
        found = hidden_in(cheapest(codes, veiled, weights, lots, Context(seed=3)))
        assert (found == first_of_all(codes, veiled, weights, lots)).all()


@pytest.mark.parametrize("steps", [0, ties.FEW_STEPS])
def test_the_first_where_prices_leave_a_gap(monkeypatch, steps):
    """Tests it with lower prices than there are: by linear programs, and by these alone."""
    rng = np.random.default_rng(12)
    monkeypatch.setattr(ties, "FEW_STEPS", steps)
    programs, gaps = count_programs(monkeypatch), 0

    def lowered(nodes, context):
        found = matched(nodes, context)
        certificate = found.certificate
        less = rng.integers(0, UNIT // rng.choice([2, 20, 2**20]), nodes.size) * certificate.unit
        less *= rng.random(nodes.size) < 0.3
        groups = any_groups(nodes) if rng.random() < 0.5 else found.groups  # not the cheapest
        return replace(
            found,
            groups=groups,
            cost=int(costs_of(nodes.grid, groups).sum()),
            certificate=replace(certificate, price=certificate.price - less),
        )

    monkeypatch.setattr(matching, "matched", lowered)
    for _ in range(few(30)):
        codes, veiled, weights, lots = drawn(rng, 9)
        weights = weights // np.gcd.reduce(weights)
        before = len(programs)
        found = hidden_in(cheapest(codes, veiled, weights, lots, Context(seed=3)))
        assert (found == first_of_all(codes, veiled, weights, lots)).all()
        gaps += len(programs) > before
    assert gaps > enough(15)


def count_programs(monkeypatch) -> list[Branch]:
    """The branches whose linear program is solved from now on."""
    seen = []

    def solved(columns, program, at):
        seen.append(at)
        return one(columns, program, at)

    one = ties.solved
    monkeypatch.setattr(ties, "solved", solved)
    return seen


def first_of_all(codes, veiled, weights, lots):
    """What all partitions into pairs and triples say; bits for the order, row by row."""
    rows, columns = codes.shape
    masks = hidden_of_sets(codes, veiled)
    least: dict[int, tuple] = {0: ((0, 0, 0), None)}

    def price(group: int) -> tuple[int, int, int]:
        members = [i for i in range(rows) if group >> i & 1]
        hidden = np.flatnonzero(masks[group]).tolist()
        cells = [(i, c) for i in members for c in hidden]
        order = sum(1 << ((rows - 1 - i) * columns + columns - 1 - c) for i, c in cells)
        cost = len(members) * int(weights[hidden].sum())
        return cost, int(sum(lots[cell] for cell in cells)), order

    for union in range(1, 1 << rows):
        first = union & -union
        others = [1 << i for i in range(rows) if union >> i & 1 and 1 << i != first]
        groups = [first | a | b for i, a in enumerate(others) for b in (0, *others[:i])]
        ways = [
            (tuple(map(sum, zip(price(group), least[union ^ group][0], strict=True))), group)
            for group in groups
            if union ^ group in least
        ]
        if ways:
            least[union] = min(ways)
    hidden, left = np.zeros(codes.shape, bool), (1 << rows) - 1
    while left:
        group = least[left][1]
        hidden[[i for i in range(rows) if group >> i & 1]] = masks[group]
        left ^= group
    return hidden


def test_consistent():
    """Tests on all veils of small tables that to hide a cell which is hidden changes nothing."""
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(1):
        codes, weights = rng.integers(0, 2, (4, 2)), rng.integers(1, 3, 2)
        lots = rng.integers(0, 3, codes.shape)
        found = {v.tobytes(): v for v in veils(4, 2)}
        releases = {
            key: hidden_in(cheapest(codes, veiled, weights, lots, Context()))
            for key, veiled in found.items()
        }
        for key, veiled in found.items():
            for i, c in zip(*np.nonzero(releases[key] & ~veiled), strict=True):
                more = veiled.copy()
                more[i, c] = True
                assert (releases[more.tobytes()] == releases[key]).all()
                seen += 1
    assert seen > 150


def test_consistent_on_larger_tables():
    """Tests some cells of tables with many rows alike, odd sets, and binary columns."""
    rng = np.random.default_rng(4)
    seen = 0
    for rows, columns, values in [(60, 3, 2), (90, 4, 3), (120, 6, 2), (150, 2, 12)]:
        codes = rng.integers(0, values, (rows, columns))
        veiled = rng.random(codes.shape) < 0.1
        lots = rng.integers(0, 1 << bits_of_lots(rows, columns), codes.shape)
        weights = np.ones(columns, np.int64)
        release = hidden_in(cheapest(codes, veiled, weights, lots, Context()))
        cells = np.argwhere(release & ~veiled)
        for i, c in cells[rng.permutation(len(cells))[:3]]:
            more = veiled.copy()
            more[i, c] = True
            again = cheapest(codes, more, weights, lots, Context(seed=int(i)))
            assert (hidden_in(again) == release).all()
            seen += 1
    assert seen > 8


@pytest.mark.parametrize("seed", [157, 294])
def test_consistent_where_odd_sets_leave_a_gap(monkeypatch, seed):
    """Tests tables whose optimum only branching proves: one in fifty of these."""
    rng = np.random.default_rng(seed)
    people = np.random.default_rng(150)
    codes = np.column_stack([people.integers(0, size, 150) for size in (10, 2, 6, 3)])
    veiled = rng.random(codes.shape) < 0.1
    veiled[rng.permutation(150)[:2]] = True
    lots = rng.integers(0, 1 << bits_of_lots(*codes.shape), codes.shape)
    programs = count_programs(monkeypatch)
    release = hidden_in(cheapest(codes, veiled, np.ones(4, np.int64), lots, Context()))
    assert programs
    monkeypatch.setattr(matching, "EFFORT", Effort(rounds=10, patient=0, exchange=False))
    cells = np.argwhere(release & ~veiled)
    for i, c in cells[rng.permutation(len(cells))[:2]]:
        more = veiled.copy()
        more[i, c] = True
        again = cheapest(codes, more, np.ones(4, np.int64), lots, Context(seed=int(i)))
        assert (hidden_in(again) == release).all()


def test_ratio():
    """Tests, by adding up all veils, that a release which hides a cell favours no value by 1/q."""
    rng = np.random.default_rng(5)
    chance, weights = [Fraction(1, 4), Fraction(1, 2)], np.ones(2, np.int64)
    worst = Fraction(0)
    for cell in ((0, 0), (2, 1)):
        codes = rng.integers(0, 2, (4, 2))
        i, c = cell
        given = chance, weights, judge(2), cheapest_without_lots
        laws = [law(codes, (i, c, value), *given) for value in range(2)]
        for release in set().union(*laws):
            if np.frombuffer(release, codes.dtype).reshape(4, 2)[i, c] == STAR:
                likely = [one[release] for one in laws]
                assert max(likely) <= min(likely) / chance[c]
                worst = max(worst, max(likely) / min(likely) * chance[c])
    assert worst > Fraction(1, 2)  # the bound is not far off


def test_the_simplex_condition():
    """Tests that the pairs of a triple cost twice the triple at most, lots of cells included."""
    rng = np.random.default_rng(6)
    codes, veiled = rng.integers(0, 3, (12, 3)), rng.random((12, 3)) < 0.2
    nodes, row_of_node = nodes_of(
        codes, veiled, np.array([1, 3, 2]), rng.integers(0, 1 << 20, codes.shape)
    )
    assert sorted(row_of_node) == list(range(12))
    for _ in range(few(200)):
        u, v, w = sorted(rng.permutation(12)[:3].tolist())
        groups = np.array([[u, v, w], [u, v, -1], [v, w, -1], [u, w, -1]], np.int32)
        triple, *pairs = costs_of(nodes.grid, groups).tolist()
        assert sum(pairs) <= 2 * triple < FAR


def test_lots_change_no_cost():
    """Tests that all lots together weigh less than a cell, in every shape."""
    for rows, columns in [(2, 1), (400, 9), (15_081, 9), (30_162, 9), (10**7, 16)]:
        bits = bits_of_lots(rows, columns)
        assert 2 * rows * columns * ((1 << bits) - 1) < UNIT
    assert bits_of_lots(15_081, 9) > 7


def test_who_may_stand_together():
    """Tests rows that a pair or triple of their key may hold, against all of these."""
    rng = np.random.default_rng(7)
    for _ in range(few(100)):
        key, rest = np.sort(rng.integers(0, 4, 9)), rng.integers(-3, 4, 9)
        mine = {
            i
            for size in (2, 3)
            for group in combinations(range(9), size)
            if len(set(key[list(group)])) == 1 and rest[list(group)].sum() <= 0
            for i in group
        }
        kept, start = profitable(key, rest)
        assert mine <= set(kept.tolist())
        parts = np.split(kept, start[1:])
        assert all(len(set(key[part])) == 1 for part in parts if len(part))
        assert len(kept) == len(set(kept.tolist()))


def test_what_is_not_proven_is_refused(monkeypatch):
    """Tests that no release is made when time is up, or the search for ties gives up."""
    codes = np.random.default_rng(8).integers(0, 2, (40, 4))
    given = codes, codes < 0, np.ones(4, np.int64), 0 * codes
    context = Context()
    context.stop.interrupt()
    with pytest.raises(OutOfScopeError, match="not proven"):
        cheapest(*given, context)
    monkeypatch.setattr(ties, "FEW_STEPS", 0)
    monkeypatch.setattr(ties, "MOST_PROGRAMS", 0)
    with pytest.raises(OutOfScopeError, match="which of them comes"):
        cheapest(*given, Context())


def test_many_rows_alike():
    """Tests a table of few different rows, whose groups are too many to be listed."""
    rng = np.random.default_rng(9)
    codes = rng.integers(0, 2, (900, 2))
    veiled = rng.random(codes.shape) < 0.05
    veiled[:2] = True
    lots = rng.integers(0, 1 << bits_of_lots(900, 2), codes.shape)
    found = cheapest(codes, veiled, np.ones(2, np.int64), lots, Context())
    assert (hidden_in(found) == veiled).all()  # as everybody has company
