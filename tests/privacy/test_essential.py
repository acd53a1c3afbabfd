"""Tests that a k which other models imply is left out, and that the same classes stay lawful."""

import numpy as np
import pytest

from dial import enough, few
from incrowd.driver.solve import choose, solve
from incrowd.errors import OutOfScopeError
from incrowd.privacy.base import Group
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import AllOf, essential
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from oracle import optimum
from solvers.small_tables import Shape, models, tables


def test_the_same_classes_are_lawful() -> None:
    """Tests every model beside every small k on random classes."""
    dropped = kept = 0
    for instance, rng in tables(3, 25, Shape(rows=(2, 12), columns=(1, 3), sensitive=(3, 2))):
        table = Problem(instance, KAnonymity(1)).table
        for model in models(instance, rng):
            asked = AllOf((KAnonymity(int(rng.integers(1, 6))), *model.parts, KAnonymity(1)))
            needed = essential(asked, table)
            left = [part for part in needed.parts if isinstance(part, KAnonymity)]
            assert len(left) <= 1
            dropped, kept = dropped + (not left), kept + len(left)
            assert needed in (model, essential(needed, table))
            assert asked.smallest_class(table) == needed.smallest_class(table)
            for _ in range(few(20)):
                some = rng.choice(table.rows, int(rng.integers(1, table.rows + 1)), replace=False)
                group = Group(table.values[some], table.sizes)
                assert needed.lawful(group, table) == asked.lawful(group, table)
    assert dropped > enough(30) and kept > enough(30)


def test_k_alone_is_one_model() -> None:
    """Tests that several k are the largest, and that 1 stays where nothing else is asked."""
    table = Group(np.zeros((9, 1), np.int32), (1,))
    assert essential(KAnonymity(1), table) == KAnonymity(1)
    assert essential(KAnonymity(2) & KAnonymity(4) & KAnonymity(3), table) == KAnonymity(4)
    instance, _ = from_codes(np.random.default_rng(1).integers(0, 5, (80, 4)))
    assert choose(Problem(instance, KAnonymity(2) & KAnonymity(1)), "auto").id == "simplex-matching"


@pytest.mark.parametrize(
    "model", [DistinctDiversity(2), DisjointDiversity(2), FrequencyDiversity(2)], ids=repr
)
def test_two_diversity_with_an_implied_k(model: DistinctDiversity) -> None:
    """Tests that the method for 2-diversity takes it with k of 1 or 2, not of 3, and is exact."""
    rng = np.random.default_rng(4)
    instance, _ = from_codes(rng.integers(0, 3, (9, 3)), None, np.arange(9) % 3)
    best = optimum(instance, model)
    for k in (1, 2):
        solved = solve(Problem(instance, KAnonymity(k) & model), "two-diversity")
        assert solved.status == "optimal" and solved.cost == best
    with pytest.raises(OutOfScopeError):
        solve(Problem(instance, KAnonymity(3) & model), "two-diversity")
