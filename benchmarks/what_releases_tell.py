"""Three questions about attacks and defences, on UCI Adult; docs/explanation has what came out.

    python benchmarks/what_releases_tell.py joint|temperature|secrets DATA      # DATA: adult.csv

joint        are all hidden cells of a class together easier to guess than one by one?
temperature  does a release drawn by lot, not minimised, give away less by its cheapest classes?
secrets      do coins that hide sensitive values help against de Finetti?
"""

import argparse
from pathlib import Path

import numba
import numpy as np
import polars as pl

import incrowd as ic
from incrowd.attacks.definetti import dealt
from incrowd.attacks.scene import People, Scene, Secret, Seen
from incrowd.hierarchy.tree import Tree

STAR = "*"


def coded(*frames: pl.DataFrame) -> tuple[list[np.ndarray], list[int]]:
    """Return the frames in common codes, −1 for a star, and the number of values by column."""
    found = [np.empty(frame.shape, np.int64) for frame in frames]
    sizes = []
    for j, name in enumerate(frames[0].columns):
        values = sorted(set().union(*(frame[name].to_list() for frame in frames)) - {STAR})
        place = {value: i for i, value in enumerate(values)} | {STAR: -1}
        for codes, frame in zip(found, frames, strict=True):
            codes[:, j] = [place[value] for value in frame[name].to_list()]
        sizes.append(len(values))
    return found, sizes


# -- joint: a mixture of independent columns, learnt from the other half


class Mixture:
    """P(row) = Σ_z w_z Π_c p_zc(row_c), by expectation and maximisation."""

    def __init__(self, codes: np.ndarray, sizes: list[int], parts: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        shares = rng.dirichlet(np.ones(parts), len(codes))
        for _ in range(60):
            self.weight = (shares.sum(axis=0) + 1) / (len(codes) + parts)
            self.tables = []
            for j, size in enumerate(sizes):
                table = np.full((parts, size), 0.1)
                for z in range(parts):
                    table[z] += np.bincount(codes[:, j], shares[:, z], size)
                self.tables.append(table / table.sum(axis=1, keepdims=True))
            shares = self.parts_of(codes)

    def parts_of(self, codes: np.ndarray) -> np.ndarray:
        """float, shape (rows, parts): which part each row is of; −1 cells say nothing."""
        logs = np.tile(np.log(self.weight), (len(codes), 1))
        for j, table in enumerate(self.tables):
            known = codes[:, j] >= 0
            logs[known] += np.log(table[:, codes[known, j]]).T
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)


def joint(target: pl.DataFrame, others: pl.DataFrame, seed: int) -> None:
    """Print bits and right guesses by hidden cell, one by one and jointly."""
    print("| k | cells | | right | bits of the truth |\n|---|---|---|---|---|")
    for k in (2, 3, 5):
        release = ic.anonymize(target, k).data
        (truth, shown, own), sizes = coded(target, release, others)
        model = Mixture(own, sizes, 40, seed)
        rng = np.random.default_rng(seed)
        _, member = np.unique(shown, axis=0, return_inverse=True)
        order = np.argsort(member.ravel(), kind="stable")
        classes = np.split(order, np.cumsum(np.bincount(member.ravel()))[:-1])
        some = [rows for rows in classes if k <= len(rows) < 2 * k and (shown[rows] < 0).any()]
        some = [some[i] for i in rng.permutation(len(some))[:500]]
        names = ("one by one", "with what a column hides", "all jointly, MCMC")
        scores: dict[str, list[tuple[float, bool]]] = {name: [] for name in names}
        for rows in some:
            for name, found in zip(names, guesses(model, shown[rows], rng), strict=True):
                for (i, c), chances in found.items():
                    right = truth[rows[i], c]
                    bits = -np.log2(max(chances[right], 1e-6))
                    scores[name].append((bits, chances.argmax() == right))
        for name, told in scores.items():
            bits, hits = np.array(told).T
            print(
                f"| {k} | {len(told):,} | {name} | {hits.mean():.1%} | {bits.mean():.3f} |",
                flush=True,
            )


