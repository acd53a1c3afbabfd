"""The front door on Spark: Spark frame → distinct rows → tasks → Spark frame; wiring only."""

import time
from dataclasses import dataclass
from secrets import randbits
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from incrowd.errors import InputError, MissingExtraError, NoLawfulReleaseError, OutOfScopeError
from incrowd.policy.arguments import Arguments, policy_of
from incrowd.policy.base import OPTIONS, Policy
from incrowd.policy.models import asks_of_sensitive, model_of
from incrowd.policy.options import taking
from incrowd.policy.roles import Roles
from incrowd.privacy.all_of import names_of
from incrowd.privacy.numbers import whole
from incrowd.run.events import Event, Listener, listening, silent
from incrowd.spark.result import SparkRelease
from incrowd.tables.base import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.spark.keeping import Keeper
    from incrowd.spark.task import Task

BLOCK_ROWS = 1_000_000
"""Distinct rows that one task solves; about 2 GB of a worker's memory with ten columns."""


@taking(OPTIONS)
def anonymize(
    df: "DataFrame",
    k: int = 5,
    *,
    block_rows: int = BLOCK_ROWS,
    scratch: str | None = None,
    progress: Listener | None = None,
    **asked: Unpack[Arguments],
) -> "DataFrame":
    """Return a Spark frame in which every row of ``df`` hides among at least ``k``.

    As ``release``, which also tells cost and bound; see there.
    """
    return release(df, k, block_rows=block_rows, scratch=scratch, progress=progress, **asked).data


@taking(OPTIONS)
def release(
    df: "DataFrame",
    k: int = 5,
    *,
    block_rows: int = BLOCK_ROWS,
    scratch: str | None = None,
    progress: Listener | None = None,
    **asked: Unpack[Arguments],
) -> SparkRelease:
    """Make a release of a Spark frame; the table is never collected.

    Parameters
    ----------
    df: a frame of classic Spark or Spark Connect.
    k: least number of rows that agree on all quasi-identifiers.
    block_rows: distinct rows that one task may solve.  Tables with no more are solved at once,
        with the result of one machine; larger ones in blocks.
    scratch: a folder that all workers can write and read, for what the tasks find; by default
        Spark's cache keeps it.  What lies there is as private as the table.
    progress: called with an ``incrowd.run.events.Event`` at each stage.
    asked: ``qi``, ``sensitive``, ``id``, ``keep``, ``l``, ``t``, ``hierarchies``, ``weights``,
        ``cost``, ``method``, ``gap``, ``seed``, … as in ``incrowd.anonymize``; ``time_limit`` is
        that of each block, however many of them wait for a worker.

    Returns
    -------
    the release; its ``data`` is a lazy Spark frame over ``df``, which must not change meanwhile.
    The result depends neither on the partitions nor on the order of the rows.

    Raises
    ------
    MissingExtraError: pyspark or pyarrow is not installed.
    InputError, OutOfScopeError, NoLawfulReleaseError: as ``incrowd.anonymize``; also for
        ``time_limit`` without ``scratch``: a lost task would give other classes when it runs again.
    VerificationError: the re-check in Spark refused the release.
    """
    policy = policy_of("release", None, {"k": k, **asked})
    return release_of(df, policy, block_rows, scratch, listening(progress))


def require_spark() -> None:
    """Raise MissingExtraError unless pyspark and what it needs are there."""
    import importlib.util

    for package in ("pyspark", "pyarrow", "pandas"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package, "spark", "incrowd on Spark")


