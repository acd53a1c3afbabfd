"""Tests of the consistent method with hierarchies: consistency, and the ratio that follows."""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_lists import judge

import incrowd as ic
from dial import enough, few
from incrowd.errors import InputError, OutOfScopeError
from incrowd.veil.coins import raised
from incrowd.veil.lists import Known, Lots, least_paid, with_levels

PARENTS = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
"""Nodes of four values: themselves, two groups, everything."""
COSTS = [np.array([0, 1, 2]), np.array([0, 2])]
Q = Fraction(1, 5)


def released(codes, lowest, lots=None, k=2) -> np.ndarray:
    """The level at which each cell is published."""
    nodes = [PARENTS[:, codes[:, 0]], PARENTS[::2, codes[:, 1]]]
    found = with_levels(Known(nodes, lowest), COSTS, judge(k), lots)
    for number, levels in enumerate(found.levels):
        members = np.flatnonzero(found.of_row == number)
        assert (lowest[members] <= levels).all()
        for node, level in zip(nodes, levels, strict=True):
            assert len(set(node[level, members])) == 1
    return found.levels[found.of_row]


def veils(rows: int):
    """All levels from which on cells of two columns may be known."""
    for levels in product(range(3), range(2), repeat=rows):
        yield np.array(levels).reshape(rows, 2)


@pytest.mark.parametrize("helpers", [False, True])
def test_consistent(helpers: bool):
    """Tests that a cell known from its published level on only changes nothing, by all veils."""
    rng = np.random.default_rng(helpers)
    lots = Lots(np.array([True, False, False]), np.array([2, 0, 1])) if helpers else None
    seen = 0
    for _ in range(few(4, 2)):
        codes = rng.integers(0, 4, (3, 2))
        known = {lowest.tobytes(): released(codes, lowest, lots) for lowest in veils(3)}
        for lowest in veils(3):
            levels = known[lowest.tobytes()]
            for i, c in zip(*np.nonzero(levels > lowest), strict=True):
                more = lowest.copy()
                more[i, c] = levels[i, c]
                assert (known[more.tobytes()] == levels).all()
                seen += levels[i, c] == 1 and c == 0
    assert seen > 12 * few(4, 2)


@pytest.mark.parametrize("k", [2, 3])
def test_consistent_on_larger_tables(k: int):
    rng = np.random.default_rng(k)
    seen = 0
    for _ in range(few(25)):
        codes = rng.integers(0, 4, (14, 2))
        lowest = np.column_stack([rng.choice(3, 14, p=[0.7, 0.2, 0.1]), rng.random(14) < 0.1])
        lowest = lowest.astype(np.int64)
        lots = Lots(rng.random(14) < 0.3, rng.permutation(14))
        levels = released(codes, lowest, lots, k)
        for i, c in zip(*np.nonzero(levels > lowest), strict=True):
            more = lowest.copy()
            more[i, c] = levels[i, c]
            assert (released(codes, more, lots, k) == levels).all()
            seen += levels[i, c] == 1 and c == 0
    assert seen > enough(30)


def law(codes) -> dict[bytes, Fraction]:
    """Probability of each release: levels and nodes of all cells."""
    found: dict[bytes, Fraction] = defaultdict(Fraction)
    for lowest in veils(len(codes)):
        chance = Fraction(1)
        for first, second in lowest.tolist():
            chance *= (Q if first else 1 - 2 * Q) * (Q if second else 1 - Q)
        levels = released(codes, lowest)
        nodes = PARENTS[np.column_stack([levels[:, 0], 2 * levels[:, 1]]), codes]
        found[np.stack([levels, nodes]).tobytes()] += chance
    assert sum(found.values()) == 1
    return found


