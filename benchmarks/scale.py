"""Large and wide tables, end to end through the command line.

    python benchmarks/scale.py ../shared/data/adult.csv [NAME …]

Each case makes its table from a real one (see resampled.py), then runs `incrowd anonymize` on it in
a fresh process.  CPU seconds and peak memory are the operating system's account of that process:
reading, searching, the re-check, writing and reading back are all in them.  Every release is then
read here and its smallest class counted.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl

from resampled import coded_column, resampled, widened


@dataclass(frozen=True)
class Case:
    """One table and how it is released.

    Attributes
    ----------
    rows, columns: of the table; without ``columns`` as many as the original has.
    limit: wall seconds of the search at most.
    gap: at which the search may end.
    suffix: of the file that it is read from.
    values: a further column with about so many different values.
    hierarchies: whether the original's hierarchies are used, with cost by level.
    proof: whether the proof file is written too.
    """

    name: str
    rows: int
    limit: float
    gap: float = 0.0
    columns: int | None = None
    suffix: str = ".parquet"
    values: int = 0
    hierarchies: bool = False
    proof: bool = False


CASES = (
    Case("10M to 5 %", 10_000_000, 1800, 0.05),
    Case("1M to 5 %", 1_000_000, 1800, 0.05),
    Case("1M to 2.5 %", 1_000_000, 1800, 0.025),
    Case("1M to 1 %", 1_000_000, 2400, 0.01),
    Case("10M, first release", 10_000_000, 1),
    Case("200k, 40 columns", 200_000, 200, columns=40),
    Case("200k, 60 columns", 200_000, 200, columns=60),
    Case("200k, a column of 100,000 values", 200_000, 100, values=100_000),
    Case("10M, CSV, proof, to 5 %", 10_000_000, 1800, 0.05, suffix=".csv", proof=True),
    Case("1M, hierarchies", 1_000_000, 240, hierarchies=True),
    Case("10M, hierarchies", 10_000_000, 400, hierarchies=True),
)


def apart(function: Callable[..., None], *given: Any) -> None:
    """Call in a process of its own: what the parent holds would count as its children's peak."""
    process = get_context("spawn").Process(target=function, args=given)
    process.start()
    process.join()
    assert process.exitcode == 0


def make(case: Case, original: pl.DataFrame, path: Path) -> None:
    """Write the table of a case."""
    table = resampled(original, case.rows)
    if case.columns:
        table = widened(table, case.columns)
    if case.values:
        table = table.with_columns(coded_column(case.rows, case.values))
    if case.suffix == ".csv":
        table.write_csv(path)
    else:
        table.write_parquet(path)


def check(case: Case, output: Path) -> None:
    """Count rows and classes of what was written."""
    scan = pl.scan_parquet if case.suffix == ".parquet" else pl.scan_csv
    sizes = scan(output).group_by(pl.all()).len().collect()["len"]
    assert int(sizes.min()) >= 5 and sizes.sum() == case.rows  # type: ignore[arg-type]


def ladders(folder: Path, table: Path, columns: list[str]) -> Iterator[str]:
    """Yield the options that name the hierarchies beside a table."""
    for column in columns:
        file = folder / f"{table.stem}_hierarchy_{column}.csv"
        yield from ("--hierarchy", f"{column}={file}")


def run(case: Case, source: Path, options: list[str]) -> str:
    """Run one case; return its row of the table."""
    output = source.with_name(f"release{case.suffix}")
    words = ["incrowd", "anonymize", str(source), "-o", str(output), "-k", "5"]
    words += ["--method", "engine", "--json", "--quiet", "--seed", "1"]
    words += ["--time-limit", str(case.limit), *options]
    if case.gap:
        words += ["--gap", str(case.gap)]
    if case.proof:
        words += ["--proof", str(source.with_name("release.proof"))]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    facts = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    apart(check, case, output)
    cpu = usage.ru_utime + usage.ru_stime
    cost, bound = round(facts["cost"]), int(facts["lower_bound"])
    return (
        f"| {case.name} | {cost:,} | {bound:,} | {facts['gap']:.2%} "
        f"| {case.limit:.0f} s | {cpu:.0f} | {usage.ru_maxrss / 2**20:.2f} |"
    )


def main() -> None:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--separator", default=";")
    parser.add_argument("--hierarchies", type=Path, help="default: hierarchies/ beside the table")
    given = parser.parse_args()
    original = pl.read_csv(given.table, separator=given.separator)
    folder = given.hierarchies or given.table.parent / "hierarchies"
    print("| table | cost | certified bound | gap | limit | CPU s | peak GiB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for case in CASES:
        if given.names and case.name not in given.names:
            continue
        with tempfile.TemporaryDirectory() as place:
            source = Path(place) / f"table{case.suffix}"
            apart(make, case, original, source)
            options = list(ladders(folder, given.table, original.columns))
            print(run(case, source, options if case.hierarchies else []), flush=True)


if __name__ == "__main__":
    main()
