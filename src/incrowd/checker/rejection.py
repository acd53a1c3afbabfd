"""Why the checker rejects."""

from typing import Any

TABLES, PROOF, STATEMENT = "tables", "proof", "statement"


class RejectedError(Exception):
    """The first violation found: what is wrong and where, never the value of a cell.

    Attributes
    ----------
    reason: what is wrong, in words.
    row: number of the offending row of the released table, counted from 1 without the header.
    column: name of the offending column.
    mistaken: which files are often not the ones that were meant, if any: one of the above.
    """

    def __init__(
        self,
        reason: str,
        row: int | None = None,
        column: str | None = None,
        mistaken: str | None = None,
    ) -> None:
        self.reason, self.row, self.column, self.mistaken = reason, row, column, mistaken
        place = [] if row is None else [f"row {row}"]
        place += [] if column is None else [f"column {column!r}"]
        super().__init__(f"{', '.join(place)}: {reason}" if place else reason)


def require_none(rows: Any, reason: str, column: str | None = None) -> None:
    """Reject at the first of these rows of the release, which count from 0."""
    if len(rows):
        raise RejectedError(reason, int(rows[0]) + 1, column)


def require(truth: bool, reason: str, row: int | None = None, column: str | None = None) -> None:
    """Reject unless ``truth``."""
    if not truth:
        raise RejectedError(reason, row, column)
