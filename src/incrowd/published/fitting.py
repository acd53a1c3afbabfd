"""Which original rows a released row may be: cells below its own, and the other columns alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import SPAN, ends, places_among
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Ints
from incrowd.problem.instance import places_in
from incrowd.tables.base import Column

PAIRS = 1 << 22  # of rows looked at together; bounds the memory


class Cells(NamedTuple):
    """Released cells as levels and nodes: int64, shape (rows, columns), both; why they are none."""

    levels: Ints
    nodes: Ints
    strange: str = ""

    @classmethod
    def of(cls, table: Coded, columns: dict[str, Column]) -> "Cells":
        """Look up the cells; those of a column from which on one is strange are left open."""
        rows = len(next(iter(columns.values())).codes)
        shape = rows, table.instance.columns
        found = cls(np.empty(shape, np.int64), np.empty(shape, np.int64))
        for j, tree in enumerate(table.instance.trees):
            column = columns[tree.column]
            place = places_among(tree, column.values)
            known = [place.get(text, (-1, -1)) for text in column.values] or [(0, 0)]
            if (-1, -1) in known:
                lacking = np.array([at == (-1, -1) for at in known])[column.codes]
                return found._replace(
                    strange=f"column {tree.column!r}, released row "
                    f"{int(np.flatnonzero(lacking)[0]) + 1}: the cell is neither an original value "
                    "nor one of its ancestors"
                )
            both = np.array(known)[column.codes].reshape(-1, 2)
            found.levels[:, j], found.nodes[:, j] = both[:, 0], both[:, 1]
        return found


def common_keys(pairs: list[tuple[Column, Column]], rows: int, rows_left: int) -> tuple[Ints, Ints]:
    """Number the combinations of the other columns alike in both tables."""
    both = np.zeros(rows + rows_left, np.int64)
    for before, after in pairs:
        vocabulary = [*{*before.values, *after.values}]
        codes = [column.among(vocabulary) for column in (before, after)]
        both = np.unique(both * len(vocabulary) + np.concatenate(codes), return_inverse=True)[1]
    return both[:rows], both[rows:]


@dataclass(frozen=True, eq=False)
class Nodes:
    """The ancestors of each original cell.  ``leaves``: int64, shape (rows, columns).

    Levels and nodes are those of ``incrowd.hierarchy.labels.places_among``.
    """

    trees: tuple[Family, ...]
    leaves: Ints

    def at(self, levels: Sequence[int], rows: Ints) -> Ints:
        """int64, shape (len(rows), columns): ancestors at one level per column.

        0 for an interval, of which there may be several.
        """
        chosen = []
        for j, (tree, level) in enumerate(zip(self.trees, levels, strict=True)):
            own = self.leaves[rows, j]
            if isinstance(tree, RangeFamily):
                chosen.append(own if level == 0 else np.zeros_like(own))
            else:
                chosen.append(tree.node[level][own])
        return np.column_stack(chosen).astype(np.int64)

    def fit(self, levels: Ints, nodes: Ints) -> bool:
        """Whether row i of the release stands above row i of the original, for every i."""
        return all(
            below(tree, self.leaves[:, j], levels[:, j], nodes[:, j]).all()
            for j, tree in enumerate(self.trees)
        )


def below(tree: Family, leaves: Ints, levels: Ints, nodes: Ints) -> NDArray[np.bool_]:
    """bool, shape (rows,): whether each leaf lies below a node."""
    low, end = ends(tree, levels, nodes)
    return (low <= leaves) & (leaves < end)


class Flow:
    """A maximum matching of original and released rows, as a flow between their kinds.

    Attributes
    ----------
    left_of, right_of: int64, shape (rows,): the kind of each original and each released row.
    tails, heads: kinds of original rows that may be kinds of released rows, pair by pair.
    unmatched: original rows that are left without a released row.
    """

    def __init__(
        self, originals: Nodes, before: Ints, levels: Ints, nodes: Ints, after: Ints
    ) -> None:
        kinds = partial(np.unique, axis=0, return_inverse=True, return_counts=True)
        left, self.left_of, lefts = kinds(np.column_stack([before, originals.leaves]))
        right, self.right_of, rights = kinds(np.column_stack([after, levels, nodes]))
        self.left_of, self.right_of = self.left_of.ravel(), self.right_of.ravel()
        distinct = Nodes(originals.trees, left[:, 1:])
        self.tails, self.heads = fitting(distinct, left[:, 0], right)
        self.ways = flow_between(self.tails, self.heads, lefts, rights)
        self.unmatched = int(lefts.sum()) - self.ways.total

    def amounts(self) -> Iterator[tuple[int, int, int]]:
        """Yield kind of original row, kind of released row, and how many go that way."""
        tails, heads, numbers, _ = self.ways
        yield from zip(tails.tolist(), heads.tolist(), numbers.tolist(), strict=True)


class Ways(NamedTuple):
    """A flow from kinds to kinds: int64, shape (ways,), each, and how many rows flow in all."""

    tails: Ints
    heads: Ints
    numbers: Ints
    total: int


def flow_between(tails: Ints, heads: Ints, lefts: Ints, rights: Ints) -> Ways:
    """Return a largest flow between kinds of rows.

    Parameters
    ----------
    tails, heads: which kinds may become which, pair by pair.
    lefts, rights: int64, shape (kinds,): rows of each kind, on either side.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    n, m = len(lefts), len(rights)
    source, sink = n + m, n + m + 1
    room = np.minimum(lefts[tails], rights[heads])
    begin = np.concatenate([np.full(n, source), tails, n + np.arange(m)])
    end = np.concatenate([np.arange(n), n + heads, np.full(m, sink)])
    capacity = np.concatenate([lefts, room, rights]).astype(np.int32)
    graph = coo_array((capacity, (begin, end)), shape=(n + m + 2, n + m + 2)).tocsr()
    found = maximum_flow(graph, source, sink)
    flow = found.flow.tocoo()
    used = (flow.data > 0) & (flow.row < n) & (flow.col >= n) & (flow.col < n + m)
    row, col, data = (part[used].astype(np.int64) for part in (flow.row, flow.col, flow.data))
    return Ways(row, col - n, data, int(found.flow_value))


