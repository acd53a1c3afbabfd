"""Prices that the checker can confirm for sensitive models: rules as plain data, and the repair.

What the rules mean, and why they hold: docs/explanation/proof.md, "Lawful classes".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, log2
from typing import Any

import numpy as np

from incrowd.bounds.lawful_price import LawfulPriceBound, first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.leaf_costs import in_apart, of_original
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.pricing import assembled
from incrowd.bounds.support import affordable
from incrowd.privacy.base import Group
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.law import SHARES, strictest
from incrowd.privacy.pricing import (
    LARGEST_K,
    SLACK,
    Part,
    capped_part,
    distinct_part,
    frequency_part,
    ranked_part,
    variation_part,
)
from incrowd.privacy.pricing import SIZES as CAPPED_SIZES
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.problem.problem import Problem
from incrowd.reduce.leaf_costs import told_apart
from incrowd.run.stop import Stop, watched

SHARED = ("alpha-k", "basic-beta", "enhanced-beta", "delta-disclosure")
PART_OF_ROW = 4096
ROUGH = 1 / PART_OF_ROW / 4
PARTS = 1000  # shares are written in thousandths where they have to be rounded
STEEP = 256  # highest slope that the checker tries, in differences of prices
STEEP_CHARGE = 16  # likewise for charges
NEAR = 0.999  # share of a bound with which prices by size are left at that: raising them takes long
SIZES = 16  # more than the sizes of class that a rule looks at
MOST_VISITS = 20_000_000  # nodes of the prefix tree, at ten columns, beyond which none are sought
Plain = Mapping[str, Any]


def rules_of(
    models: Sequence[Plain], values: Mapping[str, int], sizes: int = 0, once: bool = False
) -> list[dict[str, Any]]:
    """Return the pricing rules that follow from models as a proof states them.

    Parameters
    ----------
    values: number of values of each sensitive column.
    sizes: how many sizes of class t-closeness by equal distance is priced for one by one.
    once: whether patterns that break its rules are charged for it.
    """
    rules: list[dict[str, Any]] = []

    def charging() -> bool:
        return once and all(rule["rule"] != "once" for rule in rules)

    for model in models:
        kind = model["model"]
        if model.get("once"):
            continue  # see values_needed
        if kind == "people":
            whose = "+".join(model["columns"])
            rules.append({"rule": "distinct", "l": model["k"], "column": whose})
            continue
        columns = model.get("columns", [model.get("column")])
        for column in columns:
            apart, t = nearest(model), Fraction(model.get("t", 0))
            if kind == "t-closeness" and (apart == 1 or t < apart):
                t = str(t / apart)
                rules.append({"rule": "closeness", "t": t, "column": column})
                if sizes:
                    rules.append(rules[-1] | {"rule": "sizes", "sizes": sizes})
                if charging():
                    rules.append({"rule": "once", "t": t, "column": column})
            elif kind in SHARED:
                shares = {"rule": "shares", **model, "column": column}
                most = Fraction(model.get("alpha", 2))
                if "values" in model or most.numerator > 1:
                    rules.append(shares)
                else:  # as the model is priced
                    rules.append({"rule": "frequency", "l": most.denominator, "column": column})
                if charging():
                    rules.append(shares | {"rule": "once"})
                if kind == "delta-disclosure":
                    rules.append({"rule": "distinct", "l": values[column], "column": column})
            elif kind not in ("k-anonymity", "t-closeness"):
                name = "frequency" if kind == "frequency" else "distinct"
                level = ceil(Fraction(model["l"]))
                rules.append({"rule": name, "l": level, "column": column})
                cap = share_of(model, values[column])
                if cap < 1:
                    rules.append({"rule": "share", "cap": str(cap), "column": column})
                    if kind == "recursive":
                        rules[-1] |= {"rule": "recursive", "less": max(level - 2, 0)}
                    law = {x: model[x] for x in ("model", "l", "c") if x in model}
                    law |= {"cap": str(cap)}
                    rules.append({"rule": "majorized", "law": law, "column": column})
    return rules


def rules_of_whole(models: Sequence[Plain]) -> list[dict[str, Any]] | None:
    """Return the rule of classes that hold all rows of people; None where they need not."""
    for model in models:
        if model.get("whole"):
            return [{"rule": "whole", "l": model["k"], "column": "+".join(model["columns"])}]
    return None


def strictest_rules(
    rules: Sequence[Plain], problem: Problem, columns: Sequence[str]
) -> list[Plain]:
    """Return the rules that no other one implies: each takes its time with every pattern."""
    k, alike = problem.smallest_class, ("shares", "distinct", "frequency")
    own = [parts_of([r], problem, columns, k) if r["rule"] in alike else [] for r in rules]
    kept = {id(part) for part in strictest([part for parts in own for part in parts])}
    return [
        rule
        for rule, parts in zip(rules, own, strict=True)
        if not parts or any(id(part) in kept for part in parts)
    ]


def values_needed(problem: Problem, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rules of models that count each value of a person once: so many values."""
    table, found = problem.table, []
    nameless = {name: [None] * size for name, size in zip(columns, table.sizes, strict=True)}
    for part in problem.model.parts:
        for entry in part.claim(nameless) or ():
            if entry.get("once"):
                level = int(part.pricing(table, problem.smallest_class)[0].data[0])
                found.append({"rule": "distinct", "l": level, "column": entry["column"]})
    return found


