"""How a run for sensitive models improves its release: annealing, stage by stage."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from incrowd.lattice.emission import Emission
from incrowd.problem.solution import Solution
from incrowd.run.paying import Turns
from incrowd.solvers.engine.candidates import Candidates
from incrowd.solvers.engine.warm import with_solution
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.bounding import Bounding
from incrowd.solvers.sensitive.by_regions import Lists
from incrowd.solvers.sensitive.prune import narrowed, with_start
from incrowd.solvers.sensitive.rare_classes import rare_classes
from incrowd.solvers.sensitive.rounding import drawn_patterns, rounded, trimmed
from incrowd.solvers.sensitive.rules import Rules
from incrowd.solvers.sensitive.schedule import (
    AGAIN,
    COOL,
    HOST_WARMTH,
    LARGE,
    REST,
    STAGES,
    pace_of,
    soft_schedule,
)
from incrowd.solvers.sensitive.soften import SoftAnnealing
from incrowd.solvers.sensitive.start import filled


class Improving:
    """The stages of a run that improve a release.

    Attributes
    ----------
    own: the search's own best, whose classes obey its laws.
    warmth: how warm the annealing is, 1 but where few large classes are balanced.
    """

    def __init__(
        self,
        bounds: Bounding,
        rules: Rules,
        ways: tuple[LawfulAnnealing, SoftAnnealing],
        own: Solution,
        seed: int,
    ) -> None:
        self.bounds, self.rules, self.own, self.seed = bounds, rules, own, seed
        self.lawful, self.soft = ways
        self.instance, self.k, self.progress = bounds.instance, bounds.k, bounds.progress
        self.stop, self.tell, self.done = bounds.stop, bounds.tell, bounds.progress.done
        self.warmth = 1.0
        self.moved, self.planned = 0.0, 1.0  # moves of the annealing, as its stages count them

    def offer(self, solution: Solution) -> None:
        """Keep the search's own best, whose classes obey its laws, and the best of all."""
        if solution.cost < self.own.cost:
            self.own = solution
            if solution.cost <= self.progress.best.cost:
                self.progress.best = solution

    def lawful_stages(
        self, emission: Emission, share: NDArray[np.float64], reduced: NDArray[np.float64]
    ) -> None:
        """Anneal through lawful releases; ``reduced`` (per pair) in shares of the slack."""
        instance, rules, bounds, seed = self.instance, self.rules, self.bounds, self.seed
        allowed, copies = bounds.tree.shares, instance.first_copy
        formed = rare_classes(emission, bounds.price, allowed, rules, copies, seed, self.stop.now)
        if bounds.few and (formed >= 0).any():
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
        instance, seed = self.instance, self.seed
        warmth = instance.cell * self.k**LawfulAnnealing.growth
        stages, rest, effort, calm = soft_schedule(self.k, self.bounds.sized)
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
            pattern = self.soft.run(
                self.lists(candidates, pattern), instance.cell,
                effort * moves * self.lawful.moves, (heat[0] * warmth, heat[1] * warmth),
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
        moves = min(1.0, LARGE / self.k) * share * self.lawful.moves
        lists = self.lists(candidates, pattern)
        found = replace(self.lawful, moves=moves).run(
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
        return Lists(candidates, self.rules, self.bounds.price, pattern, self.stop.over)

    def annealed(self, moves: float, done: float, cost: int | None = None) -> None:
        """Tell what share of the planned moves is done, ``done`` of the next ``moves``.

        Beyond the plan, each turn is told by itself.
        """
        if self.moved < self.planned - 1e-9:
            self.tell("annealing", min(1.0, (self.moved + moves * done) / self.planned), cost)
        else:
            self.tell("annealing again", done, cost)

    def again(self, emission: Emission, share: float, heat: float, been: bool = False) -> None:
        """Annealing over all candidates, in turns while that pays.

        Under a limit turns are judged by the time they take; without one each by itself, and they
        are short, but those of few large classes: single rows seldom help these.  A gap of 0 alone
        is not a limit: it may never be reached.
        ``been``: the first turn is over.
        """
        rounds, going, turns = int(been), self.progress.paying(), Turns()
        turns.note(self.own.cost)
        timed = self.bounds.limited and (self.stop.time_limit is not None or not self.stop.thorough)
        while not self.done() and ((going() if timed else not turns.idle) or rounds == 0):
            candidates, pattern = with_solution(emission, self.own)
            self.anneal(candidates, pattern, share, heat, len(STAGES) + rounds)
            turns.note(self.own.cost)
            rounds += 1
            share, heat = share if timed or self.bounds.few else AGAIN, COOL
