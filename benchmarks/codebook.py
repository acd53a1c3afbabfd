"""What a release by patterns costs: patterns of one half of a table, made for the other half.

Stars are counted over the rows that the coins took, a row left out as all stars.

    python benchmarks/codebook.py DATA      # DATA holds adult.csv
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.codebooks import Patterns, codebook, made_of, patterns_for
from incrowd.tables.files import open_table


def halves(path: Path, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the table's two halves, by a seeded shuffle."""
    table = pl.read_csv(path, separator=";", infer_schema=False)
    table = table.sample(fraction=1, shuffle=True, seed=seed)
    return table[: table.height // 2], table[table.height // 2 :]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=11)
    asked = parser.parse_args()
    target, others = halves(asked.data / "adult.csv", asked.seed)
    print("| k | sample | δ at ε = 1 | patterns of | number | stars | rows left out |")
    print("|---|---|---|---|---|---|---|")
    for k, sample in ((10, 0.5), (20, 0.5), (50, 0.5), (20, 0.1)):
        report(target, patterns_for(others, k, sample).patterns, k, sample, "chosen")
        for factor in (1, 2, 3):
            size = round(k * factor / sample)
            release = ic.anonymize(others, size).data
            patterns = made_of(open_table(release), target.columns)
            report(target, patterns, k, sample, f"a release, k = {size}")


def report(target: pl.DataFrame, patterns: Patterns, k: int, sample: float, name: str) -> None:
    """Print a line: mean of five samples."""
    runs = [codebook(target, patterns, k, sample) for _ in range(5)]
    width = target.width
    stars = np.mean([(r.stars + width * (r.taken - r.rows)) / (width * r.taken) for r in runs])
    lost = np.mean([1 - r.rows / r.taken for r in runs])
    first = [k, sample, f"{runs[0].delta:.1e}", name, f"{len(patterns.cells):,}"]
    print("|", *(f"{x} |" for x in (*first, f"{stars:.1%}", f"{lost:.1%}")), flush=True)


if __name__ == "__main__":
    main()
