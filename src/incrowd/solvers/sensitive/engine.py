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
from functools import partial

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
from incrowd.run.paying import Turns
from incrowd.solvers.base import Context, Outcome, refuse_open_models
from incrowd.solvers.baseline.dear_columns import dearest_first, has_dear_columns
from incrowd.solvers.baseline.first import release_beside
from incrowd.solvers.baseline.mondrian import Mondrian
from incrowd.solvers.engine.candidates import Candidates, build_candidates
from incrowd.solvers.engine.near import NEAR, near_emission, near_rows
from incrowd.solvers.engine.warm import with_solution
from incrowd.solvers.engine.windows import window_emission
from incrowd.solvers.progress import Progress
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.bounding import Bounding
from incrowd.solvers.sensitive.by_program import MOST_PAIRS, by_program
from incrowd.solvers.sensitive.by_regions import Lists
from incrowd.solvers.sensitive.prune import narrowed, reduced_costs, united, with_start
from incrowd.solvers.sensitive.rare_classes import rare_classes
from incrowd.solvers.sensitive.rounding import drawn_patterns, rounded, trimmed
from incrowd.solvers.sensitive.rules import rules_of
from incrowd.solvers.sensitive.schedule import (
    AGAIN,
    COOL,
    HOST_REACH,
    HOST_WARMTH,
    LARGE,
    LOOSE,
    REST,
    SHARING,
    STAGES,
    few_classes,
    pace_of,
    soft_schedule,
)
from incrowd.solvers.sensitive.soften import SoftAnnealing
from incrowd.solvers.sensitive.start import filled, greedy

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


