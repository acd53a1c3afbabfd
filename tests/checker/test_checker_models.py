"""Tests the checker's privacy models against the solvers' own, which it does not import."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.checker.models import lawful, least_class, require_lawful
from incrowd.checker.rejection import RejectedError
from incrowd.checker.transport import least_work
from incrowd.errors import OutOfScopeError
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Group
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Equal, Hierarchical, Ordered
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.proof.models import plain_models

VALUES = ("a", None, "c", "d")
METRIC = Metric.of([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, "1.5"], [3, 2, "1.5", 0]])
LEVELS = Hierarchical(((0, 1, 2, 3), (0, 0, 1, 2), (0, 0, 1, 1), (0, 0, 0, 0), (0, 0, 0, 0)))
MODELS = [
    DistinctDiversity(3),
    FrequencyDiversity(2),
    EntropyDiversity(2),
    EntropyDiversity("2.5"),
    RecursiveDiversity("1.5", 2),
    RecursiveDiversity("1/3", 1),
    *(
        TCloseness(t, distance)
        for distance in (Equal(), Ordered((2, 0, 3, 1)), LEVELS, METRIC)
        for t in ("0.25", "0.5", 0)
    ),
]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=16), st.data())
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_agrees_with_the_solvers(model, rows, data) -> None:
    """Tests a random class of a random table that holds all values, and the least class."""
    codes = np.array([0, 1, 2, 3, *rows], np.int32).reshape(-1, 1)
    chosen = data.draw(st.sets(st.integers(0, len(codes) - 1), min_size=1))
    table, group = Group(codes, (4,)), Group(codes[sorted(chosen)], (4,))
    plain = plain_models(model, {"s": VALUES})
    counts = [Counter((VALUES[c],) for c in g.values[:, 0]) for g in (group, table)]
    assert lawful(plain[0], counts[0], counts[1]) == model.lawful(group, table)
    sensitive = pl.DataFrame({"s": [VALUES[c] for c in codes[:, 0]]})
    assert least_class(plain, sensitive) == model.smallest_class(table)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=8))
def test_disjoint_diversity(rows) -> None:
    """Tests two attributes that count together."""
    codes = np.array(rows, np.int32)
    group = Group(codes, (3, 3))
    for l in (1, 2, 3):  # noqa: E741
        model = DisjointDiversity(l)
        (plain,) = plain_models(model, {"s": ("a", "b", "c"), "t": ("x", "y", None)})
        assert plain["columns"] == ["s", "t"]
        counts = Counter(rows)
        assert lawful(plain, counts, counts) == model.lawful(group, group)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=3, max_size=3), st.data())
def test_transport_against_all_plans(part, data) -> None:
    """Tests the least work against every way to carry units one by one."""
    surplus = [*part, -sum(part)]
    entry = st.integers(0, 4)
    distance = [[Fraction(data.draw(entry)) for _ in range(4)] for _ in range(4)]
    units = [v for v, s in enumerate(surplus) for _ in range(max(s, 0))]
    sinks = [v for v, s in enumerate(surplus) if s < 0]
    if len(sinks) ** len(units) > 3000:
        return
    plans = product(sinks, repeat=len(units))
    fitting = (p for p in plans if all(p.count(v) == -surplus[v] for v in sinks))
    works = [sum(distance[a][b] for a, b in zip(units, p, strict=True)) for p in fitting]
    assert least_work(surplus, distance) == min(works)


def test_names_the_first_class() -> None:
    """Tests that the first row of the first class that breaks a model is named."""
    sensitive = pl.DataFrame({"s": ["a", "b", "a", "a", "b", "b"]})
    classes = np.array([0, 0, 1, 1, 2, 2])
    require_lawful(classes, sensitive, [{"model": "distinct", "l": 1, "column": "s"}])
    with pytest.raises(RejectedError, match="distinct, 2") as caught:
        require_lawful(classes, sensitive, [{"model": "distinct", "l": 2, "column": "s"}])
    assert caught.value.row == 3


BAD = [
    {"model": "distinct", "l": 2},  # of no column
    {"model": "distinct", "l": 2, "column": "none"},
    {"model": "distinct", "l": True, "column": "s"},
    {"model": "distinct", "l": 1.0, "column": "s"},
    {"model": "distinct", "column": "s"},
    {"model": "frequency", "l": 0, "column": "s"},
    {"model": "recursive", "c": "-1", "l": 2, "column": "s"},
    {"model": "t-closeness", "t": 0.5, "distance": "equal", "column": "s"},
    {"model": "t-closeness", "t": "1/2", "distance": "far", "order": ["a", "b"], "column": "s"},
    {"model": "t-closeness", "t": "1/2", "distance": "ordered", "order": ["a"], "column": "s"},
    {"model": "t-closeness", "t": "1/2", "distance": "ordered", "column": "s"},
    {"model": "t-closeness", "t": "1/2", "distance": "hierarchical", "order": ["a", "b"],
     "levels": [[0, 0], [0, 0]], "column": "s"},
    {"model": "t-closeness", "t": "1/2", "distance": "metric", "order": ["a", "b"],
     "matrix": [["0", "1"], ["1/2", "0"]], "column": "s"},
    {"model": "magic", "l": 2, "column": "s"},
]  # fmt: skip


@pytest.mark.parametrize("model", BAD)
def test_models_without_sense_are_refused(model) -> None:
    """Tests that a model which says nothing exact is not taken for obeyed."""
    sensitive = pl.DataFrame({"s": ["a", "b"]})
    with pytest.raises(RejectedError):
        require_lawful(np.array([0, 0]), sensitive, [model])


def test_models_unknown_to_the_checker_are_not_written() -> None:
    """Tests that a proof is refused for a model which the checker does not know."""
    with pytest.raises(OutOfScopeError, match="checker"):
        plain_models(AlphaK("0.5", 2), {"s": VALUES})


def test_k_anonymity_is_plain() -> None:
    """Tests that combined models are listed one by one, columns by name."""
    both = KAnonymity(4) & DistinctDiversity(2) if hasattr(KAnonymity, "__and__") else None
    model = both or KAnonymity(4)
    plain = plain_models(model, {"s": VALUES, "t": VALUES})
    assert plain[0] == {"model": "k-anonymity", "k": 4}
    if both:
        assert [p.get("column") for p in plain] == [None, "s", "t"]
