"""Adding rows to an earlier release on Spark: it stays as it is, and the union is lawful.

The steps are those of one machine (``incrowd.existing.join``).  One task takes all new rows, or
each of several blocks its own, and in any case all classes of the earlier release.  A row joins
whatever its block is; so blocks change which new classes there are, and nothing else.  Why their
bound holds: docs/explanation/bounds.md, "Blocks".
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as sf

from incrowd.errors import InputError, OutOfScopeError
from incrowd.existing.served import require_joinable
from incrowd.existing.told import in_words
from incrowd.hierarchy.labels import shown_ends
from incrowd.policy.base import Policy
from incrowd.privacy.cautions import few_new
from incrowd.published.cautions import repeatable, widths_told
from incrowd.run.events import Event, Listener
from incrowd.spark.blocks import (
    BOUND_ROWS,
    dealt,
    fewest_rows,
    large_enough,
    planned,
    require_sizes,
    timed,
)
from incrowd.spark.check import Facts, cells, facts_of, models_hold
from incrowd.spark.columns import task_of, values_of
from incrowd.spark.earlier import Labels, beside, labels_of
from incrowd.spark.keeping import Keeper
from incrowd.spark.making import (
    Made,
    Request,
    distinct_of,
    encoded,
    figures_of,
    in_order,
    plain_rows,
    with_texts,
)
from incrowd.spark.plan import on_batches, on_table, workers_errors
from incrowd.spark.result import Earlier, SparkExtendedRelease
from incrowd.spark.task import CODED, RECORDS, Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_CLASSES = 2_000_000
"""Classes of an earlier release that a task holds beside the new rows: about 1 GB of ten columns.
With models that look at sensitive values the same limit holds for its rows by ten."""


@dataclass(frozen=True, eq=False)
class Before:
    """The earlier release.

    Attributes
    ----------
    rows: its rows, with plain names.
    kinds: how many rows show the same cells and the same sensitive values.
    count: of rows and classes.
    cells: the distinct cells of each column that matters, by name.
    """

    rows: "DataFrame"
    kinds: "DataFrame"
    count: Earlier
    cells: Mapping[str, pa.Array]


def added_to(
    existing: "DataFrame",
    df: "DataFrame",
    policy: Policy,
    block_rows: int,
    scratch: str | None,
    listener: Listener,
) -> SparkExtendedRelease:
    """Add rows to an earlier release, under a policy that is served."""
    started = time.monotonic()
    asked, rows = plain_rows(df, policy)
    old = beside(existing, df, asked.roles, asked.inner)
    listener(Event("distinct rows"))
    with Keeper(scratch) as keeper, workers_errors():
        distinct, count, total = distinct_of(rows, asked, keeper)
        if not total:
            raise InputError("there are no new rows")
        before = before_of(old, asked, keeper)
        inner, secret = asked.inner, bool(asked.secret)
        task = task_of(distinct, inner, asked.roles, policy, secret, earlier=before.cells)
        require_joinable(task.model, task.model.names(task.names), policy)
        require_room(before.count, task)
        labels = labels_of([before.cells[name] for name in asked.roles.qi], task.trees)
        known = before.kinds.select(*asked.keys, "n")
        known = known.mapInArrow(on_batches("joining.encode", task, labels), CODED)
        known = keeper.keep(known, "earlier")
        listener(Event(f"search among {count:,} distinct rows"))
        made = made_beside(
            encoded(distinct, task), known, task, labels, (count, block_rows), keeper
        )
        listener(Event("re-check"))
        return finished(asked, rows, before, (total, task, labels), made, keeper, started)


def before_of(old: "DataFrame", asked: Request, keeper: Keeper) -> Before:
    """Look at the earlier release.

    Raises
    ------
    InputError: one of its classes is smaller than k.
    """
    kinds = old.groupBy(*asked.keys).agg(sf.count(sf.lit(1)).alias("n"))
    kinds = keeper.keep(kinds, "kinds_before")
    qi = [asked.inner[name] for name in asked.roles.qi]
    classes = kinds.groupBy(*qi).agg(sf.sum("n").alias("n"))
    k = asked.policy.k
    small = sf.sum((sf.col("n") < sf.lit(k)).cast("bigint"))
    found = classes.agg(sf.sum("n"), sf.count(sf.lit(1)), small).collect()[0]
    rows, number, broken = (int(value or 0) for value in found)
    if broken:
        raise InputError(
            f"the earlier release is not lawful itself: {broken:,} of its {number:,} classes have "
            f"fewer than k = {k} rows; give the policy it was made with"
        )
    names = (*asked.roles.qi, *asked.secret)
    cells = values_of(kinds, asked.keys)
    return Before(old, kinds, Earlier(rows, number), dict(zip(names, cells, strict=True)))


def require_room(count: Earlier, task: Task) -> None:
    """Raise OutOfScopeError for an earlier release that one task cannot hold."""
    alone = task.model.size_decides
    if count.classes > MOST_CLASSES or (not alone and count.rows > 10 * MOST_CLASSES):
        raise OutOfScopeError(
            f"the earlier release has {count.rows:,} rows in {count.classes:,} classes; a task "
            f"holds at most {MOST_CLASSES:,} classes, and {10 * MOST_CLASSES:,} rows where "
            "sensitive values are looked at: publish the whole table anew"
        )


def made_beside(
    coded: "DataFrame",
    known: "DataFrame",
    task: Task,
    labels: Labels,
    size: tuple[int, int],
    keeper: Keeper,
) -> Made:
    """Let rows join classes or form new ones, in one task or in blocks.

    ``size``: distinct new rows, and how many one task may solve.
    """
    distinct, most = size
    blocks = distinct > max(most, 4 * fewest_rows(task) if task.model.size_decides else 0)
    if blocks:
        require_sizes(task, most)
        splits = large_enough(coded, task, planned(coded, timed(task, 0.1), distinct, most)[0])
        rows = dealt(coded, task, splits, "k", CODED)
        # not every leaf has rows: a block of nothing but earlier classes has nothing to do
        leaves = rows.select("block").distinct()
        once = timed(task, 0.8)
    else:
        rows, once = coded.withColumn("block", sf.lit(0)), task
        leaves = rows.select("block").limit(1)
    parts = beside_each(rows, known.crossJoin(leaves))
    records = parts.groupBy("block").applyInArrow(on_table("joining.join", once, labels), RECORDS)
    made = Made(records, blocks, keeper)
    if blocks:
        few = distinct <= BOUND_ROWS
        made.bound = bounded_beside(made.records, known, task, labels) if few else 0
    return made


def beside_each(rows: "DataFrame", known: "DataFrame") -> "DataFrame":
    """Return new rows and earlier classes as one frame that says which each is."""
    names = rows.columns
    new = rows.select(*names, sf.lit(False).alias("earlier"))
    return new.unionByName(known.select(*names, sf.lit(True).alias("earlier")))


def bounded_beside(records: "DataFrame", known: "DataFrame", task: Task, labels: Labels) -> int:
    """Return a lower bound of what all new rows pay; the sum over blocks would be none."""
    rows = records.select("k", "s", "n", "price").withColumn("block", sf.lit(0))
    both = beside_each(
        rows, known.select("*", sf.lit(0.0).alias("price"), sf.lit(0).alias("block"))
    )
    call = on_table("joining.bound", task, labels)
    found = both.groupBy("block").applyInArrow(call, "bound bigint, proof string")
    return int(found.collect()[0][0])


def finished(
    asked: Request,
    rows: "DataFrame",
    before: Before,
    made_for: tuple[int, Task, Labels],
    made: Made,
    keeper: Keeper,
    started: float,
) -> SparkExtendedRelease:
    """Rewrite the new rows, put them below the earlier ones, and re-check all of them.

    ``made_for``: number of new rows, what the tasks were told, and the earlier labels.
    """
    total, task, labels = made_for
    after = [f"r{j}" for j in range(len(asked.roles.qi))]
    new = with_texts(rows, asked, made, task, after, keeper)
    facts, joined, cautions = checked(new, asked, before, (total, task, labels), keeper)
    figures = figures_of(asked, made, task, facts)
    data = in_order(union(new, asked, before, labels, figures["changed"]), asked.policy)
    return SparkExtendedRelease(
        data=data.toDF(*asked.published),
        rows=total,
        seconds=time.monotonic() - started,
        **figures,
        keeper=keeper,
        warnings=cautions,
        existing=before.count,
        joined=joined,
    )


def union(
    new: "DataFrame", asked: Request, before: Before, labels: Labels, changed: Mapping[str, int]
) -> "DataFrame":
    """Return the earlier rows and the new ones, with plain names.

    A quasi-identifier that is of one type in both and changed nowhere keeps it; others are text.
    """
    kinds, own = dict(new.dtypes), dict(before.rows.dtypes)
    inner = [asked.inner[name] for name in asked.published]
    text = [
        j
        for j, name in enumerate(asked.roles.qi)
        if changed[name] or own[f"c{j}"] != kinds[f"c{j}"]
    ]
    told = {f"c{j}": f"r{j}" for j in text}
    old = as_texts(before.rows, [j for j in text if own[f"c{j}"] != "string"], labels)
    below = new.select(*(sf.col(told.get(name, name)).alias(name) for name in inner))
    return old.select(*inner).unionByName(below)


def as_texts(rows: "DataFrame", columns: list[int], labels: Labels) -> "DataFrame":
    """Return the earlier release with some quasi-identifiers as text."""
    if not columns:
        return rows
    first = [f"c{j}" for j in columns]
    rest = [name for name in rows.columns if name not in first]
    ordered, types = rows.select(*first, *rest), dict(rows.dtypes)
    schema = [f"{name} string" for name in first] + [f"{name} {types[name]}" for name in rest]
    call = on_batches("joining.written", labels, tuple(columns))
    return ordered.mapInArrow(call, ", ".join(schema))


def checked(
    new: "DataFrame",
    asked: Request,
    before: Before,
    made_for: tuple[int, Task, Labels],
    keeper: Keeper,
) -> tuple[Facts, int, tuple[str, ...]]:
    """Count the classes of earlier and new rows together, and the cost of the new ones.

    Returns what was counted, how many new rows look like a published class, and what the release
    does not protect from.

    Raises
    ------
    VerificationError: something is not as it must be; nothing should be published.
    """
    (total, task, labels), names, k = made_for, asked.roles.qi, asked.policy.k
    width = len(names)
    qi, after = [f"c{j}" for j in range(width)], [f"r{j}" for j in range(width)]
    kinds = new.groupBy(*qi, *after, *asked.hidden).agg(sf.count(sf.lit(1)).alias("n"))
    kinds = keeper.keep(kinds, "kinds")
    own = dict(before.kinds.dtypes)
    told = [j for j in range(width) if own[f"c{j}"] != "string"]
    old = as_texts(before.kinds, told, labels)
    old = old.select(
        *(sf.col(c).alias(r) for c, r in zip(qi, after, strict=True)), *asked.hidden, "n"
    )
    old = old.select("*", sf.col("n").alias("old"))
    both = kinds.select(*after, *asked.hidden, "n", sf.lit(0).cast("bigint").alias("old"))
    both = keeper.keep(both.unionByName(old), "both")
    classes = both.groupBy(*after).agg(sf.sum("n").alias("n"), sf.sum("old").alias("old"))
    facts, joined, (grown, few) = facts_beside(classes, total + before.count.rows, k)
    if not task.model.size_decides:
        models_hold(both, task, after, asked.hidden)
    shown = [shown_ends(tree, *p.T) for tree, p in zip(task.trees, labels.places, strict=True)]
    costs, hidden = cells(kinds, task, names, shown)
    cost, changed, most = (tuple(part) for part in zip(*costs, strict=True))
    facts = replace(facts, cost=sum(cost), changed=changed, worst=sum(most))
    cautions = [few_new(few, grown, k)] if few else []
    counts = told_by(new, as_texts(before.rows, told, labels), asked, task)
    cautions += in_words(counts, total, people=False)
    cautions += [*widths_told(hidden), *repeatable(asked.policy)]
    return facts, joined, tuple(cautions)


def facts_beside(classes: "DataFrame", rows: int, k: int) -> tuple[Facts, int, tuple[int, int]]:
    """Return rows, classes and the smallest; the new rows that published classes got; how many.

    That is, how many of these classes got rows, and how many got few.
    """
    gained = sf.col("n") - sf.col("old")
    grown = (sf.col("old") > 0) & (gained > 0)
    found = classes.agg(
        sf.sum("n"),
        sf.count(sf.lit(1)),
        sf.min("n"),
        sf.sum(sf.when(grown, gained)),
        sf.sum(grown.cast("bigint")),
        sf.sum((grown & (gained < sf.lit(k))).cast("bigint")),
    ).collect()[0]
    total, count, smallest, joined, *got = (int(value or 0) for value in found)
    return facts_of(total, count, smallest, rows, k), joined, (got[0], got[1])


def told_by(new: "DataFrame", old: "DataFrame", asked: Request, task: Task) -> dict[str, int]:
    """Return by sensitive column how many new rows the difference of the releases tells.

    ``old``: the earlier release as texts.  Of each of its classes the extreme values are enough.
    """
    qi = [asked.inner[name] for name in asked.roles.qi]
    after, found = [f"r{j}" for j in range(len(qi))], {}
    for name in asked.roles.sensitive:
        value = asked.inner[name]
        rows = old.select(*(sf.col(c).alias(r) for c, r in zip(qi, after, strict=True)), value)
        least, full = sf.min(value), sf.count(value) == sf.count(sf.lit(1))
        some = sf.array(least, sf.max(value), sf.when(full, least))  # null, where a cell is
        ends = rows.groupBy(*after).agg(some.alias("ends"))
        ends = ends.select(*after, sf.explode("ends").alias(value))
        kinds = new.groupBy(*after, *qi, value).agg(sf.count(sf.lit(1)).alias("n"))
        both = kinds.unionByName(ends, allowMissingColumns=True).withColumn("block", sf.lit(0))
        call = on_table("joining.told", task)
        number = both.groupBy("block").applyInArrow(call, "told bigint").collect()[0][0]
        found[name] = int(number)
    return found
