"""The (row, pattern) pairs that a good release may use, as CSR both ways."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, kernel, lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance, NodeTables
from incrowd.problem.join import join_number


class Candidates(NamedTuple):
    """Candidate patterns, numbered by rising cost; the last one is the root, matched by all.

    cost, support: int64 (patterns,): cost per row; copies that match.
    offset, rows: CSR pattern → distinct rows.
    row_offset, row_patterns: CSR distinct row → patterns, by rising cost.
    row_of: int64 (copies,): distinct row of a copy.  first_copy: int64 (distinct + 1,).
    table_key, table_pattern: open-addressing hash, join key → pattern, −1 for free.
    codes: int32 (distinct, columns).  tables: the trees.
    """

    cost: NDArray[np.int64]
    support: NDArray[np.int64]
    offset: NDArray[np.int64]
    rows: NDArray[np.int32]
    row_offset: NDArray[np.int64]
    row_patterns: NDArray[np.int32]
    row_of: NDArray[np.int64]
    first_copy: NDArray[np.int64]
    table_key: NDArray[np.uint64]
    table_pattern: NDArray[np.int64]
    codes: NDArray[np.int32]
    tables: NodeTables


@kernel
def transpose(offset: Any, rows: Any, distinct: int) -> Any:
    """Turn pattern → rows into row → patterns, keeping the order of patterns."""
    row_offset = np.zeros(distinct + 1, np.int64)
    for r in rows:
        row_offset[r + 1] += 1
    for r in range(distinct):
        row_offset[r + 1] += row_offset[r]
    place = row_offset[:distinct].copy()
    row_patterns = np.empty(rows.size, np.int32)
    for p in range(offset.size - 1):
        for i in range(offset[p], offset[p + 1]):
            r = rows[i]
            row_patterns[place[r]] = p
            place[r] += 1
    return row_offset, row_patterns


@kernel
def supports(offset: Any, rows: Any, counts: Any, support: Any) -> None:
    """Count the copies that match each pattern."""
    for p in range(support.size):
        total = 0
        for i in range(offset[p], offset[p + 1]):
            total += counts[rows[i]]
        support[p] = total


@inner_kernel
def join_key(members: Any, n: int, codes: Any, tables: Any) -> Any:
    """Hash the join of ``members[:n]`` (distinct rows)."""
    key = np.uint64(14695981039346656037)
    for j in range(tables.levels.size):
        low = codes[members[0], j]
        high = low
        for i in range(1, n):
            c = codes[members[i], j]
            low = min(low, c)
            high = max(high, c)
        key ^= np.uint64(join_number(j, low, high, tables) + 1)
        key *= np.uint64(1099511628211)
        key ^= key >> np.uint64(29)
        key *= np.uint64(11400714819323198485)
    return key


@kernel
def fill_join_table(
    offset: Any, rows: Any, codes: Any, tables: Any, key: Any, pattern: Any
) -> None:
    """Enter every pattern under the key of its rows' join; the cheapest of equal joins wins."""
    mask = key.size - 1
    for p in range(offset.size - 1):
        k = join_key(rows[offset[p] : offset[p + 1]], offset[p + 1] - offset[p], codes, tables)
        i = np.int64(k >> np.uint64(8)) & mask
        while pattern[i] >= 0 and key[i] != k:
            i = (i + 1) & mask
        if pattern[i] < 0:
            key[i] = k
            pattern[i] = p


@lean_kernel
def find_join(members: Any, n: int, codes: Any, tables: Any, key: Any, pattern: Any) -> int:
    """Return the candidate that is the join of these distinct rows, or −1."""
    mask = key.size - 1
    k = join_key(members, n, codes, tables)
    i = np.int64(k >> np.uint64(8)) & mask
    while pattern[i] >= 0:
        if key[i] == k:
            return pattern[i]
        i = (i + 1) & mask
    return -1


@kernel
def gather(offset: Any, rows: Any, order: Any, new_offset: Any, new_rows: Any) -> None:
    """Copy the row lists of patterns into another order."""
    for p in range(order.size):
        z = new_offset[p]
        for i in range(offset[order[p]], offset[order[p] + 1]):
            new_rows[z] = rows[i]
            z += 1


def build_candidates(instance: Instance, emission: Emission, last: int | None = None) -> Candidates:
    """Number the emitted patterns by cost, add the root, and index them both ways.

    ``last``: what the last one costs, where that is not the root of all columns.
    """
    root_cost = sum(tree.dearest for tree in instance.trees) if last is None else last
    order = np.argsort(emission.cost, kind="stable")
    order = order[emission.cost[order] < root_cost]
    length = np.diff(emission.offset)[order]
    offset = np.zeros(len(order) + 2, np.int64)
    np.cumsum(length, out=offset[1:-1])
    offset[-1] = offset[-2] + instance.distinct
    rows = np.empty(offset[-1], np.int32)
    gather(emission.offset, emission.rows, order, offset, rows)
    rows[offset[-2] :] = np.arange(instance.distinct)
    cost = np.append(emission.cost[order], root_cost).astype(np.int64)
    support = np.zeros(len(cost), np.int64)
    supports(offset, rows, instance.counts, support)
    row_offset, row_patterns = transpose(offset, rows, instance.distinct)
    capacity = 1 << int(3 * len(cost)).bit_length()
    key = np.zeros(capacity, np.uint64)
    pattern = np.full(capacity, -1, np.int64)
    fill_join_table(offset, rows, instance.codes, instance.tables, key, pattern)
    return Candidates(
        cost,
        support,
        offset,
        rows,
        row_offset,
        row_patterns,
        instance.copies,
        instance.first_copy,
        key,
        pattern,
        instance.codes,
        instance.tables,
    )
