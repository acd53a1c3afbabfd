"""Tests of the engine for sensitive models against brute force, on tables of every kind."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from dial import enough, in_turn
from incrowd.driver.solve import choose, solve
from incrowd.hierarchy import build_trees
from incrowd.instances import make
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Equal
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.model import Model
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context, Outcome
from incrowd.solvers.baseline.mondrian import Mondrian
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.sensitive.engine import Run
from oracle import optimum
from solvers.sensitive.quick import LAWFUL, QUICK, require_lawful
from solvers.small_tables import Shape, models, tables

SHAPES = {
    "one attribute": (Shape(rows=(2, 9), sensitive=(3,)), 12),
    "copies": (Shape(rows=(6, 9), columns=(1, 3), values=(2, 3), sensitive=(3,)), 10),
    "two attributes": (Shape(rows=(2, 8), columns=(1, 3), sensitive=(3, 2)), 10),
    "trees": (Shape(rows=(2, 8), columns=(1, 3), trees=True, sensitive=(4,)), 10),
}


def all_models(instance: Instance, rng: np.random.Generator) -> Iterator[Model]:
    """Every model with its own parameters, alone and combined, but plain k-anonymity."""
    yield from (model for model in models(instance, rng) if not isinstance(model, KAnonymity))
    yield RecursiveDiversity(2, 2)
    yield RecursiveDiversity("0.7", 1)
    yield AlphaK("0.6", 2)
    yield AlphaK("0.5", 1, attribute=0, values=(1,))
    yield BasicBetaLikeness("0.5")
    yield EnhancedBetaLikeness(1)
    yield DeltaDisclosure("0.7")
    yield EntropyDiversity("1.5")
    yield DistinctDiversity(2) & TCloseness("0.4", Ordered()) & KAnonymity(3)


def check(problem: Problem, outcome: Outcome, best: int) -> None:
    """Lawful classes of all copies, and bound ≤ optimum ≤ cost."""
    solution = outcome.solution
    assert solution is not None and len(solution.classes) == problem.instance.rows
    require_lawful(problem, solution)
    assert outcome.bound <= best <= solution.cost, problem.model


@pytest.mark.parametrize("shape", SHAPES)
def test_lawful_and_bounded(shape: str) -> None:
    """Tests every model on many small tables: lawful, bound ≤ optimum ≤ cost."""
    met = total = least = 0
    for number, (instance, rng) in enumerate(tables(11, SHAPES[shape][1], SHAPES[shape][0])):
        for model in in_turn(all_models(instance, rng), number, 3):
            problem = Problem(instance, model)
            best = optimum(instance, model)
            outcome = QUICK.run(problem, Context(seed=number))
            if best is None:
                assert outcome.solution is None
                continue
            check(problem, outcome, best)
            assert outcome.solution is not None
            met, total, least = met + 1, total + outcome.solution.cost, least + best
    assert met > enough(75)
    assert total <= 1.12 * least  # the search is a search, not the fallback


@pytest.mark.parametrize(
    "model", [DistinctDiversity(2), TCloseness("0.4") & KAnonymity(2)], ids=lambda model: model.name
)
def test_own_price_schedules(model: Model) -> None:
    """Tests the schedules the engine chooses by model, not those of quick runs: bound ≤ optimum."""
    met = tight = 0
    for instance, _ in tables(17, 6, Shape(rows=(6, 8), columns=(2, 3), sensitive=(3,))):
        best = optimum(instance, model)
        run = Run(replace(LAWFUL, prices=None), Problem(instance, model), Context())
        run.bounds.bound_by_classes()
        run.bounds.bound_by_k()
        run.bounds.raise_prices()
        if best is not None:
            bound = run.progress.bound
            assert bound <= best
            met, tight = met + 1, tight + (10 * bound >= 7 * best)
    assert met > 2 and 2 * tight >= met


def census(rows: int, seed: int = 0) -> Instance:
    """A table with five columns of uneven values, and a sensitive one that depends on the first."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.4, (rows, 5)) - 1, 6)
    secret = np.minimum(rng.geometric(0.35, rows) - 1 + (codes[:, 0] > 2), 5)
    return from_codes(codes, None, secret)[0]


