"""How fast ``incrowd measure`` is, on a table made from a seed.

    python benchmarks/measure.py [--rows 1000000] [--spread 8] [--subsets 0] [--seed 0]

Writes a CSV of eight quasi-identifiers and one sensitive attribute to a temporary folder and
measures it in a process of its own; prints CPU seconds and peak memory as a line of Markdown.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

SIZES = (2, 90, 5, 7, 16, 40, 7, 60)
"""Distinct values of the quasi-identifiers, about those of a census extract."""


def table(rows: int, spread: float, seed: int) -> pl.DataFrame:
    """Return a table whose values are as uneven as ``spread`` says: larger, more classes."""
    rng = np.random.default_rng(seed)
    columns = {}
    for j, size in enumerate(SIZES):
        share = np.exp(-np.arange(size) / max(size * spread / 20, 0.3))
        codes = rng.choice(size, rows, p=share / share.sum())
        columns[f"q{j}"] = pl.Series(codes).cast(pl.String) + "-value"
    share = 1 / np.arange(1, 15)
    columns["s"] = pl.Series(rng.choice(14, rows, p=share / share.sum())).cast(pl.String)
    return pl.DataFrame(columns)


def main() -> None:
    """Make the table, measure it, print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--spread", type=float, default=2.0)
    parser.add_argument("--subsets", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        made = table(given.rows, given.spread, given.seed)
        made.write_csv(path)
        classes = made.select([f"q{j}" for j in range(len(SIZES))]).n_unique()
        command = [sys.executable, "-m", "incrowd", "measure", str(path)]
        command += ["--sensitive", "s", "--subsets", str(given.subsets), "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"| {given.rows:,} | {classes:,} | {given.subsets} | {used.ru_utime + used.ru_stime:.1f} "
        f"| {used.ru_maxrss / 2**20:.2f} |"
    )


if __name__ == "__main__":
    main()
