"""Tests that every model means what its paper says, by hand and against naive definitions."""

from fractions import Fraction
from math import exp, inf, log

import naive_models as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.errors import InputError
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Group
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.classes import Classes
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Hierarchical
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.model import AllOf, Model
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness

F = Fraction
ORDER = [2, 0, 3, 1]
LEVELS = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
PATH = [[0, 1, 2, 4], [1, 0, 1, 3], [2, 1, 0, 2], [4, 3, 2, 0]]
METRIC = [[F(x, 4) for x in row] for row in PATH]

# Each model beside its naive definition, both over four sensitive values 0..3.
CASES = [
    (KAnonymity(3), lambda c, t: len(c) >= 3),
    (DistinctDiversity(2), lambda c, t: naive.distinct(c, 2)),
    (DistinctDiversity(3), lambda c, t: naive.distinct(c, 3)),
    (FrequencyDiversity(2), lambda c, t: naive.frequency(c, 2)),
    (FrequencyDiversity(3), lambda c, t: naive.frequency(c, 3)),
    (EntropyDiversity(2), lambda c, t: naive.entropy(c, F(2))),
    (EntropyDiversity("2.5"), lambda c, t: naive.entropy(c, F(5, 2))),
    (RecursiveDiversity(2, 2), lambda c, t: naive.recursive(c, F(2), 2)),
    (RecursiveDiversity("1/2", 1), lambda c, t: naive.recursive(c, F(1, 2), 1)),
    (RecursiveDiversity("0.7", 3), lambda c, t: naive.recursive(c, F(7, 10), 3)),
    (AlphaK("0.5", 2), lambda c, t: naive.alpha(c, F(1, 2), 2)),
    (BasicBetaLikeness("0.5"), lambda c, t: naive.basic_beta(c, t, F(1, 2))),
    (BasicBetaLikeness(0), lambda c, t: naive.basic_beta(c, t, F(0))),
    (EnhancedBetaLikeness(1), lambda c, t: naive.enhanced_beta(c, t, F(1))),
    (EnhancedBetaLikeness("0.3"), lambda c, t: naive.enhanced_beta(c, t, F(3, 10))),
    (DeltaDisclosure("0.7"), lambda c, t: naive.delta(c, t, F(7, 10))),
    (TCloseness("0.2"), lambda c, t: naive.mover(c, t, naive.equal(4)) <= F(1, 5)),
    (TCloseness(0), lambda c, t: naive.mover(c, t, naive.equal(4)) == 0),
    (
        TCloseness("1/3", Ordered(tuple(ORDER))),
        lambda c, t: naive.mover(c, t, naive.ordered(4, ORDER)) <= F(1, 3),
    ),
    (
        TCloseness("0.25", Hierarchical(tuple(map(tuple, LEVELS)))),
        lambda c, t: naive.mover(c, t, naive.hierarchical(LEVELS)) <= F(1, 4),
    ),
    (
        TCloseness("0.15", Metric.of(PATH)),
        lambda c, t: naive.mover(c, t, METRIC) <= F(3, 20),
    ),
    (
        KAnonymity(2) & FrequencyDiversity(2) & TCloseness(F(1, 2)),
        lambda c, t: (
            len(c) >= 2 and naive.frequency(c, 2) and naive.mover(c, t, naive.equal(4)) <= F(1, 2)
        ),
    ),
]
MODELS = [model for model, _ in CASES]
IDS = [model.name for model in MODELS]

partitions = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), min_size=1, max_size=5)


def group(values: list[int] | list[tuple[int, ...]], size: int = 4) -> Group:
    array = np.array(values, np.int32).reshape(len(values), -1)
    return Group(array, (size,) * array.shape[1])


def classes_of(parts: list[list[int]]) -> Classes:
    """Interleave the classes' rows, so that order cannot help."""
    rows = [(i, v) for i, part in enumerate(parts) for v in part]
    rows = rows[::2] + rows[1::2]
    return Classes(np.array([i for i, _ in rows]), group([v for _, v in rows]))


@pytest.mark.parametrize(("model", "definition"), CASES, ids=IDS)
@settings(max_examples=few(60), deadline=None)
@given(parts=partitions)
def test_definition(model: Model, definition, parts: list[list[int]]) -> None:
    """Tests that a model equals its naive definition, one class and all classes at once."""
    table = [v for part in parts for v in part]
    expected = [definition(part, table) for part in parts]
    assert [model.lawful(group(part), group(table)) for part in parts] == expected
    assert model.lawful_classes(classes_of(parts)).tolist() == expected


