"""Linked columns of a release with a proof: whether they stand at one level in each row."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from incrowd.checker.files import Proof
from incrowd.constraints.levels import torn_rows
from incrowd.errors import listed
from incrowd.proof.costs_asked import rungs_of
from incrowd.tables.base import Column


def links_torn(
    proof: Proof, links: Sequence[Sequence[str]], released: pl.DataFrame, qi: Sequence[str]
) -> Iterator[str]:
    """Yield the links of which a row shows columns at levels of their own.

    Parameters
    ----------
    released: the quasi-identifiers as text; ``qi``: their names, in that order.
    """
    for link in links:
        rungs = [rungs_of(proof, name) for name in link]
        ladders = [
            [own["label"].to_list() for own in each.partition_by("level", maintain_order=True)]
            for each in rungs
        ]
        if not all(ladders):  # of a table without rows
            continue
        cells = [released.to_series(qi.index(name)).to_list() for name in link]
        columns = [Column.of(texts, np.arange(len(texts))) for texts in cells]
        if len(torn := torn_rows(ladders, columns)):
            yield (
                f"row {int(torn[0]) + 1}: the linked columns {listed(link)} were "
                "not generalized together"
            )
