"""The front door on Spark: what is asked, and whether it is served; loads without pyspark."""

from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from incrowd.errors import InputError, MissingExtraError, OutOfScopeError
from incrowd.policy.arguments import Arguments, policy_of
from incrowd.policy.base import Policy
from incrowd.policy.models import counts_pairs
from incrowd.policy.options import taking
from incrowd.policy.served import require_served
from incrowd.policy.table import OPTIONS
from incrowd.privacy.numbers import whole
from incrowd.report.sample import require_survey
from incrowd.run.events import Listener, listening, silent
from incrowd.spark.result import SparkRelease
from incrowd.tables.base import Source
from incrowd.tables.native import from_native

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    existing: "DataFrame | None" = None,
    **asked: Unpack[Arguments],
) -> "DataFrame":
    """Return a Spark frame in which every row of ``df`` hides among at least ``k``.

    As ``release``, which also tells cost and bound; see there.
    """
    more: dict[str, Any] = {"scratch": scratch, "progress": progress, "existing": existing}
    return release(df, k, block_rows=block_rows, **more, **asked).data


@taking(OPTIONS)
def release(
    df: "DataFrame",
    k: int = 5,
    *,
    block_rows: int = BLOCK_ROWS,
    scratch: str | None = None,
    progress: Listener | None = None,
    whole: bool = False,
    existing: "DataFrame | None" = None,
    **asked: Unpack[Arguments],
) -> SparkRelease:
    """Make a release of a Spark frame; the table is never collected.

    Parameters
    ----------
    df: a frame of classic Spark or Spark Connect.
    k: least number of rows, or people with ``person``, that agree on all quasi-identifiers.
    block_rows: distinct rows that one task may solve.  Tables with no more are solved at once,
        with the result of one machine; larger ones in blocks.
    scratch: a folder that all workers can write and read, for what the tasks find; by default
        Spark's cache keeps it.  What lies there is as private as the table.
    progress: called with an ``incrowd.run.events.Event`` at each stage.
    whole: whether the driver is told what ``incrowd.spark.whole`` needs, which makes reports of a
        release that was written: prices and ways of the distinct rows.
    existing: an earlier release, a frame with the published columns, that ``df`` adds rows to; its
        rows stay as they are, and ``data`` has both.  Cost and bound are those of the new rows.
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
    return release_of(df, policy, block_rows, scratch, listening(progress), whole, existing)


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
    whole: bool = False,
    existing: "DataFrame | None" = None,
) -> SparkRelease:
    """Make a release under a policy; see ``release``."""
    require_spark()
    require_servable(df, policy, block_rows, scratch)
    require_survey(policy, df.columns, partial(column_of, df))
    from incrowd.spark import adding, making

    if existing is None:
        return making.made_of_frame(df, policy, block_rows, scratch, listener, whole)
    require_existing(existing, policy, whole)
    return adding.added_to(existing, df, policy, block_rows, scratch, listener)


def require_existing(existing: "DataFrame", policy: Policy, whole: bool) -> None:
    """Raise for what adding rows does not serve, by itself or on Spark."""
    require_frame(existing)
    require_served(policy, "with existing")
    require_served(policy, "with existing on Spark")
    if whole:
        raise OutOfScopeError(
            "proofs and reports of rows added to an earlier release are not served on Spark; make "
            "the release on one machine"
        )


def column_of(df: "DataFrame", name: str) -> Source:
    """Return a table of the different values of one column."""
    own = df.toDF(*(f"c{j}" for j in range(len(df.columns))))  # names may hold dots
    values = own.select(f"c{df.columns.index(name)}").distinct().toArrow()
    return from_native(values.rename_columns([name]))


def require_frame(df: "DataFrame") -> None:
    """Raise InputError unless something is a Spark frame whose columns have names of their own."""
    if not callable(getattr(df, "toDF", None)):
        raise InputError(
            f"expected a Spark frame, not {type(df).__name__}: spark.createDataFrame makes one; "
            "incrowd.anonymize takes other frames as they are"
        )
    names = list(df.columns)
    if len(set(names)) < len(names):
        raise InputError("the frame has a column name more than once; rename the columns")


def require_servable(
    df: "DataFrame", policy: Policy, block_rows: int, scratch: str | None = None
) -> None:
    """Raise InputError for what Spark or this engine on it cannot do."""
    require_frame(df)
    whole(block_rows, "block_rows")
    require_served(policy, "on Spark")
    if counts_pairs(policy):
        raise OutOfScopeError(
            "with person only k and distinct and disjoint diversity are served on Spark: other "
            "models count each pair of a person and a value once; make the release on one machine"
        )
    if policy.time_limit is not None and scratch is None:
        raise InputError(
            "on Spark a time limit needs a folder for what the tasks find (--scratch, scratch=): "
            "what is only cached is found again when a worker is lost, and must then be the same; "
            "or use --gap (gap=) to end earlier"
        )
