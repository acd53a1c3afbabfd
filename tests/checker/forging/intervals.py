"""Ranges as a proof states them, from their definition: all labels of a few values, and costs."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

Labels = dict[str | None, dict[str | None, int]]


def place(rule: Mapping[str, Any], text: str) -> Fraction:
    """Where a value stands; values of these forgeries are numbers, or listed."""
    return Fraction(rule["order"].index(text)) if rule["kind"] == "order" else Fraction(text)


def outward(rule: Mapping[str, Any], at: Fraction) -> tuple[Fraction, Fraction]:
    """The ends of the interval of one value."""
    if rule["round"] is None:
        return at, at
    step = Fraction(rule["round"])
    return floor(at / step) * step, ceil(at / step) * step


def written(rule: Mapping[str, Any], end: Fraction) -> str:
    """How an end reads."""
    if rule["kind"] == "order":
        return rule["order"][int(end)]
    return f"{Decimal(end.numerator) / Decimal(end.denominator):f}"


def intervals_of(rule: Mapping[str, Any], paths: Mapping[str | None, Any]) -> Labels:
    """Return the intervals that hold each value, and what it costs in each."""
    known = {leaf: place(rule, leaf) for leaf in paths if leaf is not None}
    ends = {leaf: outward(rule, at) for leaf, at in known.items()}
    star = max(cost for path in paths.values() for _, cost in path)
    found: Labels = {leaf: {} for leaf in known}
    for low, _ in ends.values():
        for _, high in ends.values():
            wide = rule["most"] is not None and high - low > Fraction(rule["most"])
            if low > high or wide:
                continue
            mark = ".." if rule["kind"] == "order" or min(x for x, _ in ends.values()) < 0 else "-"
            show = rule.get("show", f"{{low}}{mark}{{high}}")
            label = show.format(low=written(rule, low), high=written(rule, high))
            for leaf, at in known.items():
                if low <= at <= high:
                    found[leaf][label] = charged(rule, low, high, ends, known) * star // 10**6
    return found


def charged(rule: Any, low: Fraction, high: Fraction, ends: Any, known: Any) -> int:
    """What an interval costs, in millionths of a star."""
    if rule["cost"] == "stars":
        return 10**6
    if rule["cost"] == "values":
        numbers = sorted(set(known.values()))
        inside = [n for n, x in enumerate(numbers) if low <= x <= high]
        first, last, least, most = inside[0], inside[-1], 0, len(numbers) - 1
    else:
        first, last = low, high
        least, most = min(x for x, _ in ends.values()), max(x for _, x in ends.values())
    width = Fraction(most - least) or Fraction(1)
    half = Fraction(1, 2)
    at = [floor(10**6 * Fraction(x - least) / width + half) for x in (first, last)]
    return at[1] - at[0]


def range_faults(column: str, source: Mapping[str, Any], paths: Mapping[str | None, Any]) -> list:
    """Return what is false of a stated range: its name, or a value without a place."""
    rule, name = source["range"], source["origin"]
    name, _, show = name.partition(",show=" if ",show=" in name else "show=")
    said = {part.split("=")[0]: part.split("=")[1] for part in name[6:].split(",") if part}
    found = [] if name.split(":")[0] == "range" else ["is called otherwise"]
    found += [f"says another {x}" for x in ("round", "most") if said.get(x) != rule[x]]
    found += [] if show == rule.get("show", "") else ["is shown otherwise"]
    by = said.get("cost", "width")
    found += [] if rule["cost"] in (by, "stars") else ["is charged otherwise than it says"]
    found += [] if ("order" in said) == ("order" in rule) else ["has another kind of order"]
    try:
        for leaf in paths:
            if leaf is not None:
                place(rule, leaf)
    except ValueError:
        found.append("has a value without a place")
    return [f"{column}: the range {fault}" for fault in found]
