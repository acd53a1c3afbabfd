"""Constraints beside ranges, against brute force over all partitions."""

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from constraints.test_constraints_oracle import stars_of
from incrowd.constraints.capped import CappedSearch
from incrowd.constraints.crowd import Costs, new_crowd, value_of
from incrowd.constraints.plan import plan_of
from incrowd.encoding.encoded import coded
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.published.verification import verify_release
from incrowd.solvers.base import Context
from incrowd.tables import from_native
from partings import partitions

NEAR = 1e-4  # positions of an interval are rounded to millionths
Rows = list[tuple[Any, ...]]


def tables(seed: int, number: int, values: int = 12) -> list[Rows]:
    """Rows of a number below ``values`` and two texts."""
    rng = np.random.default_rng(seed)
    return [
        [
            (
                int(rng.integers(0, values)),
                str(rng.choice(list("xy"))),
                str(rng.choice(list("xyz"))),
            )
            for _ in range(int(rng.integers(3, 7)))
        ]
        for _ in range(number)
    ]


def naive(rows: Rows, k: int, asked: dict[str, Any]) -> float | None:
    """The least cost of a release: of the number's intervals their width, of texts their stars."""
    numbers = [row[0] for row in rows]
    widest = max(max(numbers) - min(numbers), 1)
    best = None
    for classes in partitions(range(len(rows))):
        stars = [stars_of(rows, part, asked.get("linked", [])) for part in classes]
        lawful = all(len(part) >= k for part in classes)
        lawful &= not any(star[j] for star in stars for j in asked.get("fixed", []))
        for j, share in asked.get("caps", {}).items():
            count = sum(len(p) * s[j] for p, s in zip(classes, stars, strict=True))
            lawful &= count <= Fraction(share) * len(rows)
        if not lawful:
            continue
        cost = 0.0
        for part, star in zip(classes, stars, strict=True):
            wide = max(numbers[r] for r in part) - min(numbers[r] for r in part)
            cost += len(part) * (wide / widest + sum(star[1:]))
        best = cost if best is None else min(best, cost)
    return best


def released(rows: Rows, k: int, **asked: Any) -> ic.Release:
    frame = pl.DataFrame(rows, ["a", "b", "c"], orient="row")
    return ic.anonymize(frame, k, hierarchies={"a": "range"}, order="keep", **asked)


CASES = [
    # Python's words, the oracle's
    ({"fixed": ["b"]}, {"fixed": [1]}),
    ({"fixed": ["a"]}, {"fixed": [0]}),
    ({"linked": [["b", "c"]]}, {"linked": [[1, 2]]}),
    ({"linked": [["b", "c"]], "fixed": ["a"]}, {"linked": [[1, 2]], "fixed": [0]}),
]


@pytest.mark.parametrize(("words", "asked"), CASES)
def test_optimum(words: dict[str, Any], asked: dict[str, Any]) -> None:
    """Tests that the optimum over all partitions is found, and refused where there is none."""
    served = 0
    for rows in tables(5, 12, 2 if 0 in asked.get("fixed", []) else 12):
        expected = naive(rows, 2, asked)
        if expected is None:
            with pytest.raises(ic.NoLawfulReleaseError):
                released(rows, 2, **words)
            continue
        release = released(rows, 2, **words)
        assert release.status == "optimal"
        assert float(release.cost) == pytest.approx(expected, abs=NEAR)
        served += 1
        assert release.verify()
    assert served


@pytest.mark.parametrize("share", ["0", "1/3", "2/3"])
def test_a_capped_range(share: str) -> None:
    """Tests that the cap of a column with ranges holds, and that the bound is one."""
    found = possible = 0
    for rows in tables(6, 12):
        expected = naive(rows, 2, {"caps": {0: share}})
        try:
            release = released(rows, 2, caps={"a": share})
        except ic.NoLawfulReleaseError:
            assert expected is None
            continue
        except ic.StoppedError:
            possible += expected is not None
            continue
        assert expected is not None
        possible, found = possible + 1, found + 1
        assert float(release.lower_bound) - NEAR <= expected <= float(release.cost) + NEAR
        changed = sum("-" in str(cell) for cell in release.data["a"])
        assert changed <= Fraction(share) * len(rows)
        assert release.verify()
    assert found >= 0.9 * possible


