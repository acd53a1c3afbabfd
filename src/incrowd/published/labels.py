"""What a file of SPSS, Stata or SAS says beside its cells: labels, missing values, notes, widths.

A label of a value that no cell shows mostly means that somebody had it, and any label may name
somebody.  So those of a release are the original's, of values that cells show; or of all values
that the original labels (``--codebook``), of which none is chosen by what is hidden.
"""

import re
from collections.abc import Iterator
from contextlib import suppress

from incrowd.errors import InputError
from incrowd.hierarchy.tree import STAR
from incrowd.tables.base import Source
from incrowd.tables.stat import StatTable
from incrowd.tables.stat_column import GROUP, SUPPRESSED, Raw, StatColumn

NOTES = (
    "the file holds notes, attributes, sets of variables, labels of no variable, or bytes behind "
    "its rows or texts, which no release keeps"
)
LABELS = "the file labels values that no cell shows, or otherwise than the original does"
MISSING = "the file declares values missing that no cell shows"
WIDE = "the variable is wider than the texts that its cells show"
USUAL = 9  # letters that programs show of shorter texts
TITLE = "the label of {} is not the original's"
Item = tuple[str | None, str]


def said_beside(released: StatTable, original: Source | None) -> Iterator[str]:
    """Yield what a release says beside its cells, and its original does not; None: there is none.

    Parameters
    ----------
    released: as it was read, or as it is before it is written.
    """
    known = original if isinstance(original, StatTable) else None
    if released.notes:
        yield NOTES
    if (released.title or "") not in ("", known and known.title):
        yield TITLE.format("the file")
    for name, each in released.variables.items():
        column, before = each.bare(), known.variables.get(name) if known else None
        if (column.title or "") not in ("", before and before.title):
            yield f"column {name!r}: {TITLE.format('the variable')}"
        if not labelled_alike(column, before):
            yield f"column {name!r}: {LABELS}"
        if not missing_alike(column, before):
            yield f"column {name!r}: {MISSING}"
        if not wide_alike(column, before):
            yield f"column {name!r}: {WIDE}"


def labelled_alike(column: StatColumn, before: StatColumn | None) -> bool:
    """Whether labels are the original's, and those of values without cells all that it has."""
    shown = {_text(column, value) for value in column.values}
    made = {(STAR, SUPPRESSED)} | {(text, f"{GROUP}{text}") for text in shown}
    labels = {*_items(column, [*column.labels])}
    idle = {item for item in labels if item[0] not in shown}
    # a number that became text keeps no labels of missing values
    whole = before is None or before.text or not column.text
    known: set[Item] = set()
    if before is not None:
        known |= {*_items(before, [v for v in before.labels if whole or not before.is_missing(v)])}
    left = {item for item in known if item[0] not in shown}
    return labels - idle <= known | made and (not idle or idle == left)


def missing_alike(column: StatColumn, before: StatColumn | None) -> bool:
    """Whether values declared missing are shown, or all single ones that the original declares."""
    shown, known = {*column.values}, before.missing if before else ()
    ends = {end for pair in known for end in pair}
    idle = [pair for pair in column.missing if not {*pair} <= shown]
    single = any(low == high for low, high in idle)
    own = {end for pair in column.missing for end in pair}
    whole = all(low != high or low in own or column.is_missing(low) for low, high in known)
    return all({*pair} <= ends | shown for pair in idle) and (whole or not single)


def wide_alike(column: StatColumn, before: StatColumn | None) -> bool:
    """Whether texts are as long as the variable, or all are there that the original has.

    A program that hides cells may leave the variable as wide as the longest hidden one was.
    """
    shown = {*column.values} - {None}
    if not column.text or (before is not None and {*before.values} - {None} <= shown):
        return True
    longest = max((len(str(value).encode()) for value in shown), default=0)
    told = max([column.width or 0, *map(int, re.findall(r"\d+", column.format or ""))])
    return (column.storage or 0) <= max(longest, 1) + 1 and told <= max(longest, USUAL)


def _items(column: StatColumn, values: list[Raw]) -> Iterator[Item]:
    """Yield what labelled values read as, with their labels."""
    for value in values:
        yield _text(column, value), column.labels[value]


def _text(column: StatColumn, value: Raw) -> str | None:
    with suppress(InputError):  # dates of no calendar
        return column.as_text(value)
    return repr(value)