@pytest.mark.parametrize(
    "model",
    [DistinctDiversity(3), FrequencyDiversity(2) & KAnonymity(4), TCloseness("0.3")],
    ids=lambda model: model.name,
)
def test_larger_table(model: Model) -> None:
    """Tests some hundred rows: lawful, a gap within reason, the same release for the same seed."""
    problem = Problem(census(120), model)
    outcome, again = (QUICK.run(problem, Context(seed=5)) for _ in range(2))
    assert outcome.solution is not None and again.solution is not None
    check(problem, outcome, outcome.solution.cost)
    assert (outcome.solution.classes == again.solution.classes).all()
    assert outcome.bound == again.bound
    assert outcome.solution.cost - outcome.bound <= 0.5 * outcome.solution.cost


def test_stopped_at_once() -> None:
    """Tests that a run without time still returns a lawful release and a bound that holds."""
    problem = Problem(census(300), FrequencyDiversity(2))
    outcome = QUICK.run(problem, Context(stop=Stop(time_limit=0.0)))
    assert outcome.solution is not None and outcome.ended == "time limit"
    check(problem, outcome, outcome.solution.cost)


def test_gap_ends_the_run() -> None:
    """Tests that a generous gap ends the run early, and says so."""
    outcome = QUICK.run(Problem(census(300), DistinctDiversity(2)), Context(stop=Stop(gap=0.99)))
    assert outcome.ended == "gap reached"


@pytest.mark.parametrize(
    "model", [DistinctDiversity(2), TCloseness("0.5")], ids=lambda model: model.name
)
def test_most_columns_cost_nothing(model: Model) -> None:
    """Tests NCP costs where most columns hold one value, so that the middle one costs 0."""
    codes = np.random.default_rng(1).integers(0, 4, (19, 5))
    codes[:, :3] = 0
    values = {f"q{j}": list(map(str, range(column.max() + 1))) for j, column in enumerate(codes.T)}
    trees, scale = build_trees(values, {}, "ncp")
    instance, _ = from_codes(codes, trees, np.arange(19) % 3, scale)
    problem = Problem(instance, model & KAnonymity(3))
    outcome = QUICK.run(problem, Context())
    assert outcome.solution is not None and len(outcome.solution.sizes) > 1
    check(problem, outcome, outcome.solution.cost)


def test_auto_picks_it() -> None:
    """Tests that the driver chooses the engine for sensitive models, also by its name of before."""
    problem = Problem(census(60), DistinctDiversity(2) & KAnonymity(3))
    assert choose(problem, "auto").id == choose(problem, "sensitive-engine").id == "engine"
    assert solve(problem, QUICK).method == "engine"


def test_refuses_numbers_beyond_integers() -> None:
    """Tests that a parameter with too many digits is refused in words, and auto goes on."""
    problem = Problem(census(60), TCloseness("0.1234567890123456789"))
    assert "fewer digits" in (Engine().refuse(problem) or "")
    assert choose(problem, "auto").id == "mondrian"


def test_never_below_the_k_bound() -> None:
    """Tests that the bound is at least the k-anonymity price bound for the smallest class."""
    from incrowd.bounds.prefix_tree import PrefixTree
    from incrowd.bounds.price import certify
    from incrowd.bounds.support import support_prices

    instance = census(200)
    for model in (FrequencyDiversity(2), EntropyDiversity(2), TCloseness("0.3", Ordered())):
        problem = Problem(instance, model)
        tree, k = PrefixTree(instance), problem.smallest_class
        assert LAWFUL.k_prices is not None
        u = LAWFUL.k_prices.ascend(tree, k, support_prices(tree, k)[0].astype(float))
        least = certify(tree, k, u).bound(instance.counts)
        assert QUICK.run(problem, Context()).bound >= 0.999 * least


def test_disjoint_falls_back_on_a_stricter_law() -> None:
    """Tests the model without integer laws on two attributes: a lawful release of many classes."""
    rng = np.random.default_rng(3)
    instance, _ = from_codes(rng.integers(0, 3, (120, 4)), None, rng.integers(0, 6, (120, 2)))
    outcome = QUICK.run(Problem(instance, DisjointDiversity(2)), Context())
    assert outcome.solution is not None and len(outcome.solution.sizes) > 5
    check(Problem(instance, DisjointDiversity(2)), outcome, outcome.solution.cost)


