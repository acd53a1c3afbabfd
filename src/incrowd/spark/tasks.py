"""What runs in the workers and needs no search: values to codes, codes to values, counts."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import WHOLE
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Ints
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.solution import Solution
from incrowd.spark.task import Codec, Numbers, Task
from incrowd.spark.tree import Splits

Codes = NDArray[np.int32]


def encode(task: Task, table: pa.Table) -> pa.Table:
    """From values (quasi-identifiers, sensitive ones, copies) to ``CODED``."""
    return encoded(task.qi, task.sensitive, table)


def encoded(qi: Sequence[Codec], sensitive: Sequence[Codec | Numbers], table: pa.Table) -> pa.Table:
    """Return ``CODED`` of values, their columns in this order and the number of rows behind."""
    rows, width = table.num_rows, len(qi)
    codes = [codec.encode(table.column(j)) for j, codec in enumerate(qi)]
    secret = [codec.encode(table.column(width + j)) for j, codec in enumerate(sensitive)]
    return pa.table(
        {
            "k": lists(stacked(codes, rows)),
            "s": lists(stacked(secret, rows)),
            "n": table.column(table.num_columns - 1),
        }
    )


def stacked(columns: list[Codes], rows: int) -> Codes:
    """int32, shape (rows, columns)."""
    return np.column_stack(columns) if columns else np.zeros((rows, 0), np.int32)


def lists(matrix: NDArray[np.integer]) -> pa.Array:
    """Return the rows of a matrix as lists of 32-bit integers."""
    rows, width = matrix.shape
    offsets = pa.array(np.arange(rows + 1, dtype=np.int64) * width, pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.array(matrix.astype(np.int32).ravel()))


def matrix(table: pa.Table, name: str, width: int) -> Codes:
    """int32, shape (rows, width): a column of lists."""
    column = table.column(name)
    pieces = [np.asarray(chunk.flatten()) for chunk in column.chunks]
    flat = np.concatenate(pieces) if pieces else np.zeros(0, np.int32)
    return flat.astype(np.int32).reshape(table.num_rows, width)


def numbers(table: pa.Table, name: str) -> Ints:
    """int64, shape (rows,): a column of numbers."""
    return table.column(name).to_numpy().astype(np.int64)


def of_table(task: Task, table: pa.Table) -> tuple[Instance, Ints]:
    """Return the instance of a table of ``CODED`` or ``RECORDS`` and each row's place in it."""
    codes = matrix(table, "k", len(task.trees))
    secret = matrix(table, "s", len(task.sensitive)) if task.sensitive else None
    instance, copy = from_codes(codes, task.trees, secret, task.scale)
    place, counts = instance.copies[copy], np.zeros(instance.distinct, np.int64)
    np.add.at(counts, place, numbers(table, "n"))
    return replace(instance, counts=counts), place


def first_block(table: pa.Table) -> int:
    """Number of the block that a table is."""
    return int(table.column("block")[0].as_py())


def records(
    solution: Solution,
    price: NDArray[np.float64],
    block: int,
    bound: int,
    how: str,
    proof: str | None = None,
) -> pa.Table:
    """Write a solution down as ``RECORDS``; classes are numbered within ``block``."""
    instance = solution.instance
    classes = len(solution.sizes)
    key, count = np.unique(instance.copies * classes + solution.classes, return_counts=True)
    row, member = key // classes, key % classes
    first = np.empty(classes, np.int64)
    first[member[::-1]] = row[::-1]
    low, high = (ends[member] for ends in solution.spans)
    cells = solution.levels[member], low, high
    rows = row, first[member], count
    number = (np.int64(block) << 40) + member
    return written_down(instance, rows, cells, number, price[row], (bound, how, proof))


def written_down(
    instance: Instance,
    rows: tuple[Ints, Ints, Ints],
    cells: tuple[Ints, NDArray[np.integer], NDArray[np.integer]],
    classes: Ints,
    price: NDArray[np.float64],
    told: tuple[int, str, str | None],
) -> pa.Table:
    """Return ``RECORDS``.

    rows: distinct rows, the first ones of their classes, and copies.  cells: levels, least and
    greatest codes, shape (records, columns).  told: bound, how and proof, for the first record.
    """
    row, first, count = rows
    levels, low, high = cells
    ranged, rest = ranged_of(instance.trees), [None] * len(row)
    bound, how, proof = told
    return pa.table(
        {
            "k": lists(instance.codes[row]),
            "s": lists(instance.sensitive_codes[row]),
            "l": lists(levels),
            "span": lists(np.hstack([low[:, ranged], high[:, ranged]])),
            "n": pa.array(count.astype(np.int64)),
            "cls": pa.array(classes),
            "rep": lists(instance.codes[first]),
            "price": pa.array(price),
            "bound": pa.array([bound, *[0] * len(row)][: len(row)], pa.int64()),
            "how": pa.array([how, *rest][: len(row)], pa.string()),
            "proof": pa.array([proof, *rest][: len(row)], pa.string()),
        }
    )


