"""Tests of the driver: what it refuses, re-checks and says, and which method it chooses."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import incrowd.solvers.portfolio as portfolio
from dial import few
from incrowd.driver.solve import choose, fewer_copies, solve
from incrowd.errors import (
    InputError,
    NoLawfulReleaseError,
    OutOfScopeError,
    StoppedError,
    VerificationError,
)
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.events import Event
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context, Outcome, Scope
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.exact.subset_dp import SubsetDP
from incrowd.solvers.matching.solver import SimplexMatching
from oracle import optimum
from solvers.engine.engine_samples import KINDS, lawful, prices_hold, random_table, random_tables

SCOPE = Scope()


@dataclass(frozen=True, eq=False)
class Claim:
    """A solver that returns what it was given."""

    outcome: Outcome
    refusal: str | None = None
    id: str = "claim"
    guarantee: str = "none"
    scope: Scope = SCOPE
    source: str = "a test"

    def refuse(self, problem: Problem) -> str | None:
        """Say what it was told to say."""
        return self.refusal

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return the outcome."""
        return self.outcome


def table(rows: int = 6, columns: int = 2, values: int = 3, seed: int = 0) -> Instance:
    """A random table with a sensitive column of two values, half of each."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, values, (rows, columns))
    return from_codes(cells, None, np.arange(rows) % 2)[0]


def claimed(problem: Problem, classes: list[int], bound: int = 0) -> Claim:
    """A claim of these classes."""
    solution = Solution(problem.instance, np.array(classes, np.int64))
    return Claim(Outcome(solution, bound))


PAIRS = [0, 0, 1, 1, 2, 2]


def test_an_honest_claim_passes() -> None:
    """Tests cost, bound, status, method and gap of an accepted outcome."""
    problem = Problem(table(), KAnonymity(2))
    solved = solve(problem, claimed(problem, PAIRS))
    cost = Solution(problem.instance, np.array(PAIRS)).cost
    assert (solved.cost, solved.bound, solved.status) == (cost, 0, "feasible")
    assert solved.method == "claim" and solved.gap == 1.0
    half = solve(problem, claimed(problem, PAIRS, cost // 2))
    assert half.gap == (cost - cost // 2) / cost
    tight = solve(problem, claimed(problem, PAIRS, cost))
    assert tight.status == "optimal" and tight.gap == 0.0


def test_lies_are_caught() -> None:
    """Tests every claim that the re-check must not let through."""
    problem = Problem(table(), KAnonymity(2))
    other = Problem(table(seed=1), KAnonymity(2))
    cost = Solution(problem.instance, np.array(PAIRS)).cost
    lies: list[tuple[Claim, str]] = [
        (claimed(problem, PAIRS, cost + 1), "above its own cost"),
        (claimed(problem, [0, 0, 0, 0, 0, 1]), "breaks 2-anonymity"),
        (claimed(other, PAIRS), "another table"),
        (claimed(problem, PAIRS[:4]), "another table"),
        (claimed(problem, [0, 0, 0, 0, 0, 0, 0]), "another table"),
        (claimed(problem, [0, 0, 2, 2, 3, 3]), "not numbered"),  # class 1 is empty
        (claimed(problem, [0, 0, -1, -1, 1, 1]), "not numbered"),
        (claimed(problem, [0, 0, 9, 9, 1, 1]), "not numbered"),
    ]
    for lie, words in lies:
        with pytest.raises(VerificationError, match=words):
            solve(problem, lie)


@pytest.mark.parametrize(
    "model",
    [
        DistinctDiversity(2),
        FrequencyDiversity(2),
        TCloseness("0.1"),
        KAnonymity(2) & DistinctDiversity(2),
    ],
    ids=lambda model: model.name,
)
def test_unlawful_classes_are_caught_under_any_model(model: Any) -> None:
    """Tests the vectorised re-check on classes that are large enough but not diverse."""
    instance = table(8)
    problem = Problem(instance, model)
    value = instance.sensitive_codes[instance.copies, 0]
    with pytest.raises(VerificationError, match="breaks"):
        solve(problem, Claim(Outcome(Solution(instance, value.astype(np.int64)))))
    assert solve(problem, claimed(problem, [0] * 8)).status == "feasible"


def test_a_foreign_model_is_rechecked_class_by_class() -> None:
    """Tests a model that has nothing but what it must have."""

    class EvenClasses(Model):
        name = "even classes"
        closed_under_union = True

        def smallest_class(self, table: Any) -> int:
            return 2

        def lawful(self, group: Any, table: Any) -> bool:
            return group.rows % 2 == 0

    problem = Problem(table(), EvenClasses())
    assert solve(problem, claimed(problem, PAIRS)).method == "claim"
    with pytest.raises(VerificationError, match="even classes"):
        solve(problem, claimed(problem, [0, 0, 0, 1, 1, 1]))


def test_tables_without_a_lawful_release() -> None:
    """Tests that the reason is given, before any solver runs."""
    instance = table()
    with pytest.raises(NoLawfulReleaseError, match=r"k = 7 is larger than the table, .* 6 rows"):
        solve(Problem(instance, KAnonymity(7)))
    for model in (DistinctDiversity(3), FrequencyDiversity(3), KAnonymity(7) & TCloseness("0.5")):
        with pytest.raises(NoLawfulReleaseError):
            solve(Problem(instance, model))


def test_no_solution_says_how_it_ended() -> None:
    """Tests the error of a run that ended before any lawful release."""
    problem = Problem(table(), KAnonymity(2))
    with pytest.raises(StoppedError, match="time limit") as caught:
        solve(problem, Claim(Outcome(None, 0, "time limit")))
    assert caught.value.exit_code == 3


def test_refusals_and_unknown_methods() -> None:
    """Tests that a method out of its scope is an error of its own, and so is a misspelt one."""
    problem = Problem(table(), KAnonymity(2))
    with pytest.raises(OutOfScopeError, match="use a larger hammer"):
        solve(problem, replace(claimed(problem, PAIRS), refusal="use a larger hammer"))
    with pytest.raises(InputError, match="did you mean 'engine'"):
        solve(problem, "engin")
    with pytest.raises(InputError, match="called 'Best'; auto, the default"):
        solve(problem, "Best")


def test_the_empty_table() -> None:
    """Tests that no rows need no classes and cost nothing."""
    instance, _ = from_codes(np.zeros((0, 3), int))
    for method in ("auto", "engine"):
        solved = solve(Problem(instance, KAnonymity(3)), method)
        assert (solved.cost, solved.bound, solved.status) == (0, 0, "optimal")
        assert solved.gap == 0.0 and len(solved.solution.classes) == 0


def test_auto_is_exact_where_that_is_cheap() -> None:
    """Tests the choice by size, model and k."""
    small, large = table(16, 4, 5), table(60, 4, 5)
    assert choose(Problem(small, KAnonymity(3)), "auto").id == "subset-dp"
    assert choose(Problem(small, DistinctDiversity(2)), "auto").id == "subset-dp"
    assert choose(Problem(large, KAnonymity(3)), "auto").id == "engine"
    assert choose(Problem(large, KAnonymity(2)), "auto").id == "simplex-matching"
    copies, _ = from_codes(np.repeat(np.arange(5).reshape(5, 1), 50, axis=0))
    assert choose(Problem(copies, KAnonymity(2)), "auto").id == "subset-dp"
    assert choose(Problem(large, KAnonymity(2)), "engine").id == "engine"


@pytest.mark.parametrize("kind", KINDS)
def test_auto_is_optimal_on_small_tables(kind: str) -> None:
    """Tests auto against the oracle, k = 1 to 5."""
    for instance, rng in random_tables(51, 60, kind):
        k = int(rng.integers(1, 6))
        if instance.rows < k:
            continue
        solved = solve(Problem(instance, KAnonymity(k)))
        assert lawful(solved.solution, k)
        assert solved.cost == solved.bound == optimum(instance, KAnonymity(k))
        assert solved.status == "optimal"


def heavy(rng: np.random.Generator, kind: str) -> Instance:
    """A small table in which one or two rows have a thousand copies."""
    instance = random_table(rng, kind, (3, 8), (1, 4))
    counts = instance.counts.copy()
    counts[rng.integers(0, instance.distinct, int(rng.integers(1, 3)))] += 1_000
    return Instance(instance.codes, counts, instance.trees)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_that_do_not_matter_are_set_aside(kind: str) -> None:
    """Tests that the smaller table has the same optimum, and that all is undone for the caller."""
    rng = np.random.default_rng(52)
    for _ in range(few(12)):
        instance, k = heavy(rng, kind), int(rng.integers(2, 6))
        problem = Problem(instance, KAnonymity(k))
        reduced = fewer_copies(problem).problem.instance
        changed = reduced.counts < instance.counts
        assert (reduced.counts[changed] >= k).all()
        best = SubsetDP(reductions="none").run(Problem(reduced, KAnonymity(k)), Context()).bound
        if SubsetDP().refuse(problem) is None:
            assert SubsetDP().run(problem, Context()).bound == best
        solved = solve(problem, Engine(annealing=Annealing(moves=20)))
        assert solved.solution.instance is instance
        assert lawful(solved.solution, k) and solved.bound <= best <= solved.cost
        assert solved.prices is not None
        assert prices_hold(instance, k, solved.prices.price, solved.prices.quantum)
        assert int(solved.prices.price @ instance.counts) <= solved.bound * solved.prices.quantum


def test_a_million_copies_are_no_more_work_than_a_few() -> None:
    """Tests that the engine sees only as many copies as matter."""
    instance, _ = from_codes(np.array([[0, 0], [0, 1], [1, 1], [2, 3]]))
    counts = np.array([10**6, 1, 10**6, 4])
    instance = Instance(instance.codes, counts, instance.trees)
    problem = Problem(instance, KAnonymity(5))
    assert fewer_copies(problem).problem.instance.rows < 100
    solved = solve(problem, "engine")
    assert solved.status == "optimal"
    assert solved.cost == 2 * 5  # the four and the single row together


@dataclass
class Watch:
    """A listener that notes the events."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.events.append(event)