def release_of(
    df: "DataFrame",
    policy: Policy,
    block_rows: int = BLOCK_ROWS,
    scratch: str | None = None,
    listener: Listener = silent,
) -> SparkRelease:
    """Make a release under a policy; see ``release``."""
    require_spark()
    from pyspark.sql import functions as sf

    from incrowd.spark.columns import task_of
    from incrowd.spark.keeping import Keeper
    from incrowd.spark.plan import on_batches, workers_errors
    from incrowd.spark.rows import one_form
    from incrowd.spark.task import CODED

    started = time.monotonic()
    require_servable(df, policy, block_rows, scratch)
    if policy.person:
        raise OutOfScopeError("person is not served on Spark yet")
    roles = policy.roles(df.columns)
    inner = inner_names(roles)
    secret = roles.sensitive if asks_of_sensitive(policy) else ()
    asked = Asked(policy, roles, roles.published(df.columns), inner, secret)
    keys = [inner[name] for name in (*roles.qi, *secret)]
    named = df.toDF(*(inner.get(name, f"i{i}") for i, name in enumerate(df.columns)))
    rows = one_form(named.select(*(inner[name] for name in asked.published)))
    listener(Event("distinct rows"))
    with Keeper(scratch) as keeper, workers_errors():
        distinct = rows.groupBy(*keys).agg(sf.count(sf.lit(1)).alias("n"))
        distinct = keeper.keep(distinct, "distinct")
        count, total = (int(x or 0) for x in distinct.agg(sf.count("n"), sf.sum("n")).collect()[0])
        if not total:
            keeper.forget()
            return nothing(df, policy, roles, time.monotonic() - started)
        require_enough(total, policy.k)
        task = task_of(distinct, inner, roles, policy, bool(secret))
        coded = distinct.select(*keys, "n").mapInArrow(on_batches("encode", task), CODED)
        made = made_of(coded, task, count, block_rows, keeper, listener)
        listener(Event("re-check"))
        return finished(asked, rows, total, task, made, keeper, started)


@dataclass(frozen=True)
class Asked:
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
    def hidden(self) -> list[str]:
        """Plain names of the sensitive columns that a model looks at."""
        return [self.inner[name] for name in self.secret]


def require_enough(rows: int, k: int) -> None:
    """Raise NoLawfulReleaseError for a table of fewer than k rows."""
    if rows < k:
        raise NoLawfulReleaseError(
            f"k = {k} is larger than the table, which has {rows} rows: nobody in it can hide among "
            f"{k}; use k ≤ {rows} or more rows"
        )


class Made:
    """Records of a release, and what was said when they were made."""

    def __init__(self, records: Any, bound: int, how: str, blocks: bool) -> None:
        self.records, self.bound, self.blocks = records, bound, blocks
        self.method, _, self.ended = how.partition(";")


def made_of(
    coded: "DataFrame",
    task: "Task",
    distinct: int,
    block_rows: int,
    keeper: "Keeper",
    listener: Listener,
) -> Made:
    """Solve, at once or in blocks."""
    from pyspark.sql import functions as sf

    from incrowd.spark.blocks import bounded, solved_at_once, solved_in_blocks

    blocks = distinct > block_rows
    listener(Event(f"search among {distinct:,} distinct rows{' in blocks' if blocks else ''}"))
    if blocks:
        records = solved_in_blocks(coded, task, distinct, block_rows, keeper)
    else:
        records = solved_at_once(coded, task)
    records = keeper.keep(records, "records")
    told = records.where(sf.col("how").isNotNull()).agg(sf.sum("bound"), sf.min("how")).collect()[0]
    bound = int(told[0] or 0)
    if blocks:
        listener(Event("bound"))
        bound = bounded(coded, records, task, distinct)
    return Made(records, bound, str(told[1]), blocks)


