"""Tests that reductions keep the optimum and lift solutions to lawful ones of the same cost."""

import numpy as np
import pytest

from dial import few
from incrowd.errors import InputError
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.reduce.chain import REDUCTIONS, presolve
from incrowd.reduce.copies import PaperThreshold, TightThreshold, most_impure
from incrowd.solvers.base import Context
from incrowd.solvers.exact.subset_dp import SubsetDP
from incrowd.solvers.fpt.pattern_milp import PatternMILP
from solvers.small_tables import Shape, random_table


def crowded(rng: np.random.Generator, trees: bool) -> Instance:
    """A table of a few distinct rows, some with very many copies."""
    base = random_table(rng, Shape(rows=(2, 6), columns=(1, 4), values=(2, 4), trees=trees))
    counts = np.where(rng.random(base.distinct) < 0.5, rng.integers(5, 40, base.distinct), 1)
    return Instance(base.codes, counts.astype(np.int64), base.trees)


@pytest.mark.parametrize("trees", [False, True])
def test_copies_can_be_cut(trees: bool) -> None:
    """Tests the tighter threshold against an exact method that does not reduce."""
    rng = np.random.default_rng(4)
    cut = 0
    for _ in range(few(60)):
        instance = crowded(rng, trees)
        k = int(rng.integers(2, 5))
        problem = Problem(instance, KAnonymity(k))
        if instance.rows < k:
            continue
        reduced = TightThreshold().apply(problem)
        smaller = reduced.problem.instance
        cut += instance.rows - smaller.rows
        best = PatternMILP(reductions="none").run(problem, Context()).bound
        outcome = PatternMILP(reductions="none").run(reduced.problem, Context())
        assert outcome.bound == best
        assert outcome.solution is not None
        lifted = reduced.lift(outcome.solution)
        assert lifted.cost == best
        assert (lifted.sizes >= k).all() and lifted.sizes.sum() == instance.rows
        for row in range(instance.distinct):
            assert smaller.counts[row] < most_impure(instance, row, k) + 2 * k
    assert cut > 0


def test_two_anonymity_keeps_four_copies() -> None:
    """Tests that for k = 2 at most four copies of a row are left."""
    instance, _ = from_codes(np.repeat([[0, 0], [1, 1], [0, 1]], [50, 4, 5], axis=0))
    reduced = TightThreshold().apply(Problem(instance, KAnonymity(2)))
    assert reduced.problem.instance.counts.max() <= 4


def test_paper_threshold_cuts_in_steps_of_k() -> None:
    """Tests Algorithm 1: at most 2k²·2^m copies are left, and multiples of k go."""
    instance, _ = from_codes(np.repeat([[0], [1]], [101, 3], axis=0))
    problem = Problem(instance, KAnonymity(3))
    threshold = PaperThreshold().threshold(problem)
    left = PaperThreshold().apply(problem).problem.instance.counts
    assert threshold == 2 * 9 * 2
    assert threshold - 3 < left[0] <= threshold
    assert (101 - left[0]) % 3 == 0 and left[1] == 3


def test_paper_threshold_keeps_the_optimum() -> None:
    """Tests the paper's kernel where it bites: one column, many copies."""
    rng = np.random.default_rng(9)
    for _ in range(few(20)):
        counts = rng.integers(1, 27, 3)
        instance, _ = from_codes(np.repeat(np.arange(3)[:, None], counts, axis=0))
        problem = Problem(instance, KAnonymity(2))
        whole = SubsetDP(reductions="none").run(problem, Context())
        part = SubsetDP(reductions="paper").run(problem, Context())
        assert whole.bound == part.bound
        assert part.solution is not None and part.solution.cost == part.bound


def test_other_models_keep_their_rows() -> None:
    """Tests that copies and sensitive values are left alone under l-diversity."""
    rows = np.repeat([[0, 7], [1, 7]], 30, axis=0)
    instance, _ = from_codes(rows, None, np.arange(60) % 2)
    reduced = presolve(Problem(instance, DistinctDiversity(2)), "all").problem.instance
    assert reduced.rows == 60 and reduced.sensitive is not None
    assert reduced.columns == 1  # the constant column goes under any model


def test_levels() -> None:
    """Tests the names of the levels."""
    instance, _ = from_codes(np.arange(6).reshape(3, 2))
    assert set(REDUCTIONS) == {"none", "paper", "all"}
    with pytest.raises(InputError, match="reductions"):
        presolve(Problem(instance, KAnonymity(2)), "papers")  # type: ignore[arg-type]
