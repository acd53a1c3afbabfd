"""Releases of averages: what is false of one, by definition and brute force; and how to forge one.

Nothing here is shared with the checker: averages are those of ``averages.plain``.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import chain
from math import floor
from statistics import mean, median
from typing import Any

import polars as pl

from averages.plain import spread
from forging.bundle import Bundle
from forging.facts import Change
from forging.plain import shown
from oracle import least_cost

Draw = random.Random
Row = Mapping[str, str | None]
Cells = dict[str, list[Fraction | None]]


class Rules:
    """What a proof says of averaged columns.

    Attributes
    ----------
    kind, digits, weight: by column.  cells: of the original, in its order, None where missing.
    """

    def __init__(self, before: Sequence[Row], facts: Mapping[str, Any], stars: Any) -> None:
        known = {c: one for c, one in facts["hierarchies"].items() if "average" in one}
        self.kind = {c: one["average"]["kind"] for c, one in known.items()}
        self.digits = {c: one["average"]["digits"] for c, one in known.items()}
        self.weight = {c: Fraction(stars[c], facts["scale"]) for c in known}
        spared = {c: one.get("missing", ()) for c, one in known.items()}
        self.cells: Cells = {c: [numbered(row[c], spared[c]) for row in before] for c in known}
        self.price = {c: self._price(c) for c in known}

    def _price(self, name: str) -> Fraction:
        """Return what a unit of spread costs in a column."""
        both = [n for n in self.kind if n == name or self.kind[n] == self.kind[name] == "centroid"]
        there = {n: [x for x in self.cells[n] if x is not None] for n in both}
        worth = sum(self.weight[n] * len(there[n]) for n in both)
        whole = sum(self.weight[n] * spread(there[n], self.kind[n]) for n in both if there[n])
        return self.weight[name] * worth / whole if whole else Fraction(0)

    def cost(self, classes: Sequence[Sequence[int]]) -> Fraction:
        """Return what classes of original rows cost."""
        total = Fraction(0)
        for name, cells in self.cells.items():
            for rows in classes:
                there = [cells[row] for row in rows if cells[row] is not None]
                total += self.price[name] * spread(there, self.kind[name]) if there else 0
        return total

    def shown(self, name: str, rows: Sequence[int]) -> Fraction | None:
        """Return what a class of original rows shows; None where all lack the cell."""
        there = [x for row in rows if (x := self.cells[name][row]) is not None]
        if not there:
            return None
        exact = (median if self.kind[name] == "median" else mean)(there)
        steps = floor(abs(exact) * Fraction(10) ** self.digits[name] + Fraction(1, 2))
        return Fraction(steps) / Fraction(10) ** self.digits[name] * (-1 if exact < 0 else 1)

    def apart(self, before: Sequence[Row]) -> list[list[int]]:
        """Return the rows that lack the same cells."""
        found: dict[Any, list[int]] = {}
        for i, row in enumerate(before):
            key = tuple(row[c] if cells[i] is None else 0 for c, cells in self.cells.items())
            found.setdefault(key, []).append(i)
        return list(found.values())

    def optimum(self, before: Sequence[Row], k: int) -> Fraction | None:
        """Return what the cheapest lawful classes cost; None where there are none."""
        total = Fraction(0)
        for rows in self.apart(before):

            def of_class(part: Sequence[int], rows: Sequence[int] = rows) -> Fraction | None:
                return self.cost([[rows[i] for i in part]]) if len(part) >= k else None

            best = least_cost(len(rows), of_class)
            if best is None:
                return None
            total += best
        return total


def numbered(cell: str | None, spared: Sequence[str]) -> Fraction | None:
    """Return the number that a cell writes; None where it is missing.

    Raises
    ------
    ValueError: it is not a number.
    """
    if cell is None or cell in spared:
        return None
    try:
        return Fraction(Decimal(cell))
    except (InvalidOperation, OverflowError):
        raise ValueError("not a number") from None


def averaged_faults(
    before: Sequence[Row], after: Sequence[Row], stated: Any, ladders: Any, said: Mapping[str, Any]
) -> list[str]:
    """Return what is false of an accepted proof of averages."""
    facts, found = stated.facts, []
    roles, models = facts["roles"], facts["models"]
    stars = {c: max((p[-1][1] for p in one.values()), default=0) for c, one in ladders.items()}
    rules, k = Rules(before, facts, stars), max(m["k"] for m in models if m["model"] != "people")
    if sorted(said["averaged"]) != sorted(rules.kind) or {m["model"] for m in models} - {
        "k-anonymity"
    }:
        found.append("other columns are averaged, or other models asked")
    classes: dict[int, list[int]] = {}
    for i, row in enumerate(stated.rows):
        classes.setdefault(row["class"], []).append(i)
    origin = [row["original"] for row in stated.rows]
    if sorted(origin) != list(range(len(before))):
        return ["not every row is released"]
    for rows in classes.values():
        found += ["a class is too small"] if len(rows) < k else []
        for name in rules.kind:
            texts = {after[i][name] for i in rows}
            here = [origin[i] for i in rows]
            right = rules.shown(name, here)
            lacking = {rules.cells[name][i] is None for i in here}
            if len(texts) > 1 or len(lacking) > 1:
                found.append(f"{name}: a class shows several averages")
            elif right is None and texts != {before[i][name] for i in here}:
                found.append(f"{name}: a missing cell is another")
            elif right is not None and numbered(texts.pop(), ()) != right:
                found.append(f"{name}: an average is another")
    for i, row in enumerate(after):
        for name in {*roles["qi"], *roles["keep"], *roles["sensitive"]} - {*rules.kind}:
            found += [f"{name}: a cell was changed"] if row[name] != before[origin[i]][name] else []
    whole = [tuple(row[c] for c in roles["qi"]) for row in after]
    found += ["rows alike are too few"] if min(map(whole.count, whole), default=k) < k else []
    own = [[origin[i] for i in rows] for rows in classes.values()]
    cost, best = floor(rules.cost(own) * facts["scale"]), rules.optimum(before, k)
    found += [f"the cost is {cost}, not {said['cost']}"] if cost != said["cost"] else []
    if best is None or max(said["bound"], said["proven"]) > floor(best * facts["scale"]):
        found.append(f"the bound is {said['bound']} ({said['proven']}), the optimum {best}")
    return found


def classes_of(bundle: Bundle) -> list[list[int]]:
    """Return released rows by the class that the proof states."""
    found: dict[int, list[int]] = {}
    for row, number in enumerate(bundle.parts["rows.parquet"]["class"].to_list()):
        found.setdefault(number, []).append(row)
    return list(found.values())


def stated_rules(bundle: Bundle) -> tuple[Rules, list[int]]:
    """Return the rules of a bundle as it is now, and the original row of each released one."""
    ladders = bundle.parts["ladders.parquet"]
    stars = {c: max(one["cost"].to_list(), default=0) for (c,), one in ladders.group_by("column")}
    names = list(bundle.original.columns)
    rows = zip(*bundle.original.columns.values(), strict=True)
    before = [dict(zip(names, map(shown, row), strict=True)) for row in rows]
    return Rules(before, bundle.facts, stars), bundle.parts["rows.parquet"]["original"].to_list()


def dealt(bundle: Bundle, classes: Sequence[Sequence[int]]) -> None:
    """Publish the averages of these classes of released rows, and state what they cost."""
    rules, origin = stated_rules(bundle)
    number = [0] * len(origin)
    for n, rows in enumerate(classes):
        for row in rows:
            number[row] = n
        for name in rules.kind:
            right, cells = (
                rules.shown(name, [origin[i] for i in rows]),
                bundle.release.columns[name],
            )
            for row in rows if right is not None else ():
                kind = bundle.release.types.get(name)
                cells[row] = float(right) if kind is not None else plainly(right)
    part = bundle.parts["rows.parquet"]
    part = part.with_columns(pl.Series("class", number, dtype=pl.Int64))
    bundle.parts["rows.parquet"] = part
    own = [[origin[i] for i in rows] for rows in classes]
    bundle.facts["cost"] = floor(rules.cost(own) * bundle.facts["scale"])


def plainly(x: Fraction) -> str:
    """Write a number of few decimals."""
    text = f"{Decimal(x.numerator) / Decimal(x.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def hoped(draw: Draw, bundle: Bundle) -> None:
    """State a bound as high as it may seem: the cost, the optimum, or one more."""
    cost, bound = bundle.facts["cost"], bundle.facts["bound"]
    bundle.facts["bound"] = min(cost, draw.choice([cost, bound, bound + 1, cost - 1, 2 * bound]))


def other_classes(draw: Draw, bundle: Bundle) -> None:
    """Deal rows that lack the same cells into other classes."""
    rules, origin = stated_rules(bundle)
    groups: dict[Any, list[int]] = {}
    for row, at in enumerate(origin):
        key = tuple(cells[at] is None for cells in rules.cells.values())
        groups.setdefault(key if draw.random() < 0.95 else (), []).append(row)
    classes: list[list[int]] = []
    for group in groups.values():
        rows = draw.sample(group, len(group))
        while rows:
            size = draw.choice([1, 2, 2, 3, 3, 4, 7])
            size = len(rows) if len(rows) - size < 2 else size
            classes, rows = [*classes, rows[:size]], rows[size:]
    dealt(bundle, classes)
    hoped(draw, bundle)


def merged(draw: Draw, bundle: Bundle) -> None:
    """Make one class of two, or of all."""
    classes = classes_of(bundle)
    some = draw.sample(classes, draw.choice([min(2, len(classes)), len(classes)]))
    dealt(bundle, [[*chain(*some)], *(one for one in classes if one not in some)])
    hoped(draw, bundle)


def off_by_little(draw: Draw, bundle: Bundle) -> None:
    """Round the average of a class another way."""
    rules, origin = stated_rules(bundle)
    name, rows = draw.choice(list(rules.kind)), draw.choice(classes_of(bundle))
    right, step = rules.shown(name, [origin[i] for i in rows]), Fraction(10) ** -rules.digits[name]
    other = right + draw.choice([-step, step, step / 10, -2 * right])  # type: ignore[operator]
    for row in rows if draw.random() < 0.8 else rows[:1]:
        numeric = name in bundle.release.types
        bundle.release.columns[name][row] = float(other) if numeric else plainly(other)


def other_rule(draw: Draw, bundle: Bundle) -> None:
    """Average in another way, in words and deeds."""
    known = [one for one in bundle.facts["hierarchies"].values() if "average" in one]
    rule = draw.choice(known)["average"]
    if draw.random() < 0.5:
        rule["kind"] = draw.choice(["mean", "median", "centroid"])
    else:
        rule["digits"] = draw.choice([-1, 0, 1, 2, 3, 18])
    if draw.random() < 0.8:
        for one in known:
            one["origin"] = f"{one['average']['kind']}:digits={one['average']['digits']}"
    dealt(bundle, classes_of(bundle))
    hoped(draw, bundle)


def not_averaged(draw: Draw, bundle: Bundle) -> None:
    """Publish a column as it is, as a quasi-identifier without averages."""
    name = draw.choice(bundle.facts["averaged"])
    bundle.facts["averaged"].remove(name)
    bundle.facts["hierarchies"].pop(name)
    origin = bundle.parts["rows.parquet"]["original"].to_list()
    bundle.release.columns[name] = [bundle.original.columns[name][row] for row in origin]
    if draw.random() < 0.3:
        bundle.facts.pop("averaged")
    hoped(draw, bundle)


def called_missing(draw: Draw, bundle: Bundle) -> None:
    """Call some numbers missing, and publish them as they are."""
    name = draw.choice(bundle.facts["averaged"])
    cells = bundle.original.columns[name]
    bundle.facts["hierarchies"][name]["missing"] = [shown(draw.choice(cells)) for _ in "ab"]
    dealt(bundle, classes_of(bundle))
    rules, origin = stated_rules(bundle)
    for row, at in enumerate(origin):
        if rules.cells[name][at] is None:
            bundle.release.columns[name][row] = cells[at]
    hoped(draw, bundle)


def other_weights(draw: Draw, bundle: Bundle) -> None:
    """Have stars, and so spread, cost more or less in a column, or nothing."""
    ladders, name = bundle.parts["ladders.parquet"], draw.choice(bundle.facts["averaged"])
    here = (pl.col("column") == name) & (pl.col("level") > 0)
    new = (
        pl.when(here).then(pl.col("cost") * draw.choice([0, 2, 3, 10**5])).otherwise(pl.col("cost"))
    )
    bundle.parts["ladders.parquet"] = ladders.with_columns(new.alias("cost"))
    dealt(bundle, classes_of(bundle))
    hoped(draw, bundle)


def number_of_rows(draw: Draw, bundle: Bundle) -> None:
    """Release a row twice in the place of another, or two in the place of each other."""
    part = bundle.parts["rows.parquet"]
    origin = part["original"].to_list()
    a, b = draw.sample(range(len(origin)), 2)
    if draw.random() < 0.5:
        origin[a], origin[b] = origin[b], origin[a]
    else:
        origin[a] = origin[b]
    bundle.parts["rows.parquet"] = part.with_columns(pl.Series("original", origin, dtype=pl.Int64))
    hoped(draw, bundle)


def dearest(believed: Callable[[Bundle], int | None]) -> Change:
    """Return the change that raises prices as long as they are believed."""

    def climbing(draw: Draw, bundle: Bundle) -> None:
        """Raise prices of averages as long as the checker takes them."""
        classes = classes_of(bundle)
        dealt(bundle, [[*chain(*classes)]] if draw.random() < 0.5 else classes)
        bundle.facts["bound"], part = 0, bundle.parts["rows.parquet"]
        whole = bundle.facts["scale"] * bundle.facts["quantum"]
        best = believed(bundle)
        for step in (whole, whole // 4, whole // 16, whole // 64, whole // 1024):
            for row in draw.sample(range(part.height), part.height):
                tried = bundle.copy()
                more = pl.Series([step * (i == row) for i in range(part.height)], dtype=pl.Int64)
                part = bundle.parts["rows.parquet"].with_columns(pl.col("price") + more)
                tried.parts["rows.parquet"] = part
                found = believed(tried)
                if found is not None and found >= (best or 0):
                    best, bundle.parts["rows.parquet"] = found, part
        bundle.facts["bound"] = max(0, min(best or 0, bundle.facts["cost"]))

    return climbing


CHANGES: dict[str, Change] = {
    "averages: other classes": other_classes,
    "averages: classes merged": merged,
    "averages: rounded otherwise": off_by_little,
    "averages: another rule": other_rule,
    "averages: none of a column": not_averaged,
    "averages: numbers called missing": called_missing,
    "averages: other weights": other_weights,
    "averages: rows exchanged": number_of_rows,
}
