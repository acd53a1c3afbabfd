"""incrowd on Spark against one machine: cost, bound, seconds, at several numbers of partitions.

    python benchmarks/spark.py ../shared/data/adult.csv 300_000 --block-rows 1_000_000 20_000

Spark runs in local mode with two threads and 2 GB; kernels are compiled before.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

from resampled import resampled


def session(partitions: int, threads: str = "local[2]") -> Any:
    """A local Spark session with little memory."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(partitions),
    }
    builder = SparkSession.builder.master(threads)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def on_spark(spark: Any, path: str, k: int, block_rows: int, partitions: int) -> dict[str, Any]:
    """One release on Spark, written as Parquet and counted again."""
    import incrowd.spark

    frame = spark.read.parquet(path).repartition(partitions)
    started = time.monotonic()
    found = incrowd.spark.release(frame, k, block_rows=block_rows, progress=told(started))
    target = Path(path).with_name("released.parquet")
    found.data.write.mode("overwrite").parquet(str(target))
    seconds = time.monotonic() - started
    written = pl.read_parquet(target / "*.parquet")
    sizes = written.group_by(written.columns).len()["len"]
    found.unpersist()
    return {
        "blocks": found.blocks,
        "block_rows": block_rows,
        "partitions": partitions,
        "rows": int(written.height),
        "smallest": int(sizes.min()),  # type: ignore[arg-type]
        "cost": found.cost,
        "bound": found.lower_bound,
        "seconds": round(seconds, 1),
    }


def told(started: float) -> Any:
    """Say each stage on standard error."""
    return lambda event: print(
        f"  {time.monotonic() - started:7.1f} s  {event.stage}", file=sys.stderr, flush=True
    )


def main() -> None:
    """Print one JSON line a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("rows", type=int, help="0: the table itself, --times over")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--block-rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--partitions", type=int, nargs="+", default=[4])
    parser.add_argument("--alone", action="store_true", help="also on one machine")
    given = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="incrowd-benchmark-")
    path = f"{folder}/table.parquet"
    table = pl.read_csv(given.table, separator=";")
    table = resampled(table, given.rows) if given.rows else pl.concat([table] * given.times)
    table.write_parquet(path)
    distinct = table.unique().height
    print(json.dumps({"rows": table.height, "distinct": distinct}), flush=True)
    if given.alone:
        import incrowd

        before = resource.getrusage(resource.RUSAGE_SELF)
        release = incrowd.anonymize(path, given.k, method="engine")
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        alone = {"cost": release.cost, "bound": release.lower_bound, "cpu_seconds": round(cpu, 1)}
        print(json.dumps({"one machine": alone}), flush=True)
    spark = session(4)
    for block_rows in given.block_rows:
        for partitions in given.partitions:
            found = on_spark(spark, path, given.k, block_rows, partitions)
            print(json.dumps({"spark": found}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
