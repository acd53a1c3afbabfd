"""From a table and a policy to a release that publishes the averages of its classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import lcm

import numpy as np

from incrowd.averages.axes import Axis, Ints, cost_of, members_of, priced
from incrowd.averages.bound import prices_of
from incrowd.averages.catalog import METHODS, Averaging, averaging, chosen
from incrowd.averages.exact import HansenMukherjee
from incrowd.averages.strata import Points, points_of, strata_of
from incrowd.driver.solve import Solved, require_enough
from incrowd.encoding.encoded import Coded, coded, locating
from incrowd.errors import HierarchyError, InputError, NoLawfulReleaseError, did_you_mean, listed
from incrowd.hierarchy.averages import Averages
from incrowd.hierarchy.build import DEAREST_ROW, weight_of
from incrowd.hierarchy.missing import bare_of
from incrowd.policy.base import Policy
from incrowd.policy.served import require_served
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context
from incrowd.tables.base import Edit, Source
from incrowd.tables.numbers import held_digits
from incrowd.text.missing import marks_for
from incrowd.text.units import counted

FINE = 10**6  # costs are counted to a millionth of a cell, or finer
QUANTUM = 1000  # prices to a thousandth of that


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class Averaged:
    """What is known of a release of averages.

    Attributes
    ----------
    axes: the averaged columns, with the rounding of each.
    classes: int64, shape (rows,): the class of each original row, dense numbers from 0.
    prices: int64, shape (rows,): in units of 1/(scale·QUANTUM), which sum to no more over a class
        of k rows than it costs; 0 where a stratum varies in one column, whose optimum is known.
    fewer: by the size of a set of rows, prices likewise for it, see ``bound.Priced``.
    cost: what the classes cost, exactly, in cells.
    """

    axes: tuple[Axis, ...]
    classes: Ints
    prices: Ints
    fewer: dict[int, Ints]
    cost: Fraction

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the averaged columns."""
        return tuple(axis.column for axis in self.axes)

    @property
    def uneven(self) -> int:
        """Number of classes in which a column has several numbers, summed over the columns."""
        order = np.argsort(self.classes, kind="stable")
        starts = np.flatnonzero(np.diff(self.classes[order], prepend=-1))
        found = 0
        for axis in self.axes:
            place = {number: n for n, number in enumerate(dict.fromkeys(axis.numbers))}
            number = np.array([place[each] for each in axis.numbers], np.int64)[axis.codes[order]]
            low, high = (least.reduceat(number, starts) for least in (np.minimum, np.maximum))
            found += int(np.count_nonzero(low != high))
        return found

    def edit(
        self, published: tuple[str, ...], order: Ints | None, kept: frozenset[str] = frozenset()
    ) -> Edit:
        """Return what turns the table into its release."""
        members, rows = members_of(self.classes), len(self.classes)
        shown = {axis.column: axis.shown(members, rows) for axis in self.axes}
        return Edit(published, shown, order, numbers=frozenset(shown), kept=kept)


def rules_of(policy: Policy) -> dict[str, Averages]:
    """Return the columns that are to be averaged, with their rules."""
    found = {column: bare_of(source) for column, source in policy.sources().items()}
    return {column: rule for column, rule in found.items() if isinstance(rule, Averages)}


def require_servable(policy: Policy, rules: Mapping[str, Averages]) -> None:
    """Raise OutOfScopeError for what does not go with averages.

    Raises
    ------
    InputError: there is no such method.
    """
    column, rule = next(iter(rules.items()))
    require_served(policy, "by averages", f"column {column!r}, {rule}: ")
    averaging(policy.method_id)


def require_averaging(policy: Policy, rules: Mapping[str, Averages]) -> None:
    """Raise InputError for a method that averages, where nothing is to be averaged."""
    names = [method.id for method in METHODS]
    if not rules and isinstance(policy.method, str) and policy.method in names:
        raise InputError(
            f"method {policy.method!r} forms classes whose averages are published: say which "
            "columns are averaged, such as --hierarchy income=mean"
        )


