"""Proven optima for k = 2 and for 2-diversity, with an independent check of each certificate.

    python benchmarks/two_anonymity.py DATA [CASE ...]

DATA is a folder with adult.csv, cup.csv and hierarchies/.  Each case runs in a process of its own
and prints one line of the table in two_anonymity.md.

The check shares no code with the solver.  It takes the release (a class for each copy) and the
certificate (an integer price for each copy, odd sets of copies with integer weights) and tries all
pairs of copies, and all triples that hold a pair whose prices with all their weights exceed its
cost; a triple without such a pair cannot break the inequality (explanation, Lemma 4).
"""

import csv
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.file import HierarchyFile
from incrowd.problem.instance import Instance, from_codes
from incrowd.solvers.base import Context
from incrowd.solvers.matching.nodes import Nodes
from incrowd.solvers.matching.pipeline import Matching, match
from incrowd.solvers.matching.reduction import any_groups, two_anonymous, two_diverse


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    file: str
    optimum: int
    seconds: int
    columns: int = 99
    sensitive: str | None = None
    hierarchies: bool = False


CASES = {
    "adult 9": Case("adult.csv", 19_201, 40),
    "adult 8": Case("adult.csv", 17_032, 40, columns=8),
    "cup": Case("cup.csv", 177_794, 200),
    "adult 9, hierarchies": Case("adult.csv", 127_395, 150, hierarchies=True),
    "adult, 2-diversity": Case("adult.csv", 13_041, 200, sensitive="occupation"),
}


def instance_of(case: Case, data: Path) -> Instance:
    """Read the table and its hierarchies."""
    with (data / case.file).open(encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter=";")
    values = {name: [row[j] for row in rows] for j, name in enumerate(header[: case.columns])}
    hidden = values.pop(case.sensitive) if case.sensitive else None
    sources = None
    if case.hierarchies:
        stem = case.file.removesuffix(".csv")
        folder = data / "hierarchies"
        sources = {n: HierarchyFile(folder / f"{stem}_hierarchy_{n}.csv") for n in values}
    trees, scale = build_trees({n: sorted(set(v)) for n, v in values.items()}, sources)
    codes = []
    for tree, column in zip(trees, values.values(), strict=True):
        code = {leaf: i for i, leaf in enumerate(tree.leaves)}
        codes.append([code[value] for value in column])
    sensitive = None if hidden is None else np.unique(hidden, return_inverse=True)[1]
    return from_codes(np.array(codes).T, trees, sensitive, scale)[0]


@njit(cache=True)
def join(codes, node, cost, start, width, rows):  # type: ignore[no-untyped-def]
    """Cost per row of the join of some copies."""
    total = 0
    for j in range(codes.shape[1]):
        place = start[j]
        while True:
            first = node[place + codes[rows[0], j]]
            same = True
            for r in rows[1:]:
                same = same and node[place + codes[r, j]] == first
            if same:
                break
            place += width[j]
        total += cost[place + codes[rows[0], j]]
    return total


@njit(cache=True)
def worst(codes, node, cost, start, width, color, price, unit, held, weight):  # type: ignore[no-untyped-def]
    """The least 'cost − prices − odd weights' over all lawful classes of 2 and 3 copies.

    ``held``: bool (copies, odd sets).  Copies come in falling order of price + all their weights.
    """
    n = codes.shape[0]
    sets = held.shape[1]
    hat = price.copy()
    for u in range(n):
        for q in range(sets):
            if held[u, q]:
                hat[u] += weight[q]
    two, three = np.empty(2, np.int64), np.empty(3, np.int64)
    least = 0
    for u in range(n):
        for v in range(u + 1, n):
            if hat[u] + hat[v] <= 0:
                break
            if color[u] >= 0 and color[u] == color[v]:
                continue
            two[0], two[1] = u, v
            paid = 2 * unit * join(codes, node, cost, start, width, two)
            if paid >= hat[u] + hat[v]:
                continue
            slack = paid - price[u] - price[v]
            for q in range(sets):
                if held[u, q] != held[v, q]:
                    slack -= weight[q]
            least = min(least, slack)
            for w in range(n):
                if hat[u] + hat[v] + hat[w] <= paid + paid // 2:
                    break
                if w in (u, v) or (color[u] >= 0 and (color[w] in (color[u], color[v]))):
                    continue
                three[0], three[1], three[2] = u, v, w
                paid3 = 3 * unit * join(codes, node, cost, start, width, three)
                if paid3 >= hat[u] + hat[v] + hat[w]:
                    continue
                slack = paid3 - price[u] - price[v] - price[w]
                for q in range(sets):
                    if (held[u, q] != held[v, q]) != held[w, q]:
                        slack -= weight[q]
                least = min(least, slack)
    return least


