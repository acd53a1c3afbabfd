"""What joins new rows to an earlier release in the workers: the same steps as on one machine."""

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from incrowd.errors import NoLawfulReleaseError
from incrowd.existing.classes import (
    places_of_labels,
    published_of,
    require_lawful_classes,
    shown,
    solver,
)
from incrowd.existing.join import Joining, LostRowsError
from incrowd.existing.told import gains_among
from incrowd.kernels.types import Ints
from incrowd.problem.instance import Instance
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.spark.earlier import Labels
from incrowd.spark.search import bounds
from incrowd.spark.task import Task
from incrowd.spark.tasks import (
    encoded,
    first_block,
    matrix,
    numbers,
    of_table,
    stacked,
    written_down,
)

JOINED = -1  # the class of records of rows in published classes


def encode(task: Task, labels: Labels, table: pa.Table) -> pa.Table:
    """From an earlier release's cells (quasi-identifiers, sensitive ones, rows) to ``CODED``."""
    return encoded(labels.columns, task.sensitive, table)


def written(labels: Labels, at: tuple[int, ...], table: pa.Table) -> pa.Table:
    """Return an earlier release with the columns ``at`` as text; those are its first ones."""
    for place, j in enumerate(at):
        codec = labels.columns[j]
        texts = pa.array(codec.texts, pa.string())
        cells = texts.take(pa.array(codec.encode(table.column(place))))
        table = table.set_column(place, table.column_names[place], cells)
    return table


def join(task: Task, labels: Labels, table: pa.Table) -> pa.Table:
    """Let the new rows of a block join classes, or form new ones: ``RECORDS`` out.

    ``table``: ``CODED``, ``earlier`` and ``block``.
    """
    new = rows_of(table, earlier=False)
    instance, _ = of_table(task, new)
    stop = Stop(task.time_limit, task.gap, task.spend)
    joining = joining_of(task, labels, instance, rows_of(table, earlier=True), stop)
    try:
        place = joining.best() if instance.rows else np.zeros(0, np.int64)
    except LostRowsError as error:  # errors come out of a task by the name that ``errors`` gives
        raise NoLawfulReleaseError(str(error)) from None
    bound = min(joining.bound(), joining.cost(place)) if instance.rows else 0
    how = f"existing;{stop.why() if stop.now() else 'stopped paying'}"
    return records(joining, place, first_block(table), bound, how)


def bound(task: Task, labels: Labels, table: pa.Table) -> pa.Table:
    """Return a lower bound of what all new rows pay, given prices that hold within blocks.

    ``table``: as in ``join``, with ``price``.
    """
    new = rows_of(table, earlier=False)
    instance, place_of = of_table(task, new)
    stop = Stop(task.time_limit)
    joining = joining_of(task, labels, instance, rows_of(table, earlier=True), stop)
    joining.price[place_of] = new.column("price").to_numpy()
    return bounds(joining.bound(), None)


def told(task: Task, table: pa.Table) -> pa.Table:
    """Count the new rows whose value the difference of the releases tells: ``existing.told``.

    ``table``: released cells, quasi-identifiers (none of earlier rows), values, and new rows that
    have all of these, none of an earlier one.
    """
    width, earlier = len(task.trees), table.column("n").null_count
    late = table.column("n").is_valid().to_numpy()
    table = table.take(pa.array(np.argsort(late, kind="stable")))  # earlier ones first
    *cells, values = (column.combine_chunks() for column in table.columns[: 2 * width + 1])
    seen = []
    for tree, texts in zip(task.trees, cells[:width], strict=True):
        coded = texts.dictionary_encode("encode")
        place = places_of_labels(tree, coded.dictionary.to_pylist())
        seen.append((place, np.asarray(coded.indices).astype(np.int64)))
    gains = gains_among(seen, earlier)
    new = table.slice(earlier)
    leaves = stacked([c.encode(new.column(width + j)) for j, c in enumerate(task.qi)], len(new))
    codes = np.asarray(values.dictionary_encode("encode").indices).astype(np.int64)
    which = gains.told(codes, np.zeros(1, bool), leaves.astype(np.int64), task.trees)
    return pa.table({"told": pa.array([int(numbers(new, "n")[which].sum())], pa.int64())})


def rows_of(table: pa.Table, *, earlier: bool) -> pa.Table:
    """Return the earlier or the new rows of a block."""
    known: Any = compute  # its functions are made when it is imported
    return table.filter(known.equal(table.column("earlier"), pa.scalar(earlier)))


def joining_of(
    task: Task, labels: Labels, instance: Instance, old: pa.Table, stop: Stop
) -> Joining:
    """Return the new rows beside the published classes; ``old``: ``CODED`` by ``encode``.

    Raises
    ------
    InputError: the earlier release is not lawful itself.
    """
    cells = matrix(old, "k", len(labels.columns))
    kinds, member = np.unique(cells, axis=0, return_inverse=True)
    make = solver(task.model, Context(task.seed, stop))
    if task.model.size_decides:  # that its classes are large enough was counted in Spark
        nobody = np.zeros((0, len(task.sensitive)), np.int32)
        published = published_of(kinds, labels.places, np.zeros(0, np.int64), nobody)
        return Joining(instance, task.model, published, make, task.names)
    times = numbers(old, "n")
    member = np.repeat(member.ravel(), times)
    secret = np.repeat(matrix(old, "s", len(task.sensitive)), times, axis=0)
    sizes = tuple(len(codec.values) for codec in task.sensitive)
    require_lawful_classes(task.model, member, secret, sizes, len(kinds), task.names)
    published = published_of(kinds, labels.places, member, secret)
    return Joining(instance, task.model, published, make, task.names)


def records(joining: Joining, place: Ints, block: int, bound: int, how: str) -> pa.Table:
    """Write down where the copies go, as ``RECORDS``."""
    instance, published = joining.instance, joining.published
    pairs, count = np.unique(np.column_stack([instance.copies, place]), axis=0, return_counts=True)
    row, to = pairs.T
    cells = shown(instance.codes[row], instance.trees, published, to)
    fresh = to - len(published.levels)
    member = np.where(fresh < 0, JOINED, (np.int64(block) << 40) + fresh)
    told = bound, how, None
    return written_down(instance, (row, row, count), cells, member, joining.price[row], told)
