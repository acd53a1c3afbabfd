"""``auto`` for k = 2: simplex matching proves the optimum where time allows, the engine stands by.

Until its linear program is solved, matching has nothing to show but neighbours in sorted order.
So on larger tables, and where a gap is good enough, the engine makes a decent release first; and
where matching stops paying without a proof, the engine takes over, unless next to nothing is left
to gain.  The best release and the best bound of all count.
"""

from dataclasses import dataclass, field, replace

from incrowd.problem.problem import Problem
from incrowd.run.events import Event
from incrowd.run.stop import Share
from incrowd.solvers.base import Context, Outcome, Solver
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.matching.pipeline import Effort
from incrowd.solvers.matching.solver import SimplexMatching, few

AT_ONCE = 3_000  # distinct rows up to which matching takes a second or so
MOST = 200_000  # distinct rows that matching is given when there is no time limit
PACE = 3_000  # distinct rows that matching needs a second of a time limit for
START = 10_000  # distinct rows that the engine's start is given a second for
NEGLIGIBLE = 1e-6  # share of the cost that no further search is worth, unless all is asked for
MATCHING_SHARE = 0.7  # of the time left under a limit; the rest is the engine's


@dataclass(eq=False)
class Portfolio:
    """The best release and the best bound so far, and the solver that the release is due to."""

    problem: Problem
    context: Context
    best: Outcome = field(default_factory=lambda: Outcome(None))
    solver: Solver = field(default_factory=Engine)

    def run(self, solver: Solver, seconds: float = float("inf")) -> None:
        """Run a solver on a share of the time and keep what is better."""
        stop = Share.of(self.context.stop, seconds)
        found = solver.run(self.problem, replace(self.context, stop=stop, listener=self.listen))
        known, release = self.best, self.best.solution
        if found.solution is not None and (release is None or found.solution.cost <= release.cost):
            release, self.solver = found.solution, solver
        proof = found if found.bound >= known.bound else known
        self.best = Outcome(release, proof.bound, found.ended, proof.prices)

    def listen(self, event: Event) -> None:
        """Pass an event on, with the best cost and bound known."""
        known = None if self.best.solution is None else self.best.solution.cost
        costs = [cost for cost in (event.cost, known) if cost is not None]
        bounds = [bound for bound in (event.bound, self.best.bound or None) if bound is not None]
        self.context.listener(
            replace(event, cost=min(costs, default=None), bound=max(bounds, default=None))
        )

    @property
    def proven(self) -> bool:
        """Whether the best release meets the bound."""
        return self.best.solution is not None and self.best.solution.cost <= self.best.bound

    @property
    def over(self) -> bool:
        """Whether there is next to nothing left to do, or no time."""
        stop, release, bound = self.context.stop, self.best.solution, self.best.bound
        if release is None or stop.now():
            return stop.now()
        negligible = stop.gap != 0 and release.cost - bound <= NEGLIGIBLE * release.cost
        return negligible or stop.satisfied(release.cost, bound)

    def outcome(self) -> Outcome:
        """Return the best, and say why it ended."""
        stop = self.context.stop
        ended = self.best.ended
        if self.proven:
            ended = "finished"
        elif stop.now():
            ended = stop.why()
        elif self.over and stop.gap is not None:
            ended = "gap reached"
        return replace(self.best, ended=ended)


def two_anonymous(problem: Problem, context: Context) -> tuple[Outcome, Solver]:
    """Solve a problem under 2-anonymity; return the outcome and the solver of its release."""
    portfolio = Portfolio(problem, context)
    stop, distinct = context.stop, problem.instance.distinct
    if distinct > (MOST if stop.time_limit is None else PACE * stop.left()):
        portfolio.run(Engine())
        return portfolio.outcome(), portfolio.solver
    if distinct > AT_ONCE or (stop.gap is not None and not few(problem)):
        portfolio.run(Engine(), min(1 + distinct / START, stop.left() / 4))
    if not portfolio.over:
        effort = Effort(to_the_end=stop.gap == 0)
        portfolio.run(SimplexMatching(effort=effort), MATCHING_SHARE * stop.left())
    if portfolio.best.solution is None or not portfolio.over:
        portfolio.run(Engine())
    return portfolio.outcome(), portfolio.solver
