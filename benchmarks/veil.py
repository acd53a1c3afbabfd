"""What a veil costs on halves of UCI Adult, by method; docs/explanation/veil.md.

    python benchmarks/veil.py DATA [--q 0.05] [--times 6] [--rows N] [--method exact-steps]
                              [--k 2] [--weights 12,4,5,5,5,5,5,4,12]

DATA is a folder with adult.csv.  Prints one line for each release: the half, q, stars, CPU seconds
of the method (kernels on disk), without the bound of the table that ``incrowd`` reports beside;
then, of all descriptions made of the published cells of a class that hides a column of two values
and of one of these values, the share that fits exactly one person of the half, and of the other.
Coins are those of the operating system: figures differ from run to run.
"""

import argparse
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.errors import OutOfScopeError
from incrowd.run.entropy import numbers, shuffled
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.veil.coins import tossed
from incrowd.veil.heaviest import Weights, made_exactly, weighed
from incrowd.veil.lists import Classes, Known, Lawful, Lots, made
from incrowd.veil.matching import bits_of_lots, cheapest


def codes_of(table: pl.DataFrame) -> np.ndarray:
    """Return codes in the order of the texts."""
    columns = [np.unique(table[name].to_numpy(), return_inverse=True)[1] for name in table.columns]
    return np.array(columns).T.astype(np.int64)


def singled_out(classes: Classes, codes: np.ndarray, others: np.ndarray) -> list[float]:
    """Return the share of descriptions that fit one person of the table, and one of the others."""
    first = np.unique(classes.of_row, return_index=True)[1]
    binary = np.flatnonzero(codes.max(axis=0) == 1)
    hits: list[list[np.ndarray]] = [[], []]
    for mask in np.unique(classes.hidden, axis=0):
        columns = [j for j in binary if mask[j]]
        rows = first[(classes.hidden == mask).all(axis=1)]
        if not columns or mask.all():
            continue
        both = np.vstack([codes, others])
        _, key = np.unique(both[:, ~mask], axis=0, return_inverse=True)
        key = key.ravel()
        for part, people in ((0, slice(len(codes))), (1, slice(len(codes), None))):
            for j in columns:
                for value in (0, 1):
                    bears = both[people, j] == value
                    count = np.bincount(key[people][bears], minlength=int(key.max()) + 1)
                    hits[part].append(count[key[rows]] == 1)
    return [float(np.concatenate(one).mean()) if one else 0.0 for one in hits]


def stepwise(
    codes: np.ndarray, veiled: np.ndarray, weights: np.ndarray, lawful: Lawful, k: int
) -> Classes:
    """Return the classes of exact steps; a lot for each code does for one for each text."""
    rows = len(codes)
    drawn = numbers((int(codes.max()) + 1) * codes.shape[1]).reshape(-1, codes.shape[1])
    chance = Weights(weighed(numbers(rows)), np.take_along_axis(drawn, codes, axis=0))
    costs = [np.array([0, weight]) for weight in weights.tolist()]
    nobody = Lots(np.zeros(rows, bool), shuffled(rows))
    found = made_exactly(Known.plain(codes, veiled), costs, lawful, nobody, k, chance, Stop())
    return Classes(found.of_row, found.levels > 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--q", type=Fraction, default=Fraction("0.05"))
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--k", type=int, default=2)
    parser.add_argument("--method", default="simplex-matching")
    parser.add_argument("--weights", default="1,1,1,1,1,1,1,1,1")
    asked = parser.parse_args()

    def enough(rows: np.ndarray, group: np.ndarray) -> np.ndarray:
        return np.bincount(group) >= asked.k

    table = pl.read_csv(asked.data / "adult.csv", separator=";", infer_schema=False)
    shares = []
    for turn in range(asked.times):
        mixed = table.sample(fraction=1, shuffle=True, seed=11 + turn // 2)
        half = mixed.height // 2
        everybody = codes_of(mixed)
        parts = everybody[:half], everybody[half:]
        codes, others = parts[turn % 2][: asked.rows], parts[1 - turn % 2]
        veiled = tossed(len(codes), [asked.q] * codes.shape[1])
        aside = shuffled(len(codes))
        veiled[aside[: asked.k]] = True
        weights = np.array(asked.weights.split(","), np.int64)
        most = np.uint64((1 << bits_of_lots(*codes.shape)) - 1)
        lots = (numbers(codes.size) & most).astype(np.int64).reshape(codes.shape)
        started = time.process_time()
        try:
            if asked.method == "simplex-matching":
                classes = cheapest(codes, veiled, weights, lots, Context())
            elif asked.method == "exact-steps":
                classes = stepwise(codes, veiled, weights, enough, asked.k)
            else:
                nobody = Lots(np.zeros(len(codes), bool), shuffled(len(codes)))
                classes = made(codes, veiled, weights, enough, nobody, asked.k)
        except OutOfScopeError as error:
            print(f"| {turn} | {float(asked.q)} | {error} |", flush=True)
            continue
        spent = time.process_time() - started
        stars = classes.hidden[classes.of_row].mean()
        shares.append(stars)
        mine, theirs = singled_out(classes, codes, others)
        found = f"{stars:.2%} | {spent:.1f} | {mine:.1%} | {theirs:.1%}"
        print(f"| {turn} | {float(asked.q)} | {found} |", flush=True)
    if shares:
        print(f"mean of {len(shares)}: {np.mean(shares):.2%}")


if __name__ == "__main__":
    main()
