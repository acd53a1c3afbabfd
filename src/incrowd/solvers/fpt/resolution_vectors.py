"""Candidate sets of resolution vectors and bipartite matching (Bonizzoni et al. 2009, §4)."""

from dataclasses import dataclass

import numpy as np

from incrowd.errors import StoppedError
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import Level, presolve
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context, Outcome, Scope, refuse_other_models
from incrowd.solvers.baseline.first import first_release
from incrowd.solvers.fpt.patterns import Patterns, closed_patterns, effort

MOST_CANDIDATES = 40
MOST_ROWS = 3_000  # that are matched: rows × (places + rows) numbers of 8 bytes, a few times


@dataclass(frozen=True, kw_only=True)
class ResolutionVectors:
    """Try every set S' of released patterns; assign rows to S' by a maximum-weight matching.

    Each pattern of S' has k places, each of weight W + m − del + 1; besides, each row r has a
    place of its own of weight w(r) = m − (cheapest pattern of S' that it matches).  A maximum
    matching fills all k·|S'| places if that is possible at all (Lemma 6), and then gives the
    other rows the most (Lemma 8).  With weights and hierarchies m is the largest cost of a row.
    A row with k copies or more whose own vector is in S' keeps k of them there, and only its
    exceeding copies are matched; that vector has no places to fill (the text gives it k, which
    no row could then take).

    Only closed patterns are candidates, and sets are tried depth first: a branch ends when the
    cheapest patterns that are left cost as much as the best release found, or as Mondrian's.
    """

    reductions: Level = "all"

    id = "resolution-vectors"
    guarantee = "exact"
    scope = Scope(
        models=("k-anonymity",),
        size=f"{MOST_CANDIDATES} closed patterns that k rows match; {MOST_ROWS:,} rows, copies "
        "counted, after the reductions",
    )
    source = "Bonizzoni, Della Vedova, Dondi & Pirola 2009, §4, Theorem 9"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models and too many candidate patterns."""
        if not problem.model.size_decides:
            return refuse_other_models(problem)
        instance = presolve(problem, self.reductions).problem.instance
        if instance.rows > MOST_ROWS:
            return (
                f"it matches rows, {MOST_ROWS:,} at most after the reductions, not "
                f"{instance.rows:,}; use pattern-milp or engine"
            )
        if effort(instance) <= 100_000:
            number = len(closed_patterns(instance, problem.smallest_class, Stop()).cost)
            if number <= MOST_CANDIDATES:
                return None
        return (
            f"it tries sets of patterns, and can do so with up to {MOST_CANDIDATES} patterns that "
            "k rows match; use pattern-milp or engine"
        )

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Search; bound = cost when it finishes."""
        reduced = presolve(problem, self.reductions)
        instance, k = reduced.problem.instance, problem.smallest_class
        if instance.rows < k:
            return Outcome(None)
        start = first_release(reduced.problem)
        assert start is not None  # k rows are there, so the root is lawful
        try:
            search = Search(start, closed_patterns(instance, k, context.stop), k, context)
        except StoppedError:
            return Outcome(reduced.lift(start), 0, context.stop.why())
        search.descend(0, [])
        stopped = context.stop.now() and not search.complete
        solution = reduced.lift(Solution.of(instance, search.best))
        if stopped:
            return Outcome(solution, 0, context.stop.why())
        return Outcome(solution, search.least)


class Search:
    """The depth-first search over sets of patterns.

    ``price[p, r]`` is the cost of row r in pattern p, ``NEVER`` where it does not match.
    """

    NEVER = 1 << 40

    def __init__(self, start: Solution, patterns: Patterns, k: int, context: Context) -> None:
        instance = start.instance
        order = np.argsort(patterns.cost, kind="stable")  # cheap ones decide most
        self.instance, self.k, self.context = instance, k, context
        self.cost = patterns.cost[order]
        self.price = np.full((len(order), instance.distinct), self.NEVER, np.int64)
        sizes = np.diff(patterns.start)[order]
        for p, old in enumerate(order):
            row = patterns.row[patterns.start[old] : patterns.start[old + 1]]
            self.price[p, row] = patterns.cost[old]
        # A vector that is one row itself, and enough copies of it: the safe rows of the text.
        self.pure = np.where((sizes == 1) & (self.cost == 0), np.argmin(self.price, axis=1), -1)
        self.cheapest_after = np.minimum.accumulate(self.price[::-1], axis=0)[::-1]
        self.least, self.best = start.cost, start.classes
        self.complete = True

    def descend(self, at: int, chosen: list[int]) -> None:
        """Decide whether pattern ``at`` belongs to the set."""
        if self.context.stop.now():
            self.complete = False
            return
        if len(chosen) * self.k > self.instance.rows:
            return
        lowest = np.full(self.instance.distinct, self.NEVER, np.int64)
        if chosen:
            lowest = self.price[chosen].min(axis=0)
        if at < len(self.cost):
            lowest = np.minimum(lowest, self.cheapest_after[at])
        if int(np.dot(lowest, self.instance.counts)) >= self.least:
            return
        if at == len(self.cost):
            self.match(chosen)
            return
        self.descend(at + 1, [*chosen, at])
        self.descend(at + 1, chosen)

    def match(self, chosen: list[int]) -> None:
        """Assign the rows to exactly these patterns at least cost, if they can be filled."""
        from scipy.optimize import linear_sum_assignment

        instance, k = self.instance, self.k
        safe = {int(self.pure[p]): i for i, p in enumerate(chosen) if self.pure[p] >= 0}
        kept = np.zeros(instance.distinct, np.int64)
        kept[list(safe)] = k
        moving = np.repeat(np.arange(instance.distinct), instance.counts - kept)
        filled = [i for i, p in enumerate(chosen) if self.pure[p] < 0]
        table = self.price[chosen]
        cheapest, own = table.min(axis=0), table.argmin(axis=0)
        places = np.repeat(np.array(filled, np.int64), k)
        if len(places) > len(moving):
            return
        most = int(self.cost.max(initial=0))  # the text's m
        w = most - cheapest[moving]
        total = int(w.sum()) + 1  # the text's W
        weights = np.full((len(moving), len(places) + len(moving)), -self.NEVER, np.int64)
        price = table[places][:, moving].T
        weights[:, : len(places)] = np.where(
            price < self.NEVER, total + most - price + 1, -self.NEVER
        )
        weights[np.arange(len(moving)), len(places) + np.arange(len(moving))] = w
        rows, columns = linear_sum_assignment(weights, maximize=True)
        in_place = columns < len(places)
        if in_place.sum() < len(places) or (weights[rows, columns] < 0).any():
            return
        into = np.empty(len(moving), np.int64)
        into[in_place] = places[columns[in_place]]
        into[~in_place] = own[moving[~in_place]]
        cost = int(table[into, moving].sum())
        if cost < self.least:
            classes = np.empty(instance.rows, np.int64)
            offset = np.arange(instance.rows) - np.repeat(instance.first_copy[:-1], instance.counts)
            stays = offset < kept[instance.copies]
            classes[stays] = [safe[int(r)] for r in instance.copies[stays]]
            classes[~stays] = into
            self.least, self.best = cost, classes
            self.context.tell("sets of patterns", cost)
