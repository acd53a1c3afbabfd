"""Three hundred tiny tables: all exact methods agree with each other and with brute force."""

from dataclasses import replace
from typing import Any

import pytest

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context
from incrowd.solvers.catalog import SOLVERS, has_reductions
from oracle import optimum
from solvers.small_tables import Shape, models, tables

EXACT: tuple[Any, ...] = tuple(solver for solver in SOLVERS if solver.guarantee == "exact")
LEVELS = ("none", "paper", "all")
TINY = (2, 8)
SHAPES = {
    "suppression": Shape(rows=TINY, columns=(1, 4), values=(2, 4)),
    "trees": Shape(rows=TINY, columns=(1, 4), values=(2, 6), trees=True),
    "sensitive": Shape(rows=TINY, columns=(1, 3), values=(2, 4), sensitive=(3,)),
    "two sensitive": Shape(rows=(2, 7), columns=(1, 3), values=(2, 4), sensitive=(2, 3)),
    "sensitive, trees": Shape(rows=TINY, columns=(1, 3), values=(2, 5), trees=True, sensitive=(4,)),
}
EACH = 60


@pytest.mark.parametrize("shape", SHAPES)
def test_exact_methods_agree(shape: str) -> None:
    """Tests each table under one model, all kinds in turn, and each method's reductions in turn."""
    served: dict[str, int] = {}
    tried = 0
    for number, (instance, rng) in enumerate(tables(23, EACH, SHAPES[shape])):
        tried += 1
        choice = models(instance, rng)
        if instance.sensitive is None:
            choice = [KAnonymity(k) for k in (2, 3, 2, 4)]
        else:
            recursive = RecursiveDiversity("3/2", 2)
            choice += [recursive, RecursiveDiversity(2, 3) & KAnonymity(2)]
            choice += [recursive & TCloseness("0.4")]
        model = choice[number % len(choice)]
        problem = Problem(instance, model)
        best = optimum(instance, model)
        for place, solver in enumerate(EXACT):
            if has_reductions(solver):
                solver = replace(solver, reductions=LEVELS[(number + place) % 3])
            if solver.refuse(problem) is not None:
                continue
            if best is None and solver.id in ("simplex-matching", "two-diversity"):
                continue  # the driver asks for a lawful table before it runs any method
            outcome = solver.run(problem, Context())
            served[solver.id] = served.get(solver.id, 0) + 1
            if best is None:
                assert outcome.solution is None, (solver, model)
                continue
            assert outcome.solution is not None, (solver, model)
            assert outcome.bound == outcome.solution.cost == best, (solver, model)
    assert served["subset-dp"] == served["split-recursion"] == tried
    if "sensitive" in shape:
        assert set(served) >= {"pattern-milp", "closeness-milp", "two-diversity"}
    else:
        others = {"kernel", "resolution-vectors", "pattern-milp", "simplex-matching"}
        assert set(served) >= others and min(served[each] for each in others) >= tried // 3