def guesses(model: Mixture, shown: np.ndarray, rng: np.random.Generator, rounds: int = 300):
    """Return three ways to guess the hidden cells of a class: (row, column) → chances."""
    share = model.parts_of(shown[:1])[0]  # all rows of a class show the same
    columns = np.flatnonzero(shown[0] < 0)
    size = len(shown)
    plain, held = {}, {}
    for c in columns:
        p = share @ model.tables[c]
        differ = p * (1 - p ** (size - 1))  # hidden, so not all the same
        for i in range(size):
            plain[i, c], held[i, c] = p, differ / differ.sum()
    # Gibbs: parts and cells of each row in turn, every hidden column holding two values or more
    values = np.empty((size, len(columns)), np.int64)
    for b, c in enumerate(columns):
        values[:, b] = rng.choice(len(plain[0, c]), size, p=plain[0, c])
        if len(set(values[:, b])) == 1:
            values[0, b] = (values[0, b] + 1) % len(plain[0, c])
    part = np.zeros(size, np.int64)
    counts = {cell: np.full(len(p), 1e-3) for cell, p in plain.items()}
    for step in range(rounds):
        for i in range(size):
            logs = np.log(share + 1e-300)
            for b, c in enumerate(columns):
                logs = logs + np.log(model.tables[c][:, values[i, b]])
            parts = np.exp(logs - logs.max())
            part[i] = z = rng.choice(len(parts), p=parts / parts.sum())
            for b, c in enumerate(columns):
                p = model.tables[c][z].copy()
                others = np.delete(values[:, b], i)
                if len(set(others)) == 1:
                    p[others[0]] = 0
                p /= p.sum()
                values[i, b] = rng.choice(len(p), p=p)
                if step >= rounds // 5:
                    counts[i, c] += p
        for b, c in enumerate(columns):  # two rows change places: alone neither could in a pair
            i, j = rng.permutation(size)[:2]
            one, two = values[i, b], values[j, b]
            table = model.tables[c]
            odds = table[part[i], two] * table[part[j], one]
            if rng.random() * table[part[i], one] * table[part[j], two] < odds:
                values[i, b], values[j, b] = two, one
            if step >= rounds // 5:
                for row in (i, j):
                    counts[row, c][values[row, b]] += 1
    jointly = {cell: found / found.sum() for cell, found in counts.items()}
    return plain, held, jointly


# -- temperature


@numba.njit(cache=False)
def walk(codes, of_row, sizes, k, heat, steps, rng):  # pragma: no cover
    """Move and swap rows between classes, a dearer release with probability exp(−more/heat)."""
    rows, columns = codes.shape
    member = np.full((len(sizes), 4 * k), -1)
    fill = np.zeros(len(sizes), np.int64)
    for i in range(rows):
        member[of_row[i], fill[of_row[i]]] = i
        fill[of_row[i]] += 1
    for _ in range(steps):
        i, j = int(rng.random() * rows), int(rng.random() * rows)
        a, b = of_row[i], of_row[j]
        if a == b:
            continue
        swap = rng.random() < 0.5
        if not swap and (fill[a] <= k or fill[b] >= 2 * k - 1):
            continue
        before = after = 0
        for c in range(columns):
            for side in range(2):
                own, leaves, comes = (a, i, j) if side == 0 else (b, j, i)
                first, mixed = codes[member[own, 0], c], False
                start, other = -1, False
                for s in range(fill[own]):
                    x = codes[member[own, s], c]
                    mixed = mixed or x != first
                    if member[own, s] == leaves and (swap or side == 0):
                        continue
                    other = other or (start >= 0 and x != start)
                    start = x
                if swap or side == 1:
                    other = other or (start >= 0 and codes[comes, c] != start)
                held = fill[own] + (0 if swap else (-1 if side == 0 else 1))
                before += fill[own] if mixed else 0
                after += held if other else 0
        if after > before and rng.random() >= np.exp((before - after) / heat):
            continue
        for s in range(fill[a]):
            if member[a, s] == i:
                at = s
        if swap:  # places do not matter: classes are sets
            for s in range(fill[b]):
                if member[b, s] == j:
                    member[b, s] = i
            member[a, at] = j
            of_row[j] = a
        else:
            fill[a] -= 1
            member[a, at] = member[a, fill[a]]
            member[b, fill[b]] = i
            fill[b] += 1
        of_row[i] = b


def told_by_cheapest(codes: np.ndarray, of_row: np.ndarray) -> tuple[float, float, float]:
    """Return the share of stars, and how often a row by lot of the cheapest classes that fit is
    the person's, and of all that fit."""
    classes = of_row.max() + 1
    low = np.full((classes, codes.shape[1]), 10**9)
    high = np.full_like(low, -1)
    np.minimum.at(low, of_row, codes)
    np.maximum.at(high, of_row, codes)
    hidden = low != high
    stars = int(hidden[of_row].sum())
    shown, merged = np.unique(np.where(hidden, -1, low), axis=0, return_inverse=True)
    of_row = merged.ravel()[of_row]
    sizes = np.bincount(of_row)
    cost = (shown < 0).sum(axis=1)
    cheapest = anything = 0.0
    for i, row in enumerate(codes):
        fits = np.flatnonzero(((shown == row) | (shown < 0)).all(axis=1))
        best = fits[cost[fits] == cost[fits].min()]
        cheapest += (of_row[i] in best) / sizes[best].sum()
        anything += 1 / sizes[fits].sum()
    return stars / codes.size, cheapest / len(codes), anything / len(codes)


