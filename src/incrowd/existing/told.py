"""What the difference of two releases tells beyond the later one: gains of one sensitive value.

Whoever holds the earlier release subtracts it from the later one, and sees what each class gained.
Where all that a newcomer's class gained has one value, the newcomer has it, and where all of it is
one newcomer's, that one has each of the values.  The later release tells the same by itself where
every class that fits any of these newcomers has this one value: that is for l-diversity.
Elsewhere they are told by the difference.

*No row less.*  Part of such a gain has one value, too, so all of it is told, or none.

*No row more.*  Without these rows published classes are what they were, and other new classes are
untouched: what is left is lawful as before.  Fewer classes fit a newcomer, so what the later
release told by itself it still tells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError
from incrowd.existing.classes import places_of_labels
from incrowd.existing.covers import covers
from incrowd.existing.union import below
from incrowd.hierarchy.family import Family
from incrowd.kernels.types import Ints
from incrowd.privacy.classes import values_by_class
from incrowd.tables.base import Edit, Table

Marks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Gains:
    """The classes of earlier and new rows, by their texts.

    Attributes
    ----------
    classes: int64, shape (rows,): the class of each row, earlier rows first; ``earlier`` of them.
    levels, nodes: int64, shape (classes, columns): their labels; −1 where today's trees lack one,
        which is taken to fit no newcomer.
    """

    classes: Ints
    earlier: int
    levels: Ints
    nodes: Ints

    @property
    def new(self) -> Ints:
        """int64, shape (new rows,): their classes."""
        return self.classes[self.earlier :]

    def told(self, codes: Ints, of_one: Marks, leaves: Ints, trees: Sequence[Family]) -> Marks:
        """bool, shape (new rows,): whether the difference tells the value of each.

        Parameters
        ----------
        codes: shape (rows,): a sensitive column; of_one: new rows of a gain of one person.
        leaves: shape (new rows, columns): what new rows have in the trees.
        """
        own = codes[self.earlier :]
        one = one_each(self.new, own) | of_one
        found = one & ~one_each(self.classes, codes)[self.earlier :]
        rest = np.flatnonzero(one & ~found)
        known = np.asarray((self.levels >= 0).all(axis=1), bool)
        for value in np.unique(own[rest]).tolist():
            rows = rest[own[rest] == value]
            other = np.bincount(self.classes[codes != value], minlength=len(known)) > 0
            shown = self.levels[known & other], self.nodes[known & other]
            fits = covers(leaves[rows], tuple(trees), *shown, 1).place[:, 0] >= 0
            found |= np.isin(self.new, self.new[rows[fits]])
        return found


def gains_of(existing: Table, table: Coded, edit: Edit) -> Gains:
    """Return what each class gains; see ``told``."""
    shown = []
    for j, tree in enumerate(table.instance.trees):
        names: dict[str | None, int] = {}
        old, made = existing.encode(tree.column), edit.replacements[tree.column]
        earlier, own, new = (
            np.array([*(names.setdefault(text, len(names)) for text in each), -1], np.int64)
            for each in (old.values, tree.leaves, made.labels)
        )
        ids = made.ids.astype(np.int64)
        fresh = np.where(ids < 0, own[table.leaves[:, j]], new[ids])
        shown.append((places_of_labels(tree, names), np.concatenate([earlier[old.codes], fresh])))
    return gains_among(shown, existing.rows)


def gains_among(shown: Sequence[tuple[Ints, Ints]], earlier: int) -> Gains:
    """Return what each class gains.

    Parameters
    ----------
    shown: by column the places of its texts, see ``places_of_labels``, and int64, shape (rows,):
        which text each row shows, earlier rows first; ``earlier`` of them.
    """
    classes = np.zeros(len(shown[0][1]), np.int64)
    for place, text in shown:
        classes = np.unique(classes * len(place) + text, return_inverse=True)[1].ravel()
    first = np.unique(classes, return_index=True)[1]
    labels = [place[text[first]] for place, text in shown]
    levels, nodes = np.stack(labels, axis=-1).swapaxes(0, 1)
    return Gains(classes, earlier, levels, nodes)


def told(existing: Table, table: Coded, edit: Edit) -> dict[str, Marks]:
    """Return by sensitive column: bool, shape (new rows,): whether the difference tells its value.

    Parameters
    ----------
    existing: the earlier release; table: the new rows; edit: what changes in these.
    """
    gains = gains_of(existing, table, edit)
    alone = one_each(gains.new, table.owners) if table.roles.person else np.zeros(1, bool)
    leaves, found = table.leaves.astype(np.int64), {}
    for name in table.roles.sensitive:
        codes = below(existing.encode(name), table.source.encode(name)).codes.astype(np.int64)
        found[name] = gains.told(codes, alone, leaves, table.instance.trees)
    return found


def one_each(classes: Ints, codes: Ints) -> Marks:
    """bool, shape (rows,): whether all rows of a row's class have one code."""
    return values_by_class(classes, codes)[classes] == 1


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
        f"reads {each} of {rows:,} new rows, which the later one alone does not tell. --hold-back "
        "(hold_back=) leaves such rows out until the next delivery"
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
