"""Tests of deleted rows under models of classes, against all partitions of all smaller tables."""

from fractions import Fraction

import numpy as np
import pytest

from dial import enough, few
from incrowd.deletion.by_model import by_model
from incrowd.deletion.found import DELETED
from incrowd.deletion.paying import savings
from incrowd.deletion.solving import solve_deleting
from incrowd.errors import NoLawfulReleaseError, OutOfScopeError
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.once import Once
from incrowd.privacy.people import People
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context
from incrowd.solvers.catalog import by_id
from oracle import join_cost, optimum_deleting
from solvers.small_tables import Shape, tables

SHAPE = Shape(rows=(3, 7), columns=(1, 4), values=(2, 4), trees=True, sensitive=(3, 5))
MODELS: list[Model] = [
    DistinctDiversity(2, 0) & KAnonymity(3),
    FrequencyDiversity(2, 0),
    EntropyDiversity(2, 0),
    RecursiveDiversity(1, 2, 0),
    AlphaK(Fraction(2, 3), 2, 0),
    DisjointDiversity(2),
    People(2, 1),
    DistinctDiversity(2, 0) & People(3, 1),
]


def cost_of(problem: Problem, classes: np.ndarray, deletion: Deletion) -> int:
    """The cost by the oracle's own joins; each class is lawful, and no row too many is gone."""
    gone = int((classes == DELETED).sum())
    assert deletion.most is None or gone <= deletion.most
    total = deletion.price * gone
    for number in np.unique(classes[classes != DELETED]):
        copies = tuple(np.flatnonzero(classes == number).tolist())
        assert problem.model.lawful(problem.group(list(copies)), problem.table)
        total += len(copies) * join_cost(problem.instance, copies)
    return total


@pytest.mark.parametrize("method", ["auto", "pattern-milp", "engine"])
def test_against_all_partitions(method: str) -> None:
    """Tests that exact methods find the optimum, and that no bound is above it."""
    tried = near = 0
    for number, (instance, rng) in enumerate(tables(41, 21, SHAPE)):
        model = MODELS[number % len(MODELS)]
        problem = Problem(instance, model)
        price = int(rng.integers(1, sum(tree.dearest for tree in instance.trees) + 3))
        deletion = Deletion(price, None if rng.random() < 0.4 else int(rng.integers(0, 4)))
        if not model.lawful(problem.table, problem.table):
            continue
        if method != "auto" and by_id(method).refuse(problem) is not None:
            continue
        most = instance.rows if deletion.most is None else deletion.most
        best = optimum_deleting(instance, model, price, most)
        try:
            found, cost = solve_deleting(problem, deletion, method)
        except NoLawfulReleaseError:
            assert best is None or method == "engine"
            continue
        assert best is not None and cost == cost_of(problem, found.classes, deletion)
        assert found.bound <= best <= cost
        assert method == "engine" or found.bound == best == cost
        near += cost <= 1.1 * best
        tried += 1
    assert tried > enough(8) and near >= 0.8 * tried


def test_single_rows_that_pay() -> None:
    """Tests the rows that classes are cheaper without against each class written out."""
    rng = np.random.default_rng(3)
    instance, _ = from_codes(rng.integers(0, 3, (40, 3)), None, rng.integers(0, 3, (40, 1)))
    problem = Problem(instance, DistinctDiversity(2, 0) & KAnonymity(3))
    classes = rng.integers(0, 8, 40)
    copies, gains = savings(problem, classes, np.arange(8), 1)
    found = dict(zip(copies.tolist(), gains.tolist(), strict=True))
    for number in range(few(8)):
        whole = np.flatnonzero(classes == number).tolist()
        best = {0: -1}
        for one in whole:
            rest = [copy for copy in whole if copy != one]
            if len(rest) >= 3 and problem.model.lawful(problem.group(rest), problem.table):
                gain = len(whole) * join_cost(instance, tuple(whole))
                best[gain - len(rest) * join_cost(instance, tuple(rest)) - 1] = one
        told = [found[copy] for copy in whole if copy in found]
        assert told == [gain for gain in [max(best)] if gain > 0]


def test_large_tables_gain_by_deletions() -> None:
    """Tests a table beyond exact methods: rows far from all others go, within the limit."""
    rng = np.random.default_rng(5)
    codes = np.vstack([rng.integers(0, 2, (120, 5)), np.arange(2, 7)[:, None].repeat(5, 1)])
    instance, place = from_codes(codes, None, rng.integers(0, 4, (125, 1)))
    problem = Problem(instance, DistinctDiversity(2, 0) & KAnonymity(3))
    costs = []
    for most in (0, 5):
        found, cost = solve_deleting(problem, Deletion(1, most))
        assert cost == cost_of(problem, found.classes, Deletion(1, most)) >= found.bound
        costs.append(cost)
    assert costs[0] > costs[1]
    assert set(np.flatnonzero(found.classes == DELETED)) == set(place[120:])


def test_refused() -> None:
    """Tests models that look at the table, or are not closed under union; unlawful tables."""
    instance, _ = from_codes(np.array([[0], [0], [1], [1]]), None, np.array([[0], [0], [0], [1]]))
    once = Once(FrequencyDiversity(2, 0), 0, np.arange(2))
    for model, why in ((TCloseness("0.2"), "compared"), (once, "closed")):
        with pytest.raises(OutOfScopeError, match=why):
            solve_deleting(Problem(instance, model), Deletion(2))
    with pytest.raises(NoLawfulReleaseError, match="suppress-rows"):
        solve_deleting(Problem(instance, FrequencyDiversity(2, 0)), Deletion(2))
    lawful = Problem(instance, DistinctDiversity(2, 0))
    with pytest.raises(OutOfScopeError, match="k-anonymity alone"):
        solve_deleting(lawful, Deletion(2), "mondrian")
    assert by_model(lawful, Deletion(2), Context()).kept.all()
