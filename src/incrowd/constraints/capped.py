"""Caps on changed cells: dearer cells until the cap is met.

A cap on a column enters the costs with a price λ ≥ 0 per changed cell, which is raised until the
release meets the cap, then lowered as far as it goes (bounded number of attempts).  Cost is always
that in the user's own weights.  Bounds: a release that meets all caps costs, under the dearer
costs, at most λ·limit more than under the user's, so

    bound under the dearer costs − Σ λ·limit

is a lower bound on what any release within the caps costs (Lagrangian duality: Everett 1963); so
is the bound without caps.  A cap on a subgroup cannot be priced by column; see ``subgroup``.

Caps that no lawful release can meet, by a count of the cells that must change.

A released row's pattern is matched by at least as many rows as its class has, so by k or more.  The
cheapest pattern that so many rows match, where only changed cells under the cap cost and each of
them one, is a lower bound on the row's changed cells (as in ``incrowd.bounds.support``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.constraints.plan import Limit, Plan
from incrowd.constraints.repairing import Repair, changed_cells
from incrowd.constraints.solving import ENDINGS, Dearer, Parted, solve_plan, solve_with
from incrowd.driver.solve import Solved
from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError, StoppedError
from incrowd.hierarchy.build import DEAREST_ROW
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import moved
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.run.events import Event
from incrowd.run.stop import Share
from incrowd.solvers.base import Context, Solver
from incrowd.text.units import counted

ATTEMPTS = 14
REFINEMENTS = 4  # attempts after the first one that meets all caps
FINE = 32  # prices are in units of 1/(scale·FINE), as a whole unit may be too coarse a step
FIRST = 0.25  # share of the time limit for the attempt without prices
SEARCH = 0.05  # for each attempt in search of prices
OF_BOUND = "parts", "place", "dearer", "fine"  # of an attempt: what tells its bound
LAST = 0.6  # share of the time left for an attempt at the prices found; then rows are moved


def solve_capped(table: Coded, plan: Plan, method: str | Solver, context: Context) -> Solved:
    """Solve a table under all its constraints.

    Raises
    ------
    NoLawfulReleaseError: no lawful release meets the caps (proven), or see ``solve_plan``.
    StoppedError: no attempt met the caps; says the least share of changed cells reached.
    """
    if not plan.limits or not table.instance.rows:
        return solve_plan(table.problem, plan, method, context)
    require_possible(table, plan)
    search = CappedSearch(table, plan, method, context)
    search.run()
    search.repair()
    return search.result()


@dataclass(eq=False)
class Price:
    """The price of one cap: between the highest that failed and the lowest that worked."""

    limit: Limit
    now: int = 0
    failed: int = 0
    worked: int | None = None
    least: int | None = None

    @property
    def likely(self) -> float:
        """A price that should do: between one that failed and one that worked."""
        return self.failed if self.worked is None else (self.failed + self.worked) / 2

    def learn(self, count: int, unit: int, refine: bool) -> None:
        """Move the price: up while the cap is broken, halfway down when there is room."""
        if count > self.limit.most:
            self.failed = max(self.failed, self.now)
            grown = max(unit // 2, 2 * self.now, 1)
            self.now = grown if self.worked is None else (self.failed + self.worked + 1) // 2
            if self.worked is not None and self.now <= self.failed:
                self.now = grown  # what worked once need not work with other prices
        elif self.now:
            self.worked = self.now if self.worked is None else min(self.worked, self.now)
            if refine:
                self.now = (self.failed + self.worked) // 2


@dataclass(eq=False)
class CappedSearch:
    """Attempts at rising prices; the best release within the caps, and the best bound."""

    table: Coded
    plan: Plan
    method: str | Solver
    context: Context
    best: Parted | None = None
    bound: int = 0
    certified: Parted | None = None
    attempts: int = 0
    prices: list[Price] = field(default_factory=list)
    seen: list[Parted] = field(default_factory=list)

    def run(self) -> None:
        """Raise and lower the prices until the caps are met cheaply, or the attempts are over."""
        self.prices = [Price(limit) for limit in self.plan.limits]
        limit = self.context.stop.time_limit or float("inf")
        self.attempt(FIRST * limit, priced=False)
        refined = 0
        while self.attempts < ATTEMPTS and not self.over() and refined <= REFINEMENTS:
            if not self.priced:
                break
            before = [price.now for price in self.prices]
            self.attempt(SEARCH * limit)
            refined += self.best is not None
            if before == [price.now for price in self.prices]:
                break
        if limit < float("inf") and not self.over():
            for price in self.prices:  # the lowest ones that worked deserve a longer look
                price.now = price.now if price.worked is None else max(price.worked, price.failed)
            if self.priced:
                self.attempt(LAST * self.context.stop.left())

    @property
    def priced(self) -> bool:
        """Whether any column's cells have a price."""
        return any(price.now for price in self.prices if price.limit.column is not None)

    def repair(self) -> None:
        """Move rows between the classes of the release nearest to the caps; under k-anonymity.

        Where column caps alone are met already, prices by column do better.
        """
        subgroups = any(limit.inside is not None for limit in self.plan.limits)
        if not self.table.model.size_decides or self.over():
            return
        if self.best is not None and not subgroups:
            return
        start = min(self.seen, key=self.distance)
        first = [price.likely / self.fine for price in self.prices]
        for solution in Repair(self.table, self.plan, self.context).run(start.solution, first):
            cost = solution.cost
            self.offer(replace(start, solution=solution, cost=cost, ended="stopped paying"))
            known = None if self.best is None else self.best.cost
            self.context.tell("caps, moving rows", known, self.bound or None)
            if self.over():
                return

    def distance(self, solved: Solved) -> int:
        """Return a release's cost, with two of the dearest cells for each that is too many."""
        changed = changed_cells(self.table, solved.solution)
        over = sum(max(0, p.limit.count(changed) - p.limit.most) for p in self.prices)
        return solved.cost + 2 * over * max(tree.dearest for tree in self.table.instance.trees)

    def over(self) -> bool:
        """Whether there is nothing to gain, or no time."""
        if self.context.stop.now():
            return True
        return self.best is not None and self.context.stop.satisfied(self.best.cost, self.bound)

    def attempt(self, seconds: float, priced: bool = True) -> None:
        """Solve at the prices as they are, and learn from what comes out."""
        context = self.shared(seconds, priced)
        problem, trees = self.table.problem, self.table.instance.trees
        if priced:
            paid = self.paid()
            asked = {one.column: one.price for one in paid}
            costly = dearer(trees, asked, self.fine)
            solved = solve_with(problem, self.plan, costly, self.method, context)
            solved = replace(solved, dearer=paid, fine=self.fine)
            bound = solved.proven if sure(trees, asked) else 0
        else:
            solved = solve_plan(problem, self.plan, self.method, context)
            bound = solved.bound
        self.attempts += 1
        if self.certified is None or bound > self.bound:
            self.bound, self.certified = bound, solved
        self.seen.append(solved)
        counts = self.offer(solved)
        for price, count in zip(self.prices, counts, strict=True):
            j = price.limit.column
            unit = 0 if j is None else self.table.instance.trees[j].dearest * self.fine
            price.learn(count, unit, self.met(counts))

    def shared(self, seconds: float, priced: bool) -> Context:
        """Return the context of one attempt: its part of the time, costs kept to itself."""
        share = Share.of(self.context.stop, seconds)
        if priced:
            share.gap = None  # of the dearer costs, it says nothing
        name = f"caps, attempt {self.attempts + 1}: "

        def listen(event: Event) -> None:
            known = None if self.best is None else self.best.cost
            told = replace(event, stage=name + event.stage, cost=known, proof=None)
            self.context.listener(replace(told, bound=self.bound or None))

        return replace(self.context, stop=share, listener=listen)

    def paid(self) -> tuple[Dearer, ...]:
        """Return the columns whose changed cells have a price, and how many of these may be."""
        return tuple(
            Dearer(p.limit.column, p.limit.most, p.now)
            for p in self.prices
            if p.limit.column is not None and p.now
        )

    @property
    def fine(self) -> int:
        """What one unit of the table's costs is in the finer unit of the prices."""
        return fine(self.table.instance.trees)

    def offer(self, solved: Parted) -> list[int]:
        """Keep a release within the caps if it is the best so far; return the changed cells."""
        changed = changed_cells(self.table, solved.solution)
        counts = [price.limit.count(changed) for price in self.prices]
        for price, count in zip(self.prices, counts, strict=True):
            price.least = count if price.least is None else min(price.least, count)
        if self.met(counts) and (self.best is None or solved.cost < self.best.cost):
            self.best = solved
        return counts

    def met(self, counts: Sequence[int]) -> bool:
        """Whether these numbers of changed cells are within the caps."""
        return all(c <= p.limit.most for c, p in zip(counts, self.prices, strict=True))

    def result(self) -> Solved:
        """Return the best release within the caps, or say why there is none."""
        if self.best is None:
            raise self.refusal()
        found = replace(self.best, bound=min(self.bound, self.best.cost))
        assert self.certified is not None
        known = {name: getattr(self.certified, name) for name in OF_BOUND}
        return replace(found, ended=self.ended(found.status == "optimal"), **known)

    def ended(self, optimal: bool) -> str:
        """Say why the search ended."""
        stop, best = self.context.stop, self.best
        assert best is not None
        if optimal:
            return "finished"
        if stop.now():
            return stop.why()
        if stop.satisfied(best.cost, self.bound):
            return "gap reached"
        return min(best.ended, "stopped paying", key=ENDINGS.index)

    def refusal(self) -> NoLawfulReleaseError | StoppedError:
        """Return the error: proven impossible, or not found."""
        if self.bound > self.table.instance.worst_cost:
            told = "; ".join(shares(self.prices))
            return NoLawfulReleaseError(f"no lawful release is within the caps (proven): {told}")
        return not_found(self.prices, self.attempts)


