"""Spark frame → distinct rows → tasks → Spark frame; wiring only."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from secrets import randbits
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import Window
from pyspark.sql import functions as sf

from incrowd.driver.solve import require_enough
from incrowd.policy.base import Policy
from incrowd.policy.models import asks_of_sensitive, model_of
from incrowd.policy.roles import Roles
from incrowd.published.cautions import widths_told
from incrowd.run.events import Event, Listener
from incrowd.spark.assignment import Dealt, ways_of
from incrowd.spark.blocks import bounded, solved_at_once, solved_in_blocks
from incrowd.spark.check import Facts, checked
from incrowd.spark.columns import task_of
from incrowd.spark.keeping import Keeper
from incrowd.spark.persons import WHO, numbered, owned, require_people, with_numbers
from incrowd.spark.plan import on_batches, workers_errors
from incrowd.spark.result import SparkRelease
from incrowd.spark.rows import hashable, one_form, ranges, rewritten, without_notes
from incrowd.spark.task import CODED, Task
from incrowd.tables.base import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTS = 4096  # into which rows are dealt to be ordered, each by itself


def made_of_frame(
    df: "DataFrame",
    policy: Policy,
    block_rows: int,
    scratch: str | None,
    listener: Listener,
    proof: bool = False,
) -> SparkRelease:
    """Make a release under a policy that is served; see ``incrowd.spark.front.release_of``."""
    started = time.monotonic()
    asked, rows = plain_rows(df, policy)
    roles, inner, secret, persons = asked.roles, asked.inner, asked.secret, asked.persons
    listener(Event("distinct rows"))
    with Keeper(scratch) as keeper, workers_errors():
        rows, people, dropped = counting(rows, persons, policy, keeper)
        distinct, count, total = distinct_of(rows, asked, keeper)
        if not total:
            keeper.forget()
            return nothing(df, policy, roles, time.monotonic() - started)
        require_enough(total, policy.k)
        task = task_of(distinct, inner, roles, policy, bool(secret), people)
        task = replace(task, proof=proof)
        made = made_of(encoded(distinct, task), task, count, block_rows, keeper, listener)
        listener(Event("re-check"))
        found = finished(asked, rows, total, task, made, keeper, started)
        return replace(found, rows_without_person=dropped)


def plain_rows(df: "DataFrame", policy: Policy) -> tuple["Request", "DataFrame"]:
    """Return what is asked of a table, and its rows: what is published, and who they are."""
    roles = policy.roles(df.columns)
    inner = {name: f"c{j}" for j, name in enumerate(roles.qi)}
    inner |= {name: f"o{i}" for i, name in enumerate((*roles.sensitive, *roles.keep))}
    secret = roles.sensitive if asks_of_sensitive(policy) else ()
    asked = Request(policy, roles, roles.published(df.columns), inner, secret)
    named = without_notes(df.toDF(*(inner.get(name, f"i{i}") for i, name in enumerate(df.columns))))
    at = [df.columns.index(name) for name in roles.person]
    whose = [sf.col(f"i{i}").alias(p) for i, p in zip(at, asked.persons, strict=True)]
    return asked, one_form(named.select(*(inner[name] for name in asked.published), *whose))


def distinct_of(
    rows: "DataFrame", asked: "Request", keeper: Keeper
) -> tuple["DataFrame", int, int]:
    """Return the distinct rows, with ``n`` of each; their number, and that of all rows."""
    distinct = rows.groupBy(*asked.keys).agg(sf.count(sf.lit(1)).alias("n"))
    distinct = keeper.keep(distinct, "distinct")
    count, total = (int(x or 0) for x in distinct.agg(sf.count("n"), sf.sum("n")).collect()[0])
    return distinct, count, total


def encoded(distinct: "DataFrame", task: Task) -> "DataFrame":
    """Return distinct rows as codes."""
    return distinct.mapInArrow(on_batches("tasks.encode", task), CODED)


def counting(
    rows: "DataFrame", persons: Sequence[str], policy: Policy, keeper: Keeper
) -> tuple["DataFrame", int | None, int]:
    """Append whose each row is, where people are counted.

    Returns
    -------
    the rows; how many people there are, None where rows are counted; and the rows left out.
    """
    if not persons:
        return rows, None, 0
    rows, dropped = owned(rows, persons, policy)
    numbers = keeper.keep(numbered(rows, persons), "people")
    people = numbers.count()
    if people:
        require_people(people, policy.k)
    return with_numbers(rows, numbers, persons), people, dropped


@dataclass(frozen=True)
class Request:
    """What is asked of a table, and what its columns are called.

    Attributes
    ----------
    published: columns of the release, in order.
    inner: published column → its plain name; any name is allowed outside.
    secret: sensitive columns that a model looks at.
    """

    policy: Policy
    roles: Roles
    published: tuple[str, ...]
    inner: dict[str, str]
    secret: tuple[str, ...]

    @property
    def keys(self) -> list[str]:
        """Plain names of quasi-identifiers, and of what models look at."""
        return [*(self.inner[name] for name in self.roles.qi), *self.hidden]

    @property
    def hidden(self) -> list[str]:
        """Plain names of what models look at: sensitive columns, then whose each row is."""
        return [*(self.inner[name] for name in self.secret), *([WHO] if self.persons else [])]

    @property
    def persons(self) -> list[str]:
        """Plain names of the columns that together name a person."""
        return [f"p{j}" for j in range(len(self.roles.person))]


class Made:
    """Records of a release, and what was said when they were made.

    With ``blocks`` the bound is the sum of those of the blocks.
    """

    def __init__(self, records: "DataFrame", blocks: bool, keeper: Keeper) -> None:
        self.records, self.blocks = keeper.keep(records, "records"), blocks
        told = self.records.where(sf.col("how").isNotNull())
        told = told.agg(sf.sum("bound"), sf.min("how"), sf.max("proof")).collect()[0]
        self.bound, self.proof = int(told[0] or 0), told[2]
        self.method, _, self.ended = str(told[1]).partition(";")


def made_of(
    coded: "DataFrame",
    task: Task,
    distinct: int,
    block_rows: int,
    keeper: Keeper,
    listener: Listener,
) -> Made:
    """Solve, at once or in blocks."""
    blocks = distinct > block_rows
    listener(Event(f"search among {distinct:,} distinct rows{' in blocks' if blocks else ''}"))
    if blocks:
        records = solved_in_blocks(coded, task, distinct, block_rows, keeper)
    else:
        records = solved_at_once(coded, task)
    made = Made(records, blocks, keeper)
    if blocks:
        listener(Event("bound"))
        made.bound, made.proof = bounded(coded, made.records, task, distinct)
    return made


def finished(
    asked: Request,
    rows: "DataFrame",
    total: int,
    task: Task,
    made: Made,
    keeper: Keeper,
    started: float,
) -> SparkRelease:
    """Rewrite the rows, ``total`` of them, re-check them, and put the release together."""
    policy, roles = asked.policy, asked.roles
    after = [f"r{j}" for j in range(len(roles.qi))]
    ways = None
    data = with_texts(rows, asked, made, task, after, keeper)
    if task.proof and asked.persons:
        before = [asked.inner[name] for name in asked.published]
        ways = Dealt(data.select(*before, *asked.persons, *after).toArrow())
    elif task.proof:
        parts = made.records.select("k", "s", "l", "span").distinct()
        ways = ways_of(task, parts.toArrow())
    facts = checked(data, task, roles.qi, asked.hidden, total, policy.k, keeper, asked.persons)
    changed = dict(zip(roles.qi, facts.changed, strict=True))
    new = dict(zip(roles.qi, after, strict=True))
    shown = [new[n] if changed.get(n) else asked.inner[n] for n in asked.published]
    return SparkRelease(
        data=in_order(data.select(*shown), policy).toDF(*asked.published),
        rows=facts.rows,
        seconds=time.monotonic() - started,
        **figures_of(asked, made, task, facts),
        certificate=made.proof,
        ways=ways,
        keeper=keeper,
        people=facts.people,
        fewest_people=facts.fewest_people,
        warnings=tuple(widths_told(facts.hidden)),
    )


def with_texts(
    rows: "DataFrame", asked: Request, made: Made, task: Task, after: Sequence[str], keeper: Keeper
) -> "DataFrame":
    """Return the rows with their released texts beside them, in columns called ``after``."""
    decoded = decoded_of(asked, made, task, dict(rows.dtypes)).toDF(*asked.keys, *after, "n")
    assigned = keeper.keep(ranges(decoded, asked.keys, after), "assigned")
    return rewritten(rows, assigned, asked.keys, after, asked.policy.search_seed)


def in_order(data: "DataFrame", policy: Policy) -> "DataFrame":
    """Return published rows in an order that tells nothing, if that is asked for.

    By a hash of their cells with a number that nobody knows: rows with the same cells are one like
    the other.  And numbered in that order, for Sail sorts nothing for its own sake that is written,
    nor by a number drawn for each row.
    """
    if policy.order != "shuffle":
        return data
    # not from the seed, which is mostly 0: who guesses it would undo the shuffle
    lot = sf.xxhash64(sf.lit(randbits(62)), *hashable(data, data.columns))
    dealt = data.withColumn("lot", lot).withColumn("part", sf.pmod("lot", sf.lit(PARTS)))
    place = sf.row_number().over(Window.partitionBy("part").orderBy("lot"))
    return dealt.withColumn("place", place).where("place > 0").drop("lot", "part", "place")


def figures_of(asked: Request, made: Made, task: Task, facts: Facts) -> dict[str, Any]:
    """Return the figures of a ``SparkRelease`` that follow from what was made and counted."""
    return {
        "policy": asked.policy,
        "roles": asked.roles,
        "models": task.model.names(asked.roles.sensitive),
        "classes": facts.classes,
        "smallest_class": facts.smallest,
        "changed": dict(zip(asked.roles.qi, facts.changed, strict=True)),
        "scale": task.scale,
        "cost_units": facts.cost,
        "bound_units": min(made.bound, facts.cost),
        "worst_units": facts.worst,
        "method": made.method,
        "ended": made.ended,
        "blocks": made.blocks,
    }


def decoded_of(asked: Request, made: Made, task: Task, types: dict[str, str]) -> "DataFrame":
    """Return the records as cells before and after, and how many rows each is for."""
    before = [f"c{j}" for j in range(len(asked.roles.qi))]
    schema = [f"{c} {types[c]}" for c in before]
    schema += [f"s{j} {types[c]}" for j, c in enumerate(asked.hidden)]
    schema += [f"r{j} string" for j in range(len(before))] + ["n bigint"]
    return made.records.mapInArrow(on_batches("tasks.decode", task), ", ".join(schema))


def nothing(df: "DataFrame", policy: Policy, roles: Roles, seconds: float) -> SparkRelease:
    """Return the release of a table without rows."""
    secret = {name: Column((), np.zeros(0, np.int32)) for name in roles.sensitive}
    models = model_of(policy, secret, policy.sources()).names(roles.sensitive)
    data = without_notes(df.toDF(*(f"a{i}" for i in range(len(df.columns)))))
    places = [i for i, name in enumerate(df.columns) if name not in roles.id]
    names = [df.columns[i] for i in places]
    return SparkRelease(
        data.select(*(f"a{i}" for i in places)).toDF(*names), policy, roles,
        models, 0, 0, 0, dict.fromkeys(roles.qi, 0),
        1, 0, 0, 0, policy.method_id, "finished", seconds, False,
    )  # fmt: skip
