"""Columns of the linear program: groups of nodes, each at most once."""

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.solvers.matching.nodes import Grid, costs_of


class Pool:
    """Groups in the order in which they came.

    Attributes
    ----------
    groups: int32, shape (columns, 3), see ``Nodes``.
    cost: int64, shape (columns,), in units of 1/scale.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._nodes = grid.codes.shape[1]
        self._keys = np.zeros(0, np.int64)
        self.groups = np.zeros((0, 3), np.int32)
        self.cost = np.zeros(0, np.int64)

    @property
    def has_extras(self) -> bool:
        """Whether nodes pay something beside, see ``Grid``."""
        return len(self._grid.extra) > 0

    def __len__(self) -> int:
        return len(self.cost)

    def add(self, groups: NDArray[np.int32]) -> int:
        """Append the groups that are not there yet; return how many."""
        keys, first = np.unique(self._key(groups), return_index=True)
        place = np.searchsorted(self._keys, keys)
        inside = place < len(self._keys)
        inside[inside] = self._keys[place[inside]] == keys[inside]
        new = np.sort(first[~inside])
        if len(new):
            fresh = np.ascontiguousarray(groups[new], dtype=np.int32)
            self.groups = np.concatenate([self.groups, fresh])
            self.cost = np.concatenate([self.cost, costs_of(self._grid, fresh)])
            self._keys = np.sort(np.concatenate([self._keys, keys[~inside]]))
        return len(new)

    def places(self, groups: NDArray[np.int32]) -> NDArray[np.int64]:
        """int64: the column of each group; all must be in the pool."""
        keys = self._key(self.groups)
        order = np.argsort(keys)
        return order[np.searchsorted(keys[order], self._key(groups))]

    def incidence(self) -> "scipy.sparse.csr_array":
        """Nodes × columns: which columns hold each node."""
        return scipy.sparse.csr_array(rows_of(self.groups, self._nodes, []))

    def _key(self, groups: NDArray[np.int32]) -> NDArray[np.int64]:
        radix = self._nodes + 1
        g = np.asarray(groups, np.int64).reshape(-1, 3) + 1
        return (g[:, 0] * radix + g[:, 1]) * radix + g[:, 2]


def rows_of(
    groups: NDArray[np.int32], nodes: int, odd_sets: list[NDArray[np.int64]]
) -> "scipy.sparse.csc_array":
    """Nodes, then odd sets, × columns: which a column holds, or meets in an odd number of nodes."""
    member = groups.ravel()
    column = np.repeat(np.arange(len(groups)), 3)[member >= 0]
    member = member[member >= 0]
    shape = (nodes, len(groups))
    cover = scipy.sparse.csc_array((np.ones(len(member)), (member, column)), shape=shape)
    if not odd_sets:
        return cover
    of_set = np.repeat(np.arange(len(odd_sets)), [len(odd_set) for odd_set in odd_sets])
    entries = np.ones(len(of_set)), (of_set, np.concatenate(odd_sets))
    odd = scipy.sparse.csc_array(
        scipy.sparse.csr_array(entries, shape=(len(odd_sets), nodes)) @ cover
    )
    odd.data %= 2
    odd.eliminate_zeros()
    return scipy.sparse.csc_array(scipy.sparse.vstack([cover, odd], format="csc"))
