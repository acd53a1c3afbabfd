"""Tests of the pricing problems against all sub-multisets of a few rows."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.bounds.potential import potential_value
from incrowd.bounds.pricing import answer, dearest, pricing_of
from incrowd.bounds.top_copies import new_pad
from incrowd.kernels.interpreted import interpreted
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Group
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.close_counts import close_counts, least_far, uneven_sizes
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import GroundDistance, Hierarchical
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.model import Model
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.pricing import RANKED_SIZES, falling, majorizes, most_uneven
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem

EXACT: list[Model] = [
    FrequencyDiversity(2),
    FrequencyDiversity(3),
    FrequencyDiversity(2) & KAnonymity(3),
    FrequencyDiversity(3) & KAnonymity(4),
    DistinctDiversity(2),
    DistinctDiversity(3),
    DistinctDiversity(2) & KAnonymity(3),
    DistinctDiversity(1) & KAnonymity(2),
]
UNEVEN: list[Model] = [
    EntropyDiversity(2),
    EntropyDiversity("1.7"),
    EntropyDiversity("2.5"),
    RecursiveDiversity(2, 2),
    RecursiveDiversity("0.8", 3),
    RecursiveDiversity("1.5", 3),
    RecursiveDiversity("0.5", 1),
]
RELAXED: list[Model] = [
    EntropyDiversity(2),
    EntropyDiversity("1.7"),
    RecursiveDiversity(2, 2),
    RecursiveDiversity("0.8", 3),
    RecursiveDiversity("0.5", 1),
    AlphaK("0.4", 2),
    AlphaK("0.3", 2, values=(1,)),
    BasicBetaLikeness("0.6"),
    EnhancedBetaLikeness("0.9"),
    DeltaDisclosure("0.8"),
    TCloseness("0.2"),
    TCloseness("0.4") & KAnonymity(3),
    TCloseness("0.2", Ordered()),
    TCloseness("0.3", Ordered((1, 0, 2))) & KAnonymity(2),
    TCloseness("0.3", Hierarchical(((0, 1, 2), (0, 0, 1), (0, 0, 0)))),
    TCloseness("0.3", Metric.of([[0, 1, 2], [1, 0, 2], [2, 2, 0]])),
    DisjointDiversity(2),
    FrequencyDiversity(2) & TCloseness("0.5"),
]

# value, copies and price of each distinct row of the pattern; the table has other rows besides
rows_of = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 3), st.integers(0, 12)), min_size=1, max_size=5
)


def problem_of(rows: list[tuple[int, int, int]], model: Model) -> tuple[Problem, np.ndarray]:
    """A table whose pattern rows differ in one column; their prices by distinct row."""
    codes = [[i] for i, (_, copies, _) in enumerate(rows) for _ in range(copies)]
    values = [v for v, copies, _ in rows for _ in range(copies)]
    others = [[len(rows) + i] for i in range(6)]
    instance, _ = from_codes(np.array(codes + others), None, np.array([*values, 0, 0, 1, 1, 2, 2]))
    price = np.zeros(instance.distinct)
    for r in range(instance.distinct):
        number = int(instance.codes[r, 0])
        price[r] = rows[number][2] if number < len(rows) else 0
    return Problem(instance, model), price


def brute(problem: Problem, price: np.ndarray, members: np.ndarray) -> Fraction | None:
    """The dearest mean over all lawful sub-multisets of the pattern's rows."""
    instance, best = problem.instance, None
    table = problem.table
    for taken in product(*(range(int(instance.counts[r]) + 1) for r in members)):
        if not any(taken):
            continue
        copies = np.concatenate(
            [instance.first_copy[r] + np.arange(n) for r, n in zip(members, taken, strict=True)]
        )
        if problem.model.lawful(problem.group(copies.astype(int)), table):
            total = sum(int(price[r]) * n for r, n in zip(members, taken, strict=True))
            mean = Fraction(total, sum(taken))
            best = mean if best is None else max(best, mean)
    return best


@pytest.mark.parametrize("model", EXACT + RELAXED, ids=lambda model: model.name)
@settings(max_examples=few(16), deadline=None)
@given(rows=rows_of)
def test_no_lawful_class_is_dearer(model: Model, rows: list[tuple[int, int, int]]) -> None:
    """Tests Lemmas 3 to 7: never below the dearest lawful mean; equal where exact is claimed."""
    problem, price = problem_of(rows, model)
    members = np.flatnonzero(problem.instance.codes[:, 0] < len(rows)).astype(np.int32)
    best = brute(problem, price, members)
    pricing, pad = pricing_of(problem)
    counts = problem.instance.counts
    found, which = dearest(members, 0, len(members), price, counts, -1e300, pricing, pad)
    if best is not None:
        assert found >= best - 1e-9
    if model in EXACT:
        assert (found == -1e300) if best is None else abs(found - best) < 1e-9
    if found == -1e300:
        return
    with interpreted():  # no kernel is compiled for this test alone
        again, out = answer(which, members, 0, len(members), price, counts, -1e300, pricing, pad)
    weight = pad.out_weight[:out]
    assert again == found and weight.min() >= -1e-12 and abs(weight.sum() - 1) < 1e-6
    if pricing.kind[which] not in (2, 3):  # slopes and potentials shift prices
        assert abs(weight @ price[pad.out_row[:out]] - found) < 1e-6
    assert not pad.used.any()


