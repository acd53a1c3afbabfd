"""Tests of the lawful price bound's shortcuts."""

from dataclasses import replace

import numpy as np
import pytest

from dial import few
from incrowd.bounds.lawful_price import LawfulPriceBound, first_prices, safe_prices
from incrowd.bounds.lawful_shares import LawfulShares
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import assembled, dearest, pricing_of
from incrowd.bounds.reductions import CUT, Path, new_found, walk
from incrowd.bounds.top_copies import LOOKS
from incrowd.lattice.topk import top_k_buffers
from incrowd.privacy.beta_likeness import EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.distance import LINE
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.pricing import SIZES, SLACK, Part
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem


@pytest.mark.parametrize(
    "model", [DistinctDiversity(3), FrequencyDiversity(2), TCloseness("0.3")], ids=lambda m: m.name
)
def test_patterns_that_cannot_be_violated_yet_need_no_asking(model: Model) -> None:
    """Tests that reductions are the same whether or not patterns with room are passed over."""
    rng = np.random.default_rng(5)
    instance, _ = from_codes(rng.integers(0, 3, (60, 4)), None, rng.integers(0, 4, 60))
    tree = LawfulTree(instance, *pricing_of(Problem(instance, model)))
    u = rng.uniform(0, 2, instance.distinct)
    emission, _ = LawfulShares().emission(tree, u, 8.0)
    patterns, distinct = len(emission.cost), instance.distinct

    def cuts(due: np.ndarray, risen: float) -> np.ndarray:
        found = new_found(distinct, patterns, 0)._replace(due=due)
        rules = instance.counts, tree.k, (tree.pricing, tree.pad), top_k_buffers(tree.k, np.float64)
        path = Path(*[u] * 8, np.array([risen, np.inf]))
        walk(CUT, path, tree.strides.law(), emission, (0, patterns), *rules, found, 0, np.ones(1))
        return found.cut

    due, risen, passed = np.zeros(patterns + 1), 0.0, 0
    for _ in range(few(40)):
        passed += int((due[:patterns] > risen).sum())
        assert np.array_equal(cuts(due, risen), cuts(np.zeros(patterns + 1), 0.0))
        after = np.maximum(u + rng.normal(0.02, 0.05, distinct), 0)
        risen += tree.strides.rise(u, after)
        u = after
    assert patterns and passed


def large_classes(rows: int, labels: int) -> Problem:
    """δ-disclosure with a value so rare that a lawful class holds hundreds of rows."""
    rng = np.random.default_rng(7)
    value = rng.choice(8, rows, p=[0.3, 0.2, 0.15, 0.15, 0.1, 0.06, 0.038, 0.002])
    instance, _ = from_codes(rng.integers(0, labels, (rows, 3)), None, value)
    return Problem(instance, DeltaDisclosure(1))


@pytest.mark.parametrize("model", [DeltaDisclosure(1), EnhancedBetaLikeness(1)])
def test_pricing_large_classes_looks_at_few_copies(model: Model) -> None:
    """Tests that lists of hundreds of copies are neither shifted nor sorted for each size."""
    problem = Problem(large_classes(6000, 30).instance, model)
    pricing, pad = pricing_of(problem)
    instance, u = problem.instance, np.random.default_rng(3).random(problem.instance.distinct)
    everything = np.arange(instance.distinct, dtype=np.int32)
    pad.state[LOOKS] = 0
    mean, _ = dearest(everything, 0, len(u), u, instance.counts, 0.0, pricing, pad)
    looks, kept = int(pad.state[LOOKS]), len(pad.top)
    merged = (SIZES + 3) * 9 * (problem.smallest_class + SIZES + 8)
    assert mean > 0 and instance.rows < looks
    assert looks < 2 * instance.rows + 2 * kept * np.log2(kept) + merged


def test_ascent_ends_when_its_work_is_done() -> None:
    """Tests that dear pricing leaves steps out, by the count of copies, and still proves more."""
    problem = large_classes(3000, 6)
    tree = LawfulTree(problem.instance, *pricing_of(problem))
    start, _ = first_prices(tree)
    schedule = LawfulPriceBound(rounds=4, iterations=60, pairs=400_000, patterns=40_000)

    def proven(u: np.ndarray) -> int:
        return safe_prices(tree, u).bound(tree.instance.counts)

    def looks(work: int) -> tuple[int, int]:
        tree.pad.state[LOOKS] = 0
        found = proven(replace(schedule, work=work).ascend(tree, start))
        return int(tree.pad.state[LOOKS]), found

    most, best = looks(1 << 60)
    fewest, some = looks(0)
    half, better = looks(most // 2)
    assert fewest < most // 3 and fewest < half < 0.7 * most
    assert proven(start) < min(some, better) and better <= best
    assert looks(most // 2) == (half, better)


def test_ascent_takes_all_steps_that_there_is_work_for() -> None:
    """Tests that the first step, which alone asks all patterns, does not stand for the others."""
    rng = np.random.default_rng(11)
    value = rng.choice(8, 1500, p=[0.3, 0.2, 0.15, 0.15, 0.1, 0.05, 0.03, 0.02])
    instance, _ = from_codes(rng.integers(0, 5, (1500, 5)), None, value)
    tree = LawfulTree(instance, *pricing_of(Problem(instance, FrequencyDiversity(3))))
    schedule = LawfulPriceBound(rounds=1, iterations=100, rate=(0.005, 0.001))
    start = LawfulPriceBound(rounds=1).ascend(tree, first_prices(tree)[0])

    def proven(u: np.ndarray) -> int:
        return safe_prices(tree, u).bound(tree.instance.counts)

    def looks(work: int) -> int:
        begun = int(tree.pad.state[LOOKS])
        replace(schedule, work=work).ascend(tree, start)
        return int(tree.pad.state[LOOKS]) - begun

    every = looks(1 << 60)
    assert looks(every * 11 // 10) > 0.95 * every


def test_equal_problems_are_priced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that equal parts stand once, and that nobody writes their numbers out to find out.

    Those of 3,000 ordered values are nine million: a time limit of 2 s took 14.
    """
    monkeypatch.setattr(Part, "__repr__", lambda part: pytest.fail("written out"))
    table = np.arange(40)
    instance, _ = from_codes(table[:, None] % 7, None, table % 20)
    model = TCloseness("0.4", Ordered(tuple(range(20))))
    once = pricing_of(Problem(instance, model))[0]
    problem = Problem(instance, model)
    parts = [*model.pricing(problem.table, int(once.least[0]), 0)] * 2
    twice = assembled(problem, parts, int(once.least[0]))[0]
    assert len(once.kind) == len(parts) // 2
    assert all(np.array_equal(a, b) for a, b in zip(once[1:8], twice[1:8], strict=True))


def test_the_numbers_of_a_distance_are_an_array() -> None:
    """Tests the potential's numbers: k, t, form, shares, places, and sums of those below."""
    table = Problem(from_codes(np.zeros((6, 1), int), None, np.array([0, 1, 1, 2, 2, 2]))[0],
                    KAnonymity(1)).table  # fmt: skip
    part = TCloseness("0.3", Ordered((2, 0, 1))).pricing(table, 4, 0)[-1]
    assert isinstance(part.data, np.ndarray)
    assert part.data.tolist() == pytest.approx([
        4, 0.3 + SLACK, LINE, 1 / 6, 2 / 6, 3 / 6, 1, 2, 0, 0, 1 / 2, 2 / 3, 1, 0, 0, 1 / 6, 5 / 6
    ])  # fmt: skip
