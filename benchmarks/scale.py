"""Large and wide tables, end to end through the command line.

    python benchmarks/scale.py ../shared/data/adult.csv [NAME …]

Each case makes its table from a real one (see resampled.py), then runs `incrowd anonymize` on it in
a fresh process.  CPU seconds and peak memory are the operating system's account of that process.
"""

import argparse
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from resampled import resampled


@dataclass(frozen=True)
class Case:
    """One table: rows, columns, the format it is read from, and the time limit in seconds."""

    name: str
    rows: int
    limit: float
    columns: int | None = None
    suffix: str = ".parquet"


CASES = (
    Case("1M", 1_000_000, 150),
    Case("10M", 10_000_000, 480),
    Case("10M-csv", 10_000_000, 480, suffix=".csv"),
    Case("200k-40", 200_000, 240, columns=40),
)


def widened(table: pl.DataFrame, columns: int, seed: int = 0) -> pl.DataFrame:
    """Return a table of so many columns: those of ``table`` in turn, cells drawn anew at .02."""
    rng = np.random.default_rng(seed)
    wide = {}
    for number in range(columns):
        column = table[table.columns[number % table.width]]
        index = np.arange(table.height)
        hit = rng.random(table.height) < 0.02
        index[hit] = rng.integers(table.height, size=int(hit.sum()))
        wide[f"{column.name}_{number}"] = column.gather(index)
    return pl.DataFrame(wide)


def write(case: Case, original: pl.DataFrame, path: Path) -> None:
    """Make the table of a case."""
    table = resampled(original, case.rows)
    if case.columns:
        table = widened(table, case.columns)
    if case.suffix == ".csv":
        table.write_csv(path)
    else:
        table.write_parquet(path)


def run(case: Case, source: Path, output: Path) -> str:
    """Run one case; return its row of the table."""
    words = ["incrowd", "anonymize", str(source), "-o", str(output), "-k", "5"]
    words += ["--method", "engine", "--json", "--quiet", "--seed", "1"]
    words += ["--time-limit", str(case.limit)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    facts = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    released = pl.read_parquet(output) if case.suffix == ".parquet" else pl.read_csv(output)
    assert released.height == case.rows
    assert int(released.group_by(released.columns).len()["len"].min()) >= 5  # type: ignore[arg-type]
    cpu = usage.ru_utime + usage.ru_stime
    return (
        f"| {case.name} | {facts['cost']:,} | {facts['lower_bound']:,} | {facts['gap']:.2%} "
        f"| {cpu:.0f} | {usage.ru_maxrss / 2**20:.2f} |"
    )


def main() -> None:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--separator", default=";")
    given = parser.parse_args()
    original = pl.read_csv(given.table, separator=given.separator)
    print("| table | stars | certified bound | gap | CPU s | peak GiB |\n|---|---|---|---|---|---|")
    for case in CASES:
        if given.names and case.name not in given.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / f"table{case.suffix}"
            write(case, original, source)
            print(run(case, source, Path(folder) / f"release{case.suffix}"), flush=True)


if __name__ == "__main__":
    main()
