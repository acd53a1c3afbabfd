"""Bounds of wide tables: the columns are parted into groups, and each group is priced alone.

Claim.  Let prices of each group obey the price inequality (``incrowd.bounds.price``) in the table
of the group's columns alone.  Then no lawful release of the whole table costs less than the sum of
all prices.

Argument.  Within a group, a class of the release matches the pattern that its join shows there, and
has as many rows; so its prices of that group sum to at most what its cells in the columns of the
group cost.  Sum over groups, then over classes.

The number of patterns doubles with every column or two, so a table of dozens cannot be priced
whole; but a dozen columns make most rows of most tables rare.  Fewer and larger groups prove more:
what two groups prove is proven by their union as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prefix_tree import UNLIMITED, PrefixTree
from incrowd.bounds.price import PriceBound, certify, fitting, quantum_for
from incrowd.bounds.prices import ColumnGroup, Prices, better
from incrowd.bounds.rounds import Report, no_report
from incrowd.bounds.support import support_prices, uniqueness_prices
from incrowd.problem.instance import Instance
from incrowd.run.stop import Stop

VISITS = 800_000  # of the support searches of all groups; pricing takes 40 to 80 µs for each
VISITS_A_SECOND = 33_000  # the same where time is limited, by the seconds that prices may take
FIRST = 4  # columns in each of the first groups that are tried


@dataclass(frozen=True, eq=False)
class GroupTable:
    """Some columns: the table of these alone, and its support prices.

    row: int64, shape (distinct,): the row of that table that each row of the whole one becomes.
    """

    columns: tuple[int, ...]
    tree: PrefixTree
    row: NDArray[np.int64]
    support: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Copies of each row of the group's table."""
        return self.tree.instance.counts

    @cached_property
    def worth(self) -> int:
        """What the support prices prove, in units of 1/scale."""
        return int(self.support @ self.counts)

    def priced(self, k: int, quantum: int, stop: Callable[[], bool]) -> NDArray[np.int64]:
        """Return the best prices that the time allows, the support prices at least."""
        known = self.support * quantum
        if stop() or not self.worth:
            return known
        schedule = PriceBound.suited(self.tree.instance)
        u = schedule.ascend(self.tree, k, self.support.astype(np.float64), stop)
        found = certify(self.tree, k, u, quantum).price
        return max(found, known, key=lambda price: int(price @ self.counts))


def group_prices(
    instance: Instance, k: int, stop: Stop, share: float = 1.0, report: Report = no_report
) -> Prices:
    """Return prices of groups of columns, of a table that is too wide to be priced whole.

    Parameters
    ----------
    stop: the budget, of whose time limit the prices may have used a ``share`` when they are found;
        groups that come too late keep their support prices.
    report: called with the bound so far, in units of 1/scale, and the share that is done.
    """
    weakest = Prices(uniqueness_prices(instance, k), 1)
    if k < 2:
        return weakest
    begun, limit = stop.elapsed(), stop.time_limit
    seconds = np.inf if limit is None else max(0.0, share * limit - begun)

    def late(part: float) -> bool:
        return stop.now() or stop.elapsed() - begun > part * seconds

    visits = VISITS if limit is None else int(VISITS_A_SECOND * (1 + seconds))
    groups = parted(instance, k, visits, stop)
    work = np.cumsum([1 + group.tree.visits for group in groups])
    proven = sum(group.worth for group in groups)
    quantum = fitting(quantum_for(proven / instance.rows), instance, k)
    found: list[ColumnGroup] = []
    for group, part in zip(groups, (work / work[-1]).tolist(), strict=True):
        price = group.priced(k, quantum, partial(late, part))
        proven += int(price @ group.counts) // quantum - group.worth
        found.append(ColumnGroup(group.columns, price[group.row]))
        report(proven, part)
    price = np.sum([one.price for one in found], axis=0)
    prices = Prices(price, quantum, groups=tuple(found))
    return better(prices, weakest, instance.counts)  # as it is easily checked


def parted(instance: Instance, k: int, visits: int, stop: Stop) -> list[GroupTable]:
    """Part the columns into few groups whose support searches touch at most ``visits`` nodes.

    Each column alone is always within reach, also when time is up.
    """
    m = instance.columns
    # so that each group gets its share of the telling columns
    order = np.argsort([-entropy(instance, j) for j in range(m)], kind="stable")
    best = supported(instance, k, dealt(order, m), UNLIMITED, Stop())
    number = -(-m // FIRST)
    while number < m:
        groups = supported(instance, k, dealt(order, number), visits, stop)
        if groups is None:
            break
        best = max(groups, best or groups, key=lambda some: sum(group.worth for group in some))
        if number == 1:
            break
        number = max(1, number * 7 // 8)
    assert best is not None
    return best


def dealt(order: NDArray[np.int64], number: int) -> list[tuple[int, ...]]:
    """Deal columns in this order to so many groups, in turn."""
    return [tuple(sorted(order[n::number].tolist())) for n in range(number)]


def supported(
    instance: Instance, k: int, parts: list[tuple[int, ...]], visits: int, stop: Stop
) -> list[GroupTable] | None:
    """Return groups of these columns with support prices.

    None for more than so many visits, and where time ends first.
    """
    groups = []
    for columns in parts:
        alone, row = instance.of_columns(columns)
        tree = PrefixTree(alone, stop)
        price, complete = support_prices(tree, k, visits)
        if not complete:
            return None
        visits -= tree.visits
        groups.append(GroupTable(columns, tree, row, price))
    return groups


def entropy(instance: Instance, column: int) -> float:
    """Return the entropy of a column's values, in nats."""
    share = np.bincount(instance.codes[:, column], instance.counts) / instance.rows
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())
