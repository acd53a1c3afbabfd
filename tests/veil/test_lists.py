"""Tests of the consistent methods by enumeration: consistency, and the ratio that follows."""

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dial import crossed, few
from incrowd.errors import OutOfScopeError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.veil.lists import Known, Lots, choices_by_cost, least_paid, made
from incrowd.veil.optimum import MOST_ROWS, best
from oracle import optimum

STAR = -1


def judge(k: int, secret=None, least: int = 1):
    """k rows, and so many different secrets."""

    def lawful(rows, group):
        fine = np.bincount(group) >= k
        if secret is not None:
            for g in range(len(fine)):
                fine[g] &= len(np.unique(secret[rows[group == g]])) >= least
        return fine

    return lawful


def released(codes, veiled, weights, lawful, method=made) -> bytes:
    """The release: codes, a star for what is hidden."""
    found = method(codes, veiled, weights, lawful)
    return np.where(found.hidden[found.of_row], STAR, codes).tobytes()


def veils(rows: int, columns: int):
    """All veils."""
    for bits in product((False, True), repeat=rows * columns):
        yield np.array(bits).reshape(rows, columns)


def helped(codes, veiled, weights, lawful):
    """The method with two helpers."""
    lots = Lots(np.array([True, False, False, True]), np.array([3, 1, 2, 0]))
    return made(codes, veiled, weights, lawful, lots)


METHODS = [made, helped, best]
CASES = [(2, None, 1), (2, [0, 1, 0, 1], 2), (3, None, 1), (2, [0, 0, 1, 2], 2)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("k", "secret", "least"), CASES)
def test_consistent(k: int, secret, least: int, method):
    """Tests on all veils of small tables that to hide a cell which is hidden changes nothing."""
    rng = np.random.default_rng(k + least)
    lawful = judge(k, None if secret is None else np.array(secret), least)
    seen = 0
    for _ in range(few(2, 1)):
        codes, weights = rng.integers(0, 3, (4, 2)), rng.integers(1, 3, 2)
        releases = {
            veiled.tobytes(): released(codes, veiled, weights, lawful, method)
            for veiled in veils(4, 2)
        }
        for veiled in veils(4, 2):
            release = releases[veiled.tobytes()]
            shown = np.frombuffer(release, codes.dtype).reshape(4, 2)
            for i, c in zip(*np.nonzero((shown == STAR) & ~veiled), strict=True):
                more = veiled.copy()
                more[i, c] = True
                assert releases[more.tobytes()] == release
                seen += 1
    assert seen > 40 * few(2, 1)


@pytest.mark.parametrize(("rule", "share"), crossed([(2, 1), (3, 1), (2, 2)], [0, 0.3, 0.7]))
def test_consistent_on_wider_tables(rule: tuple[int, int], share: float):
    """Tests random veils of tables whose sets of columns compete, with helpers and without."""
    k, least = rule
    rng = np.random.default_rng(round(100 * share) + k + 10 * least)
    seen = 0
    for _ in range(few(4, 2)):
        codes, weights = rng.integers(0, 3, (12, 4)), rng.integers(1, 3, 4)
        lawful = judge(k, rng.integers(0, 3, 12), least)
        lots = Lots(rng.random(12) < share, rng.permutation(12))
        veiled = rng.random(codes.shape) < 0.15
        found = made(codes, veiled, weights, lawful, lots)
        hidden = found.hidden[found.of_row]
        for i, c in zip(*np.nonzero(hidden & ~veiled), strict=True):
            more = veiled.copy()
            more[i, c] = True
            again = made(codes, more, weights, lawful, lots)
            assert np.array_equal(again.hidden[again.of_row], hidden)
            seen += 1
    assert seen > 7 * few(4, 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("k", "secret", "least"), CASES)
def test_ratio(k: int, secret, least: int, method):
    """Tests, by adding up all veils, that a release which hides a cell favours no value by 1/q."""
    rng = np.random.default_rng(10 + k + least)
    lawful = judge(k, None if secret is None else np.array(secret), least)
    chance = [Fraction(1, 4), Fraction(1, 2)]
    weights = np.ones(2, np.int64)
    worst = Fraction(0)
    for _ in range(1):
        codes = rng.integers(0, 3, (4, 2))
        i, c = rng.integers(4), rng.integers(2)
        laws = [law(codes, (i, c, v), chance, weights, lawful, method) for v in range(3)]
        for release in set().union(*laws):
            if np.frombuffer(release, codes.dtype).reshape(4, 2)[i, c] != STAR:
                continue
            likely = [one[release] for one in laws]
            assert max(likely) <= min(likely) / chance[c]
            worst = max(worst, max(likely) / min(likely) * chance[c])
    assert worst > Fraction(1, 2)  # the bound is not far off