def both_ways(events: list[Event]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Costs and bounds as they were reported."""
    costs = [event.cost for event in events if event.cost is not None]
    bounds = [event.bound for event in events if event.bound is not None]
    return np.array(costs), np.array(bounds)


def test_two_anonymity_is_proven_and_its_events_only_improve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests the engine's start before matching: costs never rise, bounds never fall."""
    monkeypatch.setattr(portfolio, "AT_ONCE", 10)
    instance, watch = table(80, 4, 4), Watch()
    solved = solve(Problem(instance, KAnonymity(2)), "auto", Context(listener=watch))
    assert solved.status == "optimal"
    assert solved.cost == SimplexMatching().run(Problem(instance, KAnonymity(2)), Context()).bound
    costs, bounds = both_ways(watch.events)
    assert (np.diff(costs) <= 0).all() and (np.diff(bounds) >= 0).all()
    assert costs[-1] >= solved.cost and bounds[-1] <= solved.bound


class Unsettled(SimplexMatching):
    """Matching that ends early with a poor release."""

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return one class."""
        rows = problem.instance.rows
        return Outcome(Solution(problem.instance, np.zeros(rows, np.int64)), 1, "stopped paying")


def test_the_engine_takes_over_from_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests what happens when matching cannot settle it."""
    monkeypatch.setattr(portfolio, "SimplexMatching", Unsettled)
    instance = table(40, 3, 3)
    solved = solve(Problem(instance, KAnonymity(2)))
    assert solved.method == "engine"
    assert lawful(solved.solution, 2)
    assert solved.cost < instance.worst_cost and solved.bound > 1


@pytest.mark.parametrize("k", [2, 3])
def test_a_run_without_time_is_lawful(k: int) -> None:
    """Tests a limit of nothing and an interrupt at once, under auto."""
    problem = Problem(table(200, 5, 6), KAnonymity(k))
    solved = solve(problem, "auto", Context(stop=Stop(time_limit=0.0)))
    assert lawful(solved.solution, k) and solved.ended == "time limit"
    interrupted = Stop()
    interrupted.interrupt()
    solved = solve(problem, "auto", Context(stop=interrupted))
    assert lawful(solved.solution, k) and solved.ended == "interrupted"


def test_an_interrupt_reaches_the_part_of_a_budget() -> None:
    """Tests that the share of a run's time ends with the whole, and by itself."""
    whole = Stop(time_limit=1000.0)
    share = portfolio.Share.of(whole, float("inf"))
    assert not share.now() and 990 < share.left() <= 1000
    assert portfolio.Share.of(whole, 0.0).now() and not whole.now()
    whole.interrupt()
    assert share.now() and share.interrupted and share.why() == "interrupted"
    assert portfolio.Share.of(Stop(), float("inf")).time_limit is None


def test_a_reached_gap_is_enough() -> None:
    """Tests that auto ends at the gap, for k = 2 and above."""
    for k in (2, 3):
        problem = Problem(table(150, 4, 5), KAnonymity(k))
        solved = solve(problem, "auto", Context(stop=Stop(gap=0.9)))
        assert solved.gap <= 0.9 and solved.ended in ("gap reached", "finished")


def test_auto_gives_tiny_tables_to_what_needs_no_kernel() -> None:
    """Tests that 30 distinct rows of few columns are solved to the optimum by integer programming.

    k = 2 stays with matching, and sensitive models with the engine.
    """
    instance = from_codes(np.random.default_rng(3).integers(0, 4, (30, 5)))[0]
    assert 18 <= instance.distinct <= 30
    assert choose(Problem(instance, KAnonymity(3)), "auto").id == "pattern-milp"
    assert choose(Problem(instance, KAnonymity(2)), "auto").id == "simplex-matching"
    solved = solve(Problem(instance, KAnonymity(3)))
    engine = solve(Problem(instance, KAnonymity(3)), "engine")
    assert solved.status == "optimal" and engine.bound <= solved.cost <= engine.cost
    wide = from_codes(np.random.default_rng(3).integers(0, 2, (30, 12)))[0]
    assert choose(Problem(wide, KAnonymity(3)), "auto").id == "engine"
