"""The integer program over all patterns as a stage of the engine, against brute force."""

from dataclasses import replace

import numpy as np
import pytest

from dial import enough
from incrowd.errors import StoppedError
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.fpt.patterns import closed_patterns
from incrowd.solvers.fpt.program import Limits, optimise_over
from incrowd.solvers.sensitive.by_program import by_program
from oracle import optimum
from solvers.sensitive.quick import LAWFUL, require_lawful
from solvers.small_tables import Shape, tables

MODELS = (DistinctDiversity(2) & KAnonymity(3), FrequencyDiversity(2))


def one_class(problem: Problem) -> Solution:
    """The release of all rows in one class."""
    return Solution.of(problem.instance, np.zeros(problem.instance.rows, np.int64))


def skewed(rows: int, seed: int) -> Problem:
    """Three columns, one value of which most rows have, and a sensitive one likewise."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((rows, 3)) < 0.7, 0, rng.integers(1, 5, (rows, 3)))
    secret = np.where(rng.random(rows) < 0.9, 0, rng.integers(1, 4, rows))
    return Problem(from_codes(codes, None, secret)[0], DistinctDiversity(2) & KAnonymity(4))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_it_finds_the_optimum(model: Model) -> None:
    """Tests small tables: the optimum by brute force, whatever release was known before."""
    met = 0
    for instance, _ in tables(23, 12, Shape(rows=(5, 9), columns=(1, 3), sensitive=(3,))):
        problem, best = Problem(instance, model), optimum(instance, model)
        if best is None:
            continue
        found = by_program(problem, one_class(problem), Context())
        assert found is not None and found.solution is not None
        assert found.bound == best == found.solution.cost
        require_lawful(problem, found.solution)
        again = by_program(problem, found.solution, Context())
        assert again is not None and again.bound == best
        met += 1
    assert met > enough(4)


def test_it_is_left_out() -> None:
    """Tests that closeness, and tables of more pairs than are few, are left to the search."""
    problem = skewed(60, 0)
    known = one_class(problem)
    assert by_program(problem, known, Context(), (10, 10)) is None
    closeness = replace(problem, model=TCloseness("0.4"))
    assert by_program(closeness, known, Context()) is None


def test_little_work_proves_nothing_false() -> None:
    """Tests that a run which ends early has a bound that holds, and the same one again."""
    problem = skewed(120, 1)
    laws = problem.model.linear(problem.table)
    assert laws is not None
    patterns = closed_patterns(problem.instance, problem.smallest_class, Stop())
    best = optimise_over(problem, patterns, laws, Context())
    assert best.solution is not None and best.bound == best.solution.cost
    for work in (0, 10, 100):
        runs = [
            optimise_over(problem, patterns, laws, Context(), Limits(work=work)) for _ in range(2)
        ]
        assert runs[0].bound == runs[1].bound <= best.bound
        assert runs[0].solution is not None and runs[1].solution is not None
        assert runs[0].solution.cost == runs[1].solution.cost >= best.bound


def test_the_engine_proves_what_prices_leave_open() -> None:
    """Tests a skewed table: optimal with the program, a gap without it."""
    problem = skewed(200, 2)
    with_it = replace(LAWFUL, programmed=(12_000, 12_000)).run(problem, Context(seed=1))
    without = LAWFUL.run(problem, Context(seed=1))
    assert with_it.solution is not None and without.solution is not None
    assert with_it.bound == with_it.solution.cost <= without.solution.cost
    assert without.bound < with_it.bound
    require_lawful(problem, with_it.solution)


def test_a_list_of_patterns_ends_with_the_run() -> None:
    """Tests that nobody takes half a list of patterns for all of them, as soon as time is up."""
    problem = skewed(120, 1)
    looks = 0

    class Soon(Stop):
        def now(self) -> bool:
            nonlocal looks
            looks += 1
            return looks > 3

    with pytest.raises(StoppedError, match="not all listed"):
        closed_patterns(problem.instance, problem.smallest_class, Soon())
    assert looks == 4
    looks = 0
    assert by_program(problem, one_class(problem), Context(stop=Soon())) is None
    assert looks == 4
