"""From classes back to rows, by joins: the table never leaves the cluster."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as sf

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CHANGED = "the table changed since it was anonymized (incrowd); anonymize it again"


def without_notes(rows: "DataFrame") -> "DataFrame":
    """Return rows whose columns carry no metadata, which may list cells: those of an indexer do.

    Files of Parquet would hold it, also of rows that are left out.
    """
    for field in rows.schema.fields:
        if field.metadata:
            rows = rows.withMetadata(field.name, {})
    return rows


def one_form(rows: "DataFrame") -> "DataFrame":
    """Return rows in which 0.0 and NaN look one way each, as a release of one machine shows them.

    Spark groups by them as equal, but a −0.0 that stayed would tell its row apart.
    """
    nan = sf.lit(float("nan"))
    return rows.select(
        *(
            sf.nanvl(sf.col(name) + sf.lit(0.0), nan).cast(kind).alias(name)
            if kind in ("float", "double")
            else sf.col(name)
            for name, kind in rows.dtypes
        )
    )


def ranges(decoded: "DataFrame", keys: Sequence[str], texts: Sequence[str]) -> "DataFrame":
    """Merge equal releases of equal rows, and number their copies.

    Returns
    -------
    ``x_KEY`` of each key, the released texts, and: of the copies 1, 2, … of a row those above
    ``lo`` up to ``hi`` are released so; ``parts``: in how many ways its copies are.
    """
    merged = decoded.groupBy(*keys, *texts).agg(sf.sum("n").alias("n"))
    row = Window.partitionBy(*keys)
    upto = row.orderBy(*texts).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return merged.select(
        *(sf.col(key).alias(f"x_{key}") for key in keys),
        *texts,
        sf.sum("n").over(upto).alias("hi"),
        (sf.sum("n").over(upto) - sf.col("n")).alias("lo"),
        sf.count(sf.lit(1)).over(row).alias("parts"),
    )


def rewritten(
    rows: "DataFrame", assigned: "DataFrame", keys: Sequence[str], texts: Sequence[str], seed: int
) -> "DataFrame":
    """Return the rows with their released texts beside them.

    Rows that agree on the keys are dealt among the ways in which their copies are released by a
    hash of the other columns and of the row's number among its like: rows that are alike in all
    published columns are interchangeable, so the result, as a set of rows, depends neither on the
    partitions nor on the rows' order.
    """
    columns = rows.columns
    first = assigned.where(sf.col("lo") == 0).select(*named(keys), *texts, "parts")
    # a row that nobody assigned must not vanish
    parts = sf.when(sf.col("parts").isNull(), sf.raise_error(sf.lit(CHANGED)).cast("bigint"))
    met = rows.join(first, same(keys), "left").withColumn("parts", parts.otherwise(sf.col("parts")))
    alone = met.where(sf.col("parts") == 1).select(*columns, *texts)
    shared = met.where(sf.col("parts") > 1).select(*columns)
    several = assigned.where(sf.col("parts") > 1).select(*named(keys), *texts, "lo", "hi")
    drawn = numbered(shared, keys, [c for c in columns if c not in keys], seed)
    place = same(keys) & (sf.col("lot") > sf.col("lo")) & (sf.col("lot") <= sf.col("hi"))
    dealt = drawn.join(several, place, "left")
    held = sf.when(sf.col("hi").isNull(), sf.raise_error(sf.lit(CHANGED)).cast("bigint"))
    dealt = dealt.withColumn("hi", held.otherwise(sf.col("hi"))).where(sf.col("hi") > 0)
    return alone.unionByName(dealt.select(*columns, *texts))


def named(keys: Sequence[str]) -> list[str]:
    """Names of the keys on the side of the assignment."""
    return [f"x_{key}" for key in keys]


def same(keys: Sequence[str]) -> "Column":
    """Whether row and assignment agree on all keys; missing agrees with missing."""
    together = sf.lit(True)
    for key in keys:
        together = together & sf.col(key).eqNullSafe(sf.col(f"x_{key}"))
    return together


def numbered(
    rows: "DataFrame", keys: Sequence[str], others: Sequence[str], seed: int
) -> "DataFrame":
    """Append ``lot``: 1, 2, … among the rows with the same keys."""
    plain = [f"y_{name}" for name in others]
    for text, cells in zip(plain, hashable(rows, others), strict=True):
        rows = rows.withColumn(text, cells)
    like = Window.partitionBy(*keys, *plain).orderBy(sf.lit(1))
    rows = rows.withColumn("copy", sf.row_number().over(like))
    rows = rows.withColumn("draw", sf.xxhash64(sf.lit(seed), sf.col("copy"), *plain))
    drawn = Window.partitionBy(*keys).orderBy("draw", *plain, "copy")
    return rows.withColumn("lot", sf.row_number().over(drawn)).drop(*plain, "copy", "draw")


def hashable(rows: "DataFrame", names: Sequence[str]) -> "list[Column]":
    """Return columns as Spark can hash and compare them: maps as text."""
    types = dict(rows.dtypes)
    return [
        sf.to_json(sf.struct(name)) if "map<" in types[name] else sf.col(name) for name in names
    ]
