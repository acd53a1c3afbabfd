"""The price inequality for sensitive models: no lawful class may be worth more than it costs.

Claim checked: for every pattern p and every lawful class C of rows that match p, the prices of C
sum to at most |C|·cost(p)·quantum.  Not every class is tried: a *rule* says what all lawful
classes have in common, and asks for the dearest class of that kind.  Proofs, also that the cuts
of the search hide nothing: docs/explanation/proof.md, "Lawful classes".

Write e for a row's price less cost(p)·quantum, its excess.  A pattern is fine under a rule when
no class of at least k rows (k: ``price_k``) that the rule admits has a positive sum of e; it is
fine when one of the rules says so.

    distinct   at least l values                            exact: dearest row of l values, the
                                                            dearest rest up to k, all e > 0
    whole      all rows of at least l people, whose rows    exact: the dearest people, and all
               agree in all columns                         with a positive sum of e
    frequency  no value in more than 1/l of the rows        exact: classes of two sizes
    share      no value in more than ``cap`` of the rows    sizes k … k + 5, and all above at once
    recursive  nor in ``cap`` of all rows but ``less``      likewise
    majorized  entropy or recursive diversity               sizes k … k + 7, see majorized.py
    shares     each value's share as the model bounds it    likewise
    closeness  at most a share t moved, equal distance      all sizes at once; any slope will do
    sizes      the same                                     size by size, see sizes.py
    once       closeness or shares: not whether a pattern is fine, but what is charged where no
               rule says so, see charges.py and capped.py
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from incrowd.checker import majorized
from incrowd.checker.alike import whole_exceeds
from incrowd.checker.capped import CappedCharges
from incrowd.checker.charges import Charges, Met
from incrowd.checker.files import MARK, Proof
from incrowd.checker.inequality import Ints, Rows, State
from incrowd.checker.limits import allowed, require_within
from incrowd.checker.majorized import entropy_cap
from incrowd.checker.models import columns_of, fewest_of, nearest, number, share_table
from incrowd.checker.people import together
from incrowd.checker.rejection import require
from incrowd.checker.shares import NAMES, Share
from incrowd.checker.sizes import MOST_SIZES, BySize

SIZES, STEPS = 6, 4
UNIT = 4096  # parts of a row in which shares are counted for all large classes at once
ENTRIES, FEW = 1 << 14, 1 << 8  # looked at in all for each row, and for so many rows more
NO_RULE = "the models imply no such pricing rule"
Plain = Sequence[dict[str, Any]]


def implied(models: Plain, sensitive: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rules that hold for every class that obeys the models."""
    rules: list[dict[str, Any]] = []
    for model in models:
        kind = model.get("model")
        if kind == "people":
            l, whose = ceil(number(model, "k", whole=True)), together(model, MARK)  # noqa: E741
            rules.append({"rule": "distinct", "l": l, "column": whose})
            if model.get("whole"):  # which the re-check has seen to
                rules.append({"rule": "whole", "l": l, "column": whose})
            continue
        for column in [] if kind == "k-anonymity" else columns_of(model, sensitive):
            cap = Fraction(1)
            if model.get("once"):
                rules.append(
                    {"rule": "distinct", "l": fewest_of(model, sensitive, models), "column": column}
                )
                continue
            if kind == "t-closeness":
                apart, t = nearest(model, sensitive[column].n_unique()), number(model, "t")
                if apart == 1 or t < apart:  # total variation is t/apart at most
                    rules.append({"rule": "closeness", "t": str(t / apart), "column": column})
                continue
            if kind in NAMES:
                rules.append({"rule": "shares", **model, "column": column})
                if kind == "delta-disclosure":  # every value is there
                    all_of = sensitive[column].n_unique()
                    rules.append({"rule": "distinct", "l": all_of, "column": column})
                if kind == "alpha-k" and "values" not in model:  # 1/alpha is l or more
                    l = floor(1 / number(model, "alpha"))  # noqa: E741
                    rules.append({"rule": "frequency", "l": l, "column": column})
                continue
            l = number(model, "l", whole=kind != "entropy")  # noqa: E741
            name = "frequency" if kind == "frequency" else "distinct"
            rules.append({"rule": name, "l": ceil(l), "column": column})
            if kind == "entropy":
                cap = entropy_cap(l, sensitive[column].n_unique())
            elif kind == "recursive":  # r₁ < c·(n − r₁ − (l − 2)) for l ≥ 2
                c = number(model, "c")
                cap = c / (1 + c) if l > 1 else c
            if cap < 1:
                rules.append({"rule": "share", "cap": str(cap), "column": column})
            if cap < 1 and kind == "recursive":
                rules[-1] |= {"rule": "recursive", "less": max(int(l) - 2, 0)}
            if cap < 1:
                law = {x: model[x] for x in ("model", "l", "c") if x in model} | {"cap": str(cap)}
                rules.append({"rule": "majorized", "law": law, "column": column})
    return rules