def nearest(model: Plain) -> Fraction:
    """Return the least distance between two values: 1 by equal distance."""
    distance = model.get("distance")
    if distance == "ordered":
        return Fraction(1, max(len(model["order"]) - 1, 1))
    if distance == "hierarchical":
        return Fraction(1, max(sum(len(set(level)) > 1 for level in model["levels"]), 1))
    if distance == "metric":
        lower = (Fraction(x) for i, row in enumerate(model["matrix"]) for x in row[:i])
        return min(lower, default=Fraction(1))
    return Fraction(1)


def share_of(model: Plain, values: int) -> Fraction:
    """Return the largest share that a value can have in a lawful class, rounded up."""
    if model["model"] == "recursive":
        c = Fraction(model["c"])
        return c / (1 + c) if model["l"] > 1 else c
    if model["model"] != "entropy":
        return Fraction(1)
    level = Fraction(model["l"])
    for part in range(ceil(Fraction(PARTS, values)), PARTS):
        others = PARTS - part
        spread = Fraction(PARTS) ** PARTS * (values - 1) ** others
        if spread <= level**PARTS * part**part * others**others:
            return Fraction(part, PARTS)
    return Fraction(1)


def parts_of(
    rules: Sequence[Plain], problem: Problem, columns: Sequence[str], k: int
) -> list[Part]:
    """Return the pricing problems of rules, for classes of at least k rows."""
    table = problem.table
    found: list[Part] = []
    for rule in (rule for rule in rules if rule["rule"] != "once"):
        a = columns.index(rule["column"])
        counts = [int(c) for c in table.histograms[a]]
        if rule["rule"] == "distinct":
            found.append(distinct_part(rule["l"], k, a, table))
        elif rule["rule"] == "frequency":
            found.append(frequency_part(rule["l"], k, a, len(counts)))
        elif rule["rule"] == "shares":
            caps, lows = shares_within(problem, rule, columns)
            found.append(capped_part(k, a, caps, lows, None))
        elif rule["rule"] == "majorized":
            found += uneven_part(rule["law"], k, a, table) if k <= LARGEST_K else []
        elif rule["rule"] in ("share", "recursive"):
            if k <= LARGEST_K:  # the same law says more
                continue
            cap, exact = Fraction(rule["cap"]), None
            if rule["rule"] == "recursive":
                less = rule["less"]
                exact = [
                    (n, max(0, ceil((n - less) * cap) - 1)) for n in range(k, k + CAPPED_SIZES)
                ]
            share = [float(cap)] * len(counts)
            found.append(capped_part(k, a, share, [0.0] * len(counts), exact))
        else:
            t, sizes = Fraction(rule["t"]), rule.get("sizes", 0)
            found.append(variation_part(float(t) + SLACK, t, k, a, counts, sizes))
    return found


def uneven_part(law: Plain, k: int, a: int, table: Group) -> list[Part]:
    """Return what entropy or recursive diversity says of classes of each size."""
    level = Fraction(law["l"])
    if law["model"] == "entropy":
        model = EntropyDiversity(level)
    else:
        model = RecursiveDiversity(Fraction(law["c"]), int(level))
    part = ranked_part(k, a, table, float(Fraction(law["cap"])), model.fits)
    return [] if part is None else [part]


