"""The stages of the engine that bound k-anonymous releases, and guide its search."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.price import PriceBound, certify, reach_of
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.span_prices import in_many_intervals, spans_prove_more, suits_spans
from incrowd.bounds.support import HASTE, affordable, priceable, support_prices, uniqueness_prices
from incrowd.bounds.wide import wide_prices
from incrowd.run.gauge import Gauge
from incrowd.solvers.engine.near import near_costs
from incrowd.solvers.engine.search import Search

FEW_VISITS = 200_000  # of a support search among intervals, up to which patterns are priced
# columns from which on half as many visits are too many: annealing among so many patterns comes to
# worse releases there than trading does (5,000 rows of 40 columns, 60 s: 55,852 and 46,889 cells)
MANY_COLUMNS = 36
LONGER = 0.7  # share of a time limit for prices of wide tables with classes too large for blocks
LONG = 0.55  # the same where nothing but trading follows for want of time


class PricingStages:
    """Support prices, and rounds that raise them.

    Attributes
    ----------
    search: what prices guide.
    given: the schedule asked for; None for the one suited to the table.
    supported: what each row pays at least by itself; None where that was not found at once.
    reach: how much farther single prices go, from the rounds at hand on.
    """

    def __init__(self, search: Search, given: PriceBound | None) -> None:
        self.search, self.given, self.progress = search, given, search.progress
        self.tell, self.stop = search.tell, search.stop
        self.supported: Prices | None = None
        self.reach = reach_of(search.instance)

    def bound_at_once(self) -> None:
        """Bound the release, so quickly that no time limit is too short for it."""
        search = self.search
        self.tell("support bound", gauge=Gauge(search.tree.walked))
        self.keep(Prices(uniqueness_prices(search.instance, search.k), 1))
        if search.instance.ranged:
            return
        visits = affordable(search.instance.columns, 0.0, search.means.visits)
        price, complete = support_prices(search.tree, search.k, visits, patient=True)
        if complete:
            self.supported = Prices(price, 1)
            self.keep(self.supported)

    def bound_by_support(self) -> None:
        """Find the support bound; on a table too wide for prices, those of groups of columns."""
        self.tell("support bound", gauge=Gauge(self.search.tree.walked))
        search, counts = self.search, self.search.instance.counts
        visits = affordable(search.instance.columns, search.limit / HASTE, search.means.visits)
        most = self.half_of_many(priceable(search.shares.pricing * search.limit))
        if suits_spans(search.instance, search.k):  # prices by spans take seconds
            most = min(most, FEW_VISITS)
        # what takes more is too wide anyhow: visits to intervals take longer, and those to many
        # columns prove less than sets of near rows
        if search.instance.ranged or search.instance.columns >= MANY_COLUMNS:
            visits = min(visits, most)
        known, attained = self.supported, self.attained()
        if attained is not None and in_many_intervals(search.instance, search.k, attained):
            visits = 0  # a single one may take 10 ms
        if known is None:
            price, complete = support_prices(search.tree, search.k, visits, attained)
            known = Prices(price, 1) if complete else None
        if known is not None:
            self.progress.bound = known.bound(counts)
        search.wide = known is None or search.tree.visits > most
        if known is None or search.wide:
            known = better(known, self.prices_by_groups(), counts)
        self.keep(known)

    def half_of_many(self, visits: int) -> int:
        """Return how many visits are too many: half of those given where columns are many."""
        instance = self.search.instance
        return visits // 2 if instance.plain and instance.columns >= MANY_COLUMNS else visits

    def attained(self) -> NDArray[np.int64] | None:
        """Return what rows would pay with near rows, where columns are generalized to ranges.

        Intervals are many: the search for the cheapest ones ends sooner from there.
        """
        search = self.search
        if not search.instance.ranged:
            return None
        return near_costs(search.instance, search.near, search.k)

    def keep(self, prices: Prices) -> None:
        """Let prices prove their bound, and guide the search."""
        self.progress.prove(prices, prices.bound(self.search.instance.counts))
        self.search.price = prices.price / prices.quantum

    def keep_better(self, prices: Prices) -> None:
        """Let prices prove their bound and guide the search, if they prove more than those kept."""
        known, counts = self.progress.certificate, self.search.instance.counts
        self.keep(better(known, prices, counts))

    def prices_by_groups(self) -> Prices:
        """Price groups of columns alone."""
        self.tell("prices", 0.0)

        def report(bound: float, share: float) -> None:
            self.progress.bound = max(self.progress.bound, int(bound))
            self.tell("prices", share)

        search, share = self.search, self.search.shares.pricing
        if search.instance.plain and not search.rebuilds():
            share = LONG if search.blocks_suit else LONGER
        return wide_prices(search.instance, search.k, self.stop, share, report)

    def first_prices(self) -> None:
        """Run a quarter of the price rounds, for a guide to the first search."""
        search = self.search
        schedule = self.given or PriceBound.suited(search.instance)
        schedule = replace(schedule, visits=min(schedule.visits, search.visits // 3))
        most = self.half_of_many(priceable())
        if search.blocks_suit and schedule.visits > most:
            schedule = replace(schedule, visits=most, once=True)
        search.early = search.shares.early
        self.schedule = schedule
        if search.early:
            first, self.schedule = schedule.split()
            self.raise_prices(first)

    def bound_by_prices(self) -> None:
        """Run the other rounds."""
        self.raise_prices(self.schedule)
        if not self.enough_prices() and spans_prove_more(self.search.instance, self.search.k):
            self.keep_better(self.prices_by_groups().by_patterns())
        self.search.priced = self.progress.bound > 0 and not self.stop.now()

    def raise_prices(self, schedule: PriceBound) -> None:
        """Raise the prices; keep the certificate if it is better."""
        if self.progress.bound == 0:
            return
        tree, k = self.search.tree, self.search.k
        gauge = Gauge()
        self.tell("prices", gauge=gauge)

        def report(bound: float, share: float) -> None:
            self.tell("prices", share, gauge=gauge)

        u = schedule.ascend(
            tree, k, self.search.price, self.enough_prices, report, gauge=gauge, reach=self.reach
        )
        if schedule.once and tree.visits > schedule.visits:
            # too wide after all: where most cells of a column are alike, a pattern without them is
            # cheap and supported, and support prices are low; at better ones more patterns matter
            self.search.wide = True
            self.keep_better(self.prices_by_groups())
            return
        self.tell("confirming prices", gauge=Gauge(tree.walked))
        certificate = certify(tree, k, u)
        if certificate.bound(tree.instance.counts) > self.progress.bound:
            self.keep(certificate)
            self.search.raised = True

    def enough_prices(self) -> bool:
        """Whether to leave the prices for the release: under a short time limit."""
        limit, share = self.stop.time_limit, self.search.shares.pricing
        return self.stop.now() or (limit is not None and self.stop.elapsed() > share * limit)
