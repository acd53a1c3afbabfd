"""Whether coins can have hidden cells as a public statement says: proofs do not know the coins."""

from collections.abc import Iterator, Mapping
from math import log

import polars as pl

from incrowd.checker.files import Proof
from incrowd.tables.base import Source

SURE = 28.0
"""One in e²⁸, about 10¹², honest releases is called false."""


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