def test_a_capped_subgroup() -> None:
    """Tests that cells of a subgroup, ranges among them, stay within its cap."""
    rng = np.random.default_rng(8)
    frame = pl.DataFrame(
        {"a": rng.integers(0, 30, 40), "b": rng.choice(list("xy"), 40), "s": ["u", "v"] * 20}
    )
    caps = [{"column": "s", "value": "u", "share": "3/5"}]
    release = ic.anonymize(
        frame, 3, sensitive="s", hierarchies={"a": "range"}, caps=caps, order="keep"
    )
    inside = np.array(frame["s"] == "u")
    before = frame.select(pl.col("a").cast(pl.String), "b")
    changed = sum(int((release.data[n] != before[n]).to_numpy()[inside].sum()) for n in "ab")
    assert changed <= 24
    assert release.verify()


def test_a_linked_range_is_refused() -> None:
    """Tests that columns of intervals are not suppressed together."""
    with pytest.raises(ic.InputError, match="linked: column 'a' has a range"):
        released([(1, "x", "y"), (2, "x", "y")], 2, linked=[["a", "b"]])


@pytest.mark.parametrize("rule", ["range", "range:most=4", "range:round=5"])
def test_what_a_class_costs_at_prices(rule: str) -> None:
    """Tests the value of classes between random codes against the family's own costs."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"a": rng.integers(0, 30, 50), "b": rng.choice(list("xyz"), 50)})
    policy = ic.Policy(k=2, hierarchies={"a": rule})
    table = coded(from_native(frame), policy)
    family = table.instance.trees[0]
    assert isinstance(family, RangeFamily)
    assert plan_of(table, policy).limits == ()
    free = np.full(2, -1, np.int64)
    costs = Costs(table.instance.tables, 3, free, np.array([7, 5]), np.zeros(50, np.int64))
    crowd = new_crowd(table.leaves, np.zeros(50, np.int64), np.arange(50) // 2, 2)
    for c in range(25):
        low, high = crowd.low[c], crowd.high[c]
        pays = int(family.join_costs(low[:1], high[:1])[0]) * 3 + 7 * (low[0] != high[0])
        pays += (int(table.instance.trees[1].dearest) * 3 + 5) * (low[1] != high[1])
        assert value_of(low, high, 2, 11, costs) == 2 * pays + 11 * int((low != high).sum())


def test_number_texts_alike_do_not_count_as_changed() -> None:
    """Tests that a number written in two ways breaks no cap where its cell stays."""
    frame = pl.DataFrame({"a": ["1", "1.0", "1", "5", "5", "5.0"], "b": list("xxxyyy")})
    release = ic.anonymize(frame, 3, hierarchies={"a": "range"}, caps={"a": "1/3"}, order="keep")
    assert release.data["a"].to_list() == ["1", "1", "1", "5", "5", "5"]


def test_no_bound_counts_cells_that_stay() -> None:
    """Tests that a cap's price claims nothing of cells that read like their class's interval."""
    rows = [(n, b) for b in "xyzw" for n in ("1", "1.0")]
    rows += [(n, b) for b in "uv" for n in ("2", "3")]
    frame = pl.DataFrame(rows, ["a", "b"], orient="row")
    policy = ic.Policy(k=2, hierarchies={"a": "range"}, weights={"b": 1.5}, caps={"a": "1/3"})
    table = coded(from_native(frame), policy)
    search = CappedSearch(table, plan_of(table, policy), "auto", Context())
    search.run()
    assert search.attempts > 1 and search.best is not None
    # four of the numbers that are written twice change, and no other: the rest is by stars of b
    assert search.bound <= 4 * table.instance.trees[1].dearest


def test_a_release_is_held_against_its_constraints() -> None:
    """Tests that a release that ignores its cap is caught on its texts."""
    frame = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": list("xxyyzz")})
    release = ic.anonymize(frame, 2, hierarchies={"a": "range"}, order="keep")
    asked = ic.Policy(k=2, hierarchies={"a": "range"}, caps={"a": "1/6"})
    verdict = verify_release(from_native(frame), from_native(release.data), asked)
    assert not verdict.lawful and "cells of column 'a' were changed" in " ".join(verdict.reasons)


def test_a_number_in_two_ways_keeps_its_place() -> None:
    """Tests that rows count as in order where a number is written in two ways, as elsewhere."""
    frame = pl.DataFrame({"a": ["1", "1.0", "1", "5", "5", "5.0"], "b": list("xxxyyy")})
    policy = ic.Policy(
        k=3, hierarchies={"a": "range"}, caps=[{"column": "b", "value": "x", "share": 1}]
    )
    release = ic.anonymize(frame, policy=policy)
    assert release.data["a"].to_list() == ["1", "1", "1", "5", "5", "5"]
    verdict = verify_release(from_native(frame), from_native(release.data), policy)
    assert verdict.lawful, verdict.reasons
    moved = release.data[[3, 4, 5, 0, 1, 2]]
    with pytest.raises(ic.InputError, match="another order"):
        verify_release(from_native(frame), from_native(moved), policy)
