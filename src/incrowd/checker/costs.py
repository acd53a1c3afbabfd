"""The hierarchies of a proof, and what its costs mean: they are the proof's own, so they are told.

"No lawful release costs less" says nothing where all costs nothing, and little where a number is in
units that nobody would guess.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import gcd
from types import MappingProxyType
from typing import Any

import polars as pl

from incrowd.checker.delimited import MARK
from incrowd.checker.files import Proof, as_text
from incrowd.checker.ladder import validated
from incrowd.checker.published import require_named
from incrowd.checker.ranges import Intervals, intervals_of
from incrowd.checker.rejection import require

MOST_SCALE, LEAST_STAR = 2**40, Fraction(1, 1000)
UNITS = ("scale", "cost", "bound", "proven", "most")


def ladders_of(
    proof: Proof, qi: list[str], original: pl.DataFrame
) -> tuple[dict[str, pl.DataFrame], dict[str, Intervals], dict[str, Any]]:
    """Return each column's ladder, validated, its range, and what costs mean; see ``meaning``.

    Values that the original lacks are left out: costs count the values of the table, and a proof
    that made more of them, or wider ranges, would make little of what is hidden.
    """
    ladders = {c: proof.ladders.filter(pl.col("column") == c).drop("column") for c in qi}
    ladders = {c: validated(ladder, c) for c, ladder in ladders.items()}
    for column, ladder in ladders.items():
        held = as_text(original[column].unique()).unique()
        ladders[column] = ladder.filter(pl.col("leaf").is_in(held.implode(), nulls_equal=True))
    require_named(ladders, proof.facts["hierarchies"], proof.facts.get("star", "*"))
    ranges = intervals_of(proof.facts["hierarchies"], ladders)
    return ladders, ranges, meaning(ladders, proof.facts["scale"], ranges)


def meaning(
    ladders: Mapping[str, pl.DataFrame],
    scale: int,
    ranges: Mapping[str, Intervals] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return per column what a suppressed cell costs, as a fraction, and the rule for others.

    ``stars``: each changed cell costs as much; ``levels``: its level over the height of that, where
    no level repeats the one below, which would be another height; ``listed``: what the proof lists;
    ``width`` and ``values``: of an interval, its share of the column's range or of its values.
    Rejected are costs that are all 0 though some column has several values, and units of which a
    suppressed cell has less than 1/1000 in every column.
    """
    require(scale < MOST_SCALE, "the costs are in units smaller than 2^-40")
    stars = {c: max(ladder["cost"].to_list(), default=0) for c, ladder in ladders.items()}
    several = any(ladder["leaf"].n_unique() > 1 for ladder in ladders.values())
    dearest = Fraction(max(stars.values(), default=0), scale)
    require(dearest > 0 or not several, "all costs are 0, so a bound says nothing")
    require(dearest >= LEAST_STAR or not dearest, "a suppressed cell costs less than 0.001")
    return {
        column.removeprefix(MARK): {
            "suppressed": str(Fraction(stars[column], scale)),
            "rule": ranges[column].cost if column in ranges else rule_of(ladder, stars[column]),
        }
        for column, ladder in ladders.items()
    }


def reduced(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts whose numbers in units of 1/scale have no common divisor.

    A proof may count in finer units than its costs call for; who reads the numbers is not to.
    """
    common = gcd(*(facts[name] for name in UNITS))
    return facts | {name: facts[name] // common for name in UNITS}


def rule_of(ladder: pl.DataFrame, star: int) -> str:
    """Return the name of the rule by which a validated ladder's labels cost what they do."""
    steps = ladder.group_by("leaf", "label").agg(pl.col("level").min(), pl.col("cost").min())
    paid = steps.filter(pl.col("level") > 0)
    if bool((steps.filter(pl.col("level") == 0)["cost"] > 0).any()):
        return "listed"
    if bool((paid["cost"] == star).all()):
        return "stars"
    height = ladder["level"].n_unique() - 1
    own = steps.select("level").unique().height > height  # on each level something begins
    even = own and bool((paid["cost"] * height == paid["level"] * star).all())
    return "levels" if even else "listed"