def shares_within(
    problem: Problem, rule: Plain, columns: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Return each value's largest and least share under a rule's model, rounded outwards.

    The checker counts shares of large classes in whole parts of a row, hence ``ROUGH``.  Of models
    that differ in the values they guard the loosest share counts.
    """
    a, table = columns.index(rule["column"]), problem.table
    nameless = {name: [None] * size for name, size in zip(columns, table.sizes, strict=True)}
    laws = [
        law.data
        for part in problem.model.parts
        if any(says(entry, rule) for entry in part.claim(nameless) or ())
        for law in part.law(table) or ()
        if law.kind == SHARES and law.attribute == a
    ]
    values = table.sizes[a]
    caps = [max(law[1 + v] / law[0] for law in laws) + ROUGH for v in range(values)]
    lows = [min(law[1 + values + v] / law[0] for law in laws) - ROUGH for v in range(values)]
    return caps, [max(0.0, y) for y in lows]


def says(entry: Plain, rule: Plain) -> bool:
    """Whether a model has a rule's parameters, and guards some values exactly when that does."""
    apart = ("rule", "values")
    bare = [{name: x for name, x in one.items() if name not in apart} for one in (entry, rule)]
    return bare[0] == bare[1] and ("values" in entry) == ("values" in rule)


def lawful_prices(
    problem: Problem,
    rules: Sequence[Plain],
    columns: Sequence[str],
    start: Prices,
    bound: int | None,
    stop: Stop | None = None,
) -> Prices | None:
    """Return integer prices that obey the rules, near ``start``; raised if they miss ``bound``.

    None where nobody has sought any, and the table is too wide to begin.

    Parameters
    ----------
    columns: names of the sensitive attributes.
    bound: in units of 1/scale: what lawful prices have proven otherwise; None when nobody has
        sought any, so that ``start`` may be far from the best.
    stop: when to raise them no further; where nobody has sought any, its time limit is also that of
        the search for them.
    """
    stop = stop or Stop()
    apart = told_apart(problem.instance) if problem.smallest_class >= 2 else None
    if apart is not None:
        alone = replace(problem, instance=apart.instance)
        found = lawful_prices(alone, rules, columns, in_apart(start, apart), bound, stop)
        return None if found is None else of_original(found, apart, finer=1)
    if bound is not None:
        return _near(problem, rules, columns, start, bound, stop, Stop())
    walks = Stop(stop.time_limit)  # how long these take is not known
    with watched(walks):
        return _near(problem, rules, columns, start, bound, stop, walks)


def _near(
    problem: Problem,
    rules: Sequence[Plain],
    columns: Sequence[str],
    start: Prices,
    bound: int | None,
    stop: Stop,
    walks: Stop,
) -> Prices | None:
    k, instance = problem.smallest_class, problem.instance
    pricing = assembled(problem, parts_of(rules, problem, columns, k), k)
    tree = LawfulTree(instance, *pricing, walks)
    u = start.price / start.quantum
    worst = sum(t.dearest for t in instance.trees)
    bits = precision(rules, k, instance.rows, max(1.0, worst / max(1.0, float(np.abs(u).max()))))
    sized = any(rule["rule"] == "sizes" for rule in rules)
    first = None
    if bound is None:
        visits = affordable(instance.columns, walks.left(), MOST_VISITS)
        first, complete = first_prices(tree, visits)
        if not complete:
            return None
    known = [safe_prices(tree, u, bits)]
    if sized:  # the checker's slopes are whole numbers of prices' units
        step = int(np.gcd.reduce(known[0].price)) or 1
        known = [Prices(known[0].price - 2 * step, known[0].quantum)]
    enough = bound if bound is None or not sized else NEAR * bound
    if enough is not None and known[0].bound(instance.counts) >= enough:
        return known[0]
    schedule = LawfulPriceBound.polish()
    if first is not None:
        schedule = LawfulPriceBound()
        known.append(safe_prices(tree, first, bits))
    best = max(known, key=lambda prices: prices.bound(instance.counts))
    u = schedule.ascend(tree, best.price / best.quantum, stop.now)
    return better(best, safe_prices(tree, u, bits), instance.counts)


def charged_prices(start: Prices, rules: Sequence[Plain], problem: Problem) -> Prices:
    """Return prices with a charge in fewer bits, so that the checker's sums stay within 62.

    Prices rounded down are charged no more.
    """
    instance = problem.instance
    high = max(1, int(np.abs(start.price).max(initial=0)))
    worst = sum(t.dearest for t in instance.trees) * start.quantum
    bits = precision(rules, problem.smallest_class, instance.rows, max(1.0, worst / high))
    part = 1 << max(0, high.bit_length() - bits)
    part = min(part, start.quantum)  # both are powers of 2
    kept = start.price // part, start.quantum // part
    return Prices(*kept, charge=-(-start.charge // part))


def precision(rules: Sequence[Plain], k: int, rows: int, reach: float) -> int:
    """Return to how many bits prices may go, so that the checker's sums stay within 62 bits.

    ``reach``: what a row may cost at most, in highest prices.
    """
    terms = 4.0 * rows
    for rule in rules:
        cap = rule.get("law", rule).get("cap", 1)
        unit = PART_OF_ROW if rule["rule"] == "shares" else Fraction(cap).denominator
        if "t" in rule:
            unit = Fraction(rule["t"]).denominator * rows
        if rule["rule"] == "sizes":  # times a slope of many prices
            unit *= 2 * (STEEP + 1)
        if rule["rule"] == "once" and "t" in rule:  # likewise, of all rows
            terms = max(terms, 4.0 * (STEEP_CHARGE + 1) * unit * rows)
        terms = max(terms, 4.0 * (max(k, rule.get("l", 1)) + rule.get("sizes", SIZES)) * unit)
    return int(np.clip(59 - log2(terms * reach), 8, 30))
