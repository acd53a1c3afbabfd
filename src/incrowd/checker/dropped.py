"""Rows that a release leaves out because the table as a whole breaks the models.

The claim is then about the rows that are kept: each of them is released truly, in a lawful class,
and no lawful release of *these* rows costs less.  Each row left out counts as wholly suppressed, in
the cost and in the bound.  See docs/explanation/proof.md, "Rows left out".
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from incrowd.checker import files, once
from incrowd.checker.inequality import Ints
from incrowd.checker.limits import require_within
from incrowd.checker.models import columns_of, lawful, least_size
from incrowd.checker.people import named, persons, with_owners
from incrowd.checker.recheck import require_permutation
from incrowd.checker.rejection import require

AS_TABLE = ("t-closeness", "basic-beta", "enhanced-beta", "delta-disclosure")
MOST_COUNTED, EACH = 1 << 24, 1 << 12  # values, once for each row left out: so many, and per row


def without_dropped(
    before: pl.DataFrame,
    origin: Ints,
    facts: Mapping[str, Any],
    models: Sequence[Mapping[str, Any]],
) -> tuple[pl.DataFrame, Ints, int]:
    """Return the original without the rows left out, the row map into that, and how many they are.

    Rejected are more rows than the proof says may be left out, another number than it states, a
    row used twice, any row left out of a table that is lawful as it stands, and more rows than the
    fewest where that number is known.  Of rows without a person see ``with_owners``.
    """
    before, origin = with_owners(before, origin, models)
    most, stated = (facts.get(name, 0) for name in ("suppress_rows", "suppressed_rows"))
    dropped = before.height - len(origin)
    require(type(most) is int and type(stated) is int, "how many rows are left out is not a number")
    rows = "row" if dropped == -1 else "rows"
    require(dropped >= 0, f"the release has {-dropped} more {rows} than the original")
    told = f"the proof says {stated} of at most {most}"
    require(dropped == stated <= most, f"rows left out: {dropped}; {told}")
    if dropped <= 0:
        require_permutation(origin, before.height)
        return before, origin, 0
    inside = not len(origin) or bool(origin.min() >= 0 and origin.max() < before.height)
    require(inside, "the row map names a row that is not there")
    kept = np.zeros(before.height, bool)
    kept[origin] = True
    require(int(kept.sum()) == len(origin), "the row map uses an original row twice")
    require(not lawful_whole(before, models), "rows are left out of a table that is lawful whole")
    least = fewest(before, models, dropped)
    require(least in (None, dropped), f"{dropped} rows are left out where {least} would do")
    return before.filter(pl.Series(kept)), (np.cumsum(kept) - 1)[origin], dropped


def lawful_whole(table: pl.DataFrame, models: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the table as one class obeys the models; some only compare it with itself."""
    if table.height < least_size(models):
        return False
    asked = [m for m in models if m.get("model") not in ("k-anonymity", *AS_TABLE)]
    whose = persons(models)
    columns = {column for model in asked for column in columns_of(model, table)} - {*whose}
    looked = [files.as_text(table[column]) for column in sorted(columns)]
    looked += named([files.as_text(table[column]) for column in whose], models)
    frame = pl.DataFrame(looked)
    for model in asked:
        keys = [frame[c].alias(str(j)) for j, c in enumerate(columns_of(model, frame))]
        counts: Counter[Any] = Counter(pl.DataFrame(keys).rows())
        if model.get("once"):
            found = once.table_of(model, frame, columns_of(model, frame)[0], models)
            counts = Counter({(value,): people for value, people in found.items()})
        if not lawful(model, counts, counts):
            return False
    return True


def fewest(table: pl.DataFrame, models: Sequence[Mapping[str, Any]], enough: int) -> int | None:
    """Return the fewest rows to leave out, looking no further than ``enough``; None: not known.

    Known for models of one column that ask the less of sorted counts, the more even they are: rows
    are taken from whichever value is the most frequent then.  Not known where people are counted.
    """
    asked = [m for m in models if m.get("model") not in ("k-anonymity", *AS_TABLE)]
    columns = {c for model in asked for c in columns_of(model, table)}
    if persons(models) or len(columns) != 1 or any("values" in model for model in asked):
        return None
    counts = Counter((value,) for value in files.as_text(table[columns.pop()]).to_list())
    left = MOST_COUNTED + EACH * table.height
    for dropped in range(enough + 1):
        left -= len(counts)
        require_within(left >= 0, "the rows that may be left out take too long to count")
        large = counts.total() >= least_size(models)
        if large and all(lawful(model, counts, counts) for model in asked):
            return dropped
        if not counts:
            break
        value, count = counts.most_common(1)[0]
        counts[value] -= 1
        if count == 1:
            del counts[value]
    return None


def spent(dropped: int, ladders: Mapping[str, pl.DataFrame]) -> int:
    """Return what the rows left out cost, each the root of every column."""
    return dropped * sum(max(ladder["cost"].to_list(), default=0) for ladder in ladders.values())