def temperature(target: pl.DataFrame, seed: int, rows: int = 4000) -> None:
    """Print links against stars: by temperature at k = 5, and by a larger k."""
    target = target[:rows]
    (codes,), _ = coded(target)
    print("| | stars | links, cheapest class | links, any class |\n|---|---|---|---|")
    start = None
    for k in (5, 6, 7, 8, 10, 12, 20, 40, 80):
        release = ic.anonymize(target, k)
        of_row = release.class_of_row.astype(np.int64)
        start = of_row if start is None else start
        stars, cheap, any_ = told_by_cheapest(codes, of_row)
        print(f"| minimised, k = {k} | {stars:.1%} | {cheap:.2%} | {any_:.2%} |", flush=True)
    assert start is not None
    rng = np.random.default_rng(seed)
    for heat in (0.5, 0.7, 0.9, 1.1, 1.3):
        of_row = split(start, 5)
        walk(codes, of_row, np.bincount(of_row), 5, heat, 60_000_000, rng)
        stars, cheap, any_ = told_by_cheapest(codes, of_row)
        print(f"| k = 5, temperature {heat} | {stars:.1%} | {cheap:.2%} | {any_:.2%} |", flush=True)


def split(of_row: np.ndarray, k: int) -> np.ndarray:
    """Split classes of 2k rows and more, which costs nothing, so that each can take part."""
    found, number = np.empty_like(of_row), 0
    for c in range(of_row.max() + 1):
        rows = np.flatnonzero(of_row == c)
        parts = max(1, len(rows) // k)
        for piece in np.array_split(rows, parts):
            found[piece], number = number, number + 1
    return found


# -- secrets


def secrets(table: pl.DataFrame, seed: int, column: str = "occupation") -> None:
    """Print what de Finetti guesses when coins hide sensitive values beforehand."""
    rng = np.random.default_rng(seed)
    print("| q | model | values hidden | right | of hidden ones | sure | of these right |")
    print("|---|---|---|---|---|---|---|")
    for l in (None, 3):  # noqa: E741 (the field's own letter)
        for q in (0, 0.1, 0.3, 0.5, 0.8):
            veiled = rng.random(table.height) < q
            cells = [None if hide else x for hide, x in zip(veiled, table[column], strict=True)]
            seen = table.with_columns(pl.Series(column, cells, dtype=pl.String))
            more = {} if l is None else {"l": l, "l_kind": "frequency"}
            if l is not None:  # a hidden value is one of fifty, so that classes of them are lawful
                marked = [x if x is not None else f"?{i % 50}" for i, x in enumerate(cells)]
                table_ = table.with_columns(pl.Series(column, marked))
            else:
                table_ = seen
            release = ic.anonymize(table_, 5, sensitive=column, **more)
            told = guessed(table, cells, release.class_of_row, column)
            name = "5-anonymity" if l is None else "and frequency 3-diversity"
            print(f"| {q} | {name} | {veiled.mean():.0%} |", *(f"{x} |" for x in told), flush=True)


def guessed(table, cells, of_row, column) -> list[str]:
    """De Finetti: hidden values stand in each class's bag as an equal share of every value."""
    qi = [name for name in table.columns if name != column]
    (codes,), _ = coded(table.select(qi))
    values = sorted(set(table[column]))
    secret = np.array([values.index(x) for x in table[column]])
    shown = np.array([-1 if x is None else values.index(x) for x in cells])
    classes = int(of_row.max()) + 1
    counts = np.zeros((classes, len(values)))
    np.add.at(counts, (of_row[shown >= 0], shown[shown >= 0]), 1)
    prior = np.bincount(shown[shown >= 0], minlength=len(values)) / max(1, (shown >= 0).sum())
    counts += np.bincount(of_row[shown < 0], minlength=classes)[:, None] * prior
    trees = tuple(
        Tree.suppression(name, tuple(map(str, range(codes[:, j].max() + 1))))
        for j, name in enumerate(qi)
    )
    none = np.zeros((classes, len(qi)), np.int64)
    seen = Seen(
        trees=trees, levels=none, nodes=none, sizes=np.bincount(of_row),
        secrets=(Secret(column=column, values=tuple(values), counts=counts),),
    )  # fmt: skip
    people = np.argsort(of_row, kind="stable")
    scene = Scene(seen=seen, members=People(codes=codes, secrets=secret[:, None], place=of_row))
    shares, _ = dealt(scene, 0, people, of_row[people])
    hit, sure = shares.argmax(axis=1) == secret[people], shares.max(axis=1) > 0.9
    hidden = shown[people] < 0
    return [
        f"{hit.mean():.1%}",
        f"{hit[hidden].mean():.1%}" if hidden.any() else "–",
        f"{int(sure.sum()):,}",
        f"{int((hit & sure).sum()):,}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", choices=("joint", "temperature", "secrets"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=11)
    asked = parser.parse_args()
    table = pl.read_csv(asked.data / "adult.csv", separator=";", infer_schema=False)
    table = table.sample(fraction=1, shuffle=True, seed=asked.seed)
    half = table.height // 2
    if asked.question == "joint":
        joint(table[:half], table[half:], asked.seed)
    elif asked.question == "temperature":
        temperature(table, asked.seed)
    else:
        secrets(table[:half], asked.seed)


if __name__ == "__main__":
    main()