class Case(NamedTuple):
    """Classes of ``size`` units, ``unit`` a row; of value v ``cap[v]``, and ``spare`` beyond.

    ``low``: of value v at least so many units.
    """

    size: int
    unit: int
    cap: Ints
    spare: int = 0
    low: Ints | None = None


def cases_of(rule: dict[str, Any], k: int, table: Ints, shares: Sequence[Share] = ()) -> list[Case]:
    """Return what the rule admits; none for distinct.

    ``table``, ``shares``: the rows of each value, and its least and largest share.
    """
    if rule["rule"] == "frequency":
        l, k = rule["l"], max(k, rule["l"])  # noqa: E741
        most = -(-k // l)
        return [Case(k, 1, k // l + 0 * table), Case(l * most, 1, most + 0 * table)]
    if rule["rule"] in ("share", "recursive"):
        cap, less = Fraction(rule["cap"]), rule.get("less")
        sizes = range(k, k + SIZES)
        most = [floor(n * cap) if less is None else ceil((n - less) * cap) - 1 for n in sizes]
        cases = [Case(n, 1, max(x, 0) + 0 * table) for n, x in zip(sizes, most, strict=True)]
        unit = cap.denominator
        return [*cases, Case((k + SIZES) * unit, unit, (k + SIZES) * cap.numerator + 0 * table)]
    if rule["rule"] == "shares":
        large = share_case((k + SIZES) * UNIT, UNIT, shares)
        return [*(share_case(n, 1, shares) for n in range(k, k + SIZES)), large]
    if rule["rule"] == "majorized":
        cap = Fraction(rule["law"]["cap"])
        large, unit = k + majorized.sizes_from(k), cap.denominator
        return [Case(n * unit, unit, n * cap.numerator + 0 * table) for n in (k, large)]
    if rule["rule"] in ("closeness", "sizes"):
        t, total = share_of(rule), int(table.sum())
        k += rule.get("sizes", 0)
        unit = t.denominator * total
        return [Case(k * unit, unit, k * t.denominator * table, k * total * t.numerator)]
    return []


def share_of(rule: dict[str, Any]) -> Fraction:
    """Return the share of a class that may move: all of it, where t is larger."""
    return min(Fraction(rule["t"]), Fraction(1))


def share_case(size: int, unit: int, shares: Sequence[Share]) -> Case:
    """Return the classes of whole rows of one size, or of parts of rows, rounded outwards."""
    inward = unit == 1
    cap = [(floor if inward else ceil)(size * most) for _, most in shares]
    low = [(ceil if inward else floor)(size * least) for least, _ in shares]
    return Case(size, unit, np.array(cap, np.int64), low=np.array(low, np.int64))


class Lawful:
    """The rules of a proof: rejected on construction unless the models imply them.

    ``mark``: int64, shape (rows,): rows with equal marks have equal values in all columns.
    ``terms``: no sum of prices has more terms, counted with their factors.
    """

    def __init__(self, proof: Proof, models: Plain, sensitive: pl.DataFrame) -> None:
        stated, k = proof.facts["pricing"], proof.facts["price_k"]
        require(not proof.sets.height, "pricing rules go with no odd sets")
        valid = implied(models, sensitive)
        require(all(followed(rule) in valid for rule in stated), NO_RULE)
        by_size = [rule for rule in stated if rule["rule"] == "sizes"]  # they take longer: last
        require(len(by_size) <= len(valid), "more rules ask by size of class than there are models")
        once = [rule for rule in stated if rule["rule"] == "once"]
        require(len(once) <= 1, "patterns are charged by more than one rule")
        self.k, self.rules, self.charging, self.met = k, [], None, Met(None, {})
        self.mark = numbered(sensitive.to_struct("values").rank("dense"))
        self.left = allowed(ENTRIES * (FEW + len(self.mark)))
        sizes, units = [len(self.mark), 1], [1]
        for rule in [rule for rule in valid if rule in stated] + by_size:
            value = numbered(sensitive[rule["column"]])
            value_of_mark = value_by(self.mark, value)
            table = np.bincount(value, minlength=1)
            cases = cases_of(rule, k, table, shares_of(rule, sensitive))
            test: Any = partial(cases_exceed, cases)
            if rule["rule"] == "distinct":
                test = partial(distinct_exceeds, rule["l"], k)
            elif rule["rule"] == "whole":
                test = partial(whole_exceeds, rule["l"])
            elif rule["rule"] == "majorized":
                tops = majorized.tops_of(rule["law"], k, len(table))
                test = partial(majorized_exceeds, tops, cases)
            elif rule["rule"] == "sizes":
                sized = BySize(share_of(rule), k, rule["sizes"], table)
                test = partial(by_size_exceeds, sized, cases)
                sizes.append(sized.terms)
            self.rules.append((value_of_mark, test))
            sizes += [case.size + case.spare for case in cases]
            units += [case.unit for case in cases]
        for rule in once:
            value = numbered(sensitive[rule["column"]])
            table = np.bincount(value, minlength=1)
            shares = shares_of(followed(rule), sensitive)
            charges = (
                CappedCharges(shares, k, table) if shares else Charges(share_of(rule), k, table)
            )
            self.charging = charges, value_by(self.mark, value)
            sizes.append(charges.terms)
        self.terms = 2 * max(sizes)
        require_within(len(self.mark) * max(units) < 2**62, "the numbers exceed 64 bits")

    def kept(
        self, rows: Rows, depth: int, row: Ints, starts: Ints, cost: Ints, _: int, wide: Any = True
    ) -> State | None:
        """Drop groups and entries that cannot violate, here or below; as ``inequality.kept``."""
        self.left -= len(row) * max(1, len(self.rules))
        require_within(self.left >= 0, "the prices leave too many patterns to ask for classes")
        group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(row)))
        e, copies = rows.price[row] - cost[group], rows.copies[row]
        alive = wide & (summed(copies, group) >= self.k)
        alive &= summed(copies * np.maximum(e, 0), group) > 0
        for value_of_mark, test in [*self.rules, (None, None)]:
            here = alive[group]
            row, group, cost = row[here], (np.cumsum(alive) - 1)[group[here]], cost[alive]
            e, copies = rows.price[row] - cost[group], rows.copies[row]
            if not len(row):
                return None
            if value_of_mark is not None:
                value, last = value_of_mark[rows.mark[row]], depth == len(rows.leaf)
                alive = test(Entries(e, copies, value, group, last))
        worth = summed(copies * np.maximum(e, 0), group)
        matters = e + worth[group] > 0
        return State(depth, row[matters], group[matters], cost, worth)

    def charge(self, rows: Rows, at: Ints, cost: int) -> int | None:
        """Return what a pattern of these rows is charged on top; None without charges."""
        if self.charging is None:
            return None
        charges, value_of_mark = self.charging
        if self.met.rows is not rows:  # another group of columns
            self.met = Met(rows, {})
        value = value_of_mark[rows.mark[at]]
        return self.met.more(at, cost, lambda e, copies: charges.worth(e, copies, value))


def value_by(mark: Ints, value: Ints) -> Ints:
    """Return the value of each mark."""
    found = np.zeros(int(mark.max(initial=0)) + 1, np.int64)
    found[mark] = value
    return found


def shares_of(rule: dict[str, Any], sensitive: pl.DataFrame) -> list[Share]:
    """Return the least and largest share of each value by its number; 0 may be no value's."""
    if rule["rule"] != "shares":
        return []
    column = sensitive[rule["column"]]
    found = share_table(rule, Counter(column.to_list()))
    kinds = dict(zip(numbered(column).tolist(), column.to_list(), strict=True))
    free = Fraction(0), Fraction(1)
    return [found[kinds[n]] if n in kinds else free for n in range(max(kinds, default=0) + 1)]


def followed(rule: dict[str, Any]) -> dict[str, Any]:
    """Return the rule that the models have to imply for this one to hold."""
    if rule["rule"] == "once":
        return rule | {"rule": "shares" if "model" in rule else "closeness"}
    if rule["rule"] != "sizes":
        return rule
    sizes = rule["sizes"]
    require(type(sizes) is int and 0 < sizes <= MOST_SIZES, "the sizes of a rule are not a number")
    return {name: value for name, value in rule.items() if name != "sizes"} | {"rule": "closeness"}


class Entries(NamedTuple):
    """Rows of several groups, which stand one by one.

    e: what each copy is worth beyond the cost; copies; value: of the rule's column; group: 0, 1, …
    last: whether it is the last column; before that, a few trials must do.
    """

    e: Ints
    copies: Ints
    value: Ints
    group: Ints
    last: bool

    def rank(self) -> Ints:
        """Count the copies of the same group and value that stand earlier."""
        return before(self.copies, self.group, self.value)


def cases_exceed(cases: Sequence[Case], at: Entries) -> Any:
    """Whether some class of some case has a positive sum of e; per group."""
    return np.logical_or.reduce([exceeds(case, at) for case in cases])


def majorized_exceeds(tops: Sequence[Sequence[int]], cases: Sequence[Case], at: Entries) -> Any:
    """Whether classes that some tops allow, or all larger ones, exceed; per group.

    Asked only where the first case, a relaxation of all classes, exceeds; of a value no more rows
    than the highest top allows.
    """
    whole, large = cases
    alive = exceeds(whole, at)
    found = exceeds(large, at) & alive
    most = max((top[0] for top in tops), default=0)
    some = np.clip(most - at.rank(), 0, at.copies) * (alive & ~found)[at.group]
    here = np.repeat(np.arange(len(at.e)), some)
    asked = np.unique(at.group[here])
    number = np.searchsorted(asked, at.group[here])
    found[asked] = majorized.uneven_exceeds(tops, at.e[here], at.value[here], number)
    return found


def by_size_exceeds(sized: BySize, cases: Sequence[Case], at: Entries) -> Any:
    """Whether classes of one of the sizes, or all larger ones, exceed; per group."""
    found = sized.exceeds(at.e, at.rank(), at.copies, at.value, at.group)
    return found | cases_exceed(cases, at)


def distinct_exceeds(l: int, k: int, at: Entries) -> Any:  # noqa: E741
    """Whether rows of l values, max(k, l) rows or more, have a positive sum; per group."""
    e, group = at.e, at.group
    dearest = before(np.ones_like(e), group, at.value) == 0
    base = dearest & (before(dearest, group) < l)
    rest = at.copies - base
    forced = np.clip(k - l - before(rest, group), 0, rest)
    best = summed(e * (base + np.where(e > 0, rest, forced)), group)
    return (summed(base, group) == l) & (best > 0)


def exceeds(case: Case, at: Entries) -> Any:
    """Whether some class of the case has a positive sum of e; per group.

    With ``spare``: for any slope s ≥ 0, a class is worth at most s·spare and the dearest rows
    when what is beyond the caps counts e − s.  The best s is the least at which these hold no more
    than ``spare`` beyond; before the last column a few trials must do.
    """
    e, copies, value, group, last = at
    units = np.minimum(copies, case.size // case.unit) * case.unit
    within = np.clip(case.cap[value] - before(units, group, value), 0, units)
    if not case.spare:
        low = 0 * case.cap if case.low is None else case.low
        forced = np.clip(low[value] - before(units, group, value), 0, within)
        rest, room = within - forced, case.size - int(low.sum())
        take = forced + np.clip(room - before(rest, group), 0, rest)
        there = (summed(forced, group) == low.sum()) & (summed(take, group) == case.size)
        return there & (summed(take * e, group) > 0)
    alive = case.size - summed(within, group) <= case.spare
    e, group, amount = np.tile(e, 2), np.tile(group, 2), np.append(within, units - within)
    beyond = np.arange(len(e)) >= len(units)
    low, high = np.zeros(len(alive), np.int64), np.full(len(alive), int(e.max() - e.min()))
    slope = low
    for _ in range(64 if last else STEPS):
        worth = e - beyond * slope[group]
        order = np.lexsort((beyond, -worth, group))
        take = np.zeros_like(e)
        some = amount[order]
        take[order] = np.clip(case.size - before(some, group[order]), 0, some)
        order = np.argsort(group, kind="stable")
        best = summed((take * worth)[order], group[order]) + slope * case.spare
        alive = alive & (best > 0)
        steep = summed((take * beyond)[order], group[order]) > case.spare
        low, high = np.where(steep, slope + 1, low), np.where(steep, high, slope)
        slope, tried = (low + high) // 2, slope
        if not (alive & (slope != tried)).any():
            break
    return alive


def before(amount: Ints, group: Ints, value: Ints | None = None) -> Ints:
    """Add up the amounts of the earlier entries in the same group (and of the same value)."""
    if value is not None:
        key = group * (int(value.max()) + 1) + value
        order, sums = np.argsort(key, kind="stable"), np.empty(len(key), np.int64)
        sums[order] = before(amount[order], key[order])
        return sums
    sums = np.cumsum(amount, dtype=np.int64) - amount
    starts = np.diff(group, prepend=-1) != 0
    return sums - sums[starts][np.cumsum(starts) - 1]


def summed(amount: Any, group: Ints) -> Ints:
    """Add up per group; groups are 0, 1, … and stand one by one."""
    return np.add.reduceat(amount, np.flatnonzero(np.diff(group, prepend=-1)), dtype=np.int64)


def numbered(values: pl.Series) -> Ints:
    """Give equal values equal numbers, from 0; null has its own."""
    return values.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
