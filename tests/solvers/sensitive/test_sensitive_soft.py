"""Tests of annealing through unlawful releases."""

import numpy as np
import pytest

from dial import enough, few
from incrowd.kernels.halt import NEVER
from incrowd.kernels.interpreted import interpreted
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.violation import ROW, violation
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.engine.assignment import total_cost
from incrowd.solvers.engine.candidates import build_candidates
from incrowd.solvers.engine.windows import window_emission
from incrowd.solvers.sensitive.assignment import (
    LawfulState,
    Rules,
    lacking,
    lacking_after,
    new_state,
)
from incrowd.solvers.sensitive.by_regions import Lists
from incrowd.solvers.sensitive.journal import DELTA, OWED, new_search
from incrowd.solvers.sensitive.rounding import trimmed
from incrowd.solvers.sensitive.rules import rules_of
from incrowd.solvers.sensitive.soft import SoftMix, owed, soft_slice
from incrowd.solvers.sensitive.soften import SoftAnnealing

MODELS: list[Model] = [TCloseness("0.3"), TCloseness("0.4") & KAnonymity(4), FrequencyDiversity(3)]


def table(seed: int) -> Instance:
    """A table of four columns with copies, and a sensitive attribute of four values."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.5, (120, 4)) - 1, 3)
    return from_codes(codes, None, rng.permutation(np.arange(120) % 4))[0]


def total_owed(state: LawfulState, rules: Rules) -> int:
    """Violations of all classes, in 1/1024 of a row; no kernel for that alone is compiled."""
    with interpreted():
        return sum(owed(p, state, rules) for p in np.unique(state.pattern))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("mix", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0,) * 3])
def test_moves_keep_account(model: Model, mix: tuple[float, float, float]) -> None:
    """Tests that each kind of move reports what it does to the cost and to the violations.

    Moves happen, rejected moves leave no trace, histograms and sizes stay those of the copies, and
    what is remembered of a class is what the laws say when they are asked afresh.
    """
    instance = table(2)
    problem = Problem(instance, model)
    rules = rules_of(problem)
    c = build_candidates(instance, window_emission(instance, 3, 3, 0))
    rng = np.random.default_rng(5)
    start = np.array(
        [rng.choice(c.row_patterns[slice(*c.row_offset[r : r + 2])]) for r in c.row_of], np.int64
    )
    settings = SoftMix(*mix, unit=1.0, breaking=0.7, found=50, largest=60, focus=0.0)
    search = new_search(settings, c, rules, start, np.array([99], np.uint64))
    state, pad = search.state, search.pad
    cost, owed, changed = total_cost(state, c), total_owed(state, rules), 0
    nobody = np.zeros(0, np.int64)
    for number in range(few(150)):
        before = state.pattern.copy()  # a slice of one move: no kernel for this test alone
        soft_slice((1.0, 1.0), (2.0, 2.0), (number, number + 1, 400), nobody, search, NEVER)
        now = total_cost(state, c), total_owed(state, rules)
        if (state.pattern != before).any():
            changed += 1
            assert now == (cost + pad.n[DELTA], owed + pad.n[OWED])
        else:
            assert now == (cost, owed)
        cost, owed = now
    assert changed > enough(3)
    for p in np.unique(state.pattern):
        members = np.flatnonzero(state.pattern == p)
        hist = np.bincount(rules.places[c.row_of[members]].ravel(), minlength=len(rules.laws.once))
        assert state.size[p] == len(members) and (state.hist[state.slot[p]] == hist).all()
    afresh = state._replace(known=np.full((len(state.known), 1), -1, np.int32))
    with interpreted():
        for p in np.unique(state.pattern):
            assert lacking(p, state, rules) == lacking(p, afresh, rules)
            for r in rules.sample:
                after = [lacking_after(p, r, change, state, rules) for change in (-1, 1)]
                assert after == [lacking_after(p, r, change, afresh, rules) for change in (-1, 1)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_anneals_towards_the_law(model: Model) -> None:
    """Tests that a chance assignment loses most of its energy, and that trimming does the rest."""
    instance = table(3)
    problem = Problem(instance, model)
    rules = rules_of(problem)
    c = build_candidates(instance, window_emission(instance, 3, 3, 0))
    root = len(c.cost) - 1
    rng = np.random.default_rng(5)
    start = np.array(
        [rng.choice(c.row_patterns[slice(*c.row_offset[r : r + 2])]) for r in c.row_of], np.int64
    )
    state = new_state(c, rules, start)
    before = total_cost(state, c) + 5 * total_owed(state, rules) / 1024
    lists = Lists(c, rules, np.zeros(instance.distinct), start)
    pattern = SoftAnnealing().run(lists, 1.0, 100, (1.0, 0.1), (5.0, 5.0), 1)
    state = new_state(c, rules, pattern)
    after = total_cost(state, c) + 5 * total_owed(state, rules) / 1024
    assert after < 0.8 * before
    pattern = trimmed(c, rules, pattern, 0)
    state = new_state(c, rules, pattern)
    for p in np.unique(pattern):
        if p != root:
            assert violation(rules.laws, state.hist[state.slot[p]], int(state.size[p])) == 0


def test_classes_of_too_few_rows_lack_rows() -> None:
    """Tests that a class smaller than the smallest lawful one lacks rows, with or without a k."""
    secret = np.repeat(np.arange(10, dtype=np.int32), 4)
    instance, _ = from_codes(np.arange(40)[:, None] // 4, None, secret)
    for model in (TCloseness("0.2"), TCloseness("0.2") & KAnonymity(2)):
        problem = Problem(instance, model)
        least = problem.smallest_class
        rules = rules_of(problem)
        hist = np.zeros_like(rules.laws.once)
        hist[0] = 1
        assert least > 2 and violation(rules.laws, hist, 1) >= (least - 1) * ROW
        whole = np.full_like(rules.laws.once, 4)
        assert violation(rules.laws, whole, 40) == 0
