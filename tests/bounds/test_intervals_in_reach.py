"""How many rows the intervals in reach of a support search hold, against all intervals."""

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from dial import few
from incrowd._api import begun
from incrowd.bounds import span_prices
from incrowd.bounds.lawful_price import first_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.support import in_reach
from incrowd.policy import Policy
from incrowd.problem.instance import Instance
from incrowd.tables.files import open_table
from oracle import range_cost


def instance_of(values: list[str | None], rule: str) -> Instance:
    """The table of one column with ranges."""
    source = open_table(pl.DataFrame({"a": values}, schema={"a": pl.String}))
    return begun(source, Policy(k=2, hierarchies={"a": rule})).table.instance


@pytest.mark.parametrize("rule", ["range", "range:cost=values", "range:most=6", "range:round=5"])
def test_rows_of_intervals(rule: str) -> None:
    """Tests the count over all pairs of ends, missing values and copies among them."""
    rng = np.random.default_rng(7)
    for _ in range(few(30)):
        drawn = [None if x > 14 else str(x) for x in rng.integers(0, 17, int(rng.integers(1, 9)))]
        instance = instance_of(drawn, rule)
        tree = instance.trees[0]
        held = sorted(float(x) for x in {*drawn} - {None})
        for highest in (0, 1, tree.dearest // 3, tree.dearest, 2 * tree.dearest):
            count = 0
            for i, low in enumerate(held):
                for high in held[i:]:
                    inside = [x for x in {*drawn} if x is not None and low <= float(x) <= high]
                    wide = "most" in rule and high - low > 6  # a star
                    cost = range_cost(tree, {*inside})
                    count += 0 if wide or (cost >= highest and high > low) else len(inside)
            got = in_reach(instance, np.full(instance.distinct, highest))
            assert got == count, (drawn, highest)


@pytest.mark.parametrize("limit", ["MOST_IN_REACH", "MOST_OF_A_ROW"])
def test_where_they_are_too_many_a_release_and_a_bound_are_found_all_the_same(
    limit: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests the engine without a support search: a long tail next to a column of ages."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"income": (1000 * (1 + rng.pareto(0.8, 30))).astype(int), "age": rng.integers(18, 90, 30)}
    ).cast(pl.String)
    rules = {"income": "range", "age": "range"}
    searched = ic.anonymize(frame, 5, hierarchies=rules, method="engine")
    monkeypatch.setattr(span_prices, limit, 0)
    other = ic.anonymize(frame, 5, hierarchies=rules, method="engine")
    assert 0 < other.lower_bound <= searched.cost
    assert other.lower_bound <= other.cost


def test_sensitive_models_leave_out_such_a_search_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that no visit is made where each takes long; there is a release and a bound still."""
    visits = []

    def noted(tree: LawfulTree, most: int) -> tuple[np.ndarray, bool]:
        visits.append(most)
        return first_prices(tree, most)

    monkeypatch.setattr("incrowd.solvers.sensitive.bounding.first_prices", noted)
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"a": rng.integers(0, 90, 60), "s": np.arange(60) % 4}).cast(pl.String)
    asked = {"l": 2, "l_kind": "frequency", "sensitive": "s", "hierarchies": {"a": "range"}}
    for most in (span_prices.MOST_IN_REACH, 0):
        monkeypatch.setattr(span_prices, "MOST_IN_REACH", most)
        found = ic.anonymize(frame, 3, method="engine", **asked)
        assert 0 < found.lower_bound <= found.cost
    assert visits[0] > 0 and visits[1] == 0
