"""Texts that stand for missing values, such as ``NA`` and ``-99``: no numbers, dates or codes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from incrowd.errors import InputError, no_column

EVERY = ""
"""In place of a column's name: all columns."""
Marks = Mapping[str, tuple[str, ...]] | tuple[str, ...]

WORDS = ("N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>")
"""Texts that programs write for missing values, and nobody else writes."""
DOUBTFUL = (
    *("NA", "na", "None", ".", "-", "?", "inf", "-inf", "--", "n.a.", "N.A.", "missing", "Missing"),
    *("unknown", "Unknown", "UNKNOWN", "not known", "Not known"),
    *("unbekannt", "Unbekannt", "k.A.", "k. A.", "k.A", "keine Angabe", "fehlt", "inconnu"),
    *("desconocido", "not available", "not recorded", "not done", "refused", "no answer"),
)
NEGATIVE = ("-9", "-99", "-999", "-9999", "-8", "-88", "-888", "-7", "-77", "-777")
"""Of numbers that are otherwise 0 or more."""


def marks_of(given: Any) -> Marks:
    """Read texts for all columns, or a mapping of columns to texts; ``EVERY`` for all columns.

    Raises
    ------
    InputError: no such form.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        return _texts(given)
    found = {str(column): _texts(texts) for column, texts in given.items()}
    return found.get(EVERY, ()) if set(found) <= {EVERY} else found


def _texts(given: Any) -> tuple[str, ...]:
    """Return different texts; a number stands for its text."""
    texts = (given,) if isinstance(given, str | int | float) else given
    if not isinstance(texts, Iterable) or isinstance(given, bytes | bool):
        raise InputError(
            "na takes texts that stand for a missing value, such as NA and -99, or a mapping of "
            f"columns to them, not {type(given).__name__}"
        )
    found = tuple(dict.fromkeys(str(text) for text in texts))
    if "" in found:
        raise InputError("na: an empty cell is missing anyway; leave the empty text out")
    return found


def marks_for(marks: Marks, column: str) -> tuple[str, ...]:
    """Return the texts that stand for a missing value in a column."""
    if not isinstance(marks, Mapping):
        return marks
    return tuple(dict.fromkeys((*marks.get(EVERY, ()), *marks.get(column, ()))))


def require_known(marks: Marks, columns: Sequence[str]) -> None:
    """Raise InputError for a column that the table does not have."""
    for name in marks if isinstance(marks, Mapping) else ():
        if name not in (EVERY, *columns):
            raise no_column("--na", name, columns)


def likely(
    values: Sequence[str | None], numeric: Callable[[Sequence[str]], bool]
) -> tuple[str, ...]:
    """Return texts among a column's values that look like marks of missing values.

    Parameters
    ----------
    numeric: whether some texts are all numbers, dates or codes, among which a word is none.
    """
    known = {value for value in values if value is not None}
    words = known & {*WORDS, *DOUBTFUL}
    rest = known - words
    if not rest or not numeric(sorted(rest)):
        return tuple(sorted(known & {*WORDS}))
    codes = rest & {*NEGATIVE}
    above = rest - codes
    if not above or any(value.startswith("-") for value in above):
        codes = set()
    return tuple(sorted(words | codes))
