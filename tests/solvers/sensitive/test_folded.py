"""Tests attributes of many values, of which the search takes several for one."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.privacy import ordered
from incrowd.privacy.base import Group
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.people import People
from incrowd.privacy.t_closeness import TCloseness
from incrowd.solvers.sensitive import rules

values_of = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 19)), min_size=1, max_size=12)


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    """Few values are told apart, so that small tables show it."""
    monkeypatch.setattr(rules, "FEWEST", 4)
    monkeypatch.setattr(rules, "FOLDS", 1)


@settings(max_examples=few(100), deadline=None)
@given(values=values_of)
def test_what_is_lawful_when_folded_is_lawful(values) -> None:
    table = Group(np.array(values, np.int32), (3, 20))
    model = KAnonymity(2) & DistinctDiversity(2, 0) & People(2, 1)
    stricter, folds = rules.folded(model, table)
    part = folds.group(table)
    assert stricter.parts == model.parts and part.sizes == (3, 4)
    assert (part.values[:, 0] == table.values[:, 0]).all()
    if model.lawful(part, part):
        assert model.lawful(table, table)


def test_only_what_is_told_apart_is_folded() -> None:
    """Tests that shares of values are left as they are."""
    table = Group(np.arange(40, dtype=np.int32).reshape(20, 2), (40, 40))
    both = FrequencyDiversity(2, 1) & People(2, 1)
    assert rules.folded(both, table)[1].group(table) is table


@settings(max_examples=few(60), deadline=None)
@given(data=st.data(), t=st.sampled_from(["0.3", "0.45", "0.7"]))
def test_what_is_close_in_groups_is_close(data: st.DataObject, t: str) -> None:
    """Tests groups of ordered values: a stricter threshold, and no other model on the values."""
    values = data.draw(st.integers(120, 150))
    order = data.draw(st.permutations(range(values)))
    rows = data.draw(st.lists(st.integers(0, values - 1), min_size=2, max_size=40))
    table = Group(np.array(rows, np.int32)[:, None], (values,))
    model = KAnonymity(2) & TCloseness(t, Ordered((*order,)))
    with pytest.MonkeyPatch.context() as more:
        more.setattr(ordered, "GIVEN_UP", Fraction(1, 4))
        stricter, folds = rules.folded(model, table)
        both = model & FrequencyDiversity(2)
        assert rules.folded(both, table)[1].group(table) is table
    fewer = folds.group(table)
    assert fewer.sizes[0] < values / 2
    assert stricter.lawful(fewer, fewer)
    for size in range(2, len(rows)):
        part = Group(table.values[:size], table.sizes)
        if stricter.lawful(folds.group(part), fewer):
            assert model.lawful(part, table)


def test_how_near_the_threshold_of_groups_is() -> None:
    """Tests that a class may be as far off as groups allow, but for the share given up."""
    found = Ordered().in_groups(10_001, Fraction(3, 10))
    assert found is not None
    _, t, group = found
    assert 0.97 * 0.3 < t <= 0.3 and 300 < group.max() < 350
    assert Ordered().in_groups(20, Fraction(3, 10)) is None


@pytest.mark.parametrize("seed", range(few(3, 1)))
def test_releases_of_many_people(seed: int) -> None:
    """Tests the engine: the re-check counts the people themselves."""
    rng = np.random.default_rng(seed)
    whose = rng.integers(0, 40, 90)
    frame = pl.DataFrame({"pid": whose, **{c: rng.integers(0, 3, 90) for c in "xyz"}})
    release = ic.anonymize(frame, k=3, person="pid", method="engine", seed=seed)
    assert release.fewest_people is not None
    assert release.fewest_people >= 3
    assert 0 < release.lower_bound <= release.cost
