"""New rows beside caps on columns: changed cells are made dearer until the new rows meet the caps.

As in ``constraints.capped``: a price λ for each changed cell of a capped column, and a bound under
the dearer costs less Σ λ·limit is one under the user's, for new rows that join and for those that
do not.  The cells are those of the new rows; earlier ones stay as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.constraints.capped import (
    ATTEMPTS,
    FIRST,
    REFINEMENTS,
    SEARCH,
    Price,
    counting,
    dearer,
    fine,
    impossible,
    not_found,
    sure,
)
from incrowd.constraints.plan import Limit
from incrowd.existing.apart import JoiningApart
from incrowd.existing.classes import costs_of, replacements_of, solver
from incrowd.existing.covers import Ints, Published
from incrowd.existing.join import Joining
from incrowd.existing.linking import Searched
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance
from incrowd.run.stop import Share
from incrowd.solvers.base import Context

Make = Callable[[Instance, Context], Joining | JoiningApart]
"""How the rows of an instance join; its trees say what cells cost."""


class JoiningCapped:
    """The new rows under caps; asked what ``Joining`` is asked, it answers within them.

    Parameters
    ----------
    instance, published: as of ``Joining``.
    limits: the caps, each with the number of its column in ``instance``.
    """

    def __init__(
        self,
        instance: Instance,
        published: Published,
        make: Make,
        limits: Sequence[Limit],
        context: Context,
    ) -> None:
        self.instance, self.published, self.make = instance, published, make
        self.limits = [replace(limit, cells=instance.rows) for limit in limits]
        self.context = context
        self.plain = make(instance, self.share(FIRST))
        self.price = self.plain.price
        self.dual = 0

    def share(self, part: float) -> Context:
        """Return the context of one attempt: its part of the time limit."""
        stop = self.context.stop
        share = Share.of(stop, part * (stop.time_limit or float("inf")))
        return replace(self.context, stop=share)

    def best(self) -> Ints:
        """int64, shape (copies,): published class, or classes + number of a new class.

        Raises
        ------
        NoLawfulReleaseError: rows fit nowhere, or no way to place them meets the caps (proven).
        StoppedError: no attempt met the caps; says the least share of changed cells reached.
        """
        self.require_possible()
        prices, unit = [Price(limit) for limit in self.limits], fine(self.instance.trees)
        best, least, refined, tried = None, 0, 0, []
        while len(tried) < ATTEMPTS:
            before = [price.now for price in prices]
            place = self.at_prices(prices, unit)
            tried.append(place)
            counts = self.counts(place)
            cost, met = self.cost(place), self.met(counts)
            if met and (best is None or cost < least):
                best, least = place, cost
            for price, count in zip(prices, counts, strict=True):
                price.least = count if price.least is None else min(price.least, count)
                dearest = self.instance.trees[column_of(price.limit)].dearest
                price.learn(count, dearest * unit, met)
            refined += best is not None
            now = [price.now for price in prices]
            if now == before or not any(now) or refined > REFINEMENTS or self.over(best, least):
                break
        if best is None:
            raise not_found(prices, len(tried))
        for other in tried if self.plain.model.size_decides else []:
            best = self.mixed(best, other)
        return best

    def mixed(self, best: Ints, other: Ints) -> Ints:
        """Let rows join as they do in another placing where they pay less, as far as caps allow.

        Rows alike go one way at any price.  Those in new classes stay there.
        """
        leaves, place = self.instance.codes[self.instance.copies], best.copy()
        total = len(self.published.levels)
        gain = np.subtract(
            *(costs_of(leaves, self.instance.trees, self.published, each) for each in (best, other))
        )
        steps = np.subtract(*(self.changed(each).astype(np.int64) for each in (other, best)))
        room = np.array([limit.most for limit in self.limits]) - self.changed(best).sum(axis=0)
        free = np.flatnonzero((best < total) & (other < total) & (gain > 0))
        for copy in free[np.argsort(-gain[free], kind="stable")].tolist():
            if (steps[copy] <= room).all():
                place[copy] = other[copy]
                room -= steps[copy]
        return place

    def over(self, best: Ints | None, least: int) -> bool:
        """Whether there is nothing to gain, or no time."""
        stop = self.context.stop
        return stop.now() or (best is not None and stop.satisfied(least, self.bound()))

    def at_prices(self, prices: Sequence[Price], unit: int) -> Ints:
        """Place the rows where changed cells have these prices, and learn a bound of it."""
        asked: dict[int, int] = {}
        for price in prices:
            j = column_of(price.limit)
            asked[j] = asked.get(j, 0) + price.now
        if not any(asked.values()):
            return self.plain.best()
        trees = tuple(dearer(self.instance.trees, asked, unit))
        context = self.share(SEARCH)
        context.stop.gap = None  # of the dearer costs, it says nothing
        joining = self.make(replace(self.instance, trees=trees), context)
        place = joining.best()
        if sure(self.instance.trees, (j for j, price in asked.items() if price)):
            paid = sum(price.now * price.limit.most for price in prices)
            # costs are whole units, so a bound may be rounded up
            self.dual = max(self.dual, -((paid - joining.bound()) // unit))
        return place

    def counts(self, place: Ints) -> list[int]:
        """Return the changed cells under each cap."""
        return self.changed(place).sum(axis=0).tolist()

    def changed(self, place: Ints) -> NDArray[np.bool_]:
        """bool, shape (copies, caps): whether the cell under a cap is changed."""
        leaves, trees = self.instance.codes[self.instance.copies], self.instance.trees
        made = replacements_of(leaves, trees, self.published, place)
        ids = [made[tree.column].ids for tree in trees]
        return np.column_stack([ids[column_of(limit)] >= 0 for limit in self.limits])

    def met(self, counts: Sequence[int]) -> bool:
        """Whether these numbers of changed cells are within the caps."""
        return all(count <= limit.most for count, limit in zip(counts, self.limits, strict=True))

    def broken(self, place: Ints) -> bool:
        """Whether a placing breaks a cap."""
        return not self.met(self.counts(place))

    def cost(self, place: Ints) -> int:
        """What all copies pay."""
        leaves = self.instance.codes[self.instance.copies]
        return int(costs_of(leaves, self.instance.trees, self.published, place).sum())

    def bound(self) -> int:
        """What no way to place the copies within the caps costs less than."""
        return max(self.plain.bound(), self.dual)

    def require_possible(self) -> None:
        """Raise where a cap is below what every lawful release changes.

        Raises
        ------
        NoLawfulReleaseError: names the cap and the least share that any lawful release needs.
        """
        for limit in self.limits:
            trees = [counting(t, j == limit.column) for j, t in enumerate(self.instance.trees)]
            counted = replace(self.instance, trees=tuple(trees), scale=1)
            least = self.make(counted, self.context).bound()
            if least > limit.most:
                raise impossible(limit, least)


def column_of(limit: Limit) -> int:
    """Return the number of a capped column."""
    assert limit.column is not None
    return limit.column


def joining_of(
    instance: Instance, model: Model, seen: Searched, context: Context, sensitive: tuple[str, ...]
) -> Joining | JoiningApart | JoiningCapped:
    """Return how new rows join an earlier release: together, apart by fixed columns, within caps.

    Parameters
    ----------
    instance: the rows of ``seen``, or some of them.
    """

    def make(rows: Instance, own: Context) -> Joining | JoiningApart:
        if seen.fixed:
            return JoiningApart(rows, model, seen.published, own, sensitive, seen.fixed)
        return Joining(rows, model, seen.published, solver(model, own), sensitive)

    if seen.limits:
        return JoiningCapped(instance, seen.published, make, seen.limits, context)
    return make(instance, context)
