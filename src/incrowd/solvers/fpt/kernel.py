"""The kernel for few columns and values (Blocki and Williams 2010, Algorithm 1 and Theorem 4)."""

from dataclasses import dataclass

from incrowd.problem.problem import Problem
from incrowd.reduce.chain import Level, presolve
from incrowd.solvers.base import Context, Outcome, Scope, Solver, refuse_other_models
from incrowd.solvers.exact.split_recursion import SplitRecursion
from incrowd.solvers.exact.submultisets import too_big
from incrowd.solvers.fpt.pattern_milp import PatternMILP


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Cut each row's copies to the paper's threshold 2k²·2^m, then solve what is left exactly.

    What is left has at most 2k²·(2c)^m rows, whatever the size of the table.  The paper goes on
    with its split recursion; that is done here where it fits, and the integer program over
    patterns, whose size does not grow with copies, everywhere else.
    """

    reductions: Level = "paper"

    id = "kernel"
    guarantee = "exact"
    scope = Scope(
        models=("k-anonymity",), size="the reduced table must fit split-recursion or pattern-milp"
    )
    source = "Blocki & Williams 2010, Lemmas 2 and 3, Algorithm 1, Theorem 4"

    def inner(self, problem: Problem) -> Solver:
        """Return the exact method for the reduced problem."""
        if not too_big(problem.instance):
            return SplitRecursion(reductions="none")
        return PatternMILP(reductions="none")

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models, and kernels that neither exact method can do."""
        if other := refuse_other_models(problem):
            return other
        kernel = presolve(problem, self.reductions).problem
        return self.inner(kernel).refuse(kernel)

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Reduce, solve, and put the copies back."""
        reduced = presolve(problem, self.reductions)
        kernel = reduced.problem
        context.tell(f"kernel of {kernel.instance.rows} rows")
        outcome = self.inner(kernel).run(kernel, context)
        if outcome.solution is None:
            return outcome
        return Outcome(reduced.lift(outcome.solution), outcome.bound, outcome.ended)
