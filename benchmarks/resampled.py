"""Large tables from a real one: rows drawn with replacement, some cells drawn anew.

    python benchmarks/resampled.py ../shared/data/adult.csv 9_000_000 -o big.parquet

Each row is one of the original's, drawn uniformly; then each cell is replaced, with the probability
of the noise, by a draw from its own column.  The noise makes new combinations, as more people do.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl


def resampled(table: pl.DataFrame, rows: int, noise: float = 0.1, seed: int = 0) -> pl.DataFrame:
    """Return ``rows`` rows like those of ``table``; the same for the same seed."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(table.height, size=rows)
    columns = {}
    for name in table.columns:
        index = drawn.copy()
        hit = rng.random(rows) < noise
        index[hit] = rng.integers(table.height, size=int(hit.sum()))
        columns[name] = table[name].gather(index)
    return pl.DataFrame(columns)


def widened(table: pl.DataFrame, columns: int, noise: float = 0.02, seed: int = 0) -> pl.DataFrame:
    """Return a table of so many columns: those of ``table`` in turn, some cells drawn anew.

    So the columns go together, as those of a wide table do, and hardly two rows are alike.
    """
    rng = np.random.default_rng([seed, 1])
    wide = {}
    for number in range(columns):
        column = table[table.columns[number % table.width]]
        index = np.arange(table.height)
        hit = rng.random(table.height) < noise
        index[hit] = rng.integers(table.height, size=int(hit.sum()))
        wide[f"{column.name}_{number}"] = column.gather(index)
    return pl.DataFrame(wide)


def coded_column(rows: int, values: int, seed: int = 0) -> pl.Series:
    """Return a column ``code`` of so many values, low ones more frequent than high ones."""
    share = np.random.default_rng([seed, 2]).random(rows) ** 2
    return pl.Series("code", (share * values).astype(np.int64)).cast(pl.String)


def main() -> None:
    """Write one such table as Parquet or CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("rows", type=int)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--columns", type=int, help="as many columns, repeated with noise .02")
    parser.add_argument("--values", type=int, help="a further column of so many values")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--separator", default=";")
    given = parser.parse_args()
    table = pl.read_csv(given.table, separator=given.separator)
    frame = resampled(table, given.rows, given.noise, given.seed)
    if given.columns:
        frame = widened(frame, given.columns, seed=given.seed)
    if given.values:
        frame = frame.with_columns(coded_column(given.rows, given.values, given.seed))
    if given.output.suffix == ".parquet":
        frame.write_parquet(given.output)
    else:
        frame.write_csv(given.output)


if __name__ == "__main__":
    main()
