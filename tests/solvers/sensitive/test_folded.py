"""Tests attributes of many values, of which the search takes several for one."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.privacy.base import Group
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.people import People
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
    sizes = rules.folded(model, table)
    codes = table.values % np.array(sizes)
    assert sizes == (3, 4)
    assert (codes[:, 0] == table.values[:, 0]).all()
    part = Group(codes, sizes)
    if model.lawful(part, part):
        assert model.lawful(table, table)


def test_only_what_is_told_apart_is_folded() -> None:
    """Tests that shares of values are left as they are."""
    table = Group(np.arange(40, dtype=np.int32).reshape(20, 2), (40, 40))
    both = FrequencyDiversity(2, 1) & People(2, 1)
    sizes = rules.folded(both, table)
    assert (table.values % np.array(sizes) == table.values).all()
    assert sizes == (40, 40)


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
