"""Tests of proofs of some kilobytes that kept the checker busy, or filled its memory.

What is counted is looked at, not seconds.
"""

from bisect import bisect_left
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("networkx")

from forging.trying import base, verdict_of

from incrowd.checker import combinations, dropped, hockey, lawful, nearest, runs
from incrowd.checker.ranges import Intervals
from incrowd.checker.rejection import RejectedError

RULE = {"kind": "numbers", "round": None, "most": None, "cost": "width"}
LADDER = pl.DataFrame(
    {"leaf": ["1", "2"] * 2, "level": [0, 0, 1, 1], "label": ["1", "2", "*", "*"]}
).with_columns(cost=pl.col("level") * 10**6)


class Slow(list[Any]):
    """A list that must not be searched value by value."""

    def __contains__(self, key: object) -> bool:
        """Fail."""
        raise AssertionError


def test_texts_of_missing_values_are_looked_up() -> None:
    """Tests a million texts that stand for missing values: each value was sought among them."""
    found = Intervals(RULE, LADDER, "a", Slow(["2", "x"]))
    assert list(found.known) == ["1"]
    assert found.leaves == ["1", "2"]


def test_templates_are_short() -> None:
    """Tests a template of megabytes: the end of each interval was sought in it."""
    for length, fine in ((980, True), (2000, False)):
        rule = RULE | {"show": "{low}" + "x" * length + "{high}"}
        if fine:
            assert Intervals(rule, LADDER, "a").wording.between == "x" * length
        else:
            with pytest.raises(RejectedError, match="too long"):
                Intervals(rule, LADDER, "a")


def test_orders_have_an_end() -> None:
    """Tests an order of more than a million values."""
    order = [str(n) for n in range(10**6 + 1)]
    with pytest.raises(RejectedError, match="lists an order"):
        Intervals(RULE | {"kind": "order", "order": order}, LADDER, "a")


@pytest.mark.parametrize("filler", [[[]] * 2_200_000, "x" * 70_000_000])
def test_json_that_fills_the_memory(filler: Any, tmp_path: Path) -> None:
    """Tests lists of nothing by the million, of which a ZIP file holds a thousandth."""
    bundle = base("k=3")
    bundle.facts["more"] = filler
    assert "proof.json is too large" in str(verdict_of(bundle, tmp_path).reason)


def test_combinations_share_the_choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests a combination that stands there again and again: all of its choices were tried anew."""
    bundle = base("combinations")
    monkeypatch.setattr(combinations, "MOST_OF_ALL", 100)
    costs, tried = combinations.own_costs, []

    def noted(*given: Any) -> Any:
        tried.append(given)
        return costs(*given)

    monkeypatch.setattr(combinations, "own_costs", noted)
    assert verdict_of(bundle, tmp_path).accepted
    assert tried
    tried.clear()
    bundle.facts["models"] += bundle.facts["models"] * 10
    verdict_of(bundle, tmp_path)
    assert not tried


@pytest.mark.parametrize("kind", ["mean", "median"])
def test_runs_of_large_classes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests runs of half the rows, which were as many as the square of these, and refused."""
    rising, steps = [Fraction(n * n) for n in range(500)], []
    spread_of = runs.spread_of

    def counted(*given: Any) -> runs.Cost:
        cost = spread_of(*given)
        return lambda start, end: (steps.append(end), cost(start, end))[1]

    monkeypatch.setattr(runs, "spread_of", counted)
    for k in (2, 100, 250):
        steps.clear()
        runs.shortest(rising, k, kind)
        assert len(steps) < 20 * len(rising)


def test_rows_left_out_are_not_counted_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests a model that no rows obey: for each row left out all values were looked at."""
    table = pl.DataFrame({"=s": [str(row) for row in range(300)]})
    never = [{"model": "distinct", "l": 301, "column": "=s"}]
    assert dropped.fewest(table, never, 300) is None
    monkeypatch.setattr(dropped, "MOST_COUNTED", 300)
    monkeypatch.setattr(dropped, "EACH", 1)
    with pytest.raises(RejectedError, match="too long to count: a limit of the checker"):
        dropped.fewest(table, never, 300)


def test_pairs_of_rows_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests rows all of which are near each other: they are looked at pair by pair."""
    place, price = np.zeros((2_000, 2)), np.full(2_000, 1e-9)
    place[:, 0] = np.arange(2_000)
    near = nearest.windows(place, [False] * 2, 8 * price)
    assert (near[2] - near[1] == 1).all()
    monkeypatch.setattr(nearest, "PAIRS", 1)
    with pytest.raises(RejectedError, match=r"too many pairs.*a limit of the checker"):
        nearest.cheap_by_pairs(np.zeros((2_000, 2)), [False] * 2, 4, price)


def test_rules_share_what_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests twenty rules: each entry of the search is looked at by each."""
    bundle = base("distinct")
    monkeypatch.setattr(lawful, "FEW", 1 - bundle.release.height)

    def within(entries: int) -> bool:
        monkeypatch.setattr(lawful, "ENTRIES", entries)
        verdict = verdict_of(bundle, tmp_path)
        assert verdict.accepted or "too many patterns" in str(verdict.reason)
        return verdict.accepted

    least = bisect_left(range(10_000), True, key=within)
    assert 1 < least < 10_000
    model = bundle.facts["models"][-1]
    bundle.facts["models"] += [dict(model) for _ in range(20)]
    assert not within(least)
    assert within(21 * least)


def test_delta_of_a_fine_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests an epsilon with which nothing ends, and numbers of 66 bits for each row."""
    monkeypatch.setattr(hockey, "MOST_BITS", 10**5)
    tiny = Fraction(1, 10**30)
    with pytest.raises(RejectedError, match="cannot be recomputed"):
        hockey.require_delta(1, Fraction(1, 10**20 - 11), tiny, Fraction(1))
    monkeypatch.setattr(hockey, "MOST", 20)
    with pytest.raises(RejectedError, match="cannot be recomputed"):  # by rows, as before
        hockey.require_delta(1, Fraction(1, 2), tiny, Fraction(1))
