"""Which published class each new row joins, and which new classes the others form.

A row may join a published class whose labels are its own values or ancestors of them; it then
pays what those labels cost it.  Or it becomes part of a new class of new rows.

1. The cheapest published classes that cover each row.
2. The rows that a new class might serve better (by their support bound) are solved as a table of
   their own, the others join; in small tables also: all that would pay on joining, only those
   that no class covers, and all.
3. Passes while they pay: new classes whose rows join more cheaply dissolve, surplus rows leave,
   joined rows enter new classes that cover them more cheaply.
4. Rows left over, too few for a class, take along the rows that this costs least.

The bound: with prices π for the new rows as a table by themselves, row r pays at least
min(π_r, its cheapest join): in a new class the mean of the rows' lowered prices is at most the
cost of a row (lowering a price never breaks a certificate), and who joins pays a join.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import certify
from incrowd.bounds.prices import Prices
from incrowd.bounds.support import support_prices
from incrowd.errors import NoLawfulReleaseError
from incrowd.existing.covers import FAR, Published, covers
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import places_of_spans
from incrowd.kernels.types import Ints
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.solution import Solution

OPTIONS = 6  # published classes that a row may choose from under models beyond k
PASSES = 8
SEVERAL = 5_000  # new rows up to which several starts are tried
VISITS = 30_000_000  # of the search for supports
FEW = 1_000  # rows that may help others whose sensitive values they lack
WIDE = 60  # rows of a new class up to which each is tried without each of its rows

Solve = Callable[[Instance], tuple[Ints, NDArray[np.float64]] | None]
"""Classes of an instance's copies and prices of its rows; None when no release of it is lawful."""


class LostRowsError(NoLawfulReleaseError):
    """Some new rows fit nowhere; ``copies``: int64, their numbers."""

    def __init__(self, copies: Ints, message: str) -> None:
        super().__init__(message)
        self.copies = copies

    def __reduce__(self) -> tuple[Any, ...]:
        """As itself, also out of a task of Spark."""
        return type(self), (self.copies, str(self))