@pytest.mark.parametrize("model", MODELS, ids=IDS)
@settings(max_examples=few(60), deadline=None)
@given(parts=partitions)
def test_closed_under_union(model: Model, parts: list[list[int]]) -> None:
    """Tests that the union of all lawful classes is lawful."""
    assert model.closed_under_union
    table = group([v for part in parts for v in part])
    lawful = [part for part in parts if model.lawful(group(part), table)]
    if lawful:
        assert model.lawful(group([v for part in lawful for v in part]), table)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
@settings(max_examples=few(60), deadline=None)
@given(part=st.lists(st.integers(0, 3), min_size=1, max_size=7), rest=partitions)
def test_looks_at_a_class_alone(model: Model, part: list[int], rest: list[list[int]]) -> None:
    """Tests that a model which says so judges a class alike in whatever table."""
    table = part + [v for other in rest for v in other]
    if not model.compares_with_table:
        assert model.lawful(group(part), group(part)) == model.lawful(group(part), group(table))


def test_which_models_compare_with_the_table() -> None:
    """Tests that those compare which ask for the table's distribution, and foreign ones."""
    found = {type(model) for model in MODELS if model.compares_with_table}
    assert found == {BasicBetaLikeness, EnhancedBetaLikeness, DeltaDisclosure, TCloseness, AllOf}
    assert Model.compares_with_table
    assert not (KAnonymity(2) & FrequencyDiversity(2)).compares_with_table


def test_what_is_not_closed_under_union() -> None:
    """Tests the counterexample of docs/explanation/models.md: evenness."""

    def evenness(part: list[int]) -> float:
        """Entropy over the logarithm of the number of values held."""
        counts = np.bincount(part)
        return log(EntropyDiversity(1).value(counts, counts)) / log((counts > 0).sum())

    assert evenness([0, 1]) == evenness([0, 2]) == pytest.approx(1)
    assert evenness([0, 1, 0, 2]) < 0.95


@pytest.mark.parametrize("model", MODELS, ids=IDS)
@settings(max_examples=few(30), deadline=None)
@given(table=st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_smallest_class(model: Model, table: list[int]) -> None:
    """Tests that no lawful class of the table is smaller; exact for equal and ordered distance."""
    whole = group(table)
    least = model.smallest_class(whole)
    assert least >= 1
    sizes = {
        bin(mask).count("1")
        for mask in range(1, 1 << len(table))
        if model.lawful(group([v for i, v in enumerate(table) if mask >> i & 1]), whole)
    }
    assert all(size >= least for size in sizes)
    if isinstance(model, TCloseness) and model.distance.name in ("equal", "ordered"):
        assert least == min(sizes)


@settings(max_examples=few(80), deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=7),
    l=st.integers(1, 3),
    columns=st.sampled_from([None, (0,), (0, 2)]),
)
def test_disjoint(rows: list[tuple[int, ...]], l: int, columns) -> None:  # noqa: E741
    """Tests disjoint diversity against Blocki and Williams' Definition 1, by all choices."""
    model = DisjointDiversity(l, columns)
    seen = [tuple(row[a] for a in columns) if columns else row for row in rows]
    table = group(rows, 3)
    assert model.lawful(table, table) == naive.disjoint(seen, l)
    assert model.lawful_classes(Classes(np.zeros(len(rows), np.int64), table))[0] == (
        naive.disjoint(seen, l)
    )
    attained = model.attained(table, table)
    assert naive.disjoint(seen, attained)
    assert not naive.disjoint(seen, attained + 1)


def test_disjoint_union_and_single_attribute() -> None:
    """Tests that classmates of a part stay classmates, and that one attribute means distinct."""
    rng = np.random.default_rng(5)
    for _ in range(few(200)):
        first, second = (rng.integers(0, 3, (rng.integers(1, 6), 2)) for _ in "ab")
        parts = [Group(part.astype(np.int32), (3, 3)) for part in (first, second)]
        whole = Group(np.vstack([p.values for p in parts]), (3, 3))
        model = DisjointDiversity(2)
        if all(model.lawful(p, whole) for p in parts):
            assert model.lawful(whole, whole)
        for part in parts:
            same = DistinctDiversity(2, attribute=1).lawful(part, whole)
            assert DisjointDiversity(2, (1,)).lawful(part, whole) == same