few_rows = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 2), st.integers(0, 12)), min_size=1, max_size=4
)


@pytest.mark.parametrize("model", UNEVEN, ids=lambda model: model.name)
@settings(max_examples=few(26), deadline=None)
@given(rows=few_rows)
def test_exact_for_small_classes(model: Model, rows: list[tuple[int, int, int]]) -> None:
    """Tests entropy and recursive diversity where no class has more rows than are asked one by one.

    The dearest mean is that of all lawful sub-multisets.
    """
    problem, price = problem_of(rows, model)
    members = np.flatnonzero(problem.instance.codes[:, 0] < len(rows)).astype(np.int32)
    best = brute(problem, price, members)
    pricing, pad = pricing_of(problem)
    counts = problem.instance.counts
    assert counts[members].sum() < problem.smallest_class + RANKED_SIZES
    found, _ = dearest(members, 0, len(members), price, counts, -1e300, pricing, pad)
    assert (found == -1e300) if best is None else abs(found - best) < 1e-9


@pytest.mark.parametrize("model", UNEVEN, ids=lambda model: model.name)
def test_lawful_counts(model: Model) -> None:
    """Tests that lawful counts are those that one of the most uneven lawful ones majorizes.

    And that none of these majorizes another.
    """

    def lawful(counts: Sequence[int]) -> bool:
        values = np.repeat(np.arange(len(counts)), counts).astype(np.int32)[:, None]
        group = Group(values, (4,))
        return model.lawful(group, group)

    for size in range(1, 13):
        uneven = most_uneven(size, 4, lawful)
        for counts in falling(size, size, 4):
            assert lawful(counts) == any(majorizes(one, counts) for one in uneven)
        assert not any(majorizes(x, y) for x in uneven for y in uneven if x is not y)


@pytest.mark.parametrize("model", EXACT + RELAXED, ids=lambda model: model.name)
@settings(max_examples=few(10), deadline=None)
@given(rows=rows_of)
def test_never_above_the_k_highest(model: Model, rows: list[tuple[int, int, int]]) -> None:
    """Tests that every answer is at most the mean of the k highest prices, k the smallest class."""
    problem, price = problem_of(rows, model)
    members = np.flatnonzero(problem.instance.codes[:, 0] < len(rows)).astype(np.int32)
    counts = problem.instance.counts
    pricing, pad = pricing_of(problem)
    found, _ = dearest(members, 0, len(members), price, counts, -1e300, pricing, pad)
    copies = np.sort(np.repeat(price[members], counts[members]))[::-1]
    k = problem.smallest_class
    if len(copies) >= k:
        assert found <= copies[:k].mean() + 1e-6


@pytest.mark.parametrize(
    "distance",
    [
        Ordered((3, 1, 4, 0, 2)),
        Hierarchical(((0, 1, 2, 3, 4), (0, 0, 1, 2, 2), (0, 0, 0, 1, 1), (0,) * 5)),
        Hierarchical(((4, 3, 2, 1, 0), (0,) * 5)),
    ],
    ids=lambda distance: distance.name,
)
@settings(max_examples=few(30), deadline=None)
@given(
    price=st.lists(st.integers(0, 9), min_size=5, max_size=5),
    present=st.sets(st.integers(0, 4), min_size=1),
    share=st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any),
    slope=st.integers(0, 40),
)
def test_potentials_without_a_matrix(
    distance: GroundDistance, price: list[int], present: set[int], share: list[int], slope: int
) -> None:
    """Tests a line, and the nodes of a tree, against all distances."""
    q = np.array(share) / sum(share)
    apart, unit = distance.apart(5)
    told = distance.told(q)
    assert apart is not None and told is not None
    assert distance.closest(5) == Fraction(int(apart[~np.eye(5, dtype=bool)].min()), unit)
    pad = new_pad(5, 5, 5, 1)
    pad.state[0] = len(present)
    pad.present[: len(present)] = sorted(present, key=lambda v: told[1][v])
    for v in present:
        pad.mass[v] = price[v]

    def best(slope: int) -> list[float]:
        return [max(price[w] - slope * far[w] / unit for w in present) for far in apart]

    with interpreted():
        worth, cost = potential_value(float(slope), q, told[0], told[1].astype(float), pad)
    assert worth == pytest.approx(q @ best(slope))
    assert all(pad.mass[5 + v] == pytest.approx(best(slope)[v]) for v in present)
    for other in (max(0, slope - 1), slope + 1):  # the plan's cost is how fast worth falls
        assert q @ best(other) >= worth - (other - slope) * cost - 1e-9


