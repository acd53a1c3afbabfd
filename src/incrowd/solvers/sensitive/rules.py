"""The laws that the search obeys: the model's own, or stricter ones where it has none.

A stricter law stands in, so that every release is lawful, at a price in cost, for

- disjoint l-diversity of s attributes: no value above 1/((l − 1)·s + 1) of a class.  Any j < l rows
  that differ everywhere rule out at most j·s values' rows, fewer than all of the class, so they
  can be extended by one more row.  For one attribute it is distinct l-diversity itself;
- closeness under a metric whose numbers 64 bits cannot hold: the total variation within t, since
  moving mass costs at most 1.
"""

from fractions import Fraction

import numpy as np

from incrowd.errors import OutOfScopeError
from incrowd.privacy.all_of import AllOf, parts
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Group, Model
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Equal
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.laws import laws_of
from incrowd.privacy.metric import Metric
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.problem import Problem
from incrowd.solvers.sensitive.crowd import Rules


def search_model(model: Model, table: Group) -> Model:
    """Return a model with laws that implies ``model``; itself where it has laws."""
    found: list[Model] = []
    for part in parts(model):
        if isinstance(part, DisjointDiversity):
            columns = sorted(set(part.columns(table)))
            share = Fraction(1, (part.l - 1) * len(columns) + 1)
            if len(columns) == 1:
                found.append(DistinctDiversity(part.l, columns[0]))
            else:
                found += [AlphaK(share, attribute=a) for a in columns]
        elif isinstance(part, TCloseness) and isinstance(part.distance, Metric):
            found.append(fitting(part, table))
        else:
            found.append(part)
    return found[0] if len(found) == 1 else AllOf(tuple(found))


def fitting(part: TCloseness, table: Group) -> TCloseness:
    """Return the model, or with equal distances where its numbers are too large."""
    try:
        laws_of(part, table)
    except OutOfScopeError:
        return TCloseness(part.t, Equal(), part.attribute)
    return part


def rules_of(problem: Problem) -> tuple[Rules, int]:
    """Return the search's rules, and the number of places in a histogram.

    Raises
    ------
    OutOfScopeError: numbers too large for 64 bits, or a model without laws.
    """
    instance, table = problem.instance, problem.table
    laws = laws_of(search_model(problem.model, table), table)
    starts = np.concatenate([[0], np.cumsum(table.sizes)]).astype(np.int64)
    places = instance.sensitive_codes.astype(np.int64) + starts[:-1]
    _, sample, profile = np.unique(places, axis=0, return_index=True, return_inverse=True)
    least = max(problem.smallest_class, int(laws.least[0]))
    rules = Rules(
        laws,
        np.ascontiguousarray(places),
        profile.ravel().astype(np.int64),
        sample.astype(np.int64),
        np.array([least], np.int64),
        np.array([-1], np.int64),
    )
    return rules, int(starts[-1])