VALUES = [
    (DistinctDiversity(1), [0, 0, 1], 2),
    (FrequencyDiversity(1), [0, 0, 1], F(3, 2)),
    (RecursiveDiversity(1, 2), [0, 0, 1, 2], F(1)),
    (RecursiveDiversity(1, 3), [0, 0, 1], inf),
    (AlphaK(1), [0, 0, 1], F(2, 3)),
    (AlphaK(1, values=(1, 7)), [0, 0, 1], F(1, 3)),
    (BasicBetaLikeness(0), [0, 0, 1], F(1, 3)),
    (EnhancedBetaLikeness(0), [0, 0, 1], F(1, 3)),
    (EnhancedBetaLikeness(0), [0], inf),
    (DeltaDisclosure(1), [0, 0, 1], inf),
    (TCloseness(0), [0, 0, 1], F(1, 4)),
    (TCloseness(0, Ordered()), [0, 0, 1], F(5, 24)),  # (1/6 + 1/4) / 2
]


@pytest.mark.parametrize(("model", "part", "value"), VALUES)
def test_value(model, part: list[int], value: object) -> None:
    """Tests the figure that a class attains in the table 0, 0, 1, 2, by hand."""
    counts, table = (np.bincount(x, minlength=3) for x in (part, [0, 0, 1, 2]))
    assert model.value(counts, table) == value


def test_float_values() -> None:
    """Tests the two figures that are logarithms, by hand."""
    counts, table = np.array([1, 1, 0]), np.array([2, 2, 0])
    assert EntropyDiversity(1).value(counts, table) == pytest.approx(2)
    assert EntropyDiversity(1).value(np.array([2, 1, 1]), table) == pytest.approx(exp(1.5 * log(2)))
    assert DeltaDisclosure(1).value(np.array([1, 3]), np.array([1, 1])) == pytest.approx(log(2))


WORST = [
    DistinctDiversity(1),
    FrequencyDiversity(1),
    EntropyDiversity(1),
    RecursiveDiversity(1, 2),
    AlphaK(1),
    AlphaK(1, values=(1, 3)),
    BasicBetaLikeness(0),
    EnhancedBetaLikeness(0),
    DeltaDisclosure(1),
    TCloseness(0),
    TCloseness(0, Ordered(tuple(ORDER))),
    TCloseness(0, Hierarchical(tuple(map(tuple, LEVELS)))),
    TCloseness(0, Metric.of(PATH)),
]


@pytest.mark.parametrize("model", WORST, ids=lambda model: model.name)
@settings(max_examples=few(60), deadline=None)
@given(parts=partitions)
def test_worst(model, parts: list[list[int]]) -> None:
    """Tests that the vectorised figure of a table is the worst of its classes' own."""
    classes = classes_of(parts).histograms[0]
    figures = [model.value(np.bincount(part, minlength=4), classes.table) for part in parts]
    larger_is_better = isinstance(model, DistinctDiversity | FrequencyDiversity | EntropyDiversity)
    worst = min(figures) if larger_is_better else max(figures)
    if isinstance(worst, float):
        assert model.worst(classes) == pytest.approx(worst, rel=1e-9)
    else:
        assert model.worst(classes) == worst


def test_exactly_t_passes() -> None:
    """Tests that 0.2 means 1/5: a class at distance exactly t passes, one just above never."""
    table = group([0] * 5 + [1] * 5, 2)
    part = group([0] * 7 + [1] * 3, 2)  # distance 1/5
    assert TCloseness(0.2).lawful(part, table)
    assert TCloseness("0.2").t == TCloseness(0.2).t == F(1, 5)
    assert not TCloseness(F(1, 5) - F(1, 10**30)).lawful(part, table)
    classes = Classes(np.zeros(10, np.int64), table)
    assert TCloseness(F(1, 10**30)).lawful_classes(classes).all()


def test_entropy_at_the_threshold() -> None:
    """Tests that equal shares of l values pass l, and one row more or less fails, at any size."""
    table = group([0], 4)
    for n in (1, 10, 10**6):
        counts = np.array([n, n, n, 0])
        assert EntropyDiversity(3).fits(counts, table.histograms[0])
        assert not EntropyDiversity(3).fits(np.array([n + 1, n, n, 0]), table.histograms[0])
    assert not EntropyDiversity(F(3) + F(1, 10**40)).fits(counts, table.histograms[0])


def test_thresholds_that_doubles_cannot_tell() -> None:
    """Tests enhanced likeness and disclosure a hair's breadth around their irrational limits."""
    log_2 = F("0.693147180559945309417232121458176568075500134360255254120680")
    table, hair = np.array([1, 1]), F(1, 10**50)
    assert DeltaDisclosure(log_2 + hair).fits(np.array([3, 1]), table)  # the largest is |ln 1/2|
    assert not DeltaDisclosure(log_2 - hair).fits(np.array([3, 1]), table)
    n = 10**15
    most = int((1 + log_2) / 2 * n)  # gain 2h/n − 1 against −ln 1/2
    assert EnhancedBetaLikeness(1).fits(np.array([most, n - most]), table)
    assert not EnhancedBetaLikeness(1).fits(np.array([most + 1, n - most - 1]), table)


