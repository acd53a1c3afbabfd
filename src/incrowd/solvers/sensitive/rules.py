"""The laws that the search obeys: the model's own, or stricter ones where it has none that fit.

A stricter law stands in, so that every release is lawful, at a price in cost: see ``stand_in`` of
the models.  Where there is none either, the predicate is called back.
"""

import numpy as np

from incrowd.privacy.law import CALLED
from incrowd.privacy.laws import laws_of
from incrowd.problem.problem import Problem
from incrowd.solvers.sensitive.crowd import Rules


def rules_of(problem: Problem) -> tuple[Rules, int]:
    """Return the search's rules, and the number of places in a histogram.

    Raises
    ------
    OutOfScopeError: numbers too large for 64 bits.
    """
    instance, table = problem.instance, problem.table
    laws = laws_of(problem.model.stand_in(table), table)
    starts = np.concatenate([[0], np.cumsum(table.sizes)]).astype(np.int64)
    places = instance.sensitive_codes.astype(np.int64) + starts[:-1]
    _, sample, profile = np.unique(places, axis=0, return_index=True, return_inverse=True)
    profile, number = profile.ravel().astype(np.int64), int(starts[-1])
    if (laws.kind == CALLED).any():
        places = np.column_stack([places, number + profile])
        number += len(sample)
    least = max(problem.smallest_class, int(laws.least[0]))
    rules = Rules(
        laws,
        np.ascontiguousarray(places),
        profile,
        sample.astype(np.int64),
        np.array([least], np.int64),
        np.array([-1], np.int64),
    )
    return rules, number
