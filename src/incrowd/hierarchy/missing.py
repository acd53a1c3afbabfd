"""Texts that stand for missing values, such as ``NA`` and ``-99``: no numbers, dates or codes.

Each stays a value of its own, for rows are held alike by what is published: ``NA`` and an empty
cell differ there.  Only what a rule would make of it is kept from it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from incrowd.errors import InputError, no_column
from incrowd.hierarchy.ladder import Declared, Ladder, Source

EVERY = ""
"""In place of a column's name: all columns."""
Marks = Mapping[str, tuple[str, ...]] | tuple[str, ...]

WORDS = ("N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>")
"""Texts that programs write for missing values, and nobody else writes."""
DOUBTFUL = ("NA", "na", "None", ".", "-", "?", "inf", "-inf")
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


def declared(values: Sequence[str | None], marks: Sequence[str]) -> tuple[str | None, ...]:
    """Return the values, those that stand for a missing one declared."""
    return tuple(Declared(v) if v is not None and v in marks else v for v in values)


@dataclass(frozen=True)
class Sparing:
    """A hierarchy that leaves marks of missing values as they are, below ``*``.

    Attributes
    ----------
    source: of the other values, and of marks that it lists itself, as a file may.
    """

    source: Source
    marks: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.source)

    @property
    def path(self) -> Any:
        """The file that the hierarchy is, where it is one."""
        return getattr(self.source, "path", str(self.source))

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder; see ``Source``."""
        ladder = self.source.build(column, declared(values, self.marks))
        labels = tuple(
            tuple(None if text is None else str(text) for text in level) for level in ladder.labels
        )
        return replace(ladder, labels=labels)


def sparing(source: Source, marks: Sequence[str]) -> Source:
    """Return the source, sparing marks if there are any."""
    return Sparing(source, tuple(marks)) if marks else source


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
