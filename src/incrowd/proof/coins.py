"""Whether coins can have hidden cells as a public statement says: proofs do not know the coins."""

from collections.abc import Iterator, Mapping, Sequence
from math import log

import polars as pl

from incrowd.checker.files import Proof
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.proof.costs_asked import costs_asked, costs_of, paths_of, stated_rule
from incrowd.tables.base import Source

SURE = 28.0
"""One in e²⁸, about 10¹², honest releases is called false."""


SERVED = ("k-anonymity", "distinct")
"""Models under which a class stays lawful whatever rows join it."""


def without_theorem(proof: Proof) -> Iterator[str]:
    """Yield what a release has of which nobody proved that coins limit what is learnt from it.

    The veil is refused for it, so factors in its statement are somebody else's words.
    """
    facts = proof.facts
    named = [name for name in facts["roles"]["qi"] if name in facts["hierarchies"]]
    fit = [name for name in named if {"range", "average"} & {*facts["hierarchies"][name]}]
    deep = [name for name in named if any(len(p) > 2 for p in paths_of(proof, name).values())]
    ruled = [name for name in deep if stated_rule(proof, name) is not None]
    others = {model["model"] for model in facts["models"]} - {*SERVED} or facts.get("unchecked")
    missing = "delete_rows" in facts or facts.get("suppressed_rows", 0)
    found = {
        "ranges or averages": fit,
        "hierarchies by rule": ruled,
        "hierarchies but with the cost level": not (fit or ruled) and not by_level(proof, deep),
        "other models than k-anonymity and distinct diversity": others,
        "rows that are left out": missing,
    }
    for what, there in found.items():
        if there:
            yield (
                "the statement speaks of a veil, and its factors are proven for no release with "
                f"{what}"
            )


def by_level(proof: Proof, columns: Sequence[str]) -> bool:
    """Whether labels of hierarchies cost their level over the height, times any weight."""
    paid = {name: costs_of(proof, name) for name in columns}
    stars = {name: max(costs.values()) for name, costs in paid.items()}
    if not columns:
        return True
    if not all(stars.values()):  # of weight 0, where nothing is charged
        return False
    try:
        asked = costs_asked(proof, Policy(k=1, cost="level", weights=stars))
    except InputError:  # lines of several lengths have no such costs
        return False
    return all(paid[name] == asked[name][0] for name in columns)


def shown_too_often(proof: Proof, veil: Mapping[str, float], released: Source) -> Iterator[str]:
    """Yield the columns of which more cells are shown than coins with these factors leave.

    Each of n cells is hidden at first with probability q = 1/factor, and none is shown again.  So s
    shown ones are as likely as s heads or more of n coins of 1 − q: at most exp(−n·KL(s/n, 1 − q)).

    Parameters
    ----------
    veil: column → 1/q.
    """
    for column, factor in veil.items():
        own = proof.ladders.filter(pl.col("column") == column)
        above = set(own.filter(pl.col("level") > 0)["label"].to_list())
        leaves = set(own.filter(pl.col("level") == 0)["label"].to_list()) - above
        cells = released.encode(column)
        shown = sum(cells.values[code] in leaves for code in cells.codes.tolist())
        if len(cells.codes) * distance(shown / max(1, len(cells.codes)), 1 - 1 / factor) > SURE:
            yield (
                f"the statement says that coins hid each cell of {column!r} with probability "
                f"{1 / factor:.3g}, but more are shown than such coins leave"
            )


def distance(share: float, chance: float) -> float:
    """Return KL(share, chance) where the share is larger, else 0."""
    if share <= chance:
        return 0.0
    if chance <= 0:
        return float("inf")
    rest = (1 - share) * log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return share * log(share / chance) + rest