def skewed(rows: int) -> Problem:
    """Two sensitive attributes with a value above a third each: the stricter law holds nowhere."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, [4, 5, 6], (rows, 3))
    pay = rng.choice(5, rows, p=[0.45, 0.2, 0.15, 0.1, 0.1])
    illness = rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1])
    instance, _ = from_codes(codes, None, np.column_stack([pay, illness]))
    return Problem(instance, KAnonymity(5) & DisjointDiversity(2))


def test_mondrian_counts_where_the_search_finds_nothing() -> None:
    """Tests disjoint diversity where no class obeys the search's law: Mondrian's release, named."""
    problem = skewed(1260)
    known = solve(problem, "mondrian")
    solved = solve(problem, "auto")
    assert known.cost < problem.instance.worst_cost / 3
    assert solved.cost == known.cost and solved.method == "mondrian"
    assert 0 < solved.bound <= solved.cost
    stopped = solve(problem, "auto", Context(stop=Stop(time_limit=0.0)))
    assert stopped.cost == known.cost and stopped.ended == "time limit"


@pytest.mark.parametrize("limit", [None, 0.0])
def test_never_dearer_than_mondrian(limit: float | None) -> None:
    """Tests every model on tables of some dozen rows, with time and without."""
    met = ahead = 0
    shape = Shape(rows=(10, 50), columns=(2, 4), sensitive=(3, 2))
    for number, (instance, rng) in enumerate(tables(5, 3, shape)):
        for model in all_models(instance, rng):
            problem = Problem(instance, model)
            outcome = QUICK.run(problem, Context(seed=number, stop=Stop(limit)))
            known = Mondrian().run(problem, Context()).solution
            assert (outcome.solution is None) == (known is None)
            if outcome.solution is not None and known is not None:
                assert outcome.solution.cost <= known.cost, model
                require_lawful(problem, outcome.solution)
                assert bool(outcome.by) <= (outcome.solution.cost == known.cost)
                met, ahead = met + 1, ahead + (outcome.solution.cost < known.cost)
    assert met > 30 and (ahead > met / 2 or limit is not None)


def test_any_metric_is_served_exactly() -> None:
    """Tests values in a line as a metric of its own: as cheap as ordered, far from total variation.

    Two searches that count violations a little differently need not end at the same release.
    """
    instance = census(200)
    (values,) = instance.sensitive_sizes
    line = Metric.of([[abs(v - w) for w in range(values)] for v in range(values)])
    cost = {}
    for distance in (Ordered(), line, Equal()):
        problem = Problem(instance, TCloseness("0.2", distance) & KAnonymity(3))
        outcome = QUICK.run(problem, Context())
        assert outcome.solution is not None
        check(problem, outcome, outcome.solution.cost)
        cost[distance] = outcome.solution.cost
    assert abs(cost[line] - cost[Ordered()]) <= 0.1 * cost[Ordered()]
    assert cost[line] < 0.8 * cost[Equal()]


def test_metric_with_numbers_too_large() -> None:
    """Tests a metric that 64 bits cannot hold: total variation stands in, which is lawful."""
    prime = 10**15 + 37
    fine = Metric.of([[0, prime, 1], [prime, 0, prime], [1, prime, 0]])
    rng = np.random.default_rng(5)
    instance, _ = from_codes(rng.integers(0, 3, (60, 4)), None, rng.integers(0, 3, (60, 1)))
    problem = Problem(instance, TCloseness("0.3", fine))
    outcome = QUICK.run(problem, Context())
    assert outcome.solution is not None and len(outcome.solution.sizes) > 1
    check(problem, outcome, outcome.solution.cost)


def test_rows_that_are_lawful_alone() -> None:
    """Tests an instance of the papers where new rows are classes of their own: the optimum."""
    family, answer = make("closeness-matching-half", 0, True, side=4, triples=9)
    table = family.to_table()
    assert table.model.t is not None and table.model.distance is not None
    model = TCloseness(table.model.t, Metric.of(table.model.distance))
    instance, _ = table.to_instance()
    outcome = Engine().run(Problem(instance, model), Context())
    assert outcome.solution is not None
    assert outcome.solution.cost == outcome.bound == family.cost_of(answer)
