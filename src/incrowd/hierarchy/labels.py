"""The labels of a tree: where each stands, and which of them a cell shows."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.ranges import WIDTH
from incrowd.hierarchy.tree import Tree


def with_star(tree: Family, star: str) -> Family:
    """Write the root as ``star``."""
    if isinstance(tree, RangeFamily):
        if star in tree.first or tree.like_ranges([star]):
            raise same_as_star(tree.column, star)
        return replace(tree, star=star)
    if tree.labels[-1] == (star,):
        return tree
    for labels in tree.labels[:-1]:
        if star in labels:
            raise same_as_star(tree.column, star)
    return replace(tree, labels=(*tree.labels[:-1], (star,)))


def same_as_star(column: str, star: str) -> InputError:
    """Return the error that a label reads like a suppressed cell."""
    return InputError(
        f"column {column!r}: a label of its hierarchy equals {star!r}, the chosen "
        "mark of a suppressed cell; choose another one with --star"
    )


def labels_of_spans(
    family: RangeFamily, low: NDArray[np.integer], high: NDArray[np.integer]
) -> tuple[tuple[str | None, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Return what classes show of a column with intervals, of which these are the extreme codes.

    Returns
    -------
    the labels; int64, shape (classes,): which of them each class shows, −1 for the value itself;
    and int64, shape (classes,): the leaf that reads like this label, −1 for none.
    """
    names: dict[str | None, int] = {}
    size = np.int64(len(family.leaves) + 1)
    pairs, which = np.unique(low.astype(np.int64) * size + high, return_inverse=True)
    place = {leaf: code for code, leaf in enumerate(family.leaves)}
    ids, own = np.full(len(pairs), -1, np.int64), np.full(len(pairs), -1, np.int64)
    for n, (a, b) in enumerate(zip((pairs // size).tolist(), (pairs % size).tolist(), strict=True)):
        label = family.label(a, b)
        own[n] = place.get(label, -1)
        if a != b:
            ids[n] = names.setdefault(label, len(names))
    return tuple(names), ids[which.ravel()], own[which.ravel()]


def labels_by_level(tree: Tree) -> tuple[tuple[str | None, ...], NDArray[np.int32]]:
    """Return the labels above the leaves, and int32 of shape (levels, leaves): index into them.

    −1 where the label is the leaf itself: level 0, and the padding of shallow leaves.
    """
    names: dict[str | None, int] = {}
    ids = np.full(tree.node.shape, -1, np.int32)
    leaves = np.array([*tree.leaves, ""], dtype=object)[:-1]
    for level in range(1, tree.levels):
        numbers = [names.setdefault(label, len(names)) for label in tree.labels[level]]
        label = np.array([*tree.labels[level], ""], dtype=object)[:-1][tree.node[level]]
        same = np.array(label == leaves, bool)
        ids[level] = np.where(same, -1, np.array(numbers, np.int32)[tree.node[level]])
    return tuple(names), ids


def moved(tree: Tree) -> NDArray[np.bool_]:
    """bool, shape (levels, leaves): whether a leaf released at a level reads differently."""
    return labels_by_level(tree)[1] >= 0


def places_of(tree: Tree) -> dict[str | None, tuple[int, int]]:
    """Return label → (level, node), the lowest level for a label that repeats."""
    place: dict[str | None, tuple[int, int]] = {}
    for level in range(tree.levels - 1, -1, -1):
        for node, label in enumerate(tree.labels[level]):
            place[label] = (level, node)
    return place


SPAN, WHOLE = 1, 2
"""Levels of a column with intervals: 0 is the value, then an interval, then the star."""


def places_among(family: Family, texts: Iterable[str | None]) -> dict[str | None, tuple[int, int]]:
    """Return label → (level, node) of those of these texts that are labels.

    Of a column with intervals: 0 and the leaf; 1 and ``least * leaves + greatest`` code of the
    interval; 2 and 0 for ``*``.  Where a number is written in several ways, their text is the
    interval that holds them all.
    """
    if not isinstance(family, RangeFamily):
        known = places_of(family)
        return {text: known[text] for text in texts if text in known}
    size = len(family.leaves)
    own = {leaf: code for code, leaf in enumerate(family.leaves)}
    found: dict[str | None, tuple[int, int]] = {}
    for text, (low, high) in spans_of(family, texts).items():
        found[text] = (SPAN, low * size + high)
    for text in texts:
        if text == family.star:
            found[text] = (WHOLE, 0)
        elif text in own:
            found.setdefault(text, (0, own[text]))
    return found


def places_of_spans(
    family: Family, low: NDArray[np.integer], high: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the level and node that hold each pair of codes, ``low <= high``, and no more."""
    if isinstance(family, RangeFamily):
        level = np.where(low == high, 0, np.where(high > family.reach[low], WHOLE, SPAN))
        node = np.where(level == 0, low, low.astype(np.int64) * len(family.leaves) + high)
        return level, np.where(level == WHOLE, 0, node)
    level = family.join_levels(low, high)
    return level, family.node[level, low].astype(np.int64)


def ends(
    family: Family, level: NDArray[np.integer], node: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first leaf under each node, and the one after the last; see ``places_among``."""
    if isinstance(family, RangeFamily):
        size = len(family.leaves)
        low, high = np.divmod(node, size)
        low = np.where(level == 0, node, np.where(level == SPAN, low, 0))
        high = np.where(level == 0, node, np.where(level == SPAN, high, size - 1))
        return low.astype(np.int64), high.astype(np.int64) + 1
    low, high = np.zeros(len(level), np.int64), np.zeros(len(level), np.int64)
    for one in range(family.levels):
        at = np.flatnonzero(level == one)
        low[at] = np.searchsorted(family.node[one], node[at], "left")
        high[at] = np.searchsorted(family.node[one], node[at], "right")
    return low, high


def shown_ends(
    family: Family, level: NDArray[np.integer], node: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return the leaf codes of the ends that a column of ranges shows; see ``places_among``."""
    if not isinstance(family, RangeFamily):
        return np.zeros(0, np.int64)
    known = (level >= 0) & (level != top_of(family))
    low, after = ends(family, level[known], node[known])
    return np.append(low, after - 1)


def top_of(family: Family) -> int:
    """Return the level of ``*``; see ``places_among``."""
    return WHOLE if isinstance(family, RangeFamily) else family.levels - 1


def spans_of(family: RangeFamily, texts: Iterable[str | None]) -> dict[str | None, tuple[int, int]]:
    """Return text → the least and the greatest code of the interval that it is, if it is one."""
    first = {text: code for code, text in reversed(list(enumerate(family.first))) if text}
    last = {text: code for code, text in enumerate(family.last) if text}
    found = {}
    for text in texts:
        if text is None or text == family.star:
            continue
        ends = family.shown.ends(text)
        if ends is None or ends[0] not in first or ends[1] not in last:
            ends = text, text
        if ends[0] in first and ends[1] in last:
            a, b = first[ends[0]], last[ends[1]]
            if a < b <= family.reach[a]:
                found[text] = a, b
    return found


def leaves_under(
    family: Family, labels: Iterable[str | None]
) -> dict[str | None, NDArray[np.int64]]:
    """Return which leaves each of these labels stands for; those that are none are left out.

    A value is left out where it is no label of a group too.  One that repeats on several levels
    stands for all below the highest.
    """
    wanted, found = set(labels), {}
    if isinstance(family, RangeFamily):
        if family.star in wanted:
            found[family.star] = np.arange(len(family.leaves))
        for label, (low, high) in spans_of(family, wanted - {*family.leaves}).items():
            found[label] = np.arange(low, high + 1)
        return found
    for level in range(1, family.levels):
        for node, label in enumerate(family.labels[level]):
            if label in wanted:
                found[label] = np.flatnonzero(family.node[level] == node)
    return found


def hides_an_end(tree: RangeFamily, ranges: bool, seen: NDArray[np.integer]) -> bool:
    """Whether the cost of ranges tells a hidden least or greatest value.

    A range costs its part of the width of the whole column, whose ends may be hidden.

    Parameters
    ----------
    ranges: whether some cell shows a range; seen: leaf codes of cells that are no stars, here or in
        what else is shown, such as an earlier release.
    """
    if tree.rule["cost"] != WIDTH or not ranges:
        return False
    seen = seen[seen < sum(map(bool, tree.first))]
    ends = ((tree.down, tree.down[:1]), (tree.up, tree.up.max(initial=0)))
    return not all((some[seen] == end).any() for some, end in ends)


def spans_seen(
    tree: RangeFamily,
    labels: Sequence[str | None],
    ids: NDArray[np.integer],
    codes: NDArray[np.integer],
) -> tuple[bool, NDArray[np.integer]]:
    """Return whether some of these texts are ranges, and codes of cells without a star.

    Parameters
    ----------
    labels, ids, codes: of cells the texts that replace values, which one stands there (−1: none),
        and the leaf codes of the values; ids and codes of shape (cells,).
    """
    hides = np.array([label == tree.star for label in labels] + [False])  # −1: as it was
    return not hides[:-1].all(), codes[~hides[ids]]
