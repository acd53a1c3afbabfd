"""Several tasks instead of one: blocks of similar rows, their borders polished, one bound."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as sf

from incrowd.errors import OutOfScopeError
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.privacy.base import Group
from incrowd.privacy.people import counts_people_alone
from incrowd.spark.keeping import Keeper
from incrowd.spark.plan import on_batches, on_table
from incrowd.spark.task import CODED, RECORDS, Task
from incrowd.spark.tasks import Codes, matrix
from incrowd.spark.tree import Splits, split

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SAMPLE = 20_000  # distinct rows that the blocks are planned from
QUICK = 0.05  # the gap at which the sample's own release is good enough
BOUND_ROWS = 5_000_000  # distinct rows up to which one task bounds the whole table


def solved_at_once(coded: "DataFrame", task: Task) -> "DataFrame":
    """Return the records of a release made in one task: what one machine would make."""
    block = coded.withColumn("block", sf.lit(0)).groupBy("block")
    return block.applyInArrow(on_table("search.solve", task), RECORDS)


NOBODY = Group(np.zeros((0, 0), np.int32))  # where the number of rows decides, no table matters


def solved_in_blocks(
    coded: "DataFrame", task: Task, distinct: int, most: int, keeper: Keeper
) -> "DataFrame":
    """Return the records of a release made in blocks of about ``most`` distinct rows.

    Two rounds: blocks are solved each by itself; then whole classes are dealt into other blocks,
    cut along other columns, and regrouped there, so that rows on both sides of a border meet.

    Raises
    ------
    OutOfScopeError: a model beyond k, of rows or people, which a block cannot judge.
    """
    require_sizes(task, most)
    first, second = planned(coded, timed(task, 0.1), distinct, most)
    solved = dealt(coded, task, large_enough(coded, task, first), "k", CODED)
    solved = solved.groupBy("block").applyInArrow(
        on_table("search.solve", timed(task, 0.6)), RECORDS
    )
    solved = keeper.keep(solved, "first")
    shifted = dealt(solved, task, second, "rep", RECORDS)
    return shifted.groupBy("block").applyInArrow(
        on_table("search.polish", timed(task, 0.3)), RECORDS
    )


def require_sizes(task: Task, most: int) -> None:
    """Raise OutOfScopeError for a model beyond k, of rows or people: a block cannot judge it."""
    if not (task.model.size_decides or counts_people_alone(task.model)):
        models = task.model.in_words(task.names)
        raise OutOfScopeError(
            f"{models} looks at the whole table, and blocks do not see it: more than "
            f"{most:,} distinct rows are solved in blocks; let one task take them all with a "
            "larger block_rows (--block-rows), if its memory allows"
        )


def timed(task: Task, share: float) -> Task:
    """Return the task with a share of its time."""
    return task if task.time_limit is None else replace(task, time_limit=task.time_limit * share)


def planned(coded: "DataFrame", task: Task, distinct: int, most: int) -> tuple[Splits, Splits]:
    """Plan two ways to cut the table from a sample that does not depend on the partitions.

    The first cuts along the columns that a release of the sample changes least, for there classes
    seldom reach across; the second along those that the first left alone.
    """
    step = max(1, -(-distinct // SAMPLE))
    sample = coded.where(sf.pmod(sf.xxhash64("k"), sf.lit(step)) == 0)
    quick = replace(task, gap=QUICK if task.gap is None else max(QUICK, task.gap))
    table = solved_at_once(sample, quick).select("k", "l", "n").toArrow()
    codes, levels = (matrix(table, name, len(task.trees)) for name in ("k", "l"))
    codes = np.ascontiguousarray(np.unique(codes, axis=0))
    count = table.column("n").to_numpy()
    order = by_changes(levels, count, task)
    room = max(1, most // step)
    first = split(codes, order, room)
    used = [j for j in order if j in first.column]
    rest = [j for j in order if j not in first.column]
    return first, split(codes, rest + used[::-1], room)


def by_changes(levels: Codes, count: np.ndarray, task: Task) -> list[int]:
    """Return the columns, the least changed first."""
    heights = [1 if isinstance(tree, RangeFamily) else tree.levels - 1 for tree in task.trees]
    share = [float(count @ (levels[:, j] / max(1, up))) for j, up in enumerate(heights)]
    return sorted(range(len(share)), key=lambda j: (share[j], j))


def large_enough(coded: "DataFrame", task: Task, splits: Splits) -> Splits:
    """Join blocks that turn out to hold too few rows, or people."""
    held = sf.sum("n") if not task.people else sf.count_distinct(sf.element_at("s", -1))
    sizes = dealt(coded, task, splits, "k", CODED).groupBy("block").agg(held).collect()
    least = 4 * fewest_rows(task)
    return splits.without_small({int(b): int(n) for b, n in sizes}, least)


def dealt(rows: "DataFrame", task: Task, splits: Splits, by: str, schema: str) -> "DataFrame":
    """Append to each row the block it belongs to."""
    return rows.mapInArrow(on_batches("tasks.place", task, splits, by), f"{schema}, block int")


def bounded(
    coded: "DataFrame", records: "DataFrame", task: Task, distinct: int
) -> tuple[int, str | None]:
    """Return a lower bound of the whole table's cost; the sum over blocks would be none.

    And the certificate behind it, where one is asked for and not only rows by themselves are looked
    at.
    """
    if distinct <= BOUND_ROWS:
        whole = records.select("k", "s", "n", "price").withColumn("block", sf.lit(0))
        found = whole.groupBy("block").applyInArrow(
            on_table("search.bound", task), "bound bigint, proof string"
        )
        bound, proof = found.collect()[0]
        return int(bound), proof
    alone = lonely(coded, task) if task.people else coded
    found = alone.mapInArrow(on_batches("search.unique_bound", task), "bound bigint")
    return int(found.agg(sf.sum("bound")).collect()[0][0] or 0), None


def lonely(coded: "DataFrame", task: Task) -> "DataFrame":
    """Return the rows, each once, that fewer than k people have: none of them may stay as it is."""
    people = sf.count_distinct(sf.element_at("s", -1)).alias("people")
    alike = coded.groupBy("k").agg(sf.sum("n").alias("n"), people)
    nobody = sf.array_repeat(sf.lit(0), len(task.sensitive)).alias("s")
    return alike.where(sf.col("people") < sf.lit(fewest_rows(task))).select("k", nobody, "n")


def fewest_rows(task: Task) -> int:
    """Return the k of the models: of rows, and of people where they are counted."""
    return max(p.smallest_class(NOBODY) for p in task.model.parts if p.size_decides)