def fitting(originals: Nodes, keys: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Return which distinct originals (int64) lie below which distinct released rows (int64).

    One join per combination of levels that occurs in the release; of intervals their ends are
    compared, pair by pair.
    """
    width = len(originals.trees)
    everyone = np.arange(len(keys))
    shape, of_shape = np.unique(right[:, 1 : 1 + width], axis=0, return_inverse=True)
    order = np.argsort(of_shape.ravel(), kind="stable")
    cuts = np.searchsorted(of_shape.ravel()[order], np.arange(len(shape) + 1))
    tails, heads = [], []
    for levels, (begin, end) in zip(shape, pairwise(cuts.tolist()), strict=True):
        members = order[begin:end]
        above = np.column_stack([keys, originals.at(levels.tolist(), everyone)])
        nodes = right[members, 1 + width :]
        ranged = [
            j
            for j, (tree, level) in enumerate(zip(originals.trees, levels.tolist(), strict=True))
            if isinstance(tree, RangeFamily) and level == SPAN
        ]
        labels = np.column_stack([right[members, 0], nodes])
        labels[:, [1 + j for j in ranged]] = 0
        if not ranged:
            at = places_in(labels, above)
            tails.append(everyone[at >= 0])
            heads.append(members[at[at >= 0]])
            continue
        for tail, head in paired(labels, above):
            fits = np.ones(len(tail), bool)
            for j in ranged:
                level = np.full(len(head), SPAN)
                fits &= below(originals.trees[j], originals.leaves[tail, j], level, nodes[head, j])
            tails.append(tail[fits])
            heads.append(members[head[fits]])
    return np.concatenate(tails), np.concatenate(heads)


def paired(labels: Ints, above: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield, some at a time, all pairs of a row of ``above`` and an equal one of ``labels``."""
    kinds, kind_of, sizes = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(kind_of.ravel(), kind="stable")
    begins = np.cumsum(sizes) - sizes
    at = places_in(kinds, above)
    rows = np.flatnonzero(at >= 0)
    count = sizes[at[rows]]
    cuts = np.searchsorted(np.cumsum(count), np.arange(PAIRS, count.sum() + PAIRS, PAIRS))
    for some in np.split(np.arange(len(rows)), np.unique(cuts)):
        times = count[some]
        tail = np.repeat(rows[some], times)
        within = np.arange(len(tail)) - np.repeat(np.cumsum(times) - times, times)
        yield tail, order[np.repeat(begins[at[rows[some]]], times) + within]