@pytest.mark.parametrize("t", ["0.2", "0.35", "0.5"])
@settings(max_examples=few(40), deadline=None)
@given(rows=rows_of)
def test_prices_by_size(t: str, rows: list[tuple[int, int, int]]) -> None:
    """Tests that pricing by size lies between the dearest lawful mean and the relaxation."""
    problem, price = problem_of(rows, TCloseness(t))
    members = np.flatnonzero(problem.instance.codes[:, 0] < len(rows)).astype(np.int32)
    counts, end = problem.instance.counts, len(members)
    best = brute(problem, price, members)
    relaxed, _ = dearest(members, 0, end, price, counts, -1e300, *pricing_of(problem))
    for sizes in (1, 3, 8):
        pricing, pad = pricing_of(problem, sizes)
        found, which = dearest(members, 0, end, price, counts, -1e300, pricing, pad)
        assert found <= relaxed + 1e-9
        if best is not None:
            assert found >= best - 1e-9
        if found == -1e300:
            continue
        again, out = answer(which, members, 0, end, price, counts, -1e300, pricing, pad)
        assert again == found and abs(pad.out_weight[:out].sum() - 1) < 1e-6


@pytest.mark.parametrize("t", ["0.2", "0.35", "0.5"])
@settings(max_examples=few(26), deadline=None)
@given(rows=rows_of)
def test_listed_histograms_are_exact(t: str, rows: list[tuple[int, int, int]]) -> None:
    """Tests that pricing is exact where every size has its histograms listed."""
    problem, price = problem_of(rows, TCloseness(t))
    members = np.flatnonzero(problem.instance.codes[:, 0] < len(rows)).astype(np.int32)
    counts, end = problem.instance.counts, len(members)
    best = brute(problem, price, members)
    pricing, pad = pricing_of(problem, 16)
    found, which = dearest(members, 0, end, price, counts, -1e300, pricing, pad)
    if best is None:
        assert found < -1e17
        return
    assert abs(found - float(best)) < 1e-6
    _, out = answer(which, members, 0, end, price, counts, -1e300, pricing, pad)
    assert abs(pad.out_weight[:out] @ price[pad.out_row[:out]] - float(best)) < 1e-6


@settings(max_examples=few(40), deadline=None)
@given(
    table=st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any),
    t=st.fractions(0, 1, max_denominator=20),
    size=st.integers(1, 7),
)
def test_close_counts(table: list[int], t: Fraction, size: int) -> None:
    """Tests the list of lawful histograms against all histograms of that size."""
    total = sum(table)

    def far(hist: tuple[int, ...]) -> Fraction:
        shares = zip(hist, table, strict=True)
        over = (Fraction(x, size) - Fraction(c, total) for x, c in shares)
        return sum((x for x in over if x > 0), Fraction(0))

    hists = [h for h in product(range(size + 1), repeat=len(table)) if sum(h) == size]
    expected = [list(hist) for hist in hists if far(hist) <= t]
    found = close_counts(table, t, size, len(expected))
    assert found is not None and sorted(found) == expected
    if expected:
        assert close_counts(table, t, size, len(expected) - 1) is None
    assert least_far(table, size) == size * min(far(hist) for hist in hists)


def test_close_counts_of_many_values() -> None:
    """Tests that beginnings without an end are not followed: there are 10¹⁴ of them, and more."""
    most = 1 - Fraction(20, 2000)  # twenty rows of different values are so far away
    assert close_counts([1] * 2000, most - Fraction(1, 10**6), 20, 9) == []
    assert close_counts([1] * 2000, most, 20, 9) is None
    assert close_counts([1] * 1000, Fraction(0), 1000, 9) == [[1] * 1000]


def test_uneven_sizes() -> None:
    """Tests how many sizes whole rows spoil: two halves are 1/2 off whenever the size is odd."""
    half, t = Fraction(1, 2), Fraction(1, 5)
    assert least_far([3, 3], 4) == 0 and least_far([3, 3], 5) == half
    assert uneven_sizes([3, 3], t, 2, half, 16) == 2  # of 0.6 rows for size 3, of 1 for size 5
    assert uneven_sizes([3, 3], t, 2, Fraction(1, 3), 16) == 6
    assert uneven_sizes([3, 3], t, 2, Fraction(1, 100), 9) == 8
    assert uneven_sizes([3], t, 2, half, 16) == 0


def test_sizes_prove_more() -> None:
    """Tests that whole copies are worth less than shares of them where a class cannot be even.

    A class of two rows within .2 of thirds does not exist, three rows are one of each value.
    """
    rows = [(0, 1, 12), (0, 1, 12), (1, 1, 6), (1, 1, 6), (2, 1, 0)]
    problem, price = problem_of(rows, TCloseness("0.2"))
    members = np.flatnonzero(problem.instance.codes[:, 0] < len(rows)).astype(np.int32)
    found = [
        dearest(members, 0, 5, price, problem.instance.counts, -1e300, *pricing_of(problem, sizes))
        for sizes in (0, 8)
    ]
    assert found[1][0] < found[0][0] - 0.01
