"""What a release teaches about rows to come: its patterns, and which rows they cover."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.errors import HierarchyError, VerificationError
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import SPAN, WHOLE, top_of
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.ranges import places_by
from incrowd.hierarchy.tree import Tree
from incrowd.kernels.types import Ints
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.problem.solution import Solution
from incrowd.release import Release

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy

Row = tuple[str | None, ...]
Path = tuple[Any, ...]
"""Of a tree the labels of a value, leaf first; of intervals the value and its place, or None."""
NOWHERE = object()
"""Equals no label."""


@dataclass(frozen=True)
class Class:
    """A class that was learnt.

    Attributes
    ----------
    cost: per row; labels: what its rows are released as.
    ends: column → place of the ends, of the columns that show an interval.
    """

    cost: int
    labels: Row
    ends: Mapping[int, tuple[Fraction, Fraction]]

    def holds(self, paths: Sequence[Path | None]) -> bool:
        """Whether the values lie in the intervals."""
        places = (
            (low, (paths[j] or (None, None))[1], high) for j, (low, high) in self.ends.items()
        )
        return all(place is not None and low <= place <= high for low, place, high in places)

    @property
    def rank(self) -> tuple[int, tuple[str, ...]]:
        """Cheap ones first, then in the order of texts."""
        return self.cost, tuple(map(str, self.labels))


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of a release, as a function from rows to released rows.

    Attributes
    ----------
    trees: of the columns, over the values that were learnt from; sources: behind them.
    star: a suppressed cell.
    seen: row → released row, for the rows that were learnt from.
    patterns: levels of the columns → labels at these levels, "" for an interval → the classes.
    cost: of the release that ``seen`` makes, in units of 1/scale of the instance.
    """

    trees: tuple[Family, ...]
    sources: Mapping[str, "Hierarchy"]
    star: str
    seen: Mapping[Row, Row]
    patterns: Mapping[tuple[int, ...], Mapping[Row, Sequence[Class]]]
    cost: int

    def released(self, rows: Sequence[Row]) -> list[Row]:
        """Return each row as it is released: a function of the row alone.

        A row that was learnt from is released as it was then; any other by the cheapest pattern
        that covers it (ties: the first in the order of texts), or with stars alone.
        """
        new = {row for row in rows if row not in self.seen}
        paths = [self._paths(j, {row[j] for row in new}) for j in range(len(self.trees))]
        answer = {
            row: self._covered([of[value] for of, value in zip(paths, row, strict=True)])
            for row in new
        }
        return [self.seen[row] if row in self.seen else answer[row] for row in rows]

    def _covered(self, paths: Sequence[Path | None]) -> Row:
        """Return the cheapest pattern above a row, given by its values' paths."""
        best: Class | None = None
        for levels, classes in self.patterns.items():
            labels = tuple(
                self._label(path, level, tree)
                for path, level, tree in zip(paths, levels, self.trees, strict=True)
            )
            for found in classes.get(labels, ()):
                if found.holds(paths) and (best is None or found.rank < best.rank):
                    best = found
        return (self.star,) * len(self.trees) if best is None else best.labels

    def _label(self, path: Path | None, level: int, tree: Family) -> Any:
        """Return the label of a value at a level; a value without a path has the root alone."""
        ranged = isinstance(tree, RangeFamily)
        if level == top_of(tree):
            return self.star
        return NOWHERE if path is None else "" if ranged and level == SPAN else path[level]

    def _paths(self, j: int, values: set[str | None]) -> Mapping[str | None, Path | None]:
        """Return each value's labels from leaf to root, or None where its column cannot place it.

        A missing value that was not learnt has no path either: only stars cover it.
        """
        tree = self.trees[j]
        if isinstance(tree, RangeFamily):
            at = places_by(tree.rule)
            return {value: (value, None if value is None else at(value)) for value in values}
        place = {leaf: code for code, leaf in enumerate(tree.leaves)}
        paths: dict[str | None, Path | None] = dict.fromkeys(values)
        for value in values.intersection(place):
            code = place[value]
            paths[value] = tuple(
                tree.labels[level][tree.node[level, code]] for level in range(tree.levels)
            )
        new = sorted(value for value in values.difference(place) if value is not None)
        source = self.sources.get(tree.column)
        if source is None or not new:
            return paths
        found = placed(source, tree, new)
        if found is None:  # together they change how the rule writes its labels: one by one
            found = {value: (placed(source, tree, [value]) or {}).get(value) for value in new}
        return paths | found


