"""Ground distances between sensitive values, and the Earth Mover's Distance over each.

A ground distance is a metric on the codes of one attribute, of diameter 1 (Liang and Yuan 2012,
§2.1).  The Earth Mover's Distance between a class's and the table's distribution is returned as
an exact fraction with denominator > 0.  Li, Li, Venkatasubramanian 2007 give the closed forms.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.classes import Histograms, at_most, largest_ratio, product
from incrowd.privacy.law import EQUAL, NODES, limit
from incrowd.text.exact import unit_of

Counts = NDArray[np.int64]
LINE, MATRIX = 0, -1  # forms in which bounds are told of distances


class GroundDistance(ABC):
    """A metric of diameter 1 on the values of one attribute.

    Attributes
    ----------
    name: text form, e.g. ``equal``.
    all_alike: whether all values are 1 apart.
    cheap: whether ``each`` takes no longer than all classes' histograms.
    """

    name: str
    all_alike: bool = False
    cheap: bool = False

    @property
    def separates(self) -> bool:
        """Whether different values are at a distance above 0."""
        return True

    @abstractmethod
    def work(self, counts: Counts, table: Counts) -> Fraction:
        """The Earth Mover's Distance between a class's distribution and the table's, exactly."""

    @abstractmethod
    def within(self, classes: Histograms, t: Fraction) -> NDArray[np.bool_]:
        """bool, shape (classes,): whether ``work`` is at most ``t``.  Exact."""

    @abstractmethod
    def farthest(self, classes: Histograms) -> Fraction:
        """The largest ``work`` of all classes (at least one)."""

    @abstractmethod
    def lower(self, n: int, table: Counts) -> Fraction:
        """A lower bound on ``work`` over all classes of ``n`` rows."""

    def each(self, classes: Histograms) -> NDArray[np.float64]:
        """float64, shape (classes,): ``work`` of each class."""
        works = (self.work(classes.dense(i), classes.table) for i in range(classes.classes))
        return np.array([float(work) for work in works])

    def apart(self, values: int) -> tuple[NDArray[np.int64] | None, int]:
        """The distances, int64 of shape (values, values), and of what they are multiples, inverted.

        None where all values are 1 apart.
        """
        alone = np.eye(values, dtype=np.int64)
        far = [[self.work(v, w) for w in alone] for v in alone]
        unit = unit_of(chain(*far))
        return np.array([[int(x * unit) for x in row] for row in far], np.int64), unit

    def closest(self, values: int) -> Fraction:
        """The least distance between two of so many values; 1 of one value."""
        apart, unit = self.apart(values)
        if apart is None or values == 1:
            return Fraction(1)
        return Fraction(int(apart[~np.eye(values, dtype=bool)].min()), unit)

    def told(self, share: NDArray[np.float64]) -> tuple[int, NDArray[np.number]] | None:
        """What bounds are told of the distances: a form, and numbers; None: all are 1.

        ``MATRIX``: all distances row by row.  ``LINE``: the place of each value, then Σ q and
        Σ q·place of the places below each, q the share of a value in the table.  Else the number
        of levels below a root, and of each level the node of each value.
        """
        apart, unit = self.apart(len(share))
        return None if apart is None else (MATRIX, apart.ravel() / unit)

    def in_groups(
        self, values: int, t: Fraction
    ) -> "tuple[GroundDistance, Fraction, NDArray[np.int64]] | None":
        """A distance and a threshold for groups of so many values, and each value's group.

        Whatever is that close is within t by this distance.  None where values stay as they are.
        """
        return None

    def numbers(self, t: Fraction, table: list[int], name: str) -> tuple[int, list[int]] | None:
        """The kind and the numbers of the law ``work`` ≤ t (``incrowd.privacy.law``).

        They begin with t's numerator (times the paths), its denominator, and the table's rows N.
        None where no law is known; ``name``: of the model, for a message.
        """
        return None

    def entry(self, values: Sequence[str | None]) -> dict[str, Any] | None:
        """The distance as plain data, the values spelled out; None: the checker lacks it."""
        return None


