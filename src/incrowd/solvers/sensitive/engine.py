"""How the engine serves sensitive models: prices of lawful classes first, then annealing by laws.

1. A lawful release at once (the table as one class, then a sweep over windows of the sorted table),
   and Mondrian's beside it, which counts where the search never finds one as cheap.  Between them
   what any k rows as a class prove, so that no run is without a bound.
2. Prices: the cheapest pattern with a lawful class, the k-anonymity prices for the smallest class,
   then prices of lawful classes by trust-region rounds (t-closeness: by size of class at last),
   and with each pattern charged once (t-closeness, shares of scarce values).
3. A fractional release, rounded (values so rare that only large classes may hold them have their
   classes first); annealing over the pairs that it uses, then over ever dearer ones.
   Where the table is too wide for that: a sweep over patterns of windows and of near rows, and
   annealing.
4. Where patterns are few and the model is linear, the integer program over all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.charged_shares import charged_shares
from incrowd.bounds.charges import law_of
from incrowd.bounds.copies_by_value import ClosenessLaw
from incrowd.bounds.lawful_price import LawfulPriceBound
from incrowd.bounds.lawful_shares import LawfulShares
from incrowd.bounds.price import PriceBound
from incrowd.errors import OutOfScopeError
from incrowd.lattice.emission import Emission
from incrowd.privacy.laws import histogram
from incrowd.privacy.violation import violation
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.gauge import Gauge
from incrowd.solvers.base import Context, Outcome, refuse_open_models
from incrowd.solvers.baseline.dear_columns import dearest_first, has_dear_columns
from incrowd.solvers.baseline.first import release_beside
from incrowd.solvers.baseline.mondrian import Mondrian
from incrowd.solvers.engine.candidates import build_candidates
from incrowd.solvers.engine.near import NEAR, near_emission, near_rows
from incrowd.solvers.engine.windows import window_emission
from incrowd.solvers.progress import Progress
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.bounding import Bounding
from incrowd.solvers.sensitive.by_program import MOST_PAIRS, by_program
from incrowd.solvers.sensitive.improving import Improving
from incrowd.solvers.sensitive.prune import reduced_costs, united
from incrowd.solvers.sensitive.rules import rules_of
from incrowd.solvers.sensitive.schedule import (
    COOL,
    HOST_REACH,
    LOOSE,
    REST,
    SHARING,
    pace_of,
)
from incrowd.solvers.sensitive.soften import SoftAnnealing
from incrowd.solvers.sensitive.start import greedy

VISITS = 20_000_000


@dataclass(frozen=True, kw_only=True)
class LawfulSearch:
    """How the engine serves sensitive models.

    Attributes
    ----------
    prices, shares, annealing: how the bound, a fractional release and the release are sought;
        prices None for the schedule suited to the model.
    soft: annealing through unlawful releases, for models that are priced by a relaxation.
    by_size: the schedule for prices by size of class (t-closeness by equal distance).
    k_prices: the k-anonymity bound that the bound may never fall below; None for the schedule
        suited to the table.
    slack: reduced cost of a class of the smallest size k, in suppressed cells times k ** 0.45, up
        to which its (row, pattern) pairs are candidates.  Single rows may pay any price: those that
        balance a class are cheap, and gain nothing by being there.  The second number is for models
        that are priced by a relaxation, whose prices tell less; the third for prices by size.
    programmed: pairs up to which all patterns are an integer program, see ``by_program``.
    """

    prices: LawfulPriceBound | None = None
    by_size: LawfulPriceBound = field(default_factory=LawfulPriceBound.by_size)
    k_prices: PriceBound | None = None
    shares: LawfulShares = field(default_factory=LawfulShares)
    annealing: LawfulAnnealing = field(default_factory=LawfulAnnealing)
    soft: SoftAnnealing = field(default_factory=SoftAnnealing)
    slack: tuple[float, float, float] = (0.5, 1.5, 1.7)
    programmed: tuple[int, int] = MOST_PAIRS

    def refuse(self, problem: Problem) -> str | None:
        """Say no to parameters that no integer law can hold."""
        try:
            rules_of(problem)
        except OutOfScopeError as reason:
            return f"{reason}; use mondrian"
        return refuse_open_models(problem)

    def run(self, problem: Problem, context: Context, visits: int = VISITS) -> Outcome:
        """Run all stages within the budget; no solution when no release is lawful.

        ``visits``: nodes of the prefix tree that one enumeration may touch before the table counts
        as too wide and windows take over.
        """
        if not problem.lawful_together:
            return Outcome(None)
        return Run(self, problem, context, visits).outcome()


class Run:
    """One run: what bounds, what improves, and the stages of both in turn.

    Attributes
    ----------
    bounds, moves: the stages that bound, and those that improve a release.
    beside: Mondrian's release, None where it is not sought.
    """

    def __init__(
        self, engine: LawfulSearch, problem: Problem, context: Context, visits: int = VISITS
    ) -> None:
        self.engine, self.problem, self.instance = engine, problem, problem.instance
        self.k, self.stop, self.seed = problem.smallest_class, context.stop, context.seed
        own = Solution.of(self.instance, np.zeros(self.instance.rows, np.int64))
        self.progress = Progress(context, own)
        self.tell, self.done = self.progress.tell, self.progress.done
        prices = engine.prices, engine.by_size, engine.k_prices
        self.bounds = Bounding(problem, self.progress, prices, visits)
        self.rules, ways = rules_of(problem), (engine.annealing, engine.soft)
        self.moves = Improving(self.bounds, self.rules, ways, own, self.seed)
        self.beside: Solution | None = None
        self.relaxed = not problem.model.stays_lawful
        self.apart = has_dear_columns(self.instance)

    @cached_property
    def searchable(self) -> bool:
        """Whether the table as one class obeys the laws of the search."""
        counts, laws = self.instance.counts, self.rules.laws
        hist = histogram(laws, np.repeat(self.rules.places, counts, axis=0))
        return violation(laws, hist, self.instance.rows) == 0

    def stages(self) -> tuple[Callable[[], None], ...]:
        """Bounds and releases in turn, the cheap ones first."""
        return (
            self.first_release,
            self.bounds.bound_by_classes,
            self.bounds.bound_by_k,
            self.bounds.raise_prices,
            self.search,
            self.program,
        )

    def first_release(self) -> None:
        """Sweep over windows of the sorted table, beside a bound; one class is there already."""
        self.tell("first release")
        if self.searchable and not self.stop.now():
            self.sweep(window_emission(self.instance, self.k, 2, self.seed, self.stop))
        self.bounds.bound_at_once()
        if self.searchable and self.apart:
            self.moves.offer(dearest_first(self.problem, self.done))
        if len(self.progress.best.sizes) == 1 or not self.stop.now():
            self.tell("mondrian", 0.0)
            self.beside = release_beside(
                self.problem, self.stop, lambda event: self.tell("mondrian", event.share)
            )
            if self.beside is not None:
                self.progress.offer(self.beside)

    def sweep(self, emission: Emission) -> None:
        """Offer the greedy release over these candidates."""
        candidates = build_candidates(self.instance, emission)
        unit = max(1, sum(t.dearest for t in self.instance.trees) // self.instance.columns)
        pattern = greedy(candidates, self.rules, unit, self.seed)
        self.moves.offer(Solution.of(self.instance, pattern))

    def outcome(self) -> Outcome:
        """Go through the stages; tell whose release it is."""
        found = self.progress.outcome(self.stages())
        return replace(found, by=Mondrian.id if found.solution is self.beside else "")

    def program(self) -> None:
        """Solve the integer program over all patterns, where they are few."""
        if self.bounds.wide:
            return
        self.tell("integer program over patterns")
        context = replace(self.progress.context, listener=lambda event: None)
        best, pairs = self.progress.best, self.engine.programmed
        found = by_program(self.problem, best, context, pairs)
        if found is not None and found.solution is not None:
            self.moves.offer(found.solution)
            self.progress.bound = max(self.progress.bound, found.bound)

    def search(self) -> None:
        """Stages of candidates from a fractional release, then annealing while the budget lasts."""
        if not self.searchable:
            return
        if self.bounds.wide:
            emission = self.among_near()
            self.sweep(emission)
        else:
            listed = self.search_in_stages()
            emission = listed if self.done() else self.widened(listed)
        if self.bounds.wide or self.apart:
            self.moves.again(emission, 1.0, 1.0)
        else:
            self.moves.again(emission, REST, COOL, self.relaxed)

    def among_near(self) -> Emission:
        """Return patterns of rows beside each other, where prices can list none."""
        self.tell("candidates")
        emission = window_emission(self.instance, self.k, 6, self.seed, self.stop)
        return emission.before(self.near())

    def near(self) -> Emission:
        """Return the joins of near rows."""
        return near_emission(self.instance, self.k, near_rows(self.instance, self.seed, self.stop))

    def widened(self, emission: Emission) -> Emission:
        """Return patterns that prices list, before the joins of near rows where they miss some.

        Prices far below the release do; but rows that balance few large classes are not near.
        """
        priced = float(self.bounds.price @ self.instance.counts)
        loose = self.k <= NEAR and self.moves.own.cost > LOOSE * priced and not self.bounds.few
        return emission.before(self.near()) if loose else emission

    def search_in_stages(self) -> Emission:
        """Round a fractional release, improve it; return the widest candidates."""
        instance, shares, bounds = self.instance, self.engine.shares, self.bounds
        if bounds.sized:  # steps by size are dear, and the search gets by with fewer
            shares = replace(shares, iterations=max(1, shares.iterations // 3))
        emission, margin, whole = self.candidates()
        if self.apart:  # stages begin elsewhere, or count a dear cell against a breach of the law
            return emission
        used, steps = pace_of(self.stop, SHARING), 0

        def over() -> bool:
            nonlocal steps
            self.tell("fractional release", min(1.0, steps / shares.iterations))
            steps += 1
            return self.stop.now() or used() >= 1

        found = self.shares_once(over)
        if found is not None:
            emission, share = united(emission, *found, instance.distinct)
        else:
            share, _ = shares.run(
                bounds.tree, emission, bounds.price, margin, instance.counts, over
            )
        reduced = reduced_costs(bounds.tree, bounds.price, emission) / whole
        stages = self.moves.soft_stages if self.relaxed else self.moves.lawful_stages
        stages(emission, share, reduced)
        return emission

    def candidates(self) -> tuple[Emission, float, float]:
        """Return patterns by their prices, the margin above these, and the slack of a class."""
        engine, cell, bounds = self.engine, self.instance.cell, self.bounds
        whole = engine.slack[self.relaxed + bounds.sized] * cell * self.k**LawfulAnnealing.growth
        reach = max(whole / self.k, HOST_REACH * cell if bounds.few else 0.0)
        self.tell("candidates", gauge=Gauge(bounds.tree.tree.walked))
        return *engine.shares.emission(bounds.tree, bounds.price, reach), whole

    def shares_once(self, stop: Callable[[], bool]) -> tuple[Emission, NDArray[np.float64]] | None:
        """Return a fractional release that opens each pattern once, under t-closeness."""
        if self.bounds.charged is None or not self.bounds.sized:
            return None
        tree, price = self.bounds.charged
        law = law_of(tree)
        return charged_shares(tree, law, price, stop) if isinstance(law, ClosenessLaw) else None
