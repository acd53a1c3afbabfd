"""Tests the checker's privacy models against the solvers' own, which it does not import."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.checker.models import lawful, least_class, require_lawful
from incrowd.checker.rejection import RejectedError
from incrowd.checker.shares import NAMES, exp_exceeds, limits, series_exceeds
from incrowd.checker.transport import least_work
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.attribute import PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure, grows_less
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Equal, Hierarchical
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness

SHARED = ("AlphaK", "BasicBetaLikeness", "EnhancedBetaLikeness", "DeltaDisclosure")
VALUES = ("a", None, "c", "d")
METRIC = Metric.of([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, "1.5"], [3, 2, "1.5", 0]])
LEVELS = Hierarchical(((0, 1, 2, 3), (0, 0, 1, 2), (0, 0, 1, 1), (0, 0, 0, 0), (0, 0, 0, 0)))
BETAS = ("0", "0.3", "1", "2.5")
MODELS: list[PerAttribute] = [
    DistinctDiversity(3),
    FrequencyDiversity(2),
    EntropyDiversity(2),
    EntropyDiversity("2.5"),
    RecursiveDiversity("1.5", 2),
    RecursiveDiversity("1/3", 1),
    AlphaK("0.5", 3),
    AlphaK("1/3"),
    AlphaK("0.25", 2, values=(0, 1)),
    *(likeness(beta) for likeness in (BasicBetaLikeness, EnhancedBetaLikeness) for beta in BETAS),
    DeltaDisclosure("0.5"),
    DeltaDisclosure("0.2"),
    DeltaDisclosure(2),
    *(
        TCloseness(t, distance)
        for distance in (Equal(), Ordered((2, 0, 3, 1)), LEVELS, METRIC)
        for t in ("0.25", "0.5", 0)
    ),
]


@settings(max_examples=few(100), deadline=None)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=16), st.data())
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_agrees_with_the_solvers(model, rows, data) -> None:
    """Tests a random class of a random table that holds all values, and the least class."""
    codes = np.array([0, 1, 2, 3, *rows], np.int32).reshape(-1, 1)
    chosen = data.draw(st.sets(st.integers(0, len(codes) - 1), min_size=1))
    table, group = Group(codes, (4,)), Group(codes[sorted(chosen)], (4,))
    plain = model.claim({"s": VALUES})
    counts = [Counter((VALUES[c],) for c in g.values[:, 0]) for g in (group, table)]
    assert lawful(plain[0], counts[0], counts[1]) == model.lawful(group, table)
    sensitive = pl.DataFrame({"s": [VALUES[c] for c in codes[:, 0]]})
    least = least_class(plain, sensitive)
    if plain[0]["model"] in NAMES:  # floors and caps of all values at once may tell more
        assert least >= model.smallest_class(table)
        assert group.rows >= least or not model.lawful(group, table)
    else:
        assert least == model.smallest_class(table)


@settings(max_examples=few(60), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=8))
def test_disjoint_diversity(rows) -> None:
    """Tests two attributes that count together."""
    codes = np.array(rows, np.int32)
    group = Group(codes, (3, 3))
    for l in (1, 2, 3):  # noqa: E741
        model = DisjointDiversity(l)
        (plain,) = model.claim({"s": ("a", "b", "c"), "t": ("x", "y", None)})
        assert plain["columns"] == ["s", "t"]
        counts = Counter(rows)
        assert lawful(plain, counts, counts) == model.lawful(group, group)


@settings(max_examples=few(60), deadline=None)
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
    {"model": "t-closeness", "t": "1/2", "distance": "metric", "order": ["a", "b"],
     "matrix": [["0", "1/2"], ["1/2", "0"]], "column": "s"},  # t would be 1 of the largest
    {"model": "t-closeness", "t": "1/2", "distance": "metric", "order": ["a", "b"],
     "matrix": [[0, 1.0], [1.0, 0]], "column": "s"},
    {"model": "t-closeness", "t": "1e999999999", "distance": "equal", "column": "s"},
    {"model": "t-closeness", "t": "٣/٤", "distance": "equal", "column": "s"},
    {"model": "t-closeness", "t": "1/2", "distance": "metric", "order": ["a", "b"],
     "matrix": [["0", "2"], ["2", "0"]], "column": "s"},
    {"model": "t-closeness", "t": "1/2", "distance": "metric", "order": ["a", "b", "c"],
     "matrix": [["0", "1", "1/3"], ["1", "0", "1/3"], ["1/3", "1/3", "0"]], "column": "u"},
    {"model": "t-closeness", "t": "1/2", "distance": "hierarchical", "order": ["a", "b"],
     "levels": [[0, 1], [0, 0], [0, 1]], "column": "s"},
    {"model": "t-closeness", "t": "1/2", "distance": "ordered", "order": ["a", "a"], "column": "s"},
    {"model": "t-closeness", "t": "-1", "distance": "equal", "column": "s"},
    {"model": "alpha-k", "alpha": "0", "k": 2, "column": "s"},
    {"model": "alpha-k", "alpha": "1/2", "column": "s"},
    {"model": "alpha-k", "alpha": "1/2", "k": "2", "column": "s"},
    {"model": "alpha-k", "alpha": "1/2", "k": 1, "values": ["a", "a"], "column": "s"},
    {"model": "alpha-k", "alpha": "1/2", "k": 1, "values": None, "column": "s"},
    {"model": "alpha-k", "alpha": "1/2", "k": 1, "values": [], "column": "s"},
    {"model": "basic-beta", "beta": "-1", "column": "s"},
    {"model": "basic-beta", "beta": 0.5, "column": "s"},
    {"model": "basic-beta", "beta": "1", "values": ["a"], "column": "s"},
    {"model": "enhanced-beta", "column": "s"},
    {"model": "delta-disclosure", "delta": "0", "column": "s"},
    {"model": "delta-disclosure", "delta": "1"},
    {"model": "magic", "l": 2, "column": "s"},
]  # fmt: skip


@pytest.mark.parametrize("model", BAD)
def test_models_without_sense_are_refused(model) -> None:
    """Tests that a model which says nothing exact is not taken for obeyed."""
    sensitive = pl.DataFrame({"s": ["a", "b", "b"], "u": ["a", "b", "c"]})
    with pytest.raises(
        RejectedError, match=r"model|metric|symmetric|triangle|two parents|distances"
    ):
        require_lawful(np.array([0, 0, 0]), sensitive, [model])


@settings(max_examples=few(60), deadline=None)
@given(st.fractions(0, 30, max_denominator=50), st.fractions(0, 4), st.integers(-60, 60))
def test_exponentials_are_compared_exactly(x, wild, off) -> None:
    """Tests near and far ratios against logarithms of 60 digits."""
    near = Fraction(exp(float(x))) * (1 + Fraction(off, 2**52))
    for y in (wild, near, near.limit_denominator(1000)):
        if y <= 0:
            continue
        with localcontext() as context:
            context.prec = 60
            logarithm = Decimal(y.numerator).ln() - Decimal(y.denominator).ln()
            truth = Decimal(x.numerator) / Decimal(x.denominator) > logarithm
        assert exp_exceeds(x, y) == truth
        assert y < 1 or series_exceeds(x, y) == truth


def test_no_ratio_is_e() -> None:
    """Tests both sides of e by its convergents: the checker and the solvers draw one line."""
    quotients, low, high = [2, 1], (1, 2), (1, 3)  # (denominator, numerator) of 2 and 3
    for i in range(1, 12):
        quotients += [2 * i, 1, 1]
    for n, quotient in enumerate(quotients[2:], start=2):
        low, high = high, tuple(quotient * b + a for a, b in zip(low, high, strict=True))
        ratio = Fraction(high[1], high[0])
        assert exp_exceeds(Fraction(1), ratio) == (n % 2 == 0) == grows_less(ratio, Fraction(1))


def test_disclosure_at_a_ratio_next_to_e() -> None:
    """Tests classes whose log-ratio misses δ = 1 by less than a millionth."""
    model = {"model": "delta-disclosure", "delta": "1", "column": "s"}
    for numerator, denominator in ((1264, 465), (1457, 536)):  # below and above e
        table = {("a",): denominator, ("b",): 10**6 - denominator}
        group = {("a",): numerator, ("b",): 10**6 - numerator}
        counts = [np.array(list(part.values())) for part in (group, table)]
        assert lawful(model, group, table) == (numerator == 1264)
        assert DeltaDisclosure(1).fits(*counts) == (numerator == 1264)


@settings(max_examples=few(60), deadline=None)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=14), st.data())
@pytest.mark.parametrize("model", [m for m in MODELS if type(m).__name__ in SHARED], ids=str)
def test_no_lawful_class_leaves_its_limits(model, rows, data) -> None:
    """Tests the shares that pricing relies on against a random lawful class."""
    codes = np.array([0, 1, 2, 3, *rows], np.int32).reshape(-1, 1)
    chosen = data.draw(st.sets(st.integers(0, len(codes) - 1), min_size=1))
    table, group = Group(codes, (4,)), Group(codes[sorted(chosen)], (4,))
    (plain,) = model.claim({"s": VALUES})
    if model.lawful(group, table):
        counts = Counter(VALUES[c] for c in codes[:, 0])
        name = NAMES[plain["model"]]
        for value, (low, high) in limits(plain, Fraction(plain[name]), counts).items():
            held = int(group.histograms[0][VALUES.index(value)])
            assert low * group.rows <= held <= high * group.rows


def test_k_anonymity_is_plain() -> None:
    """Tests that combined models are listed one by one, columns by name."""
    both = KAnonymity(4) & DistinctDiversity(2) if hasattr(KAnonymity, "__and__") else None
    model = both or KAnonymity(4)
    plain = model.claim({"s": VALUES, "t": VALUES})
    assert plain[0] == {"model": "k-anonymity", "k": 4}
    if both:
        assert [p.get("column") for p in plain] == [None, "s", "t"]
