"""Tests of the classes for rare values, and of the root that is mended without them."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from dial import few
from incrowd.bounds.lawful_price import LawfulPriceBound
from incrowd.lattice.emission import Emission
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context
from incrowd.solvers.engine.candidates import build_candidates
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.sensitive.assignment import new_state, shortfall
from incrowd.solvers.sensitive.rare_classes import rare_classes
from incrowd.solvers.sensitive.rounding import rounded
from incrowd.solvers.sensitive.rules import rules_of
from incrowd.solvers.sensitive.start import mend_root
from solvers.sensitive.quick import LAWFUL, QUICK, fractional, require_lawful

LIKENESS: list[Model] = [
    BasicBetaLikeness(1) & KAnonymity(3),
    EnhancedBetaLikeness(2) & KAnonymity(3),
]


@cache
def rare(seed: int = 0, rows: int = 600) -> Instance:
    """A table with three rows of a value that nobody else has."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.5, (rows, 4)) - 1, 3)
    values = np.where(np.arange(rows) % 200 == 7, 0, 1 + rng.permutation(rows) % 5)
    return from_codes(codes, None, values)[0]


@cache
def near(seed: int, model: Model) -> tuple[Any, ...]:
    """A fractional release of such a table, which takes longer to find than all that is tested."""
    return fractional(Problem(rare(seed), model))


def seats_of(
    model: Model, table: int = 0, seed: int = 0
) -> tuple[Problem, np.ndarray, Emission, np.ndarray]:
    """The problem, the pattern of each copy with a class, all patterns, what each pair carries."""
    problem = Problem(rare(table), model)
    tree, price, emission, share = near(table, model)
    first = problem.instance.first_copy
    formed = rare_classes(emission, price, tree.shares, rules_of(problem), first, seed)
    return problem, formed, emission, share


@pytest.mark.parametrize("model", LIKENESS, ids=lambda model: model.name)
@pytest.mark.parametrize("seed", range(few(3, 1)))
def test_rare_rows_have_lawful_classes(model: Model, seed: int) -> None:
    """Tests that each class formed is lawful, matches its pattern, and holds a rare row."""
    problem, formed, emission, share = seats_of(model, seed)
    instance = problem.instance
    values = instance.sensitive_codes[instance.copies, 0]
    assert (formed[values == 0] >= 0).any()
    rules = rules_of(problem)
    pattern = rounded(instance, emission, share, rules, seed, formed)
    assert (pattern[formed >= 0] == formed[formed >= 0]).all()
    for p in np.unique(formed[formed >= 0]):
        copies = np.flatnonzero(pattern == p)
        assert (copies == np.flatnonzero(formed == p)).all()  # others stay away
        assert (values[copies] == 0).any()
        assert model.lawful(problem.group(copies), problem.table)
        rows = emission.rows[emission.offset[p] : emission.offset[p + 1]]
        assert np.isin(instance.copies[copies], rows).all()


def test_the_same_seed_seats_alike() -> None:
    """Tests that a run can be repeated."""
    one, two = (seats_of(LIKENESS[0], seed=3)[1] for _ in range(2))
    assert (one == two).all()


@pytest.mark.parametrize(
    "model", [FrequencyDiversity(2), DeltaDisclosure(4) & KAnonymity(3)], ids=lambda m: m.name
)
def test_no_seats_without_rare_values(model: Model) -> None:
    """Tests that nothing is formed where no value is capped below others, or classes are small."""
    assert (seats_of(model)[1] == -1).all()


@pytest.mark.parametrize("seed", range(few(3, 1)))
def test_hosts_hold_every_value(seed: int) -> None:
    """Tests the classes of δ-disclosure: lawful, so with a rare row each, and one is left over."""
    model = DeltaDisclosure(1) & KAnonymity(3)
    problem, formed, *_ = seats_of(model, seed)
    values = problem.instance.sensitive_codes[problem.instance.copies, 0]
    hosts = np.unique(formed[formed >= 0])
    assert 1 <= len(hosts) <= 2
    assert (formed[values == 0] == -1).any()
    for p in hosts:
        assert model.lawful(problem.group(np.flatnonzero(formed == p)), problem.table)
    outcome = QUICK.run(problem, Context())
    assert outcome.solution is not None
    assert outcome.solution.cost < 0.9 * 4 * problem.instance.rows
    require_lawful(problem, outcome.solution)


def test_a_stop_ends_the_seating() -> None:
    """Tests that what is formed when the time is up counts, and nothing more is formed."""
    problem = Problem(rare(), LIKENESS[0])
    tree, price, emission, _ = near(0, LIKENESS[0])
    calls = iter([False, True, True, True])
    args = emission, price, tree.shares, rules_of(problem), problem.instance.first_copy, 0
    some = rare_classes(*args, lambda: next(calls))
    assert len(np.unique(some[some >= 0])) == 1
    assert (rare_classes(*args, lambda: True) == -1).all()


def test_the_engine_does_not_suppress_half_the_table() -> None:
    """Tests that rows beside the rare ones, and most of these, pay less than all their cells."""
    problem = Problem(rare(), LIKENESS[0])
    prices = LawfulPriceBound(pairs=100_000, patterns=10_000)
    outcome = Engine(lawful=replace(LAWFUL, prices=prices)).run(problem, Context())
    assert outcome.solution is not None
    require_lawful(problem, outcome.solution)
    sizes, costs = outcome.solution.sizes, outcome.solution.class_costs
    assert sizes[costs == 4].sum() < 100


def test_the_root_grows_by_no_rare_row() -> None:
    """Tests that a root with too many rows of one value becomes lawful by rows of others.

    Each row of the rare value could be spared, and each would ask for 200 rows at the root.
    """
    problem, _, emission, _ = seats_of(LIKENESS[0])
    instance = problem.instance
    c = build_candidates(instance, emission)
    rules = rules_of(problem)
    values = instance.sensitive_codes[instance.copies, 0]
    root, other = len(c.cost) - 1, len(c.cost) - 2
    pattern = np.full(instance.rows, other)
    pattern[np.flatnonzero(values == 1)[:8]] = root
    state = new_state(c, rules, pattern)
    lenient = rules._replace(exempt=np.array([root], np.int64))
    assert shortfall(state, lenient) > 0
    assert mend_root(state, rules, c, np.array([5], np.uint64))
    members = np.flatnonzero(state.pattern == root)
    there = values[members]
    assert problem.model.lawful(problem.group(members), problem.table)
    assert (there != 0).all() and len(there) < 40