def placed(source: "Hierarchy", tree: Tree, new: Sequence[str]) -> dict[str, Row | None] | None:
    """Return where a hierarchy puts values that it has not been built with.

    None when it cannot, or when known values would read otherwise beside them (intervals of whole
    numbers are written otherwise as soon as one value has decimals).
    """
    known = exemplars(tree)
    try:
        ladder = source.build(tree.column, [*known, *new])
    except HierarchyError:
        return None
    if ladder.levels != tree.levels:
        return None
    paths = {leaf: ladder.path(code)[:-1] for code, leaf in enumerate(ladder.leaves)}
    place = {leaf: code for code, leaf in enumerate(tree.leaves)}
    for value in known:
        below = range(tree.levels - 1)
        if paths[value] != tuple(tree.labels[up][tree.node[up, place[value]]] for up in below):
            return None
    root = tree.labels[-1]
    return {value: (*paths[value], *root) for value in new}


def exemplars(tree: Tree) -> list[str]:
    """Return a few known values that show how a rule writes its labels.

    The longest text, the first with a point, and the first: masks depend on the longest value,
    intervals on whether all are whole.
    """
    known = [leaf for leaf in tree.leaves if leaf is not None]
    if not known:
        return []
    with_point = [leaf for leaf in known if "." in leaf][:1]
    return list(dict.fromkeys([max(known, key=lambda leaf: len(leaf)), *with_point, known[0]]))


def patterns_of(release: Release) -> Patterns:
    """Learn from a release, made so that equal rows are released alike.

    A release may put copies of one row into different classes; a function of the row cannot.  All
    copies of such a row go to the cheapest of its classes if that leaves the others lawful (or
    empty); otherwise these classes are merged.  Merging keeps lawful classes lawful.

    Raises
    ------
    HierarchyError: features are averaged: a new row has no class that tells its average.
    VerificationError: a class is not lawful after all (checked again at the end).
    """
    if release.averaged is not None:
        raise HierarchyError(
            f"feature {release.averaged.columns[0]!r} is averaged, and a transformer learns no "
            "averages: give it a range or a hierarchy with levels, or call incrowd.anonymize"
        )
    table = release.coded
    trees = table.instance.trees
    solution = together(table, release.solved.solution)
    sources = release.policy.sources()
    class_of_row = solution.classes[table.copy_of_row]
    first = np.unique(class_of_row, return_index=True)[1]
    labels_of_class: list[Row] = []
    cheapest: dict[tuple[Any, ...], Class] = {}  # of classes that read alike
    for c, row in enumerate(first.tolist()):
        levels, found = learnt(trees, solution, c, table.leaves[row])
        labels_of_class.append(found.labels)
        key = tuple("" if j in found.ends else label for j, label in enumerate(found.labels))
        place = levels, key, tuple(sorted(found.ends.items()))
        known = cheapest.setdefault(place, found)
        cheapest[place] = min(known, found, key=lambda one: one.rank)
    patterns: dict[tuple[int, ...], dict[Row, list[Class]]] = {}
    for (levels, key, _), found in cheapest.items():
        patterns.setdefault(levels, {}).setdefault(key, []).append(found)
    distinct, at = np.unique(table.leaves, axis=0, return_index=True)
    seen = {
        tuple(tree.leaves[code] for tree, code in zip(trees, codes, strict=True)): labels_of_class[
            class_of_row[row]
        ]
        for codes, row in zip(distinct.tolist(), at.tolist(), strict=True)
    }
    star = release.policy.star
    return Patterns(trees, sources, star, seen, patterns, solution.cost)


