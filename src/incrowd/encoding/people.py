"""Whose each row is, by the columns that together name a person."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.tables.base import Column, FewerRows, Source
from incrowd.tables.whose import ownerless, owners
from incrowd.text.missing import Marks, marks_for


def with_persons(source: Source, names: Sequence[str], missing: str) -> Source:
    """Return the table without the rows that do not say whose they are, where those are dropped.

    Parameters
    ----------
    names: the columns that together name a person.  missing: ``"error"``, ``"own"`` or ``"drop"``.

    Raises
    ------
    InputError: a row does not say whose it is, and nothing says what becomes of it.
    """
    if not names or missing == "own":
        return source
    for name in names if missing == "error" else ():
        require_named(
            name,
            ownerless(source, [name]),
            ": fill it in, or say what becomes of them (--missing-person own: each is a person of "
            "its own; drop: they are left out)",
        )
    without = ownerless(source, names)
    return FewerRows(source, np.flatnonzero(~without)) if without.any() else source


def people_of(source: Source, names: Sequence[str], missing: str) -> Column:
    """Return whose each row is.

    Several columns give numbers in place of texts: nothing reads them.  ``missing``: with ``"own"``
    a row without a person is one of its own.
    """
    return owners(source, names, None if missing == "own" else np.zeros(source.rows, bool))


def paired(values: Column, people: Column) -> Column:
    """Return which pair of a value and a person each row has; its texts are numbers."""
    width = len(people.values)
    key = values.codes.astype(np.int64) * width + people.codes
    different, codes = np.unique(key, return_inverse=True)
    return Column(tuple(f"{i:012}" for i in range(len(different))), codes.ravel().astype(np.int32))


def require_once(source: Source, names: Sequence[str]) -> None:
    """Raise InputError for a column left out that has one value in several rows."""
    for name in names:
        several, there = repeated(source, name)
        if several:
            raise InputError(
                f"column {name!r}, which is left out, has {several:,} of its {there:,} "
                "values in several rows: if it names people, name it with --person, so that people "
                "are counted; if it does not, leave --strict out"
            )


def require_unlinked(source: Source, names: Sequence[str]) -> None:
    """Raise InputError for a column whose pseudonyms would link rows, of which nothing is asked."""
    for name in names:
        several, _ = repeated(source, name)
        if several:
            raise InputError(
                f"column {name!r} has {several:,} values in several rows, which their pseudonym "
                f"would link: whoever knows several of them knows more than k allows for. Name it "
                "with --person as well, so that all rows of a person together are shared by k "
                "people, or leave it out with --id"
            )


def repeated(source: Source, name: str) -> tuple[int, int]:
    """Return how many values of a column stand in several rows, and how many there are."""
    column = source.encode(name)
    counts = np.bincount(column.codes, minlength=len(column.values))
    there = np.array([bool(value) for value in column.values], bool)
    return int((counts[there] > 1).sum()), int(there.sum())


def require_unmarked(source: Source, names: Sequence[str], marks: Marks) -> None:
    """Raise InputError for persons who are called like a missing value: whose they are is not said.

    The checker reads such a cell as a name, so no rule for missing ones is applied to it.
    """
    for name in names:
        column = source.encode(name)
        none = [c for c, value in enumerate(column.values) if value in marks_for(marks, name)]
        require_named(
            name,
            np.isin(column.codes, none),
            " (--na): empty these cells, and say what becomes of the rows (--missing-person)",
        )


def require_named(name: str, lacking: NDArray[np.bool_], remedy: str) -> None:
    """Raise InputError where rows lack the name of a person in a column; it ends with a remedy."""
    if lacking.any():
        raise InputError(
            f"column {name!r} names people, but {int(lacking.sum()):,} of {len(lacking):,} rows "
            f"have no value in it{remedy}"
        )