class Run(Bounding):
    """One run: the best so far, and the stages."""

    def __init__(
        self, engine: LawfulSearch, problem: Problem, context: Context, visits: int = VISITS
    ) -> None:
        instance = problem.instance
        self.own = Solution.of(instance, np.zeros(instance.rows, np.int64))
        prices = engine.prices, engine.by_size, engine.k_prices
        super().__init__(problem, Progress(context, self.own), prices, visits)
        self.engine, self.seed = engine, context.seed
        self.rules = rules_of(problem)
        self.done = self.progress.done
        self.beside: Solution | None = None
        self.warmth = 1.0
        self.moved, self.planned = 0.0, 1.0  # moves of the annealing, as its stages count them
        self.unit = max(1, sum(t.dearest for t in instance.trees) // instance.columns)
        hist = histogram(self.rules.laws, np.repeat(self.rules.places, instance.counts, axis=0))
        self.relaxed = not problem.model.stays_lawful
        self.apart = has_dear_columns(instance)
        self.searchable = violation(self.rules.laws, hist, instance.rows) == 0

    def stages(self) -> tuple[Callable[[], None], ...]:
        """Bounds and releases in turn, the cheap ones first."""
        return (
            self.first_release, self.bound_by_classes, self.bound_by_k, self.raise_prices,
            self.search, self.program,
        )  # fmt: skip

    def first_release(self) -> None:
        """Sweep over windows of the sorted table, beside a bound; one class is there already."""
        self.tell("first release")
        if self.searchable and not self.stop.now():
            self.sweep(window_emission(self.instance, self.k, 2, self.seed, self.stop))
        self.bound_at_once()
        if self.searchable and self.apart:
            self.offer(dearest_first(self.problem, self.done))
        if len(self.progress.best.sizes) == 1 or not self.stop.now():
            self.tell("mondrian", 0.0)
            self.beside = release_beside(
                self.problem, self.stop, lambda event: self.tell("mondrian", event.share)
            )
            if self.beside is not None:
                self.progress.offer(self.beside)

    def offer(self, solution: Solution) -> None:
        """Keep the search's own best, whose classes obey its laws, and the best of all."""
        if solution.cost < self.own.cost:
            self.own = solution
            if solution.cost <= self.progress.best.cost:
                self.progress.best = solution

    def sweep(self, emission: Emission) -> None:
        """Offer the greedy release over these candidates."""
        candidates = build_candidates(self.instance, emission)
        pattern = greedy(candidates, self.rules, self.unit, self.seed)
        self.offer(Solution.of(self.instance, pattern))

    def outcome(self) -> Outcome:
        """Go through the stages; tell whose release it is."""
        found = self.progress.outcome(self.stages())
        return replace(found, by=Mondrian.id if found.solution is self.beside else "")

    def program(self) -> None:
        """Solve the integer program over all patterns, where they are few."""
        if self.wide:
            return
        self.tell("integer program over patterns")
        context = replace(self.progress.context, listener=lambda event: None)
        best, pairs = self.progress.best, self.engine.programmed
        found = by_program(self.problem, best, context, pairs)
        if found is not None and found.solution is not None:
            self.offer(found.solution)
            self.progress.bound = max(self.progress.bound, found.bound)

    def search(self) -> None:
        """Stages of candidates from a fractional release, then annealing while the budget lasts."""
        if not self.searchable:
            return
        if self.wide:
            emission = self.among_near()
            self.sweep(emission)
            self.anneal_again(emission, 1.0, 1.0)
        else:
            listed = self.search_in_stages()
            emission = listed if self.done() else self.widened(listed)
            if self.apart:
                self.anneal_again(emission, 1.0, 1.0)
            else:
                self.anneal_again(emission, REST, COOL, self.relaxed)

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
        priced = float(self.price @ self.instance.counts)
        loose = self.k <= NEAR and not self.few and self.own.cost > LOOSE * priced
        return emission.before(self.near()) if loose else emission

    @property
    def few(self) -> bool:
        """Whether only few classes can be, each with some copies of scarce values."""
        return not self.wide and few_classes(self.tree)

    def search_in_stages(self) -> Emission:
        """Round a fractional release, improve it; return the widest candidates."""
        instance, shares = self.instance, self.engine.shares
        if self.sized:  # steps by size are dear, and the search gets by with fewer
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
            share, _ = shares.run(self.tree, emission, self.price, margin, instance.counts, over)
        reduced = reduced_costs(self.tree, self.price, emission)
        if self.relaxed:
            self.soft_stages(emission, share, reduced / whole)
        else:
            self.lawful_stages(emission, share, reduced / whole)
        return emission

    def candidates(self) -> tuple[Emission, float, float]:
        """Return patterns by their prices, the margin above these, and the slack of a class."""
        engine, cell = self.engine, self.instance.cell
        whole = engine.slack[self.relaxed + self.sized] * cell * self.k**LawfulAnnealing.growth
        reach = max(whole / self.k, HOST_REACH * cell if self.few else 0.0)
        self.tell("candidates", gauge=Gauge(self.tree.tree.walked))
        return *engine.shares.emission(self.tree, self.price, reach), whole

    def shares_once(self, stop: Callable[[], bool]) -> tuple[Emission, NDArray[np.float64]] | None:
        """Return a fractional release that opens each pattern once, under t-closeness."""
        if self.charged is None or not self.sized:
            return None
        tree, price = self.charged
        law = law_of(tree)
        return charged_shares(tree, law, price, stop) if isinstance(law, ClosenessLaw) else None

    def lawful_stages(
        self, emission: Emission, share: NDArray[np.float64], reduced: NDArray[np.float64]
    ) -> None:
        """Anneal through lawful releases; ``reduced`` (per pair) in shares of the slack."""
        instance, rules = self.instance, self.rules
        allowed, copies, seed = self.tree.shares, instance.first_copy, self.seed
        formed = rare_classes(emission, self.price, allowed, rules, copies, seed, self.stop.now)
        if self.few and (formed >= 0).any():
            self.fill(emission, formed)
            return
        drawn = rounded(instance, emission, share, rules, seed, formed)
        found = self.own
        for number, (near, least, moves, heat) in enumerate(STAGES):
            keep = (reduced <= near) | (share > least)
            if number == 0:
                candidates, pattern = with_start(self.instance, emission, keep, drawn)
            else:
                candidates, pattern = with_solution(narrowed(emission, keep)[0], found)
            part = moves / (sum(stage[2] for stage in STAGES[number:]) + REST)
            found = self.anneal(candidates, pattern, moves, heat, number, part)
            if self.done():
                break

    def fill(self, emission: Emission, formed: NDArray[np.int64]) -> None:
        """Fill a few large classes, whose least copies are formed, and anneal."""
        every = np.ones(len(emission.rows), np.bool_)
        candidates, pattern = with_start(self.instance, emission, every, formed)
        pattern = filled(candidates, self.rules, pattern)
        self.warmth = HOST_WARMTH
        self.anneal(candidates, pattern, 1 - REST, 1.0, 0, 1 - REST)

    def soft_stages(
        self, emission: Emission, share: NDArray[np.float64], reduced: NDArray[np.float64]
    ) -> None:
        """Anneal through unlawful releases, then trim and mend what is left of them."""
        engine, instance, seed = self.engine, self.instance, self.seed
        warmth = instance.cell * self.k**LawfulAnnealing.growth
        stages, rest, effort, calm = soft_schedule(self.k, self.sized)
        warmth /= calm
        ahead = self.planned = effort * sum(stage[2] for stage in stages) + calm * rest
        found: Solution | None = None
        for number, (near, least, moves, heat, penalty) in enumerate(stages):
            keep = (reduced <= near) | (share > least)
            if found is None:
                drawn = drawn_patterns(instance, emission, share, seed)
                candidates, pattern = with_start(instance, emission, keep, drawn)
            else:
                candidates, pattern = with_solution(narrowed(emission, keep)[0], found)
            pattern = engine.soft.run(
                self.lists(candidates, pattern), instance.cell,
                effort * moves * engine.annealing.moves, (heat[0] * warmth, heat[1] * warmth),
                (penalty[0] / calm, penalty[1] / calm), seed + number, self.done,
                partial(self.annealed, effort * moves),
                pace_of(self.stop, effort * moves / ahead),
                threads=self.stop.threads,
            )  # fmt: skip
            ahead -= effort * moves
            self.moved += effort * moves
            found = Solution.of(instance, pattern)
            if self.done() or number == len(stages) - 1:
                pattern = trimmed(candidates, self.rules, pattern, seed)
                self.anneal(candidates, pattern, calm * rest, COOL / calm**0.5, number)
                break

    def anneal(
        self,
        candidates: Candidates,
        pattern: NDArray[np.int64],
        share: float,
        heat: float,
        number: int,
        part: float = 1.0,
    ) -> Solution:
        """Anneal with a share of the moves and a part of the time left, offer what comes out."""
        annealing = self.engine.annealing
        moves = min(1.0, LARGE / self.k) * share * annealing.moves
        lists = self.lists(candidates, pattern)
        found = replace(annealing, moves=moves).run(
            lists, self.instance.cell,
            heat * self.warmth, self.seed + number, self.done,
            lambda cost, done: self.annealed(share, done, cost), pace_of(self.stop, part),
            threads=self.stop.threads,
        )  # fmt: skip
        self.moved += share
        solution = Solution.of(self.instance, found)
        self.offer(solution)
        return solution

    def lists(self, candidates: Candidates, pattern: NDArray[np.int64]) -> Lists:
        """Return what is to be annealed, from an assignment on."""
        return Lists(candidates, self.rules, self.price, pattern, self.stop.over)

    def annealed(self, moves: float, done: float, cost: int | None = None) -> None:
        """Tell what share of the planned moves is done, ``done`` of the next ``moves``.

        Beyond the plan, each turn is told by itself.
        """
        if self.moved < self.planned - 1e-9:
            self.tell("annealing", min(1.0, (self.moved + moves * done) / self.planned), cost)
        else:
            self.tell("annealing again", done, cost)

    def anneal_again(
        self, emission: Emission, share: float, heat: float, been: bool = False
    ) -> None:
        """Annealing over all candidates, in turns while that pays.

        Under a limit turns are judged by the time they take; without one each by itself, and they
        are short, but those of few large classes: single rows seldom help these.  A gap of 0 alone
        is not a limit: it may never be reached.
        ``been``: the first turn is over.
        """
        rounds, going, turns = int(been), self.progress.paying(), Turns()
        turns.note(self.own.cost)
        timed = self.limited and (self.stop.time_limit is not None or not self.stop.thorough)
        while not self.done() and ((going() if timed else not turns.idle) or rounds == 0):
            candidates, pattern = with_solution(emission, self.own)
            self.anneal(candidates, pattern, share, heat, len(STAGES) + rounds)
            turns.note(self.own.cost)
            rounds += 1
            share, heat = share if timed or self.few else AGAIN, COOL
