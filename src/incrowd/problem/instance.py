"""The problem behind the front door: distinct rows as small integer codes, with multiplicities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError
from incrowd.hierarchy.family import Family, costs_to_keep
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.tree import Tree


class NodeTables(NamedTuple):
    """All trees in flat arrays, the form that kernels take.

    The ancestor of leaf code ``c`` of column ``j`` at level ``l`` is
    ``node[start[j] + l * width[j] + c]``; its cost stands at the same place in ``cost``.

    Where ``ranged[j]`` is not −1 the column's nodes are intervals (``RangeFamily``), of which
    ``down``, ``up`` and ``reach`` stand at ``ranged[j] + c`` and the cost of ``*`` in ``star[j]``;
    ``node`` and ``cost`` hold its leaves and ``*`` alone.
    """

    node: NDArray[np.int32]
    cost: NDArray[np.int64]
    start: NDArray[np.int64]
    width: NDArray[np.int64]
    levels: NDArray[np.int64]
    ranged: NDArray[np.int64]
    star: NDArray[np.int64]
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    reach: NDArray[np.int64]

    def in_order(self, order: NDArray[np.int64]) -> "NodeTables":
        """Return the tables with the columns in another order."""
        by_column = ("start", "width", "levels", "ranged", "star")
        return self._replace(**{name: getattr(self, name)[order] for name in by_column})


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class Instance:
    """Distinct (QI, SA) rows as leaf codes, with multiplicities.

    A *copy* is one row of the table.  Copies are numbered distinct row by distinct row:
    copy ``i`` is a copy of distinct row ``Instance.copies[i]``.

    Attributes
    ----------
    codes: int32, shape (distinct, columns), C order, rows sorted and pairwise different (together
        with ``sensitive``): leaf codes of the quasi-identifiers.
    counts: int64, shape (distinct,): copies of each distinct row, all ≥ 1.
    trees: one per column.
    scale: integer costs are in units of ``1/scale``.
    sensitive: int32, shape (distinct, sensitive attributes): codes of the sensitive values; no
        columns when the model does not look at them.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    trees: tuple[Family, ...]
    scale: int = 1
    sensitive: NDArray[np.int32] | None = None

    @property
    def distinct(self) -> int:
        """Number of distinct rows."""
        return len(self.codes)

    @property
    def columns(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.trees)

    @property
    def plain(self) -> bool:
        """Whether cells are released as they are or suppressed, with nothing in between."""
        return all(isinstance(tree, Tree) and tree.levels <= 2 for tree in self.trees)

    @property
    def ranged(self) -> bool:
        """Whether some column is generalized to intervals."""
        return any(isinstance(tree, RangeFamily) for tree in self.trees)

    @cached_property
    def rows(self) -> int:
        """Number of rows of the table, copies counted."""
        return int(self.counts.sum())

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """int64, shape (rows,): the distinct row of each copy."""
        return np.repeat(np.arange(self.distinct, dtype=np.int64), self.counts)

    @cached_property
    def first_copy(self) -> NDArray[np.int64]:
        """int64, shape (distinct + 1,): copies of row r are ``first_copy[r]:first_copy[r+1]``."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    @cached_property
    def tables(self) -> NodeTables:
        """The trees in flat arrays; raises as ``require_free_values`` does."""
        self.require_free_values()
        return tables_of(self.trees)

    def require_free_values(self) -> None:
        """Refuse values that searches do not know.

        Raises
        ------
        OutOfScopeError: a value costs something though it stays, see ``incrowd.reduce.leaf_costs``.
        """
        if any(map(costs_to_keep, self.trees)):
            raise OutOfScopeError(
                "values that cost something though they stay are served in a release of its own "
                "only, without constraints; not here"
            )

    @cached_property
    def sensitive_codes(self) -> NDArray[np.int32]:
        """int32, shape (distinct, attributes): like ``sensitive``, with no columns for none."""
        if self.sensitive is None:
            return np.zeros((self.distinct, 0), np.int32)
        return self.sensitive

    @cached_property
    def sensitive_sizes(self) -> tuple[int, ...]:
        """Number of values of each sensitive attribute."""
        return tuple(int(column.max(initial=-1)) + 1 for column in self.sensitive_codes.T)

    @cached_property
    def worst_cost(self) -> int:
        """Cost of the release in which every cell is ``*``."""
        per_row = sum(tree.roots[self.codes[:, j]] for j, tree in enumerate(self.trees))
        return int(np.dot(np.asarray(per_row, np.int64), self.counts)) if self.trees else 0

    @cached_property
    def cell(self) -> float:
        """Cost of suppressing a cell of the middle column: the unit of small steps in a search.

        What a whole row pays would not do: that is little where most rows pay nothing, and much
        where every row pays for many cells.
        """
        costs = [float(tree.dearest) for tree in self.trees]
        return max(float(np.median(costs)), 1.0) if costs else 1.0

    def join_costs(self, low: NDArray[np.integer], high: NDArray[np.integer]) -> NDArray[np.int64]:
        """int64, shape (classes,): what a row pays in classes with these ends, in 1/scale.

        Parameters
        ----------
        low, high: shape (classes, columns): the least and the greatest code of each.
        """
        total = np.zeros(len(low), np.int64)
        for j, tree in enumerate(self.trees):
            total += tree.join_costs(low[:, j], high[:, j])
        return total

    def times(self, factor: int) -> "Instance":
        """Return it with costs in units of 1/(scale·factor)."""
        trees = tuple(tree.times(factor) for tree in self.trees)
        return replace(self, trees=trees, scale=factor * self.scale)

    def of_columns(self, columns: Sequence[int]) -> "tuple[Instance, NDArray[np.int64]]":
        """Return the table of some quasi-identifiers alone, with its sensitive values.

        Returns
        -------
        the instance, and int64 of shape (distinct,): which of its rows each of ours becomes.
        """
        codes = self.codes[:, list(columns)]
        key, _ = packed([*codes.T, *self.sensitive_codes.T], self.distinct)
        _, first, row = np.unique(key, return_index=True, return_inverse=True)
        counts = np.zeros(len(first), np.int64)
        np.add.at(counts, row, self.counts)
        trees = tuple(self.trees[j] for j in columns)
        sensitive = None if self.sensitive is None else self.sensitive[first]
        alone = Instance(np.ascontiguousarray(codes[first]), counts, trees, self.scale, sensitive)
        return alone, row.ravel()


def tables_of(families: Sequence[Family]) -> NodeTables:
    """Return the families in flat arrays."""
    nodes, costs, levels = [], [], []
    ranges = [family for family in families if isinstance(family, RangeFamily)]
    for family in families:
        if isinstance(family, RangeFamily):
            size = len(family.leaves)
            node = np.vstack([np.arange(size), np.zeros(size)])
            cost = np.vstack([np.zeros(size), np.full(size, family.dearest)])
        else:
            node, cost = family.node, family.cost
        nodes.append(node.ravel())
        costs.append(cost.ravel())
        levels.append(len(node))
    width = np.array([len(family.leaves) for family in families], np.int64)
    level = np.array(levels, np.int64)
    start = np.concatenate([[0], np.cumsum(width * level)[:-1]]).astype(np.int64)
    here = np.array([isinstance(family, RangeFamily) for family in families], bool)
    places = np.cumsum(width * here) - width * here
    none = np.zeros(0, np.int64)
    return NodeTables(
        np.concatenate(nodes).astype(np.int32),
        np.concatenate(costs).astype(np.int64),
        start,
        width,
        level,
        np.where(here, places, -1).astype(np.int64),
        np.where(here, [family.dearest for family in families], 0).astype(np.int64),
        np.concatenate([none, *(family.down for family in ranges)]),
        np.concatenate([none, *(family.up for family in ranges)]),
        np.concatenate([none, *(family.reach for family in ranges)]),
    )


def from_codes(
    rows: NDArray[np.integer],
    trees: tuple[Family, ...] | None = None,
    sensitive: NDArray[np.integer] | None = None,
    scale: int = 1,
    equals: NDArray[np.int64] | None = None,
) -> tuple[Instance, NDArray[np.int64]]:
    """Merge duplicate rows into an instance.

    Parameters
    ----------
    rows: integer, shape (n, m): leaf codes; without ``trees`` every column is suppressed whole,
        and its codes may be any nonnegative integers.
    sensitive: integer, shape (n,) or (n, s).
    equals: int64, shape (n,): an order of the rows, in which equal ones become copies; by default
        their own.

    Returns
    -------
    the instance, and int64 of shape (n,): the copy that each table row became (a permutation).

    Ten million rows are held once more at most: narrow integers in column order are welcome.
    """
    rows = np.asarray(rows)
    rows = rows if rows.ndim == 2 else rows.reshape(len(rows), 1)
    if trees is None:
        trees = tuple(
            Tree.suppression(f"q{j}", tuple(str(v) for v in range(int(c.max(initial=0)) + 1)))
            for j, c in enumerate(rows.T)
        )
    columns = list(rows.T)
    if sensitive is not None:
        sensitive = np.asarray(sensitive, np.int32)
        sensitive = sensitive if sensitive.ndim == 2 else sensitive.reshape(len(rows), 1)
        columns += list(sensitive.T)
    order = order_of(columns, len(rows), equals)
    new = np.zeros(len(rows), bool)
    new[:1] = True
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(rows))).astype(np.int64)
    first = order[starts]
    copy_of_row = np.empty(len(rows), np.int64)
    copy_of_row[order] = np.arange(len(rows))
    return (
        Instance(
            np.ascontiguousarray(rows[first], np.int32),
            counts,
            trees,
            scale,
            None if sensitive is None else np.ascontiguousarray(sensitive[first]),
        ),
        copy_of_row,
    )


def row_order(rows: NDArray[np.integer]) -> NDArray[np.int64]:
    """As ``order_of``, for codes of shape (rows, columns)."""
    return order_of(list(rows.T), len(rows))


def packed(columns: Sequence[NDArray[np.integer]], count: int) -> tuple[NDArray[np.int64], int]:
    """Return an integer for each row of nonnegative codes, in the rows' order, and a bound above.

    Equal exactly for equal rows: ranked afresh where the next column would not fit.
    """
    key, size = np.zeros(count, np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size * width >= 1 << 62:
            _, ranks = np.unique(key, return_inverse=True)
            key, size = ranks.ravel().astype(np.int64), count
        key *= width
        key += column
        size *= width
    return key, size


def places_in(known: NDArray[np.integer], sought: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return which row of ``known`` each row of ``sought`` equals; −1 where it equals none.

    Rows of nonnegative codes; those of ``known`` are all different.  By a search for one integer
    each: to sort the rows themselves takes twenty times as long.
    """
    if not len(known):
        return np.full(len(sought), -1)
    key, _ = packed(list(np.vstack([known, sought]).T), len(known) + len(sought))
    mine, theirs = key[: len(known)], key[len(known) :]
    order = np.argsort(mine, kind="stable")
    at = order[np.minimum(np.searchsorted(mine, theirs, sorter=order), len(mine) - 1)]
    return np.where(mine[at] == theirs, at, -1)


def order_of(
    columns: Sequence[NDArray[np.integer]], count: int, equals: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the stable order that sorts rows of nonnegative codes, first column first.

    As ``np.lexsort``, several times faster: the columns are packed into one integer, and where
    there is room for it the row number too, so that one plain sort of integers does it all.

    Parameters
    ----------
    equals: an order in which equal rows stand; by default their own.
    """
    bits = max(1, count.bit_length())
    key, size = packed(columns, count)
    key = key if equals is None else key[equals]
    if size >= 1 << (62 - bits):
        key = np.argsort(key, kind="stable").astype(np.int64)
    else:
        key <<= bits
        key |= np.arange(count)
        key.sort()
        key &= (1 << bits) - 1
    return key if equals is None else equals[key]