def sure(trees: Sequence[Family], columns: Iterable[int]) -> bool:
    """Whether in dearer columns each row of a class pays for a change that all of them show.

    Else a bound under the dearer costs says nothing.  Where a number is written in several ways, an
    interval reads like one of them.
    """
    families = [trees[column] for column in columns]
    return not any(isinstance(f, RangeFamily) and f.several_texts for f in families)


def not_found(prices: Sequence[Price], attempts: int) -> StoppedError:
    """Return the error of attempts none of which met the caps."""
    broken = [p for p in prices if p.least is not None and p.least > p.limit.most]
    told = "; ".join(shares(broken or prices))
    return StoppedError(
        f"no release within the caps was found in {counted(attempts, 'attempt')}: {told}; "
        "allow more, take fewer or coarser quasi-identifiers, a smaller k, or more time"
    )


def fine(trees: Sequence[Family]) -> int:
    """Return what one unit of a table's costs is in the finer unit of the prices."""
    return FINE if sum(tree.dearest for tree in trees) * FINE < DEAREST_ROW else 1


def dearer(trees: Sequence[Family], prices: Mapping[int, int], unit: int) -> list[Family]:
    """Return columns with a price on top of what changed cells cost, in 1/``unit`` of a unit.

    Parameters
    ----------
    prices: by number of the column.
    """
    found: list[Family] = []
    for j, tree in enumerate(trees):
        finer, price = tree.times(unit), prices.get(j, 0)
        if price and isinstance(finer, RangeFamily):
            finer = finer.dearer(price)
        elif price:
            finer = replace(finer, cost=finer.cost + moved(finer).astype(np.int64) * price)
        found.append(finer)
    return found


