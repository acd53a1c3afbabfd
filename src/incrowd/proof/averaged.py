"""The proof of a release of averages: which rows make up each class, and prices of rows."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import polars as pl

from incrowd.averages.of_table import QUANTUM, Averaged
from incrowd.hierarchy.averages import Averages
from incrowd.proof.writing import Evidence, facts_of, ladders_table, seal, sets_table

if TYPE_CHECKING:
    from incrowd.published.base import Published


def write_averages(
    file: str | Path | IO[bytes],
    evidence: Evidence,
    release: "Published",
    averaged: Averaged,
    paths: tuple[str | Path, str | Path],
) -> dict[str, Any]:
    """Write the proof of a release of averages; return its JSON part.

    Parameters
    ----------
    evidence: of the classes, as of any release.  paths: of the original and the release.
    """
    order = slice(None) if evidence.order is None else evidence.order
    rows = range(release.rows) if evidence.order is None else evidence.order
    tables = {
        "rows.parquet": pl.DataFrame(
            {
                "original": pl.Series(rows, dtype=pl.Int64),
                "class": averaged.classes[order],
                "price": averaged.prices[order],
            }
        ),
        "ladders.parquet": ladders_table(evidence),
        "sets.parquet": sets_table(evidence),
    }
    known = {**evidence.hierarchies, **stated(averaged, evidence.hierarchies)}
    facts = facts_of(replace(evidence, hierarchies=known), *paths)
    facts |= {"averaged": list(averaged.columns), "quantum": QUANTUM}
    facts |= {"cost": release.cost_units, "bound": release.bound_units}
    return seal(file, facts, tables)


def stated(averaged: Averaged, known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a proof says of averaged columns: the rule with its decimals, and apart."""
    return {
        axis.column: {
            **known.get(axis.column, {}),
            "origin": str(Averages(axis.rule.kind, axis.digits)),
            "sha256": None,
            "average": axis.rule.stated(axis.digits),
        }
        for axis in averaged.axes
    }