def finished(
    asked: Asked,
    rows: "DataFrame",
    total: int,
    task: "Task",
    made: Made,
    keeper: "Keeper",
    started: float,
) -> SparkRelease:
    """Rewrite the rows, ``total`` of them, re-check them, and put the release together."""
    from pyspark.sql import functions as sf

    from incrowd.spark.check import checked
    from incrowd.spark.rows import ranges, rewritten

    policy, roles = asked.policy, asked.roles
    keys = [*(f"c{j}" for j in range(len(roles.qi))), *asked.hidden]
    after = [f"r{j}" for j in range(len(roles.qi))]
    decoded = decoded_of(asked, made, task, dict(rows.dtypes)).toDF(*keys, *after, "n")
    assigned = keeper.keep(ranges(decoded, keys, after), "assigned")
    data = rewritten(rows, assigned, keys, after, policy.seed)
    facts = checked(data, task, roles.qi, asked.hidden, total, policy.k, keeper)
    changed = dict(zip(roles.qi, facts.changed, strict=True))
    if policy.order == "shuffle":
        # not from the seed, which is mostly 0: who guesses it would undo the shuffle
        data = data.orderBy(sf.rand(randbits(62)))
    new = dict(zip(roles.qi, after, strict=True))
    shown = [new[n] if changed.get(n) else asked.inner[n] for n in asked.published]
    return SparkRelease(
        data=data.select(*shown).toDF(*asked.published),
        policy=policy,
        roles=roles,
        models=names_of(task.model, roles.sensitive),
        rows=facts.rows,
        classes=facts.classes,
        smallest_class=facts.smallest,
        changed=changed,
        scale=task.scale,
        cost_units=facts.cost,
        bound_units=min(made.bound, facts.cost),
        worst_units=facts.worst,
        method=made.method,
        ended=made.ended,
        seconds=time.monotonic() - started,
        blocks=made.blocks,
        keeper=keeper,
    )


def decoded_of(asked: Asked, made: Made, task: "Task", types: dict[str, str]) -> "DataFrame":
    """Return the records as cells before and after, and how many rows each is for."""
    from incrowd.spark.plan import on_batches

    before = [f"c{j}" for j in range(len(asked.roles.qi))]
    schema = [f"{c} {types[c]}" for c in before]
    schema += [f"s{j} {types[c]}" for j, c in enumerate(asked.hidden)]
    schema += [f"r{j} string" for j in range(len(before))] + ["n bigint"]
    return made.records.mapInArrow(on_batches("decode", task), ", ".join(schema))


def inner_names(roles: Roles) -> dict[str, str]:
    """Return plain names for the columns that are published; any name is allowed outside."""
    inner = {name: f"c{j}" for j, name in enumerate(roles.qi)}
    return inner | {name: f"o{i}" for i, name in enumerate((*roles.sensitive, *roles.keep))}


def require_servable(
    df: "DataFrame", policy: Policy, block_rows: int, scratch: str | None = None
) -> None:
    """Raise InputError for what Spark or this engine on it cannot do."""
    if not callable(getattr(df, "toDF", None)):
        raise InputError(
            f"expected a Spark frame, not {type(df).__name__}: spark.createDataFrame makes one; "
            "incrowd.anonymize takes other frames as they are"
        )
    whole(block_rows, "block_rows")
    names = list(df.columns)
    if len(set(names)) < len(names):
        raise InputError("the frame has a column name more than once; rename the columns")
    from incrowd.constraints.plan import is_constrained

    if is_constrained(policy):
        raise InputError(
            "fixed, linked and capped columns are not served on Spark yet; leave them out, or make "
            "the release on one machine"
        )
    if policy.suppress_rows:
        raise InputError(
            "leaving rows out (suppress_rows) is not served on Spark; make the release on one "
            "machine, or take the rows out before"
        )
    if policy.time_limit is not None and scratch is None:
        raise InputError(
            "on Spark a time limit needs a folder for what the tasks find (--scratch, scratch=): "
            "what is only cached is found again when a worker is lost, and must then be the same; "
            "or use --gap (gap=) to end earlier"
        )


def nothing(df: "DataFrame", policy: Policy, roles: Roles, seconds: float) -> SparkRelease:
    """Return the release of a table without rows."""
    secret = {name: Column((), np.zeros(0, np.int32)) for name in roles.sensitive}
    models = names_of(model_of(policy, secret, policy.sources()), roles.sensitive)
    method = policy.method if isinstance(policy.method, str) else policy.method.id
    data = df.toDF(*(f"a{i}" for i in range(len(df.columns))))
    places = [i for i, name in enumerate(df.columns) if name not in roles.id]
    names = [df.columns[i] for i in places]
    return SparkRelease(
        data.select(*(f"a{i}" for i in places)).toDF(*names), policy, roles,
        models, 0, 0, 0, dict.fromkeys(roles.qi, 0),
        1, 0, 0, 0, method, "finished", seconds, False,
    )  # fmt: skip
