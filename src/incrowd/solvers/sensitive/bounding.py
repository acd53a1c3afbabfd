"""The bounds of a run for sensitive models: what each row pays at least, and prices above that."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.charges import charged_prices
from incrowd.bounds.lawful_price import LawfulPriceBound, first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree, charged_tree
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices
from incrowd.bounds.pricing import VARIATION, pricing_of, sizes_that_pay
from incrowd.bounds.span_prices import in_many_intervals
from incrowd.bounds.support import HASTE, affordable, priceable, support_prices, uniqueness_prices
from incrowd.bounds.wide import wide_prices
from incrowd.problem.problem import Problem
from incrowd.run.gauge import Gauge
from incrowd.run.paying import Turns
from incrowd.solvers.engine.near import near_costs, near_rows
from incrowd.solvers.progress import Progress
from incrowd.solvers.sensitive.schedule import (
    CHARGING,
    PRICING,
    TELLING,
    few_classes,
    hopeless,
    price_schedules,
    scarce,
)

CONFIRMING = "confirming prices"
Schedules = tuple[LawfulPriceBound | None, LawfulPriceBound, PriceBound | None]


class Bounding:
    """The stages of a run that prove bounds.

    Attributes
    ----------
    schedules: of prices of lawful classes, of prices by size, and of k-anonymity's, None for those
        suited to the model and the table.
    tree, price: patterns of lawful classes, and the prices that guide the search.
    wide: whether there are too many patterns to list.  sized: whether prices by size guide.
    limited: whether time or a gap may end the run.
    charged: a tree and prices with charges, which a fractional release goes by; None for none.
    any_rows: what any k rows as a class prove, in units of 1/scale; None where that is not known.
    """

    tree: LawfulTree

    def __init__(
        self, problem: Problem, progress: Progress, schedules: Schedules, visits: int
    ) -> None:
        self.problem, self.progress, self.schedules, self.visits = (
            problem,
            progress,
            schedules,
            visits,
        )
        self.instance, self.k = problem.instance, problem.smallest_class
        self.stop, self.tell = progress.stop, progress.tell
        self.price = np.zeros(self.instance.distinct)
        self.wide = self.sized = False
        self.limited = self.stop.time_limit is not None or self.stop.gap is not None
        self.any_rows: int | None = None
        self.charged: tuple[LawfulTree, NDArray[np.float64]] | None = None

    def bound_at_once(self) -> None:
        """Bound classes of any k rows: so quick that no time limit is too short for it."""
        if self.k < 2:
            return
        self.prove(Prices(uniqueness_prices(self.instance, self.k), 1))
        if self.instance.ranged:  # a single visit may take 10 ms
            return
        visits = affordable(self.instance.columns, 0.0, self.visits)
        tree = PrefixTree(self.instance, self.stop)
        price, complete = support_prices(tree, self.k, visits, patient=True)
        if complete:
            self.any_rows = self.prove(Prices(price, 1))

    @property
    def few(self) -> bool:
        """Whether only few classes can be, each with some copies of scarce values."""
        return not self.wide and few_classes(self.tree)

    def prove(self, prices: Prices, lawful: bool = False) -> int:
        """Keep prices that prove more than all before; return what they prove."""
        bound = max(0, prices.bound(self.instance.counts))
        nothing = self.progress.certificate is None and self.progress.lawful is None
        if bound > self.progress.bound or nothing:
            self.progress.prove(prices, bound, lawful)
        return bound

    def bound_by_classes(self) -> None:
        """Each row pays at least its cheapest pattern that may hold a lawful class."""
        self.tree = LawfulTree(self.instance, *pricing_of(self.problem), self.stop)
        walked = self.tree.tree.walked
        self.tell("support bound", gauge=Gauge(walked))
        seconds = self.stop.left() / HASTE
        visits = affordable(self.instance.columns, seconds, self.visits)
        if self.instance.ranged:  # visits to intervals take longer
            visits = 0 if self.in_many_intervals() else min(visits, priceable(seconds))
        price, complete = first_prices(self.tree, visits)
        self.wide = not complete
        if self.wide:
            told = self.telling("prices")
            prices = wide_prices(self.instance, self.k, self.stop, PRICING, told)
        else:
            self.tell(CONFIRMING, gauge=Gauge(walked))
            prices = safe_prices(self.tree, price)
        self.prove(prices, lawful=not self.wide)
        self.first_price = self.price = prices.price / prices.quantum

    def in_many_intervals(self) -> bool:
        """Whether rows are in so many intervals that a single visit may take 10 ms."""
        near = near_rows(self.instance, self.progress.context.seed, self.stop)
        return in_many_intervals(self.instance, self.k, near_costs(self.instance, near, self.k))

    def bound_by_k(self) -> None:
        """The k-anonymity bound for the smallest lawful class: what sensitive prices start from."""
        if self.wide or self.k < 2:
            return
        stage, gauge = "k-anonymity prices", Gauge()
        told = self.telling(stage, gauge)
        tree = PrefixTree(self.instance, self.stop)
        bound, known = self.progress.bound, self.any_rows
        if self.limited and hopeless(tree, self.k, bound, self.visits, known):
            return
        schedule = self.schedules[2] or PriceBound.suited(self.instance)
        start = np.maximum(self.price, 0.0)
        u = schedule.ascend(tree, self.k, start, self.priced, told, gauge=gauge)
        self.tell(CONFIRMING, gauge=Gauge(tree.walked))
        certificate = certify(tree, self.k, u)
        bound = certificate.bound(self.instance.counts)
        if bound > self.progress.bound:
            self.progress.prove(certificate, bound)
            self.price = certificate.price / certificate.quantum

    def raise_prices(self) -> None:
        """Raise the prices as far as lawful classes allow."""
        if self.wide:
            return
        first, given = self.first_price, self.schedules[0]
        self.tell("prices", gauge=Gauge(self.tree.tree.walked))
        self.ascend(*price_schedules(self.tree, given, first, self.price))
        if self.priced():
            return
        if (self.tree.pricing.kind == VARIATION).any():
            tree = self.tree
            self.price_by_size()
            self.charge_patterns(tree)
        elif scarce(self.tree) and not self.charge_patterns(self.tree):
            self.ascend((LawfulPriceBound(),), self.price)

    def ascend(self, schedules: Sequence[LawfulPriceBound], u: NDArray[np.float64]) -> None:
        """Raise prices by schedules, one after the other, from ``u`` on."""
        for schedule in schedules:
            u = self.ascended(schedule, u)
        self.guided(u, self.tree)

    def ascended(self, schedule: LawfulPriceBound, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Raise prices by a schedule, until a round no longer pays.

        Scarce values have all rounds: their prices guide the search to classes for them, which the
        bound of the rounds does not tell.
        """
        rounds, gauge = Turns(), Gauge()
        told = self.telling("prices", gauge)
        patient = self.stop.thorough or scarce(self.tree)

        def tell(bound: float, share: float) -> None:
            rounds.note(bound)
            told(bound, share)

        def over() -> bool:
            return self.priced() or (rounds.idle and not patient)

        return schedule.ascend(self.tree, u, over, tell, gauge)

    def guided(self, u: NDArray[np.float64], tree: LawfulTree) -> bool:
        """Search by prices that prove more than all before; return whether they do."""
        self.tell(CONFIRMING, gauge=Gauge(tree.tree.walked))
        prices = safe_prices(tree, u)
        bound, price = self.proven(prices)
        more = bound > self.progress.bound
        if more:
            self.price, self.tree = price, tree
            self.progress.prove(prices, bound, lawful=True)
        return more

    def telling(self, stage: str, gauge: Gauge | None = None) -> Callable[[float, float], None]:
        """Begin a stage; return what reports the share of it that is done.

        ``gauge``: what tells that between two reports.
        """
        self.tell(stage, 0.0, gauge=gauge)
        return lambda _, share: self.tell(stage, share, gauge=gauge)

    def priced(self, share: float = PRICING) -> bool:
        """Whether prices have to leave what is left of the time to the search."""
        return self.stop.now() or self.stop.elapsed() > share * (self.stop.time_limit or np.inf)

    def price_by_size(self) -> None:
        """Raise the prices of t-closeness further by size of class, and search by those prices."""
        parts = pricing_of(self.problem, sizes_that_pay(self.problem))
        tree, gauge = LawfulTree(self.instance, *parts, self.stop), Gauge()
        told = self.telling("prices by size", gauge)
        u = self.schedules[1].ascend(tree, self.price, self.priced, told, gauge)
        self.sized = self.guided(u, tree)

    def charge_patterns(self, tree: LawfulTree) -> bool:
        """Charge each pattern once; return if there is room.

        Prices before guide the search; a fractional release goes by these where they tell more.
        """
        stop, told = partial(self.priced, CHARGING), self.telling("charges")
        tree = charged_tree(self.problem, tree, self.stop)
        prices = charged_prices(tree, self.price, stop, told)
        if prices is None:
            return False
        (bound, price), before = self.proven(prices), self.progress.bound
        if bound > before:
            self.progress.prove(prices, bound, lawful=True)
        if bound >= TELLING * before:
            self.charged = tree, price
        return True

    def proven(self, prices: Prices) -> tuple[int, NDArray[np.float64]]:
        """Return the bound that prices prove, and the prices in units of 1/scale."""
        bound = max(0, prices.bound(self.instance.counts))
        return bound, prices.price / prices.quantum
