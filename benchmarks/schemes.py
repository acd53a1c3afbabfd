"""What the best full-domain scheme leaves of a sampled table, beside patterns of the same ε and δ.

SafePub (Bild, Kuhn, Prasser 2018), which ARX offers, takes each row with probability 1 − e^−ε,
finds one level for each column, generalizes all rows to these levels, and leaves out rows fewer
than k of which are alike; k follows from ε and δ by the bound of Li, Qardaji and Su (2012).  The
search spends a part of ε.  Here every scheme is tried and the best one taken, for nothing: SafePub
can do no better than this with the same levels, but for the luck of its coins.

A cell costs the share of its hierarchy's height, so a star 1; a row left out costs as all stars.
Costs are over the rows that the coins took.

    python benchmarks/schemes.py DATA      # DATA holds adult.csv, hierarchies/adult_hierarchy_*.csv
"""

import argparse
import csv
from itertools import product
from math import ceil, exp, floor, log
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import binom

from codebook import halves
from incrowd.codebooks import codebook, delta_of, patterns_for

Levels = dict[str, dict[str, list[str]]]
"""Column → value → its labels, from the value itself to the star."""


def levels_of(table: pl.DataFrame, folder: Path | None) -> Levels:
    """Read the hierarchies; without a folder a cell is itself or a star."""
    found: Levels = {}
    for name in table.columns:
        values = table[name].unique().to_list()
        found[name] = {value: [value, "*"] for value in values}
        if folder is not None:
            with (folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8") as file:
                rows = list(csv.reader(file, delimiter=";"))
            found[name] = {row[0]: row for row in rows}
    return found


def least_k(epsilon: float, sample: float, delta: float) -> int:
    """Return the least k whose δ is at most ``delta`` by the bound of Li et al."""
    gamma = (exp(epsilon) - 1 + sample) / exp(epsilon)
    power = gamma * log(gamma / sample) - (gamma - sample)
    k = 1
    while True:
        n, worst = ceil(k / gamma - 1), 0.0
        while exp(-n * power) >= worst:
            worst = max(worst, float(binom.sf(floor(n * gamma), n, sample)))
            n += 1
        if worst <= delta:
            return k
        k += 1


def best_scheme(table: pl.DataFrame, levels: Levels, k: int) -> tuple[float, tuple[int, ...]]:
    """Return the least cost of any scheme on a table of sampled rows, and its levels."""
    codes, heights = [], []
    for name in table.columns:
        rows = [levels[name][value] for value in table[name]]
        heights.append(len(rows[0]) - 1)
        codes.append(
            [np.unique(list(at), return_inverse=True)[1] for at in zip(*rows, strict=True)]
        )
    best = (1.0, tuple(heights))
    for scheme in product(*(range(height + 1) for height in heights)):
        shown = float(np.mean([a / b for a, b in zip(scheme, heights, strict=True)]))
        if shown >= best[0]:
            continue
        key = np.zeros(table.height, np.int64)
        for column, level in zip(codes, scheme, strict=True):
            key = key * (int(column[level].max()) + 1) + column[level]
        _, place, count = np.unique(key, return_inverse=True, return_counts=True)
        kept = float((count[place.ravel()] >= k).mean())
        best = min(best, (kept * shown + 1 - kept, scheme))
    return best


def by_patterns(
    target: pl.DataFrame, others: pl.DataFrame, levels: Levels, k: int, folder: Path | None
) -> float:
    """Return the mean cost of five releases by patterns of other people, half of the rows taken."""
    rules = {}
    if folder is not None:
        rules = {name: str(folder / f"adult_hierarchy_{name}.csv") for name in target.columns}
    patterns = patterns_for(others, k, 0.5, hierarchies=rules).patterns
    costs = []
    for _ in range(5):
        found = codebook(target, patterns, k, 0.5, hierarchies=rules)
        paid = float(found.taken - found.rows)
        for name in target.columns:
            share = {
                label: at / (len(row) - 1)
                for row in levels[name].values()
                for at, label in reversed(list(enumerate(row)))
            }
            paid += sum(share[label] for label in found.texts[name]) / target.width
        costs.append(paid / found.taken)
    return float(np.mean(costs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--epsilon", type=float, default=1.0)
    asked = parser.parse_args()
    target, others = halves(asked.data / "adult.csv", asked.seed)
    rng = np.random.default_rng(asked.seed)
    sample = 1 - exp(-asked.epsilon)
    taken = target.filter(pl.Series(rng.random(target.height) < sample))
    print("| hierarchies | δ | k, sample of SafePub | best scheme | k of patterns | patterns |")
    print("|---|---|---|---|---|---|")
    for folder in (None, asked.data / "hierarchies"):
        levels = levels_of(target, folder)
        for k in (20, 50):
            delta = float(delta_of(k, "0.5", asked.epsilon))
            theirs = least_k(asked.epsilon, sample, delta)
            cost, scheme = best_scheme(taken, levels, theirs)
            mine = by_patterns(target, others, levels, k, folder)
            name = "files" if folder else "none"
            print(f"| {name} | {delta:.1e} | {theirs}, {sample:.3f} | {cost:.1%} {scheme} "
                  f"| {k} | {mine:.1%} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