def excess(counts: Counts, table: Counts) -> list[int]:
    """Return h(v)·N − n·C(v) for each value v; they sum to 0."""
    n, rows = int(counts.sum()), int(table.sum())
    return [int(h) * rows - n * int(c) for h, c in zip(counts, table, strict=True)]


def scale(counts: Counts, table: Counts) -> int:
    """Return n·N, the unit that ``excess`` is in."""
    return int(counts.sum()) * int(table.sum())


def rounding(n: int, counts: Counts, rows: int) -> int:
    """Return the least Σ(x(v)·N − n·C(v))⁺ over integers x(v) ≥ 0 that sum to n.

    Every quota n·C(v)/N is rounded down, and the quotas with the largest remainders are rounded
    up; the sum is convex in each x(v), so this is best.
    """
    remainders = np.sort(n * counts % rows)
    down = len(remainders) - int(remainders.sum()) // rows
    return int((rows - remainders[down:]).sum())


class ClosedForm(GroundDistance):
    """A distance with a closed form for all classes at once."""

    cheap = True

    @abstractmethod
    def works(self, classes: Histograms) -> tuple[NDArray, NDArray]:
        """``work`` of every class: numerators and denominators, int64 or object."""

    def within(self, classes: Histograms, t: Fraction) -> NDArray[np.bool_]:
        """bool, shape (classes,): whether ``work`` is at most ``t``.  Exact."""
        return at_most(*self.works(classes), t)

    def farthest(self, classes: Histograms) -> Fraction:
        """The largest ``work`` of all classes (at least one)."""
        return largest_ratio(*self.works(classes))

    def each(self, classes: Histograms) -> NDArray[np.float64]:
        """float64, shape (classes,): ``work`` of each class."""
        top, bottom = self.works(classes)
        return np.asarray(top, float) / np.asarray(bottom, float)


@dataclass(frozen=True)
class Equal(ClosedForm):
    """All values are at distance 1 (Liang and Yuan 2012, Fact 1): total variation."""

    name = "equal"
    all_alike = True

    def work(self, counts: Counts, table: Counts) -> Fraction:
        """Σ (q − p)⁺."""
        return Fraction(sum(e for e in excess(counts, table) if e > 0), scale(counts, table))

    def works(self, classes: Histograms) -> tuple[NDArray, NDArray]:
        """Σ (q − p)⁺ over the values that a class holds; the others add nothing."""
        sizes = classes.sizes
        surplus = product(classes.count, classes.rows) - product(
            sizes[classes.owner], classes.table[classes.code]
        )
        return classes.total(np.maximum(surplus, 0)), product(sizes, classes.rows)

    def lower(self, n: int, table: Counts) -> Fraction:
        """The best rounding of the quotas; attained, as no quota rounds up beyond its C(v)."""
        rows = int(table.sum())
        return Fraction(rounding(n, table, rows), n * rows)

    def apart(self, values: int) -> tuple[None, int]:
        """All values are 1 apart."""
        return None, 1

    def numbers(self, t: Fraction, table: list[int], name: str) -> tuple[int, list[int]]:
        """Then C(v) by value."""
        rows = sum(table)
        limit(t.denominator * rows * rows, name)
        return EQUAL, [t.numerator, t.denominator, rows, *table]

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """The name alone."""
        return {"distance": "equal"}