def shares(prices: Sequence[Price]) -> list[str]:
    """Say of each cap what was asked for and what was reached."""
    return [
        f"of {price.limit.cap.name} at most {float(price.limit.cap.exact_share):.2%} of the cells "
        f"may change, the least reached is {(price.least or 0) / max(1, price.limit.cells):.2%}"
        for price in prices
    ]


VISITS = 3_000_000  # nodes that the count may touch for each cap; without an end it says nothing


def require_possible(table: Coded, plan: Plan) -> None:
    """Raise where a cap is below what every lawful release changes.

    Raises
    ------
    NoLawfulReleaseError: names the cap and the least share that any lawful release needs.
    """
    for limit in plan.limits:
        least = least_changed(table, limit)
        if least > limit.most:
            raise impossible(limit, least)


def impossible(limit: Limit, least: int) -> NoLawfulReleaseError:
    """Return the error of a cap below what every lawful release changes, so many cells."""
    return NoLawfulReleaseError(
        f"no lawful release is within the caps (proven): of {limit.cap.name} at most "
        f"{float(limit.cap.exact_share):.2%} of the cells may change, every lawful release "
        f"changes {least / limit.cells:.2%} or more"
    )


def least_changed(table: Coded, limit: Limit) -> int:
    """Return a number of cells under a cap that every lawful release changes."""
    instance = table.instance
    k = table.problem.smallest_class if instance.rows else 0
    if k < 2 or instance.rows < k:
        return 0
    trees = [counting(tree, limit.column in (None, j)) for j, tree in enumerate(instance.trees)]
    patterns = PrefixTree(replace(instance, trees=tuple(trees), scale=1))
    price, complete = support_prices(patterns, k, VISITS)
    if not complete:
        return 0
    of_row = price[table.distinct_of_row]
    return int(of_row.sum() if limit.inside is None else of_row[limit.inside].sum())


def counting(tree: Family, counted: bool) -> Family:
    """Return a column whose changed cells cost 1 each, or nothing where they do not count."""
    if isinstance(tree, RangeFamily):
        return tree.counting(counted)
    return replace(tree, cost=moved(tree).astype(np.int64) * counted)
