"""Minimum-cost matching into pairs and triples, with a proof: round first, cut what resists.

1. The linear program over pairs and triples as an assignment (``assignment``): integer prices, a
   half-integral solution.
2. Columns of reduced cost 0; around each fractional component a small integer program over them
   (``rounding``).  All whole: done, the cost is the bound.
3. Else cuts from the components that resisted (``separation``), the linear program again
   (``master``), priced until no pair or triple violates the duals, and back to 2: as long as
   that pays.
4. What odd sets leave open is branched on (``branching``), so many times.
5. What then is still open is settled in polynomial time, without linear programs (``exchange``).

Steps 1 to 4 only make it fast: each is limited by counts (``Effort``), not by the clock, and what
they leave open goes to step 5, which ends at the optimum.

Every bound of theirs is the sum of prices and weights in integers, checked by a complete search
(``certificate``).  Whenever time ends: the best lawful groups and the best bound so far.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incrowd.solvers.base import Context
from incrowd.solvers.matching.assignment import Fractional, cycles, first_arcs, relax
from incrowd.solvers.matching.branching import branch
from incrowd.solvers.matching.certificate import (
    Certificate,
    best_certified,
    nothing,
    rounded,
    unit_for,
)
from incrowd.solvers.matching.dual import plain, slacks_of
from incrowd.solvers.matching.exchange import cheapest
from incrowd.solvers.matching.master import Master
from incrowd.solvers.matching.nodes import FAR, Nodes, costs_of
from incrowd.solvers.matching.pool import Pool
from incrowd.solvers.matching.reduction import greedy_groups
from incrowd.solvers.matching.rounding import TIGHT, Rounder
from incrowd.solvers.matching.separation import violated_sets
from incrowd.solvers.matching.walk import Walker

# rounds of cuts, as a share of all and at least, that must close this share of the open gap
LATEST, FEWEST, LEAST = 1 / 3, 10, 0.2
ALL = 1 << 40
QUICK = 300  # nodes up to which step 5 takes seconds
MOST = 5_000  # nodes of which all pairs fit into a gigabyte, four times over


@dataclass(frozen=True)
class Effort:
    """How much the fast steps may do before the exchange of triples takes over.

    Attributes
    ----------
    rounds: of cuts, where they pay; 0 leaves all the fast steps out.
    branches: looked at, and ``patient`` as many where a gap of 0 is asked for.
    to_the_end: whether the exchange takes over on large tables too, where it may take hours.
    exchange: whether it takes over at all.
    """

    rounds: int = 10_000
    branches: int = 300
    patient: int = 100_000
    to_the_end: bool = True
    exchange: bool = True


@dataclass(frozen=True, eq=False)
class Matching:
    """What the pipeline found.

    Attributes
    ----------
    groups: int32, shape (groups, 3): the best lawful groups, see ``Nodes``.
    cost: their cost.  bound: no lawful groups cost less.  Both in units of 1/scale.
    certificate: prices and odd sets; its own bound is lower than ``bound`` only after branching.
    ended: see ``Outcome.ended``.
    """

    groups: NDArray[np.int32]
    cost: int
    bound: int
    certificate: Certificate
    ended: str


@dataclass(eq=False)
class Run:
    """The state of one run."""

    nodes: Nodes
    walker: Walker
    context: Context
    groups: NDArray[np.int32]
    rng: np.random.Generator
    certificate: Certificate
    effort: Effort = field(default_factory=Effort)
    cost: int = 0
    bound: int = 0
    gaps: list[int] = field(default_factory=list)  # after each round of cuts
    pool: Pool = field(init=False)

    def __post_init__(self) -> None:
        self.pool = Pool(self.nodes.grid)
        self.cost = int(costs_of(self.nodes.grid, self.groups).sum())

    def offer(self, groups: NDArray[np.int32]) -> None:
        """Keep lawful groups that cost less than the best."""
        cost = int(costs_of(self.nodes.grid, groups).sum())
        if cost < self.cost:
            self.groups, self.cost = groups, cost

    def prove(self, certificate: Certificate) -> None:
        """Keep a certificate whose bound is at least the best."""
        if certificate.bound >= self.bound:
            self.certificate, self.bound = certificate, certificate.bound

    @property
    def over(self) -> bool:
        """Whether the gap is small enough, or time is up."""
        stop = self.context.stop
        return stop.now() or stop.satisfied(self.cost, self.bound)

    @property
    def patient(self) -> bool:
        """Whether all is asked for, and the exchange would take longer or know less of ties."""
        long = self.nodes.size > QUICK or len(self.nodes.grid.extra) > 0
        return self.context.stop.gap == 0 and long

    @property
    def hands_over(self) -> bool:
        """Whether what is left open is for the exchange of triples."""
        size = self.nodes.size + 3 * len(self.nodes.hosts)
        return self.effort.exchange and size <= (MOST if self.effort.to_the_end else QUICK)

    @property
    def pays(self) -> bool:
        """Whether the latest rounds of cuts have closed enough of the gap to go on."""
        if len(self.gaps) >= self.effort.rounds:
            return False
        latest = max(FEWEST, int(LATEST * len(self.gaps)))
        if self.patient or len(self.gaps) <= latest:
            return True
        before = self.gaps[-1 - latest]
        return before - self.gaps[-1] >= LEAST * before

    def matching(self) -> Matching:
        """Return the result."""
        if self.cost <= self.bound:
            ended = "finished"
        elif self.context.stop.now():
            ended = self.context.stop.why()
        elif self.context.stop.satisfied(self.cost, self.bound):
            ended = "gap reached"
        else:
            ended = "stopped paying"
        return Matching(self.groups, self.cost, self.bound, self.certificate, ended)


def match(
    nodes: Nodes, groups: NDArray[np.int32], context: Context, effort: Effort | None = None
) -> Matching:
    """Find the cheapest lawful groups; ``groups`` are any lawful ones."""
    effort = effort or Effort()
    walker = Walker(nodes.grid, context.seed, stop=context.stop)
    rng = np.random.default_rng(context.seed)
    run = Run(nodes, walker, context, groups, rng, nothing(nodes.size), effort)
    if not nodes.size or context.stop.now():  # then the nodes are not to be relied on
        return run.matching()
    context.tell("first release", cost=run.cost)
    if effort.rounds:
        accelerate(run)
    if run.hands_over and not run.over:
        settle(run)
    return run.matching()


def settle(run: Run) -> None:
    """Step 5."""
    groups = cheapest(run.nodes, run.groups, run.context)
    if groups is not None:
        run.offer(groups)
        run.bound = run.cost


def accelerate(run: Run) -> None:
    """Steps 1 to 4."""
    nodes, walker, context = run.nodes, run.walker, run.context
    reach = walker.nearest()
    if walker.cut_short:
        return
    known = first_arcs(walker, reach, run.groups)
    greedy = greedy_groups(nodes, known[known[:, 1] >= 0])
    if greedy is not None:
        run.offer(greedy)
    context.tell("linear program", cost=run.cost)
    fractional = relax(nodes, walker, reach, known, context)
    run.prove(Certificate(fractional.price, (), np.zeros(0, np.int64), 1))
    if fractional.proven:
        run.offer(whole_cycles(fractional, nodes))
        if not run.over:
            close(run, fractional)


def whole_cycles(fractional: Fractional, nodes: Nodes) -> NDArray[np.int32]:
    """Turn the permutation into groups: pairs around each cycle, one triple in an odd one.

    Neighbours on a cycle have different colors; three in a row with three colors exist on every
    odd cycle, because two colors cannot alternate on it.
    """
    color = nodes.grid.color
    groups: list[list[int]] = []
    for cycle in cycles(fractional.mate):
        k = len(cycle)
        if k == 1:
            groups.append([int(cycle[0]), -1, -1])
            continue
        ring = cycle.tolist()
        if k % 2:
            at = next(i for i in range(k) if color[ring[i]] != color[ring[(i + 2) % k]])
            ring = ring[at:] + ring[:at]
            groups.append(sorted(ring[:3]))
            ring = ring[3:]
        groups.extend([min(p), max(p), -1] for p in zip(ring[::2], ring[1::2], strict=True))
    return np.array(groups, np.int32).reshape(-1, 3)


def close(run: Run, fractional: Fractional) -> None:
    """Steps 2 to 4."""
    hosted = np.flatnonzero(run.nodes.grid.home < FAR)
    singles = np.full((len(hosted), 3), -1, np.int32)
    singles[:, 0] = hosted
    dual = plain(fractional.price)
    slack = slacks_of(run.nodes.grid, dual, fractional.pairs)
    margin = max(2, int(np.median(np.abs(fractional.price)))) if run.nodes.size else 0
    for groups in (
        singles, run.groups, fractional.pairs[slack <= margin],
        run.walker.below(dual, max(1, margin // 3), 2, triples=True),
    ):  # fmt: skip
        run.pool.add(groups)
    master = Master(run.pool, fractional)
    unit = unit_for(run.nodes)
    whole = master.x.copy()
    first = True
    while not run.over and run.pays:
        dual = rounded(master, unit).dual
        run.pool.add(run.walker.below(dual, unit // 2, 2, triples=True))
        master.extend()
        slack = slacks_of(run.nodes.grid, dual, run.pool.groups) / unit
        rounder = Rounder(run.pool, run.pool.incidence(), slack)
        whole = round_all(run, rounder, master, whole, first)
        first = False
        if run.over:
            return
        if not (cut(run, rounder, master, whole) or cut(run, rounder, master, master.x)):
            branch_out(run)
            return
        if not price_out(run, master, unit):
            return
        run.gaps.append(run.cost - run.bound)
        run.context.tell("odd sets", cost=run.cost, bound=run.bound)


def round_all(
    run: Run, rounder: Rounder, master: Master, before: NDArray[np.float64], first: bool
) -> NDArray[np.float64]:
    """Round the master's solution, keeping what was rounded before where that is still tight.

    Returns the solution with what resisted still fractional.
    """
    count = len(rounder.pool)
    now = np.concatenate([master.x, np.zeros(count - len(master.x))])
    if not first:
        x = rounder.merge(np.concatenate([before, np.zeros(count - len(before))]), now)
        if round_open(run, rounder, x) or run.over:
            return x
        if len(rounder.open_components(x)):
            complete(run, rounder, x)
            return x
    x = now.copy()
    if not round_open(run, rounder, x):
        complete(run, rounder, x)
    return x


def round_open(run: Run, rounder: Rounder, x: NDArray[np.float64]) -> bool:
    """Round ``x`` at reduced cost 0, in place; whether it is whole and meets the bound."""
    count = len(x)
    for size, most in ((40, count), (120, count), (400, 40), (1500, 6)):
        left = len(rounder.open_components(x))
        if not left or left > most or run.context.stop.now():
            break
        rounder.round(x, size, TIGHT, 0, run.context.stop)
    offer_whole(run, rounder, x)
    return run.cost <= run.bound


def complete(run: Run, rounder: Rounder, x: NDArray[np.float64]) -> None:
    """Offer what becomes of ``x`` when its open components are made whole at any cost."""
    whole = x.copy()
    for size in (40, 120):
        rounder.round(whole, size, np.inf, np.inf, run.context.stop)
    offer_whole(run, rounder, whole)


def offer_whole(run: Run, rounder: Rounder, x: NDArray[np.float64]) -> None:
    """Offer a solution if it is whole."""
    if not len(rounder.open_components(x)):
        run.offer(rounder.pool.groups[x > 0.5])


def cut(run: Run, rounder: Rounder, master: Master, x: NDArray[np.float64]) -> int:
    """Add cuts from the components of ``x`` that are still fractional; return how many."""
    sets: list[NDArray[np.int64]] = []
    for nodes, columns in rounder.open_components(x):
        sets += violated_sets(nodes, run.pool.groups[columns], x[columns], run.rng)
    return master.cut(sets)


def price_out(run: Run, master: Master, unit: int) -> bool:
    """Solve the linear program over all pairs and triples; False when time ends first."""
    while True:
        if not master.solve(run.context.stop) or run.context.stop.now():
            return False
        certificate = rounded(master, unit)
        violated = run.walker.below(certificate.dual, -max(2, unit >> 20), 3, triples=True)
        if run.walker.cut_short:
            return False
        added = run.pool.add(violated)
        if not added:
            run.prove(best_certified(master, run.walker, unit))
            return True
        master.extend()


def branch_out(run: Run) -> None:
    """Enumerate every column that a better solution may use, and branch over them."""
    certificate = run.certificate
    room = (run.cost - 1) * certificate.unit - certificate.total
    walker = Walker(run.nodes.grid, run.context.seed, 1 << 22, stop=run.context.stop)
    every = walker.below(certificate.dual, room + 1, ALL, triples=True)
    if walker.full or walker.cut_short:
        return
    singles = run.pool.groups[run.pool.groups[:, 1] < 0]
    groups = np.concatenate([singles, every])
    groups = groups[slacks_of(run.nodes.grid, certificate.dual, groups) <= room]
    cost, best, unit = costs_of(run.nodes.grid, groups), run.cost, unit_for(run.nodes)
    if len(run.nodes.grid.extra):  # extras are so small beside costs: what is left of both is not
        price, finer = np.append(certificate.price, 0), certificate.unit  # 0 for the padding
        cost = cost * finer - price[groups].sum(axis=1)
        best = (best - 1) * finer - int(price.sum()) + 1
        unit = max(1, unit // finer)
    proved, better = branch(
        groups, cost, run.nodes.size, list(certificate.odd_sets), best, unit,
        run.effort.patient if run.patient else run.effort.branches, run.context.stop,
    )  # fmt: skip
    if better is not None:
        run.offer(groups[better])
    if proved:
        run.bound = run.cost