@dataclass(eq=False)
class Joining:
    """The new rows and where each of their copies goes.

    Attributes
    ----------
    instance: the new rows; model: what classes of the union obey.
    published: the classes of the earlier release.
    solve: makes classes of some of the rows by themselves.
    sensitive: names of the sensitive columns, for messages.
    """

    instance: Instance
    model: Model
    published: Published
    solve: Solve
    sensitive: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.k = self.model.smallest_class(self._table)
        options = 1 if self.model.size_decides else OPTIONS
        p = self.published
        self.covers = covers(self.instance.codes, self.trees, p.levels, p.nodes, options)
        self.cheapest = self.covers.cost[self.instance.copies, 0]
        self.price = np.zeros(self.instance.distinct)

    @property
    def trees(self) -> tuple[Family, ...]:
        """What the values of each column may become."""
        return self.instance.trees

    @cached_property
    def _table(self) -> Group:
        instance = self.instance
        return Group(instance.sensitive_codes[instance.copies], self.sizes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each sensitive attribute, in the union."""
        most = self.instance.sensitive_codes.max(axis=0, initial=0)
        for values in self.published.values:
            most = np.maximum(most, values.max(axis=0, initial=0))
        return tuple(int(code) + 1 for code in most)

    def best(self) -> Ints:
        """int64, shape (copies,): published class, or classes + number of a new class.

        Raises
        ------
        NoLawfulReleaseError: some rows fit nowhere.
        """
        # alone: first the copies that some new class might serve better than joining does
        starts = [self.support[self.instance.copies] < self.cheapest]
        if self.instance.rows <= SEVERAL:
            starts += [self.cheapest > 0, self.cheapest >= FAR, np.ones(self.instance.rows, bool)]
        best, least, seen = None, FAR, set()
        for alone in starts:
            if alone.tobytes() in seen:
                continue
            seen.add(alone.tobytes())
            place = self.from_start(alone)
            cost = self.cost(place)
            if best is None or cost < least:
                best, least = place, cost
        assert best is not None
        return best

    @cached_property
    def support(self) -> Ints:
        """int64, shape (distinct,): what a row pays in a new class at the least."""
        if self.instance.rows < self.k:
            return np.where(self.covers.cost[:, 0] < FAR, FAR, 0)
        price, complete = support_prices(PrefixTree(self.instance), self.k, VISITS)
        return price if complete else np.zeros_like(price)

    def from_start(self, alone: NDArray[np.bool_]) -> Ints:
        """Solve some copies alone, let the others join, improve."""
        place, refused = self.joined(np.flatnonzero(~alone))
        alone = alone | refused
        rest = np.flatnonzero(alone)
        classes = self.solved(rest) if len(rest) else np.zeros(0, np.int64)
        if classes is None:
            place = self.with_helpers(place, rest)
        else:
            place[rest] = len(self.published.levels) + classes
        return self.improved(place)

    def joined(self, copies: Ints, beside: Ints | None = None) -> tuple[Ints, NDArray[np.bool_]]:
        """Let copies join the cheapest class that stays lawful; tell which found none.

        ``beside``: where copies that have joined before are.
        """
        place = np.full(self.instance.rows, -1)
        refused = np.zeros(self.instance.rows, bool)
        if self.model.size_decides:
            place[copies] = self.covers.place[self.instance.copies[copies], 0]
            return place, refused
        values = self.instance.sensitive_codes[self.instance.copies]
        held = self.with_joined(np.full_like(place, -1) if beside is None else beside)
        waiting = copies
        for option in range(OPTIONS):
            wanted = self.covers.place[self.instance.copies[waiting], option]
            left = [waiting[wanted < 0]]
            for c in np.unique(wanted[wanted >= 0]).tolist():
                who = waiting[wanted == c]
                fits = self.admitted(held[c], values[who])
                held[c] = np.vstack([held[c], values[who][fits]])
                place[who[fits]] = c
                left.append(who[~fits])
            waiting = np.sort(np.concatenate(left))
        refused[waiting] = True
        return place, refused

    def with_joined(self, place: Ints) -> list[NDArray[np.int32]]:
        """Return the sensitive values of the published classes and of those who joined them."""
        held = list(self.published.values)
        if not self.model.size_decides:
            values = self.instance.sensitive_codes[self.instance.copies]
            for c in np.unique(place[(place >= 0) & (place < len(held))]).tolist():
                held[c] = np.vstack([held[c], values[place == c]])
        return held

    def admitted(self, held: NDArray[np.int32], values: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which rows a class can take in and stay lawful: all, or one after the other."""
        if self.lawful(np.vstack([held, values])):
            return np.ones(len(values), bool)
        fits = np.zeros(len(values), bool)
        for i in range(len(values)):
            more = np.vstack([held, values[i : i + 1]])
            if self.lawful(more):
                held, fits[i] = more, True
        return fits

    def lawful(self, values: NDArray[np.int32]) -> bool:
        """Whether rows with these sensitive values are a lawful class."""
        return self.model.lawful(Group(values, self.sizes), self._table)

    def solved(self, copies: Ints) -> Ints | None:
        """Return classes of these copies by themselves; None when no release of them is lawful."""
        instance = self.instance
        rows = instance.copies[copies]
        secret = instance.sensitive_codes[rows] if instance.sensitive is not None else None
        part, copy_of = from_codes(instance.codes[rows], instance.trees, secret, instance.scale)
        found = self.solve(part)
        if found is None:
            return None
        classes, price = found
        self.price[rows] = np.maximum(self.price[rows], price[part.copies[copy_of]])
        return classes[copy_of]

    def with_helpers(self, place: Ints, rest: Ints) -> Ints:
        """Make one class of the rows that fit nowhere and those that help them at least cost."""
        place = place.copy()
        near = rest[self.cheapest[rest] < FAR]
        again, refused = self.joined(near, place)
        place[near] = again[near]
        lost = np.concatenate([rest[self.cheapest[rest] >= FAR], near[refused[near]]])
        if not len(lost):
            return place
        others = np.flatnonzero(~np.isin(np.arange(self.instance.rows), lost))
        others = others[np.argsort(self.burden(lost, others), kind="stable")]
        values, plain = self.instance.sensitive_codes[self.instance.copies], self.model.size_decides
        orders = [others] if plain else [others, self.evenly(lost, others)[:FEW]]
        for helpers in orders:
            for count in range(max(0, self.k - len(lost)), len(helpers) + 1):
                group = np.concatenate([lost, helpers[:count]])
                if not self.lawful(values[group]):
                    continue
                trial = place.copy()
                trial[group] = len(self.published.levels)
                if plain or all(map(self.lawful, self.with_joined(trial))):
                    return trial
        models = self.model.in_words(self.sensitive)
        raise LostRowsError(
            lost,
            f"{len(lost)} of the {self.instance.rows} new rows fit no published class, and "
            + ("cannot form a lawful one" if plain else "no lawful one was found for them")
            + f" ({models}) even with the others: hold them back until "
            "more rows come (--hold-back, hold_back=), or publish the whole table anew",
        )

    def evenly(self, lost: Ints, others: Ints) -> Ints:
        """Return the others, first those whose sensitive values few of all before them have."""
        values = self.instance.sensitive_codes[self.instance.copies]
        rank = np.zeros(len(others), np.int64)
        for own, theirs in zip(values[lost].T, values[others].T, strict=True):
            for value in np.unique(theirs):
                at = np.flatnonzero(theirs == value)
                rank[at] = np.maximum(rank[at], np.arange(len(at)) + (own == value).sum())
        return others[np.argsort(rank, kind="stable")]

    def burden(self, lost: Ints, others: Ints) -> Ints:
        """What it costs to take each of the others into a class with the lost rows."""
        instance = self.instance
        codes, rows = instance.codes[instance.copies[lost]], instance.copies[others]
        total = np.zeros(len(others), np.int64)
        for j, tree in enumerate(self.trees):
            code = instance.codes[rows, j]
            low = np.minimum(code, codes[:, j].min())
            high = np.maximum(code, codes[:, j].max())
            total += tree.join_costs(low, high)
        return total * (len(lost) + 1) - np.minimum(self.cheapest[others], FAR)

    def new_classes(self, place: Ints) -> tuple[Ints, Solution | None]:
        """Return the copies in new classes, and these classes."""
        fresh = np.flatnonzero(place >= len(self.published.levels))
        if not len(fresh):
            return fresh, None
        rows = self.instance.copies[fresh]
        part = Instance(self.instance.codes[rows], np.ones(len(rows), np.int64), self.trees)
        return fresh, Solution.of(part, place[fresh])

    def costs(self, place: Ints) -> Ints:
        """int64, shape (copies,): what each copy pays."""
        paid = np.zeros(self.instance.rows, np.int64)
        for option in range(self.covers.place.shape[1]):
            hit = self.covers.place[self.instance.copies, option] == place
            paid[hit] = self.covers.cost[self.instance.copies[hit], option]
        fresh, solution = self.new_classes(place)
        if solution is not None:
            paid[fresh] = solution.class_costs[solution.classes]
        return paid

    def cost(self, place: Ints) -> int:
        """What all copies pay."""
        return int(self.costs(place).sum())

    def improved(self, place: Ints) -> Ints:
        """Move rows between new and published classes while that pays (k-anonymity only)."""
        if not self.model.size_decides:
            return place
        best = self.cost(place)
        for _ in range(PASSES):
            trial = self.entered(self.left(place))
            cost = self.cost(trial)
            if cost >= best:
                break
            place, best = trial, cost
        return place

    def left(self, place: Ints) -> Ints:
        """Let rows leave new classes for published ones: whole classes, or what is beyond k."""
        place = place.copy()
        fresh, solution = self.new_classes(place)
        if solution is None:
            return place
        paid = self.costs(place)[fresh]
        join = self.cheapest[fresh]
        gain = paid - join
        target = self.covers.place[self.instance.copies[fresh], 0]
        order = np.lexsort((-gain, solution.classes))
        starts = np.concatenate([[0], np.cumsum(solution.sizes)])
        for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            who = order[begin:end]
            whole = int(gain[who].sum()) if join[who].max() < FAR else -1
            leaving = who[: max(0, len(who) - self.k)]
            leaving = leaving[gain[leaving] > 0]
            if gain[leaving].sum() <= max(0, whole):
                leaving = who if whole >= 0 else who[:0]
                if self.k < len(who) <= WIDE:
                    spared = self.spared(fresh[who], who, max(0, whole))
                    leaving = spared if len(spared) else leaving
            place[fresh[leaving]] = target[leaving]
        return place

    def spared(self, members: Ints, who: Ints, least: int) -> Ints:
        """Return the rows whose leaving gains most, and more than ``least``: none otherwise.

        Those that are alike leave, or all that differ from one value of one column.
        """
        rows = self.instance.copies[members]
        join = self.cheapest[members]
        before = len(rows) * self.row_cost(rows)
        best, found = least, who[:0]
        codes = self.instance.codes[rows]
        trials = [rows == row for row in np.unique(rows).tolist()]
        trials += [column != code for column in codes.T for code in np.unique(column).tolist()]
        for leaving in trials:
            rest = rows[~leaving]
            if not leaving.any() or len(rest) < self.k or join[leaving].max() >= FAR:
                continue
            gain = before - len(rest) * self.row_cost(rest) - int(join[leaving].sum())
            if gain > best:
                best, found = gain, who[leaving]
        return found

    def row_cost(self, rows: Ints) -> int:
        """What each row of a class of these distinct rows pays."""
        codes = self.instance.codes[rows]
        low, high = codes.min(axis=0), codes.max(axis=0)
        both = zip(self.trees, low[:, None], high[:, None], strict=True)
        return sum(int(tree.join_costs(*ends)[0]) for tree, *ends in both)

    def entered(self, place: Ints) -> Ints:
        """Let joined rows enter new classes that cover them at a lower cost."""
        place = place.copy()
        fresh, solution = self.new_classes(place)
        if solution is None:
            return place
        ends = zip(self.trees, *(each.T for each in solution.spans), strict=True)
        levels, nodes = map(np.column_stack, zip(*(places_of_spans(*x) for x in ends), strict=True))
        names = np.unique(place[fresh])  # Solution.of numbers them in this order
        inner = covers(self.instance.codes, self.trees, levels, nodes, 1)
        cost = inner.cost[self.instance.copies, 0]
        better = (place < len(self.published.levels)) & (cost < self.cheapest)
        place[better] = names[inner.place[self.instance.copies[better], 0]]
        return place

    def bound(self) -> int:
        """Return what the new rows pay at the least, in units of 1/scale."""
        instance, join = self.instance, self.covers.cost[:, 0]
        if instance.rows < self.k:
            return int(join @ instance.counts) if (join < FAR).all() else 0
        tree = PrefixTree(instance)
        least = Prices(np.minimum(self.support, join), 1).bound(instance.counts)
        guess = np.minimum(self.price, join.astype(np.float64))
        return max(least, certify(tree, self.k, guess).bound(instance.counts))


def count_broken(
    model: Model, member: Ints, values: NDArray[np.int32], sizes: tuple[int, ...]
) -> int:
    """Return how many classes break a model."""
    if not len(member):
        return 0
    return int((~model.lawful_classes(Classes(member, Group(values, sizes)))).sum())