def ranged_of(trees: Sequence[Family]) -> list[int]:
    """Return the columns that are generalized to intervals."""
    return [j for j, tree in enumerate(trees) if isinstance(tree, RangeFamily)]


def place(task: Task, splits: Splits, by: str, table: pa.Table) -> pa.Table:
    """Append the block that each row belongs to, by its codes in column ``by``."""
    block = splits.block(matrix(table, by, len(task.trees)))
    return table.append_column("block", pa.array(block.astype(np.int32)))


def decode(task: Task, table: pa.Table) -> pa.Table:
    """From ``RECORDS`` to values and released texts: c0 …, s0 …, r0 …, n."""
    codes = matrix(table, "k", len(task.trees))
    secret = matrix(table, "s", len(task.sensitive))
    out: dict[str, pa.Array | pa.ChunkedArray] = {}
    for j, codec in enumerate(task.qi):
        out[f"c{j}"] = codec.decode(codes[:, j])
    for j, codec in enumerate(task.sensitive):
        out[f"s{j}"] = codec.decode(secret[:, j])
    out |= texts_of(task, table)
    out["n"] = table.column("n")
    return pa.table(out)


def texts_of(task: Task, table: pa.Table) -> dict[str, pa.Array]:
    """Return the released texts of ``RECORDS``: r0 ….

    Only ``k``, ``l`` and ``span`` are looked at.
    """
    codes = matrix(table, "k", len(task.trees))
    levels = matrix(table, "l", len(task.trees))
    ranged = ranged_of(task.trees)
    low, high = np.hsplit(matrix(table, "span", 2 * len(ranged)), 2)
    out: dict[str, pa.Array] = {}
    for j, tree in enumerate(task.trees):
        if isinstance(tree, RangeFamily):
            at = ranged.index(j)
            out[f"r{j}"] = shown(tree, low[:, at], high[:, at], levels[:, j] == WHOLE)
        else:
            out[f"r{j}"] = released(tree.labels, tree.node, codes[:, j], levels[:, j])
    return out


def released(
    labels: tuple[tuple[str | None, ...], ...], node: Codes, codes: Codes, levels: Codes
) -> pa.Array:
    """Return the texts of cells released at these levels."""
    start = np.concatenate([[0], np.cumsum([len(names) for names in labels])])
    every = pa.array([name for names in labels for name in names], pa.string())
    return every.take(pa.array(start[levels] + node[levels, codes]))


def shown(family: RangeFamily, low: Codes, high: Codes, starred: NDArray[np.bool_]) -> pa.Array:
    """Return the texts of cells in classes of which these are the least and greatest codes.

    ``starred``: those that show a star, whatever the codes are.
    """
    both, at = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    texts = [*(family.label(*ends) for ends in both.T.tolist()), family.star]
    return pa.array(texts, pa.string()).take(
        pa.array(np.where(starred, len(texts) - 1, at.ravel()))
    )


def pairs(task: Task, table: pa.Table) -> pa.Table:
    """Count the pairs of leaf and released text by column: c0 …, r0 …, n in, ``PAIRS`` out."""
    width = len(task.qi)
    counts = numbers(table, "n")
    out = []
    for j, codec in enumerate(task.qi):
        texts = table.column(width + j).combine_chunks().dictionary_encode("encode")
        names = texts.dictionary
        size = max(1, len(names))
        key = codec.encode(table.column(j)).astype(np.int64) * size
        key += np.asarray(texts.indices).astype(np.int64)
        unique, place = np.unique(key, return_inverse=True)
        total = np.zeros(len(unique), np.int64)
        np.add.at(total, place.ravel(), counts)
        out.append(
            pa.table(
                {
                    "j": pa.array(np.full(len(unique), j, np.int32)),
                    "code": pa.array((unique // size).astype(np.int32)),
                    "text": names.take(pa.array(unique % size)),
                    "n": pa.array(total),
                }
            )
        )
    return pa.concat_tables(out)


def lawful(task: Task, table: pa.Table) -> pa.Table:
    """Count the classes that break the models.

    ``table``: class, sensitive values, rows that have both; all of the release.
    """
    counts = numbers(table, "n")
    secret = [codec.encode(table.column(1 + j)) for j, codec in enumerate(task.sensitive)]
    names = table.column(0).combine_chunks().dictionary_encode()
    member = np.repeat(np.asarray(names.indices).astype(np.int64), counts)
    sizes = tuple(len(codec.values) for codec in task.sensitive)
    group = Group(np.repeat(stacked(secret, table.num_rows), counts, axis=0), sizes)
    broken = ~task.model.lawful_classes(Classes(member, group))
    return pa.table({"broken": pa.array([int(broken.sum())], pa.int64())})