def test_attribute_choice() -> None:
    """Tests that a model asks one attribute or all, and says so when there is none."""
    rows = group([(0, 0), (0, 1)])
    assert not DistinctDiversity(2).lawful(rows, rows)
    assert DistinctDiversity(2, attribute=1).lawful(rows, rows)
    assert not DistinctDiversity(2, attribute=0).lawful(rows, rows)
    mixed = DistinctDiversity(2, attribute=1) & FrequencyDiversity(1, attribute=0)
    assert mixed.lawful(rows, rows)
    bare = Group(np.zeros((3, 0), np.int32))
    with pytest.raises(InputError, match="needs a sensitive attribute"):
        DistinctDiversity(2).lawful(bare, bare)
    with pytest.raises(InputError, match="attribute 3, the table has 2"):
        DistinctDiversity(2, attribute=2).lawful(rows, rows)
    assert KAnonymity(2).lawful(bare, bare)


def test_values_and_names() -> None:
    """Tests that models are values: equal, hashable, combined flat, with readable names."""
    both = KAnonymity(5) & DistinctDiversity(3) & TCloseness("1/3", attribute=0)
    assert both == AllOf((KAnonymity(5), DistinctDiversity(3), TCloseness(F(1, 3), attribute=0)))
    assert len({both, both}) == 1
    assert both.name == (
        "5-anonymity and distinct 3-diversity and "
        "1/3-closeness (equal distance) of sensitive attribute 1"
    )
    assert isinstance(both, Model)


def test_names_with_columns() -> None:
    """Tests that a model says which column it looks at, where that is known."""
    disjoint = DisjointDiversity(2, (0, 1))
    model = KAnonymity(2) & DistinctDiversity(3) & FrequencyDiversity(2, attribute=1) & disjoint
    every = ("2-anonymity", "distinct 3-diversity")
    assert model.names(("ill", "pay")) == (
        *every,
        "frequency 2-diversity of 'pay'",
        "disjoint 2-diversity of 'ill', 'pay'",
    )
    assert model.names(("ill",)) == (
        *every,
        "frequency 2-diversity of sensitive attribute 2",
        "disjoint 2-diversity of sensitive attributes 1, 2",
    )
    assert " and ".join(model.names(())) == model.name


def test_an_empty_group_is_no_class() -> None:
    """Tests that no model calls a group without rows lawful."""
    empty, table = Group(np.zeros((0, 1), np.int32), (4,)), group([0, 1, 2, 3])
    assert not any(model.lawful(empty, table) for model in [*MODELS, DisjointDiversity(1)])


BAD = [
    (lambda: KAnonymity(0), "k must be a whole number of at least 1"),
    (lambda: DistinctDiversity(True), "l must be a whole number"),
    (lambda: EntropyDiversity("0.5"), "l must be at least 1"),
    (lambda: RecursiveDiversity(0, 2), "c must be above 0"),
    (lambda: TCloseness("1.5"), "t must be at most 1"),
    (lambda: TCloseness("nan"), "t must be a number"),
    (lambda: TCloseness(float("inf")), "t must be a number"),
    (lambda: AlphaK(0), "alpha must be above 0"),
    (lambda: BasicBetaLikeness(-1), "beta must be at least 0"),
    (lambda: DeltaDisclosure(0), "delta must be above 0"),
    (lambda: DisjointDiversity(2, ()), "at least one sensitive attribute"),
    (lambda: DistinctDiversity(2, attribute=-1), "index of a sensitive attribute"),
    (lambda: AllOf(()), "at least one model"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_parameters(make, message: str) -> None:
    """Tests that a parameter out of range is refused when the model is made."""
    with pytest.raises(InputError, match=message):
        make()


ALL_DIFFERENT = [
    # n rows of N differ by (N − n)/N, and a row of a class has 1/n, where the table has 1/N
    (TCloseness("2/5"), 1800),
    (BasicBetaLikeness(2), 1000),
    (EnhancedBetaLikeness(2), 1000),
    (TCloseness("1/4", Ordered()), 2),  # one row in the middle is 750/2999 away
]


@pytest.mark.parametrize(("model", "least"), ALL_DIFFERENT, ids=lambda x: getattr(x, "name", ""))
def test_the_least_class_of_values_that_all_differ(model: Model, least: int) -> None:
    """Tests the least class of 3,000 values, one row each: no clock looks at this search."""
    assert model.least(np.ones(3000, np.int64)) == least
