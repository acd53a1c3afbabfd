"""The main engine: prices first, then candidates, annealing and large neighbourhoods.

1. A lawful release at once (stretches of the sorted table), a good one by levels of columns, and
   the support bound.
2. A few rounds of prices, candidates, a greedy release and a quick descent: a good release early
   (not with hierarchies under a time limit that gives time, of which it would take a tenth).
3. More rounds of prices: the certified bound, and the guide of everything after.
4. Annealing over the (row, pattern) pairs whose reduced cost is small, from a release near the
   fractional one that the prices belong to.
   With hierarchies and small k, blocks of few near classes are put together anew then, exactly; or,
   where columns are generalized to ranges and k is larger, near classes trade rows.
5. Polishing: short annealing where classes pay above their prices, and blocks of classes
   re-solved exactly, until that stops paying or the budget ends.
   With a time limit that gives time: blocks of classes near prices with odd sets.
6. On small tables, before and after polishing: everything as one block over all pairs that a
   better release could use; when that finds nothing better, the release is optimal.

A table too wide for prices has those of groups of its columns, and near classes trade rows; or,
with many rows and columns of ranges, those of sets of near rows, whose joins are annealed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from incrowd.bounds.odd_sets.lifted import OddSets
from incrowd.bounds.price import PriceBound
from incrowd.bounds.prices import Prices
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Outcome, Scope
from incrowd.solvers.baseline.dear_columns import dearest_first, has_dear_columns
from incrowd.solvers.engine.lifting import Lifting
from incrowd.solvers.engine.near_classes import NearClasses
from incrowd.solvers.engine.pricing import PricingStages
from incrowd.solvers.engine.search import Means, Search
from incrowd.solvers.engine.windows import sorted_classes
from incrowd.solvers.progress import Progress
from incrowd.solvers.sensitive.engine import LawfulSearch


@dataclass(frozen=True, kw_only=True)
class Engine(Means):
    """Improve until it stops paying; the best lawful release so far is always at hand.

    Attributes
    ----------
    prices: how the bound is sought; None for the schedule suited to the table.
    odd_sets: how the bound is raised beyond the linear program; None for what suits the table.
    lawful: how models are served that look at sensitive values, with two thirds of ``visits``,
        each of which takes longer there; all else is for k-anonymity.
    """

    prices: PriceBound | None = None
    odd_sets: OddSets | None = None
    lawful: LawfulSearch = field(default_factory=LawfulSearch)

    id = "engine"
    guarantee = (
        "none; the gap it reports is proven; with a sensitive model it never costs more than "
        "mondrian, given time"
    )
    scope = Scope(models=("any closed under union (k, l, t, …)",))
    source = "this project; prices: duals of the set-partitioning LP over lawful classes"

    def refuse(self, problem: Problem) -> str | None:
        """Say no to models that are not closed under union, or too precise for integers."""
        return None if problem.model.size_decides else self.lawful.refuse(problem)

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Run all stages within the budget; no solution when no release is lawful."""
        if problem.model.size_decides:
            return Run(self, problem, context).outcome()
        return self.lawful.run(problem, context, self.visits * 2 // 3)


class Run:
    """One run under k-anonymity: its stages, and what they share."""

    def __init__(self, engine: Engine, problem: Problem, context: Context) -> None:
        instance, k = problem.instance, problem.smallest_class
        self.problem = problem
        self.progress = Progress(context, Solution.of(instance, sorted_classes(instance, k)))
        self.progress.certificate = Prices(np.zeros(instance.distinct, np.int64), 1)
        self.search = Search(engine, instance, k, self.progress)
        self.pricing = PricingStages(self.search, engine.prices)
        self.near = NearClasses(self.search)
        self.lifting = Lifting(self.search, engine.odd_sets or OddSets())

    def outcome(self) -> Outcome:
        """Go through the stages."""
        return self.progress.outcome(self.stages())

    def at_once(self) -> None:
        """Make a release and a bound that no time limit is too short for."""
        self.pricing.bound_at_once()
        self.search.by_levels()
        if has_dear_columns(self.problem.instance):
            self.progress.offer(dearest_first(self.problem, self.progress.done))
        self.pricing.bound_by_support()

    def stages(self) -> Iterator[Callable[[], None]]:
        """Bounds and releases in turn, the cheap ones first."""
        pricing, search, lifting, near = self.pricing, self.search, self.lifting, self.near
        yield self.at_once
        if not search.wide:
            yield pricing.first_prices
        if not search.wide:
            yield search.first_search
            yield pricing.bound_by_prices
        if search.wide:
            yield near.anneal_joins if near.many() else near.trade
            yield near.repartition
            return
        closing = (
            lifting.raise_by_odd_sets, lifting.search_in_reach, lifting.exchange, lifting.finish,
        )  # fmt: skip
        yield search.search
        yield near.rehouse
        yield near.repartition
        yield from closing
        yield search.polish
        yield from closing
