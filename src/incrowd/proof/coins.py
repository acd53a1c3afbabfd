"""Whether coins can have hidden cells as a public statement says: proofs do not know the coins."""

from collections.abc import Iterator, Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from incrowd.checker.files import Proof
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.proof.costs_asked import costs_asked, costs_of, paths_of, rungs_of, stated_rule
from incrowd.tables.base import Source
from incrowd.tables.spreadsheet import undone

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

    Each of n cells is raised to each of the L levels of its hierarchy with probability q = 1/factor
    (without one L is 1: hidden), and none is shown again.  So those shown below a level are as
    likely as that many heads or more of n coins, which say that they were raised to none from there
    on: s of n are, with such coins of chance p, at most exp(-n·KL(s/n, p)).

    Parameters
    ----------
    veil: column → 1/q.
    """
    known = {column: levels_shown(proof, column, released) for column in veil}
    limit = SURE + log(max(1, sum(height for _, height in known.values())))
    for column, factor in veil.items():
        level, height = known[column]
        said = f"the statement says that coins hid each cell of {column!r} with probability "
        said += f"{1 / factor:.3g}"
        if factor < height:
            yield f"{said} at each of {height} levels, which adds up to more than 1"
            continue
        n = max(1, len(level))
        shares = (float((level < at).sum()) / n for at in range(1, height + 1))
        chances = (1 - (height - at) / factor for at in range(height))
        both = zip(shares, chances, strict=True)
        if any(n * distance(share, chance) > limit for share, chance in both):
            yield f"{said}, but more are shown than such coins leave"


def hides_too_few(proof: Proof, released: Source) -> Iterator[str]:
    """Yield that fewer rows are hidden completely than are set aside before anything is looked at.

    Those would be a lawful class.
    """
    entries = [model for model in proof.facts["models"] if model["model"] in SERVED]
    least = max((model.get("k", model.get("l", 1)) for model in entries), default=1)
    hidden = np.ones(released.rows, bool)
    for column in proof.facts["roles"]["qi"]:
        level, height = levels_shown(proof, column, released)
        hidden &= level == height
    if released.rows > 0 and hidden.sum() < least:
        yield (
            f"the statement speaks of a veil, under which {least} rows or more are hidden "
            f"completely, and here {hidden.sum()} are"
        )


def levels_shown(proof: Proof, column: str, released: Source) -> tuple[NDArray[np.int64], int]:
    """Return the highest level of each released cell's label, and the height of the hierarchy."""
    level = dict(rungs_of(proof, column).select("label", "level").iter_rows())  # levels rise
    cells = released.encode(column)
    cells = undone(cells) if proof.facts.get("spreadsheet_safe") is True else cells
    found = np.array([level.get(text, 0) for text in cells.values], np.int64)
    return found[cells.codes], max(level.values(), default=0)


def distance(share: float, chance: float) -> float:
    """Return KL(share, chance) where the share is larger, else 0."""
    if share <= chance:
        return 0.0
    if chance <= 0:
        return float("inf")
    rest = (1 - share) * log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return share * log(share / chance) + rest
