"""Rows that a release leaves out at a price of their own, where that was asked for.

Claim.  Let prices obey the inequality of ``inequality.py`` for all rows of the original and for
classes of k, which no lawful class falls below; let each deleted row cost w, and let at most m be
deleted.  A release keeps rows K in lawful classes, whose prices sum to no more than they cost, and
deletes the others, D, so it costs at least
Σ_K u + w·|D| = Σ u − Σ_D (u_r − w), which is at least Σ u less the m highest of all (u_r − w)⁺.
With odd sets u_r is lifted by the weights of the sets that hold r: a deleted row is a class of its
own there, of which each set that holds it has the rest 1.

See docs/explanation/deletion.md.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from incrowd.checker import files
from incrowd.checker.dropped import without_dropped
from incrowd.checker.inequality import Ints
from incrowd.checker.oddsets import OddSets
from incrowd.checker.recheck import require_permutation
from incrowd.checker.rejection import require

# what is lawful, and the smallest lawful class, follow from a class: deleted rows change nothing
OF_CLASSES = ("k-anonymity", "people", "distinct", "frequency", "entropy", "recursive", "disjoint")
OF_ALL_ROWS = ("linked", "alike", "whole", "once")


class Kept(NamedTuple):
    """The rows that are released, and what is said of the others.

    before: the original without rows left out.  origin: int64, the row in it of each released row.
    dropped: rows left out because the table breaks the models.
    gone: the original's deleted rows, in the order of the proof; None where none may be deleted.
    price, most: what each costs, in units of 1/scale, and how many there may be.
    """

    before: pl.DataFrame
    origin: Ints
    dropped: int
    gone: pl.DataFrame | None = None
    price: int = 0
    most: int = 0

    def told(self, scale: int) -> dict[str, Any]:
        """Return what a verdict says of deleted rows; nothing where none may be deleted."""
        if self.gone is None:
            return {}
        price = str(Fraction(self.price, scale))
        found = {"deleted_rows": self.gone.height, "most_deleted": self.most}
        return found | {"deletion_price": price}

    @property
    def missing(self) -> int:
        """Rows of the original that the release lacks."""
        return self.dropped + (0 if self.gone is None else self.gone.height)

    def paid(self, dropped: int) -> int:
        """Return what rows left out cost; ``dropped``: what those do that break the models."""
        return dropped if self.gone is None else self.price * self.gone.height

    def everyone(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return the cells of the released rows with those of the deleted ones below."""
        if self.gone is None:
            return cells
        cells = cells.cast(pl.String)  # type: ignore[arg-type]
        return pl.concat(
            [cells, pl.DataFrame([files.as_text(self.gone[c]) for c in cells.columns])]
        )

    def least(self, total: int, proof: files.Proof) -> int:
        """Return what no release can cost less than, in units of 1/scale·quantum, at least 0."""
        if self.gone is None:
            return max(0, total)
        names = files.prices_of(proof.facts)
        columns = [proof.rows[name].cast(pl.Int64).to_numpy().astype(object) for name in names]
        lifted = sum(columns) + OddSets(proof.sets, proof.rows.height).lift
        over = sorted(np.maximum(lifted - self.price * proof.facts["quantum"], 0), reverse=True)
        return max(0, total - sum(over[: self.most]))


def kept(before: pl.DataFrame, proof: files.Proof, models: Sequence[Mapping[str, Any]]) -> Kept:
    """Return what a release keeps of its original, as the proof says.

    Rejected are more deleted rows than may be, deletions under models that look at more than a
    class, a row used twice or lost, and a number that is none.
    """
    facts, origin = proof.facts, proof.rows["original"].cast(pl.Int64).to_numpy()
    stated = facts.get("delete_rows")
    if stated is None:
        silent = not {"delete_rows", "deleted_rows"} & {*facts}
        require(silent, "the proof speaks of deleted rows, and none may be deleted")
        return Kept(*without_dropped(before, origin, facts, models))
    out = facts.get("suppressed_rows", 0)
    fine = isinstance(stated, dict) and {*stated} == {"price", "most"} and type(out) is int
    require(fine and out == 0, "the proof says otherwise which rows may be missing")
    numbers = [stated.get("price"), stated.get("most"), facts.get("deleted_rows")]
    fine = all(type(number) is int and number >= 0 for number in numbers)
    require(fine, "the price or number of deleted rows is not a whole number of 0 or more")
    price, most, number = numbers
    plain = all(model.get("model") in OF_CLASSES for model in models) and not facts.get("pricing")
    require(plain, "rows are deleted under a model or rules that do not look at classes alone")
    of_all = any(name in model for model in models for name in OF_ALL_ROWS)
    require(not of_all, "rows are deleted under a law on all rows of a person")
    require(number <= most, f"{number} rows are deleted, and {most} may be")
    require_permutation(origin, before.height)
    released = len(origin) - number
    require(released >= 0, "more rows are deleted than there are")
    gone = np.zeros(before.height, bool)
    gone[origin[released:]] = True
    rest = before.filter(pl.Series(~gone, dtype=pl.Boolean))
    place = (np.cumsum(~gone) - 1)[origin[:released]]
    return Kept(rest, place, 0, before[origin[released:]], price, most)
