"""Tests that each copy's pattern covers its row after every stage, though it may not list it."""

import numpy as np
import pytest

from dial import crossed, few
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.engine import anneal as plain
from incrowd.solvers.engine import greedy, regions
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.candidates import Candidates, build_candidates
from incrowd.solvers.engine.warm import with_solution
from incrowd.solvers.engine.windows import matches, window_emission
from incrowd.solvers.sensitive import by_regions, start
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.by_regions import Lists
from incrowd.solvers.sensitive.prune import narrowed
from incrowd.solvers.sensitive.rounding import trimmed
from incrowd.solvers.sensitive.rules import rules_of
from incrowd.solvers.sensitive.soften import SoftAnnealing
from solvers.ranged_tables import random_range
from solvers.small_tables import random_tree

K = 3
MODELS: list[Model] = [
    FrequencyDiversity(3), DistinctDiversity(2) & KAnonymity(3), TCloseness("0.3"),
]  # fmt: skip
KINDS = ("stars", "trees", "ranges")


@pytest.fixture(params=[100, 10_000], ids=["regions", "whole"])
def region(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many copies a region has: a table of 300 in three, or whole."""
    monkeypatch.setattr(regions, "REGION", request.param)
    monkeypatch.setattr(by_regions, "SLICE", 500)
    monkeypatch.setattr(plain, "SLICE", 500)
    return int(request.param)


def made(kind: str, seed: int) -> Instance:
    """A table of 300 rows of four columns of a kind, and a sensitive attribute."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    codes = np.minimum(rng.geometric(0.4, (300, 4)) - 1, 4)
    families = None
    if kind == "trees":
        families = tuple(random_tree(f"q{j}", 5, rng) for j in range(4))
    if kind == "ranges":
        families = tuple(random_range(f"q{j}", 5, rng) for j in range(4))
    return from_codes(codes, families, rng.integers(0, 4, 300))[0]


def thinned(instance: Instance, found: Solution, seed: int) -> tuple[Candidates, np.ndarray]:
    """Candidates that list half of the rows that windows list, and a solution among them."""
    emission = window_emission(instance, K, 4, 0)
    keep = np.random.default_rng(seed).random(len(emission.rows)) < 0.5
    return with_solution(narrowed(emission, keep)[0], found)


def unlisted(c: Candidates, pattern: np.ndarray) -> list[int]:
    """The copies whose pattern does not list their row."""
    lists = [c.row_patterns[slice(*c.row_offset[r : r + 2])] for r in range(len(c.codes))]
    return [i for i, p in enumerate(pattern) if p not in lists[c.row_of[i]]]


def require_covered(instance: Instance, c: Candidates, pattern: np.ndarray) -> None:
    """Assert that each pattern covers its copies, and that no class costs more than it says."""
    for i in unlisted(c, pattern):
        listed = c.codes[c.rows[slice(*c.offset[pattern[i] : pattern[i] + 2])]]
        span = np.stack([listed.min(axis=0), listed.max(axis=0)]).astype(np.int64)
        assert matches(int(c.row_of[i]), c.codes, c.tables, span), i
    assert Solution.of(instance, pattern).cost <= c.cost[pattern].sum()


@pytest.mark.parametrize(("kind", "model"), crossed(KINDS, MODELS), ids=str)
def test_lawful_stages(region: int, kind: str, model: Model) -> None:
    """Tests a start, annealing through lawful and unlawful releases, trimming, and mending."""
    for seed in range(few(2, 1)):
        instance = made(kind, seed)
        problem = Problem(instance, model)
        rules = rules_of(problem)
        whole = build_candidates(instance, window_emission(instance, K, 4, 0))
        first = start.greedy(whole, rules, 1, seed)
        require_covered(instance, whole, first)
        c, pattern = thinned(instance, Solution.of(instance, first), seed)
        require_covered(instance, c, pattern)
        lists = Lists(c, rules, np.zeros(instance.distinct), pattern)
        cell = instance.cell
        after = LawfulAnnealing(moves=20).run(lists, cell, 1.0, seed)
        require_covered(instance, c, after)
        heats = (2 * cell, 0.2 * cell), (5.0, 20.0)
        soft = SoftAnnealing().run(lists, cell, 20, *heats, seed)
        require_covered(instance, c, soft)
        mended = trimmed(c, rules, soft, seed)
        lists = lists._replace(pattern=mended)
        after = LawfulAnnealing(moves=20).run(lists, cell, 1.0, seed)
        require_covered(instance, c, after)
        for p in np.unique(after):
            assert model.lawful(problem.group(np.flatnonzero(after == p)), problem.table)


@pytest.mark.parametrize("kind", KINDS)
def test_plain_stages(region: int, kind: str) -> None:
    """Tests k-anonymity's start and annealing."""
    for seed in range(2):
        instance = made(kind, seed)
        whole = build_candidates(instance, window_emission(instance, K, 4, 0))
        first = greedy.greedy(whole, K, seed)
        require_covered(instance, whole, first)
        c, pattern = thinned(instance, Solution.of(instance, first), seed)
        require_covered(instance, c, pattern)
        after = Annealing(moves=100, least=0).run(c, pattern, K, instance.cell, seed)
        require_covered(instance, c, after)
        assert np.bincount(after)[np.unique(after)].min() >= K


@pytest.mark.parametrize("kind", KINDS)
def test_regions_keep_patterns(kind: str) -> None:
    """Tests that copies keep their patterns in a region, also those that none of its rows lists."""
    lone = 0
    for seed in range(3):
        instance = made(kind, seed)
        rng = np.random.default_rng(seed)
        emission = window_emission(instance, K, 4, 0)
        c = build_candidates(instance, narrowed(emission, rng.random(len(emission.rows)) < 0.4)[0])
        pattern = rng.integers(0, len(c.cost), instance.rows)
        room = regions.new_room(c)
        for copies in regions.dealt(c, pattern, instance.rows + 1, 3, seed):
            region = regions.cut_out(c, copies, pattern, K, regions.keys_of(c), room)
            assert np.array_equal(region.patterns[region.pattern], pattern[copies])
            assert np.all(np.diff(region.patterns) > 0)
            own = region.candidates
            empty = np.diff(own.offset) == 0
            assert not own.support[empty].any() and set(region.pattern) >= set(
                np.flatnonzero(empty)
            )
            lone += int(empty.sum())
        assert not room.held.any() and not room.local.any()
    assert lone > 10