def check(nodes: Nodes, matching: Matching, color: NDArray[np.int64]) -> tuple[int, int]:
    """Return the release's cost and the certified bound, recomputed from scratch."""
    instance, certificate = nodes.instance, matching.certificate
    solution = nodes.solution(matching.groups)
    tables = instance.tables
    copies = np.ascontiguousarray(instance.codes[instance.copies])
    trees = (tables.node, tables.cost, tables.start, tables.width)
    cost = 0
    order = np.argsort(solution.classes, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(solution.classes))[:-1]):
        values = color[rows]
        assert len(rows) >= 2
        assert values[0] < 0 or 2 * np.bincount(values).max() <= len(rows)
        cost += len(rows) * join(copies, *trees, rows.astype(np.int64))
    price = np.zeros(instance.rows, np.int64)
    price[nodes.copy] = certificate.price
    held = np.zeros((instance.rows, len(certificate.odd_sets)), bool)
    for q, odd_set in enumerate(certificate.odd_sets):
        assert len(odd_set) % 2 == 1
        assert len(np.unique(odd_set)) == len(odd_set)
        held[nodes.copy[odd_set], q] = True
    weight = certificate.weight
    assert (weight >= 0).all()
    falling = np.argsort(-(price + held @ weight), kind="stable")
    slack = worst(
        copies[falling], *trees, color[falling], price[falling], certificate.unit, held[falling],
        weight,
    )  # fmt: skip
    assert slack >= 0, "the certificate breaks the inequality"
    return cost, -(-(int(price.sum()) + int(weight.sum())) // certificate.unit)


def run(name: str, data: Path) -> None:
    """Solve one case, check it, print its line."""
    case = CASES[name]
    instance = instance_of(case, data)
    started = time.process_time()
    if case.sensitive:
        nodes = two_diverse(instance, 0)
        color = instance.sensitive_codes[instance.copies, 0].astype(np.int64)
    else:
        nodes = two_anonymous(instance, 0)
        color = np.full(instance.rows, -1)
    matching = match(nodes, any_groups(nodes), Context())
    spent = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    started = time.process_time()
    cost, bound = check(nodes, matching, color)
    checked = time.process_time() - started
    mark = "✓" if cost == bound == case.optimum and spent <= case.seconds else "✗"
    certificate = matching.certificate
    print(
        f"| {name} | {nodes.size:,} | {cost:,} | {bound:,} | {len(certificate.odd_sets)} "
        f"| {spent:.1f} | {case.seconds} | {memory:.2f} | {checked:.1f} | {mark} |",
        flush=True,
    )


def main() -> None:
    """Run the cases named, or all, each in its own process."""
    data, names = Path(sys.argv[1]), sys.argv[2:] or list(CASES)
    if len(names) == 1:
        run(names[0], data)
        return
    print(
        "| table | nodes | cost | certified bound | odd sets | CPU s | at most | GB | check CPU s "
        "| |\n|---|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    for name in names:
        subprocess.run([sys.executable, __file__, str(data), name], check=True)


if __name__ == "__main__":
    main()
