"""Tables of nearly continuous columns with a long tail: classes of near rows, and prices."""

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import incrowd as ic
import incrowd.bounds.span_prices as spans
from incrowd._api import begun
from incrowd.bounds.span_prices import span_prices
from incrowd.bounds.strides import Strides
from incrowd.policy import Policy
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.growing import grown
from incrowd.solvers.engine.near import near_rows
from incrowd.tables.files import open_table


def instance_of(values: list[int], k: int) -> Instance:
    """The table of one column of numbers as ranges, of which all together cost a cell."""
    source = open_table(pl.DataFrame({"a": [str(value) for value in values]}))
    policy = Policy(k=k, hierarchies={"a": "range"}, cost="ncp")
    return begun(source, policy).table.instance


def test_rows_that_are_left_join_near_classes() -> None:
    """Tests groups of five rows, k = 4: the fifth of each had made a class with those far away."""
    values = [1_000 * group + row for group in range(8) for row in range(5)]
    instance = instance_of(values, 4)
    cost = Solution.of(instance, grown(instance, near_rows(instance, 0, Stop()), 4)).cost
    assert cost == Solution.of(instance, np.repeat(np.arange(8), 5)).cost


def test_rows_far_from_all_others_pay_for_their_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests prices of a long tail against those whose boxes are equally wide for all rows."""
    frame = tail_of(150)
    policy = Policy(k=5, hierarchies=dict.fromkeys("ab", "range"), cost="ncp")
    instance = begun(open_table(frame), policy).table.instance
    # boxes of single rows get there, too: these here stay as wide for all
    monkeypatch.setattr(spans, "Reach", lambda rows: None)
    far = span_prices(instance, 5, Stop()).bound(instance.counts)
    monkeypatch.setattr(spans, "Strides", EvenStrides)
    monkeypatch.setattr(spans, "far_rows", lambda start, mean: np.zeros(0, np.int64))
    even = span_prices(instance, 5, Stop()).bound(instance.counts)
    release = ic.anonymize(frame, policy=policy, method="mondrian")
    assert 1.1 * even < far <= release.cost * instance.scale


def test_prices_of_many_rows_go_by_their_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests rounds on what counts as many rows against those whose boxes are equally wide."""
    policy = Policy(k=5, hierarchies=dict.fromkeys("ab", "range"), cost="ncp")
    instance = begun(open_table(tail_of(150)), policy).table.instance
    monkeypatch.setattr(spans, "FEW_ROWS", 100)
    monkeypatch.setattr(spans, "far_rows", lambda start, mean: np.zeros(0, np.int64))
    found = span_prices(instance, 5, Stop()).bound(instance.counts)
    monkeypatch.setattr(spans, "Strides", EvenStrides)
    assert found > 1.02 * span_prices(instance, 5, Stop()).bound(instance.counts)


def tail_of(rows: int) -> pl.DataFrame:
    """A long tail beside ages, as text."""
    rng = np.random.default_rng(5)
    columns = {
        "a": (1_000 * (1 + rng.pareto(0.8, rows))).astype(int),
        "b": rng.integers(18, 90, rows),
    }
    return pl.DataFrame(columns).cast(pl.String)


class EvenStrides(Strides):
    """Strides that are equal whatever is asked for."""

    def __init__(self, of_row: NDArray[np.float64]) -> None:
        super().__init__(np.ones_like(of_row))