def test_ratio():
    """Tests that values below a published node are favoured by (1 − (L − l)q)/q at most."""
    rng = np.random.default_rng(5)
    worst = {1: Fraction(0), 2: Fraction(0)}
    for _ in range(few(4, 2)):
        codes = rng.integers(0, 4, (3, 2))
        laws = []
        for value in range(4):
            codes[0, 0] = value
            laws.append(law(codes))
        for release in set().union(*laws):
            levels, _ = np.frombuffer(release, np.int64).reshape(2, 3, 2)
            level = int(levels[0, 0])
            likely = [one[release] for one in laws if release in one]
            if level:
                assert len(likely) in ((2,) if level == 1 else (4,))  # all below the node
                most = (1 - (2 - level) * Q) / Q
                assert max(likely) <= min(likely) * most
                worst[level] = max(worst[level], max(likely) / min(likely) / most)
    assert min(worst.values()) > Fraction(1, 2)  # the bound is not far off


def test_bound_of_the_veiled_table():
    """Tests the bound against what the method pays, with values that cost less than their level."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        codes, lowest = rng.integers(0, 4, (12, 2)), rng.integers(0, 2, (12, 2))
        nodes = [PARENTS[:, codes[:, 0]], PARENTS[::2, codes[:, 1]]]
        paid = [np.repeat(cost[:, None], 12, axis=1) for cost in COSTS]
        known = Known(nodes, lowest)
        found = with_levels(known, COSTS, judge(2))
        mine = sum(paid[c][found.levels[found.of_row, c], np.arange(12)].sum() for c in range(2))
        assert 0 < least_paid(known, COSTS, paid, judge(2)).sum() <= mine


def test_coins_of_levels():
    """Tests that each level has its probability, also where nothing is left for the values."""
    found = raised(60_000, [Fraction(1, 5), Fraction(1, 2)], [3, 2])
    shares = np.bincount(found[:, 0]) / 60_000, np.bincount(found[:, 1]) / 60_000
    assert shares[0] == pytest.approx([0.4, 0.2, 0.2, 0.2], abs=0.01)
    assert shares[1] == pytest.approx([0, 0.5, 0.5], abs=0.01)


def ages(folder: Path) -> str:
    path = folder / "age.csv"
    lines = (f"{age};{age // 10}0-{age // 10}9;{age // 20};*\n" for age in range(20, 60))
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def people(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(rows)
    ages = rng.integers(20, 60, rows)
    return pl.DataFrame({"age": ages, "job": rng.choice(["a", "b", "c"], rows)}).cast(pl.String)


def test_a_release_with_a_hierarchy(tmp_path: Path):
    """Tests k, the recount, both bounds, groups between values and stars, and more of them."""
    frame, rules = people(300), {"age": ages(tmp_path)}
    release = ic.anonymize(frame, k=4, veil=0.1, hierarchies=rules, order="keep")
    assert release.verify()
    assert ic.measure(release.data).k >= 4
    assert release.lower_bound <= release.veiled_bound <= release.cost
    assert release.method == "consistent"
    shown = release.data["age"].to_list()
    assert {len(text) for text in shown} >= {1, 5}
    for before, after in zip(frame["age"], shown, strict=True):
        assert after in (before, f"{before[0]}0-{before[0]}9", str(int(before) // 20), "*")
    unveiled = ic.anonymize(frame, k=4, hierarchies=rules, order="keep").data["age"]
    assert (release.data["age"] == frame["age"]).sum() < (unveiled == frame["age"]).sum()


def test_what_is_refused(tmp_path: Path):
    rules = {"age": ages(tmp_path)}
    with pytest.raises(InputError, match="so 1/3 is the most"):
        ic.anonymize(people(50), k=2, veil=0.5, hierarchies=rules)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"hierarchies": {"age": "interval:10"}}, "hierarchies by rule"),
        ({"hierarchies": rules, "cost": "stars"}, "with the cost level"),
        ({"hierarchies": rules, "method": "simplex-matching"}, "leave --method out"),
        ({"hierarchies": {"age": "range"}, "cost": "ncp"}, "veil does not serve"),
    ]
    for given, words in refused:
        with pytest.raises(OutOfScopeError, match=words):
            ic.anonymize(people(50), k=2, veil=0.1, **given)