@dataclass(frozen=True)
class Hierarchical(ClosedForm):
    """Two values are as far apart as the level at which they meet, over the level of the root.

    ``levels[i][code]`` is the node above ``code`` at level i; level 0 are the values themselves.
    Levels above the first at which all values meet do not count, so the diameter is 1.
    """

    levels: tuple[tuple[int, ...], ...]

    name = "hierarchical"

    def __post_init__(self) -> None:
        if len({len(level) for level in self.levels}) != 1:
            raise InputError("every level of a hierarchy must name a node for every value")
        for lower, upper in zip(self.levels, self.levels[1:], strict=False):
            if len(set(zip(lower, upper, strict=True))) != len(set(lower)):
                raise InputError("a node of a hierarchy has two parents")
        if len(set(self.levels[0])) != len(self.levels[0]) or len(set(self.levels[-1])) > 1:
            raise InputError("a hierarchy must lead from single values to one root")

    @classmethod
    def of(cls, tree: Tree, values: Sequence[str | None] | None = None) -> "Hierarchical":
        """Take a column's tree; ``values`` are the texts by code, None: codes are leaf codes."""
        place = {value: leaf for leaf, value in enumerate(tree.leaves)}
        leaves = [place[value] for value in (tree.leaves if values is None else values)]
        return cls(tuple(tuple(int(node) for node in level[leaves]) for level in tree.node))

    def below_root(self, values: int) -> list[NDArray[np.int64]]:
        """Dense node ids of each code, for each level below the one where all values meet."""
        if len(self.levels[0]) != values:
            raise InputError(
                f"the hierarchy has {len(self.levels[0])} values, "
                f"the sensitive attribute has {values}"
            )
        apart = [level for level in self.levels if len(set(level)) > 1]
        return [np.unique(level, return_inverse=True)[1].astype(np.int64) for level in apart]

    def work(self, counts: Counts, table: Counts) -> Fraction:
        """Mass that leaves a node pays 1/(2·height) on the edge above it, at both ends."""
        surplus = np.array(excess(counts, table), object)
        levels = self.below_root(len(table))
        total = 0
        for node in levels:
            at_node = [0] * (int(node.max()) + 1)
            for v, e in zip(node, surplus, strict=True):
                at_node[v] += e
            total += sum(e for e in at_node if e > 0)
        return Fraction(total, scale(counts, table) * max(len(levels), 1))

    def works(self, classes: Histograms) -> tuple[NDArray, NDArray]:
        """Per level the total variation between the nodes' distributions; their mean."""
        levels = self.below_root(len(classes.table))
        total = np.zeros(classes.classes, np.int64)
        for node in levels:
            total = total + Equal().works(classes.regroup(node))[0]
        return total, product(product(classes.sizes, classes.rows), max(len(levels), 1))

    def lower(self, n: int, table: Counts) -> Fraction:
        """The best rounding at each level by itself."""
        rows = int(table.sum())
        levels = self.below_root(len(table))
        total = sum(rounding(n, np.bincount(node, table).astype(np.int64), rows) for node in levels)
        return Fraction(total, n * rows * max(len(levels), 1))

    def apart(self, values: int) -> tuple[NDArray[np.int64], int]:
        """The number of levels at which two values stand below different nodes, of all levels."""
        levels = self.below_root(values)
        apart = np.zeros((values, values), np.int64)
        for node in levels:
            apart += np.not_equal.outer(node, node)
        return apart, max(len(levels), 1)

    def closest(self, values: int) -> Fraction:
        """By the first level at which two values meet."""
        levels = self.below_root(values)
        apart = sum(int(level.max()) + 1 == values for level in levels)
        return Fraction(apart, max(len(levels), 1)) if values > 1 else Fraction(1)

    def told(self, share: NDArray[np.float64]) -> tuple[int, NDArray[np.number]]:
        """The nodes: there may be too many values for a matrix."""
        levels = self.below_root(len(share))
        return len(levels), np.ravel(levels)

    def numbers(self, t: Fraction, table: list[int], name: str) -> tuple[int, list[int]]:
        """Then the number of levels, and the values so that those of any node stand together.

        Of each level: its nodes, where each ends among the values, and C of each node.
        """
        rows, levels = sum(table), self.below_root(len(table))
        limit(t.denominator * rows * rows * max(len(levels), 1), name)
        order = np.lexsort(levels) if levels else np.arange(len(table))
        data = [t.numerator * max(len(levels), 1), t.denominator, rows, len(levels)]
        data += order.tolist()
        for level in levels:
            ends = np.append(np.flatnonzero(np.diff(level[order])) + 1, len(table))
            sums = np.add.reduceat(np.array(table)[order], np.append(0, ends[:-1]))
            data += [len(ends), *ends.tolist(), *sums.tolist()]
        return NODES, data

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """The values, and the node of each at every level."""
        levels = [list(level) for level in self.levels]
        return {"distance": "hierarchical", "order": list(values), "levels": levels}