def encoded(source: Source, policy: Policy, rules: Mapping[str, Averages]) -> Coded:
    """Encode a table of which columns are averaged.

    Raises
    ------
    HierarchyError: another quasi-identifier has several values; an averaged column is none.
    OutOfScopeError: an option is not served by averages.
    InputError: see ``incrowd.encoding.encoded.coded``.
    """
    require_servable(policy, rules)
    others = {c: spec for c, spec in policy.hierarchies.items() if c not in rules}
    table = coded(source, replace(policy, hierarchies=others, method="auto"))
    for column, rule in rules.items():
        if column not in table.roles.qi:
            hint = did_you_mean(column, table.roles.qi)
            raise HierarchyError(
                f"hierarchy for the column {column!r}, which is not among the quasi-identifiers, "
                f"and {rule} is for these{hint}"
            )
    for tree in table.instance.trees:
        if tree.column not in rules and len(tree.leaves) > 1:
            raise HierarchyError(
                f"column {tree.column!r} has several values and is not averaged, as the "
                f"quasi-identifier {next(iter(rules))!r} is: columns with averages go with others "
                "that are averaged too (mean, median, centroid), or not identifying (--keep); or "
                "give all of them a range or a hierarchy with levels"
            )
    instance = table.instance
    scale = lcm(instance.scale, FINE)  # costs by ncp, and ranges, are in millionths already
    finer = scale // instance.scale
    if max(scale, finer * sum(tree.dearest for tree in instance.trees)) >= DEAREST_ROW:
        raise HierarchyError("the weights need more digits than fit; use rounder weights")
    return replace(table, instance=instance.times(finer))


def released(
    table: Coded, policy: Policy, rules: Mapping[str, Averages], context: Context
) -> tuple[Solved, Averaged]:
    """Return the classes of a release, and what is known of it.

    Raises
    ------
    UnnumberedError: an averaged column holds what is no number.
    NoLawfulReleaseError: fewer than k rows lack the same cells.
    OutOfScopeError: the method does not serve the table.
    """
    axes = axes_of(table, policy, rules)
    asked, rows = averaging(policy.method_id), table.source.rows
    classes, prices, exact = np.zeros(rows, np.int64), np.zeros(rows, np.int64), Fraction(0)
    names, count, fewer = set(), 0, dict[int, Ints]()
    scale = table.instance.scale
    strata = strata_of(axes, table.copy_of_row) if rows else []
    require_large(axes, strata, policy.k)
    for stratum in strata:
        points = points_of(axes, stratum, policy.k)
        method = chosen(asked, points)
        found = method.run(points, context.seed, context.stop)
        classes[stratum] = found + count
        count += int(found.max()) + 1
        names.add(method.id)
        best = optimum(method, found, points, context)
        if best is not None:
            exact += best
        else:
            priced = prices_of(points, scale * QUANTUM, context.seed, context.stop)
            prices[stratum] = priced.price
            for size, price in priced.fewer.items():
                fewer.setdefault(size, np.zeros(rows, np.int64))[stratum] = price
    averaged = Averaged(axes, classes, prices, fewer, cost_of(axes, members_of(classes)))
    cost = int(averaged.cost * scale)
    bound = min(cost, int(exact * scale + Fraction(int(prices.sum()), QUANTUM)))
    return solved(table, averaged, cost, bound, "+".join(sorted(names)), context), averaged


def axes_of(table: Coded, policy: Policy, rules: Mapping[str, Averages]) -> tuple[Axis, ...]:
    """Return the averaged columns, priced."""
    axes, weights = [], {}
    with locating(table.source):
        for column, rule in rules.items():
            marks = marks_for(policy.na, column)
            axis = Axis.of(column, table.source.encode(column), rule, marks)
            axes.append(axis.as_held(partial(held_digits, table.source, column)))
            weights[column] = weight_of(column, policy.weights.get(column, 1))
    return priced(axes, weights)


def optimum(method: Averaging, found: Ints, points: Points, context: Context) -> Fraction | None:
    """Return what the cheapest classes of a stratum cost, where that is known."""
    exact = HansenMukherjee()
    if exact.refuse(points) is not None:
        return None
    best = found if method.id == exact.id else exact.run(points, context.seed, context.stop)
    if context.stop.now():
        return None
    return cost_of(points.axes, [points.rows[member] for member in members_of(best)])


def solved(
    table: Coded, averaged: Averaged, cost: int, bound: int, method: str, context: Context
) -> Solved:
    """Return the classes as those of an instance."""
    solution = Solution.of(table.instance, table.by_copy(averaged.classes))
    ended = context.stop.why() if context.stop.now() else "finished"
    return Solved(solution, cost, bound, method or "auto", ended)


def require_large(axes: Sequence[Axis], strata: Sequence[Ints], k: int) -> None:
    """Raise NoLawfulReleaseError unless k rows or more lack the same cells."""
    for stratum in strata:
        if len(stratum) >= k:
            continue
        lacking = [axis.column for axis in axes if axis.missing[stratum[0]] >= 0]
        if not lacking and len(strata) == 1:
            require_enough(len(stratum), k)
        one = len(stratum) == 1
        which = f"lack{'s' if one else ''} "
        which += f"{listed(lacking)} alone" if lacking else "nothing"
        rows = counted(len(stratum), "row")
        raise NoLawfulReleaseError(
            f"a missing cell has no average, so rows that lack the same cells are released apart; "
            f"{rows} {which}, fewer than k = {k}: leave them out, fill the cells, or "
            "give the columns a range or a hierarchy with levels"
        )
