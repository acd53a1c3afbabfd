"""Tests that the search's integer laws say lawful exactly where the definitions do."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.errors import OutOfScopeError
from incrowd.kernels.interpreted import interpreted
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Group
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Hierarchical
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.law import DISTINCT, SHARES
from incrowd.privacy.laws import laws_of
from incrowd.privacy.metric import Metric, transport
from incrowd.privacy.model import Model, all_of
from incrowd.privacy.numbers import log_sign
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.transport_kernel import scratch, transport_above
from incrowd.privacy.violation import violation, violation_after

SIZES = (4, 3)
TREE = Hierarchical(((0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0)))
METRIC = Metric.of([[0, 1, 3, 2], [1, 0, 2, 3], [3, 2, 0, 1], [2, 3, 1, 0]])
OTHER = Metric.of([[0, 5, 3], [5, 0, 7], [3, 7, 0]])
MODELS: list[Model] = [
    KAnonymity(3),
    DistinctDiversity(2),
    FrequencyDiversity(2, attribute=1),
    FrequencyDiversity(3, attribute=0),
    EntropyDiversity(2),
    EntropyDiversity("2.5", attribute=0),
    RecursiveDiversity(2, 2),
    RecursiveDiversity("0.7", 3, attribute=0),
    RecursiveDiversity("0.5", 1),
    AlphaK("0.6", 2),
    AlphaK("0.3", 2, attribute=0, values=(1, 2)),
    BasicBetaLikeness("0.5"),
    BasicBetaLikeness("3.7"),
    EnhancedBetaLikeness("0.4"),
    EnhancedBetaLikeness(100),
    DeltaDisclosure("0.7"),
    DeltaDisclosure(50),
    TCloseness("0.2"),
    TCloseness(0),
    TCloseness("1/3", Ordered((2, 0, 3, 1)), attribute=0),
    TCloseness("0.3", TREE, attribute=0),
    TCloseness("0.3", METRIC, attribute=0),
    TCloseness("1/3", METRIC, attribute=0) & TCloseness("1/5", OTHER, attribute=1),
    KAnonymity(2) & FrequencyDiversity(2) & TCloseness("0.4", attribute=1),
]

rows_of = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=10)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@settings(max_examples=few(50), deadline=None)
@given(part=rows_of, rest=rows_of)
def test_lawful_exactly_where_defined(model: Model, part: list, rest: list) -> None:
    """Tests violation 0 = lawful, for a class and after each row leaves or comes."""
    table = group(part + rest)
    laws = laws_of(model, table)
    hist = np.concatenate(group(part).histograms)
    assert (violation(laws, hist, len(part)) == 0) == model.lawful(group(part), table)
    before = hist.copy()
    for i, row in enumerate(part):
        left = part[:i] + part[i + 1 :]
        with interpreted():  # no kernel is compiled for this test alone
            found = violation_after(laws, hist, len(part), places(row), -1)
        assert (found == 0) == (not left or model.lawful(group(left), table))
    for row in rest:
        with interpreted():
            found = violation_after(laws, hist, len(part), places(row), 1)
        assert (found == 0) == model.lawful(group([*part, row]), table)
    assert (hist == before).all()


@settings(max_examples=few(50), deadline=None)
@given(part=rows_of, rest=rows_of)
def test_predicates_are_called_back(part: list, rest: list) -> None:
    """Tests a model without a law beside one that has one, over places for pairs of values."""
    model = DisjointDiversity(2) & FrequencyDiversity(2, attribute=0)
    table = group(part + rest)
    pairs, pair = np.unique(table.values, axis=0, return_inverse=True)
    held = np.bincount(pair.ravel()[: len(part)], minlength=len(pairs))
    laws = laws_of(model, table)
    hist = np.concatenate([*group(part).histograms, held])
    assert (violation(laws, hist, len(part)) == 0) == model.lawful(group(part), table)
    for i, row in enumerate(part):
        left = part[:i] + part[i + 1 :]
        there = np.array([*places(row), sum(SIZES) + pair.ravel()[i]])
        rest_of = hist - np.bincount(there, minlength=len(hist))
        found = violation(laws, rest_of, len(left))
        assert (found == 0) == (not left or model.lawful(group(left), table))


def group(rows: list[tuple[int, int]]) -> Group:
    return Group(np.array(rows, np.int32).reshape(len(rows), 2), SIZES)


def places(row: tuple[int, int]) -> np.ndarray:
    return np.array([row[0], SIZES[0] + row[1]], np.int64)


@settings(max_examples=few(300), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=6),
    st.data(),
)
def test_cheapest_transport(points: list[tuple[int, int]], data: st.DataObject) -> None:
    """Tests the kernel against transport in Python, with distances of points in a plane."""
    values = len(points)
    apart = [[abs(a - c) + abs(b - d) for c, d in points] for a, b in points]
    distance = np.array(apart, np.int64)
    counts = st.lists(st.integers(0, 6), min_size=values, max_size=values)
    part, rest = (np.array(data.draw(counts), np.int64) for _ in range(2))
    table = part + rest
    rows, total = int(part.sum()), int(table.sum())
    least = transport((part * total - rows * table).tolist(), distance)
    near, pad = np.argsort(distance, axis=1).ravel(), scratch(values)
    other = np.roll(table, 1)
    for budget in (-1, least - 1, least, least + 5):
        for counts, of in ((part, table), (part, other), (table, other), (part, table)):
            excess = (counts * of.sum() - counts.sum() * of).tolist()
            cheapest = transport(excess, distance)
            found = transport_above(
                counts, int(counts.sum()), int(of.sum()), of, int(distance.max()),
                distance.ravel(), near, budget, pad,
            )  # fmt: skip
            assert (found > budget) == (found > 0 or budget < 0) == (cheapest > budget)
            assert found <= cheapest


def test_nearer_is_smaller() -> None:
    """Tests that repairing a class step by step lowers its violation step by step."""
    table = Group(np.repeat(np.arange(4), 25).astype(np.int32)[:, None], (4,))
    for model in (FrequencyDiversity(2), TCloseness("0.1"), DistinctDiversity(4), KAnonymity(8)):
        laws = laws_of(model, table)
        hist = np.array([4, 0, 0, 0])
        last = violation(laws, hist, 4)
        for v in (1, 2, 3, 1, 2, 3):
            hist[v] += 1
            now = violation(laws, hist, int(hist.sum()))
            assert now <= last
            last = now
        assert violation(laws, np.array([4, 4, 4, 4]), 16) == 0


def test_large_tables() -> None:
    """Tests numbers near 64 bits: a million rows, awkward shares, the exact edge of t and of β."""
    rng = np.random.default_rng(0)
    apart = [[abs(v - w) for w in range(14)] for v in range(14)]
    counts = rng.integers(1, 200_000, 14)
    counts[0] = 10**6 - counts[1:].sum() if counts[1:].sum() < 10**6 else 7
    table = Group(np.repeat(np.arange(14), counts).astype(np.int32)[:, None], (14,))
    models = (
        TCloseness("0.2"),
        TCloseness("0.1234"),
        TCloseness("0.05", Ordered()),
        TCloseness("0.12", Metric.of(apart)),
        BasicBetaLikeness("0.123456"),
        EnhancedBetaLikeness("2.5"),
        DeltaDisclosure("0.9"),
        FrequencyDiversity(5),
        AlphaK("0.1234567"),
    )
    for model in models:
        laws = laws_of(model, table)
        for n in (1, 10, 1000, 10**5, int(counts.sum())):
            quota = np.maximum(1, n * counts // counts.sum())
            for hist in (quota, quota + rng.integers(0, 1 + n // 50, 14)):
                expected = model.fits(hist, table.histograms[0])
                assert (violation(laws, hist, int(hist.sum())) == 0) == expected


def test_out_of_scope() -> None:
    """Tests that numbers which do not fit are refused."""
    table = Group(np.repeat(np.arange(2), 10**6).astype(np.int32)[:, None], (2,))
    fine = Metric.of([[0, 10**9 + 7, 1], [10**9 + 7, 0, 10**9 + 7], [1, 10**9 + 7, 0]])
    some = Fraction(10**8 + 7, 10**9 + 7)
    large = Fraction(10**13 + 37, 10**13)
    for model in (
        TCloseness("0.1", fine),
        TCloseness(some),
        TCloseness(some, Ordered()),
        TCloseness(some, Hierarchical(((0, 1), (0, 0)))),
        RecursiveDiversity(large, 2),
        RecursiveDiversity(1 / large, 2),
    ):
        with pytest.raises(OutOfScopeError, match="fewer digits"):
            laws_of(model, table)


def test_a_threshold_is_sought_once_for_each_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that logarithms, which are exact and slow, are not asked anew for every value.

    With 3,000 different values a time limit of 1 s took 17.
    """
    asked = []

    def counting(*args: object) -> int:
        asked.append(args)
        return log_sign(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("incrowd.privacy.delta_disclosure.log_sign", counting)
    monkeypatch.setattr("incrowd.privacy.beta_likeness.log_sign", counting)
    for model in (DeltaDisclosure("0.7"), DeltaDisclosure(50), EnhancedBetaLikeness(100)):
        few, many = [], []
        for counts, found in (([1, 2], few), ([1, 2] * 200, many)):
            asked.clear()
            model.numbers(counts)
            found += asked
        assert few and len(many) <= 3 * len(few), model


def test_of_many_laws_only_the_strictest_are_asked() -> None:
    """Tests that implied laws are left out, and that the others say the same of every class."""
    table = Group(np.array([[v, v % 3] for v in (0, 0, 0, 1, 1, 2, 3, 3)]), SIZES)
    own = AlphaK("0.7", 2), AlphaK("0.6", 3), DistinctDiversity(1), DistinctDiversity(2)
    model = all_of([*own, AlphaK("0.6", 1, 0, (1, 2)), DeltaDisclosure("0.9")])
    laws = laws_of(model, table)
    assert laws.least[0] == 3
    assert sorted(laws.kind.tolist()) == [SHARES] * 4 + [DISTINCT] * 2  # of each attribute 3, not 6
    rng = np.random.default_rng(0)
    answers = set()
    for size in rng.integers(1, 9, few(300)):
        group = Group(table.values[rng.choice(8, size, replace=False)], SIZES)
        hist = np.concatenate(group.histograms)
        found = violation(laws, hist, int(size)) == 0
        answers.add(found)
        assert found == all(part.lawful(group, table) for part in model.parts)
    assert answers == {True, False}
