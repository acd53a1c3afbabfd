"""What the exact methods ask a model about the classes of a small table."""

import numpy as np
import pytest

from incrowd.privacy.base import Group
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.exact.submultisets import histogram_keys, lawful_keys
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