def learnt(
    trees: Sequence[Family], solution: Solution, c: int, leaves: NDArray[np.integer]
) -> tuple[tuple[int, ...], Class]:
    """Return the levels of a class's columns, and the class; ``leaves``: codes of one row."""
    levels: list[int] = solution.levels[c].tolist()
    labels: list[str | None] = []
    ends: dict[int, tuple[Fraction, Fraction]] = {}
    for j, tree in enumerate(trees):
        if not isinstance(tree, RangeFamily):
            labels.append(tree.labels[levels[j]][tree.node[levels[j], leaves[j]]])
            continue
        low, high = (int(each[c, j]) for each in solution.spans)
        labels.append(tree.label(low, high))
        both = [places_by(tree.rule)(text) for text in (tree.first[low], tree.last[high])]
        if levels[j] and labels[-1] == tree.star:
            levels[j] = WHOLE
        elif levels[j] and both[0] is not None and both[1] is not None:
            ends[j] = both[0], both[1]
    return tuple(levels), Class(int(solution.class_costs[c]), tuple(labels), ends)


def together(table: Coded, solution: Solution) -> Solution:
    """Return a solution in which rows with equal quasi-identifiers share a class."""
    class_of_row = solution.classes[table.copy_of_row]
    _, unit_of_row = np.unique(table.leaves, axis=0, return_inverse=True)
    unit_of_row = unit_of_row.ravel()
    lawful = lawfulness(table)
    cost = {c: int(each) for c, each in enumerate(solution.class_costs)}
    members = {c: set(rows.tolist()) for c, rows in enumerate(_groups(class_of_row))}
    for rows in _groups(unit_of_row):
        classes = sorted({int(class_of_row[row]) for row in rows}, key=lambda c: (cost[c], c))
        if len(classes) > 1:
            copies = set(rows.tolist())
            target = next(
                (c for c in classes if _can_move(c, classes, copies, members, lawful)), -1
            )
            if target < 0:
                target, copies = classes[0], set().union(*(members[c] for c in classes))
                cost[target] = max(cost[c] for c in classes)
            for c in classes:
                members[c] -= copies
            members[target] |= copies
            class_of_row[list(copies)] = target
    mended = Solution.of(solution.instance, table.by_copy(class_of_row))
    codes = solution.instance.sensitive_codes[solution.instance.copies]
    group = Group(codes, solution.instance.sensitive_sizes)
    if not table.model.lawful_classes(Classes(mended.classes, group)).all():
        raise VerificationError("a class is not lawful once equal rows share a class")
    return mended


def _can_move(
    target: int,
    classes: Sequence[int],
    copies: set[int],
    members: Mapping[int, set[int]],
    lawful: Callable[[set[int]], bool],
) -> bool:
    """Whether a row's copies may all go to one of its classes."""
    left = [members[c] - copies for c in classes if c != target]
    return all(not rows or lawful(rows) for rows in left) and lawful(members[target] | copies)


def lawfulness(table: Coded) -> Callable[[set[int]], bool]:
    """Return the test whether a set of table rows is a lawful class."""
    instance = table.instance
    codes = instance.sensitive_codes[instance.copies]
    everyone = Group(codes, instance.sensitive_sizes)

    def lawful(rows: set[int]) -> bool:
        chosen = codes[table.copy_of_row[sorted(rows)]]
        return table.model.lawful(Group(chosen, instance.sensitive_sizes), everyone)

    return lawful


def _groups(number: Ints) -> list[Ints]:
    """Return the rows of each number 0, 1, … in order."""
    order = np.argsort(number, kind="stable")
    cuts = np.cumsum(np.bincount(number))[:-1]
    return np.split(order, cuts)
