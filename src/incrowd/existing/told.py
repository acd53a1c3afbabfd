"""What the difference of two releases tells: new rows of a class that all have one sensitive value.

Whoever holds the earlier release subtracts it from the later one, and sees what each class gained.
A newcomer's class is known from the quasi-identifiers; where all that it gained has one value, the
newcomer has it, and where all of it is one newcomer's, that one has each of the values.  Without
such rows published classes are what they were, and other new classes are untouched: what is left
is lawful as before.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError
from incrowd.kernels.types import Ints
from incrowd.tables.base import Edit


def gained(table: Coded, edit: Edit) -> Ints:
    """int64, shape (rows,): the class of the union that each new row stands in, by its texts."""
    shown = []
    for j, tree in enumerate(table.instance.trees):
        names: dict[str | None, int] = {}
        own = np.array([names.setdefault(text, len(names)) for text in tree.leaves], np.int64)
        made = edit.replacements[tree.column]
        new = [names.setdefault(text, len(names)) for text in made.labels]
        ids = made.ids.astype(np.int64)
        shown.append(np.where(ids < 0, own[table.leaves[:, j]], np.array([*new, -1])[ids]))
    _, found = np.unique(np.column_stack(shown), axis=0, return_inverse=True)
    return found.ravel().astype(np.int64)


def told(table: Coded, edit: Edit) -> dict[str, NDArray[np.bool_]]:
    """Return by sensitive column: bool, shape (rows,): whether the difference tells its value.

    Parameters
    ----------
    edit: what changes in the new rows.
    """
    classes = gained(table, edit)
    of_one = one_each(classes, table.owners) if table.roles.person else False
    codes = {name: table.source.encode(name).codes for name in table.roles.sensitive}
    return {name: one_each(classes, own) | of_one for name, own in codes.items()}


def one_each(classes: Ints, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """bool, shape (rows,): whether all rows of a row's class have one code."""
    pairs = np.unique(np.column_stack([classes, codes]), axis=0)
    return np.bincount(pairs[:, 0])[classes] == 1


def in_words(counts: dict[str, int], rows: int, people: bool) -> Iterator[str]:
    """Yield the caution about the rows that are told, so many.

    ``people``: whether a class's rows may be one person's.
    """
    counts = {name: number for name, number in counts.items() if number}
    if not counts:
        return
    each = ", ".join(f"{name!r} of {number:,}" for name, number in counts.items())
    one = "have one value, or are one person's" if people else "have one value"
    yield (
        f"all rows that a class gained {one}: somebody who subtracts the earlier release "
        f"reads {each} of {rows:,} new rows. --hold-back (hold_back=) leaves such rows out until "
        "the next delivery"
    )


def why_held(lost: int, untold: Mapping[str, int]) -> str:
    """Say why rows are held back: so many fit nowhere, of so many a sensitive column is told."""
    says = [f"{lost:,} fit no class"] if lost else []
    each = ", ".join(f"{name!r} of {number:,}" for name, number in untold.items() if number)
    says += [f"what their classes gain would tell {each}"] if each else []
    return "; ".join(says)


def require_left(held: NDArray[np.bool_]) -> None:
    """Raise where every new row is held back."""
    if held.all():
        raise NoLawfulReleaseError(
            f"each of the {len(held):,} new rows fits no class, or would be told by what its class "
            "gains: all are held back, and nothing is left to publish; deliver them with others"
        )
