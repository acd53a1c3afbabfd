"""What the exact methods ask a model about the classes of a small table."""

import math
from typing import Any

import numpy as np
import pytest

from incrowd.kernels import interpreted
from incrowd.privacy.base import Group
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.exact import dynamic
from incrowd.solvers.exact.split_recursion import SplitRecursion
from incrowd.solvers.exact.submultisets import histogram_keys, lawful_keys
from incrowd.solvers.exact.subset_dp import SubsetDP
from solvers.small_tables import Shape, models, tables


@pytest.mark.parametrize("sensitive", [(3,), (3, 2)])
def test_classes_asked_together(sensitive: tuple[int, ...]) -> None:
    """Tests every histogram of a class against the model's word on that class alone."""
    lawful = asked = 0
    for instance, rng in tables(9, 12, Shape(rows=(2, 8), sensitive=sensitive)):
        for model in models(instance, rng):
            problem = Problem(instance, model)
            table, (_, groups) = problem.table, histogram_keys(instance)
            _, place, radix = groups[-1]
            keys = np.arange(place * radix)
            found = lawful_keys(model, table, groups, keys, Stop())
            assert found is not None
            values = np.array([group[0] for group in groups], np.int32)
            for key, law in zip(keys.tolist(), found.tolist(), strict=True):
                counts = [key // place % radix for _, place, radix in groups]
                known = sum(counts) >= max(model.smallest_class(table), 1) and model.lawful(
                    Group(np.repeat(values, counts, axis=0), table.sizes), table
                )
                assert law == known
                lawful, asked = lawful + law, asked + 1
            assert lawful_keys(model, table, groups, keys, Stop(0.0)) is None
    assert 0 < lawful < asked


@pytest.mark.parametrize("method", [SubsetDP(), SplitRecursion()], ids=lambda m: m.id)
def test_interpreted_kernels_find_the_same(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a few rows are solved as more are, whose kernels are compiled."""
    monkeypatch.setattr(interpreted, "ENOUGH", math.inf)
    several = 0
    for instance, rng in tables(10, 10, Shape(rows=(2, 8), trees=True, sensitive=(3,))):
        for model in models(instance, rng):
            problem = Problem(instance, model)
            found = []
            for few in (dynamic.FEW, 0):
                monkeypatch.setattr(dynamic, "FEW", few)
                done = method.run(problem, Context())
                classes = None if done.solution is None else done.solution.classes.tolist()
                found.append((classes, done.bound))
            assert found[0] == found[1]
            several += found[0][0] is not None and len(set(found[0][0])) > 1
    assert several
