"""Tests of the moves: lawful after every move, the cost as counted, the journal undone."""

import numpy as np
import pytest

from dial import few
from incrowd.kernels.halt import NEVER
from incrowd.kernels.interpreted import interpreted
from incrowd.privacy.distance import Hierarchical
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.laws import histogram
from incrowd.privacy.model import Model
from incrowd.privacy.once import Once
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.violation import violation
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.engine.assignment import total_cost
from incrowd.solvers.engine.candidates import build_candidates
from incrowd.solvers.engine.windows import window_emission
from incrowd.solvers.sensitive.anneal import anneal_slice
from incrowd.solvers.sensitive.assignment import broken
from incrowd.solvers.sensitive.journal import new_search
from incrowd.solvers.sensitive.moves import Mix
from incrowd.solvers.sensitive.rules import rules_of
from incrowd.solvers.sensitive.settle import lawful_together
from incrowd.solvers.sensitive.start import greedy

MIX = Mix(unit=1.0, charge=2.0, shifts=0.3, breaking=0.7, breaks=3, largest=60, focus=0.0)
MODELS: list[Model] = [
    DistinctDiversity(3),
    FrequencyDiversity(3),
    FrequencyDiversity(2) & KAnonymity(4),
    RecursiveDiversity(2, 3),
    EntropyDiversity(2),
    TCloseness("0.4") & KAnonymity(2),
    TCloseness("0.3", Hierarchical(((0, 1, 2, 3, 4), (0, 0, 1, 1, 1), (0, 0, 0, 0, 0)))),
    Once(TCloseness("0.4", attribute=0), 2, np.arange(25) % 5) & DistinctDiversity(3, attribute=1),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("exempt", [False, True])
@pytest.mark.parametrize("seed", range(few(2, 1)))
def test_lawful_after_every_move(
    model: Model, seed: int, exempt: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that each move leaves lawful classes, a true change of cost, true histograms.

    The root's class may break the laws where it is exempt.  Moves are made as annealing makes
    them, in slices of one: the kernel of a move by itself would be compiled for this test alone.
    Five people have one to twelve rows each, some alike in value.
    """
    people = any(isinstance(part, Once) for part in model.parts)
    monkeypatch.setattr("incrowd.privacy.laws.WIDE", 4 if people else 64)
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(20, 60))
    codes = rng.integers(0, 3, (rows, 4))
    value, who = rng.permutation(np.arange(rows) % 5), rng.integers(0, 5, rows)
    told = np.column_stack([value, who, 5 * who + value])[:, : 3 if people else 1]
    instance, _ = from_codes(codes, None, told)
    problem = Problem(instance, model)
    rules = rules_of(problem)
    c = build_candidates(instance, window_emission(instance, 3, 4, seed))
    pattern, root = greedy(c, rules, 1, seed), len(c.cost) - 1
    if exempt:
        rules, pattern = rules._replace(exempt=np.array([root])), np.full(rows, root)
    search = new_search(MIX, c, rules, pattern, np.array([seed + 1], np.uint64))
    state = search.state
    cost, done, nobody = total_cost(state, c), 0, np.zeros(0, np.int64)
    for number in range(few(300)):
        before = state.pattern.copy()
        cost += anneal_slice((1.5, 1.5), (number, number + 1, 300), nobody, search, NEVER)
        done += (state.pattern != before).any()
        assert total_cost(state, c) == cost
        with interpreted():  # no kernel is compiled for this test alone
            assert not any(broken(p, state, rules) for p in np.unique(state.pattern))
    assert done > 0
    for p in np.unique(state.pattern):
        copies = np.flatnonzero(state.pattern == p)
        lawful = exempt and p == root
        assert lawful or model.lawful(problem.group(copies), problem.table)
        held = histogram(rules.laws, rules.places[c.row_of[copies]])
        assert (state.hist[state.slot[p]] == held).all() and state.size[p] == len(copies)
        for q in np.unique(state.pattern[state.pattern > p]):
            both = np.flatnonzero((state.pattern == p) | (state.pattern == q))
            with interpreted():
                together = lawful_together(p, q, search)
            assert together == model.lawful(problem.group(both), problem.table)
            held = histogram(rules.laws, rules.places[c.row_of[both]])
            assert search.pad.sum[: len(held)].tolist() == held.tolist()


@pytest.mark.parametrize("model", [FrequencyDiversity(3), RecursiveDiversity(2, 3)])
def test_each_new_value_helps(model: Model) -> None:
    """Tests that a class of one row comes nearer with every row of a new value.

    Without that a class could not be built row by row, and no pattern be opened for l ≥ 3.
    """
    instance, _ = from_codes(np.zeros((6, 1), int), None, np.arange(6)[:, None])
    rules = rules_of(Problem(instance, model))
    hist, found = np.zeros_like(rules.laws.once), []
    for v in range(3):
        hist[v] = 1
        found.append(violation(rules.laws, hist, v + 1))
    assert found[0] > found[1] > found[2]
    if isinstance(model, FrequencyDiversity):
        assert found[2] == 0
