"""A worker is killed in the middle of a release on Spark: nothing is lost, no class is below k.

    python benchmarks/spark_worker_lost.py ../shared/data/adult.csv 20_000 --block-rows 4_000

Spark runs as ``local-cluster[2,1,1024]``: two workers in processes of their own.  While blocks are
being solved one executor of this very cluster gets SIGKILL.  The release is compared, row by row,
with that of a run in which nobody was killed.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl

from resampled import resampled
from spark import session


def children(pid: int) -> list[int]:
    """All processes that descend from one."""
    parents: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        parents[int(place.parent.name)] = int(fields[1])
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        below = [child for child, parent in parents.items() if parent == one]
        found += below
        waiting += below
    return found


def executors() -> list[int]:
    """Executors of our own cluster."""
    mine = []
    for pid in children(os.getpid()):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(b"CoarseGrainedExecutorBackend" in word for word in words):
            mine.append(pid)
    return mine


def kill_soon(seconds: float, killed: list[int]) -> threading.Thread:
    """Kill one executor after so many seconds."""

    def work() -> None:
        time.sleep(seconds)
        pid = executors()[0]
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def one_run(spark: Any, path: str, k: int, block_rows: int, kill: float | None) -> Any:
    """One release, collected (it is small here), and how it went."""
    import incrowd.spark

    killed: list[int] = []
    thread: threading.Thread | None = None

    def listen(event: Any) -> None:
        nonlocal thread
        print(f"  {event.stage}", file=sys.stderr, flush=True)
        if kill is not None and event.stage.startswith("search"):
            thread = kill_soon(kill, killed)

    started = time.monotonic()
    found = incrowd.spark.release(
        spark.read.parquet(path), k, block_rows=block_rows, progress=listen
    )
    rows = pl.DataFrame(pl.from_arrow(found.data.toArrow()))
    if thread is not None:
        thread.join()
    record = {
        "killed": len(killed),
        "rows": rows.height,
        "smallest": rows.group_by(rows.columns).len()["len"].min(),
        "cost": found.cost,
        "bound": found.lower_bound,
        "seconds": round(time.monotonic() - started, 1),
    }
    found.unpersist()
    return rows.sort(rows.columns), record


def main() -> None:
    """Print one JSON line a run, and whether both gave the same rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("rows", type=int)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--block-rows", type=int, default=4_000)
    parser.add_argument("--after", type=float, default=20.0, help="seconds into the search")
    given = parser.parse_args()
    path = f"{tempfile.mkdtemp(prefix='incrowd-benchmark-')}/table.parquet"
    resampled(pl.read_csv(given.table, separator=";"), given.rows).write_parquet(path)
    spark = session(4, "local-cluster[2,1,1024]")
    calm, record = one_run(spark, path, given.k, given.block_rows, None)
    print(json.dumps({"nobody killed": record}), flush=True)
    torn, other = one_run(spark, path, given.k, given.block_rows, given.after)
    print(json.dumps({"one killed": other}), flush=True)
    print(json.dumps({"same rows": calm.equals(torn)}), flush=True)
    spark.stop()
    assert other["killed"] == 1
    assert calm.equals(torn)
    assert other["smallest"] >= given.k
    assert other["rows"] == given.rows


if __name__ == "__main__":
    main()