def law(codes, cell, chance, weights, lawful, method=made) -> dict[bytes, Fraction]:
    """Probability of each release, with a value in one cell."""
    i, c, value = cell
    codes = codes.copy()
    codes[i, c] = value
    found: dict[bytes, Fraction] = defaultdict(Fraction)
    for veiled in veils(*codes.shape):
        p = Fraction(1)
        for row in veiled:
            for hidden, q in zip(row, chance, strict=True):
                p *= q if hidden else 1 - q
        found[released(codes, veiled, weights, lawful, method)] += p
    assert sum(found.values()) == 1
    return found


def test_a_whole_row():
    """Tests the factor 1/q² for both cells of a row together."""
    rng = np.random.default_rng(4)
    chance, weights, lawful = [Fraction(1, 4), Fraction(1, 2)], np.ones(2, np.int64), judge(2)
    for _ in range(2):
        codes = rng.integers(0, 2, (3, 2))
        laws = []
        for pair in product(range(2), repeat=2):
            codes[1] = pair
            laws.append(law(codes, (1, 0, pair[0]), chance, weights, lawful))
        for release in set().union(*laws):
            if (np.frombuffer(release, codes.dtype).reshape(3, 2)[1] == STAR).all():
                likely = [one[release] for one in laws]
                assert max(likely) <= min(likely) / (chance[0] * chance[1])


def least_costs(codes, veiled, weights, lawful):
    """What each row pays at the least, in a table without hierarchies."""
    paid = [np.array([[0], [weight]]) for weight in weights.tolist()]
    each = [np.repeat(cost, len(codes), axis=1) for cost in paid]
    return least_paid(Known.plain(codes, veiled), [cost[:, 0] for cost in paid], each, lawful)


def test_classes_are_lawful_and_agree():
    """Tests classes, costs and bound on random tables, against the optimum."""
    rng = np.random.default_rng(7)
    for _ in range(few(30)):
        codes = rng.integers(0, 3, (9, 3))
        weights = np.ones(3, np.int64)
        veiled = np.zeros((9, 3), bool)
        veiled[:2] = True  # set aside
        found = made(codes, veiled, weights, judge(2))
        assert np.bincount(found.of_row).min() >= 2
        for c, hidden in enumerate(found.hidden):
            rows = codes[found.of_row == c]
            assert (rows[:, ~hidden] == rows[0, ~hidden]).all()
            assert not veiled[found.of_row == c][:, ~hidden].any()
        cost = int(found.hidden[found.of_row].sum())
        bound = int(least_costs(codes, veiled, weights, judge(2)).sum())
        assert bound <= cost
        instance, _ = from_codes(codes)
        plain = int(least_costs(codes, np.zeros_like(veiled), weights, judge(2)).sum())
        assert plain <= optimum(instance, KAnonymity(2)) <= cost


def test_order_of_choices():
    """Tests that choices stand by cost, then by how much they lose, then by the columns' order."""
    found = choices_by_cost([np.array([0, 2]), np.array([0, 1]), np.array([0, 1])])
    assert found == [
        (0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0),
    ]  # fmt: skip
    found = choices_by_cost([np.array([0, 1, 2]), np.array([0, 2])])
    assert found == [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1)]


@pytest.mark.parametrize(("k", "secret", "least"), CASES)
def test_the_first_of_the_cheapest(k: int, secret, least: int):
    """Tests the optimum against all releases, one for each way to hide cells."""
    rng = np.random.default_rng(20 + k + least)
    lawful = judge(k, None if secret is None else np.array(secret), least)
    ways = list(veils(4, 2))  # those that show the first cell come first
    for _ in range(8):
        codes, weights = rng.integers(0, 3, (4, 2)), rng.integers(1, 3, 2)
        veiled = rng.random((4, 2)) < 0.3
        fine = [way for way in ways if (way >= veiled).all() and is_lawful(codes, way, lawful)]
        found = best(codes, veiled, weights, lawful)
        if fine:
            first = min(fine, key=lambda way: int((way * weights).sum()))
            assert (found.hidden[found.of_row] == first).all()


def is_lawful(codes, hidden, lawful) -> bool:
    """Whether all classes of the release are."""
    shown = np.where(hidden, STAR, codes)
    _, group = np.unique(shown, axis=0, return_inverse=True)
    return bool(lawful(np.arange(len(codes)), group.ravel()).all())


def test_only_few_rows():
    codes = np.zeros((MOST_ROWS + 1, 1), np.int64)
    with pytest.raises(OutOfScopeError, match="13 rows at most"):
        best(codes, codes > 0, np.ones(1, np.int64), judge(2))
