"""CPU seconds and memory of the independent checker on whole proof files.

    python benchmarks/checker.py                 all rows of the table
    python benchmarks/checker.py adult:level:5   one of them: table, cost (stars, level, ncp), k

Tables and hierarchies: ``../shared/data`` beside the repository (``INCROWD_DATA`` to change it).
``million`` is adult resampled to 1,000,000 rows, each cell replaced with probability 0.1 by a
draw from its column (seed 0).  The release is a plain one (rows sorted, cut into runs of k): the
checker's time depends on the table and the prices, which are the price bound's own.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.support import support_prices
from incrowd.checker.recheck import recheck
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.file import HierarchyFile
from incrowd.policy.roles import Roles
from incrowd.problem.instance import from_codes
from incrowd.problem.solution import Solution
from incrowd.proof.writing import Evidence, write_proof
from incrowd.published.ladders import ladders_of

ROOT = Path(os.environ.get("INCROWD_DATA", Path(__file__).parents[2] / "shared" / "data"))
CASES = [
    *(f"adult:stars:{k}" for k in (2, 5, 25)),
    *(f"cup:stars:{k}" for k in (3, 10)),
    *(f"adult:{cost}:{k}" for cost in ("level", "ncp") for k in (2, 5, 25)),
    *(f"cup:{cost}:{k}" for cost in ("level", "ncp") for k in (2, 5, 25)),
    "million:stars:5",
]
CHECK = """
import json, resource, sys
from incrowd.checker.verify import check
verdict = check(*sys.argv[1:])
use = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([verdict.accepted, verdict.reason, verdict.facts.get("bound"),
                  use.ru_utime + use.ru_stime, use.ru_maxrss // 1024]))
"""


def read(name: str) -> pl.DataFrame:
    """Return a table, every column as text."""
    source = "adult" if name == "million" else name
    table = pl.read_csv(ROOT / f"{source}.csv", separator=";", infer_schema=False)
    if name != "million":
        return table
    rng, n = np.random.default_rng(0), 1_000_000
    table = table[rng.integers(0, table.height, n)]
    for column in table.columns:
        drawn = table[column].gather(rng.integers(0, n, n))
        noise = pl.Series(rng.random(n) < 0.1)
        table = table.with_columns(drawn.zip_with(noise, table[column]).alias(column))
    return table


def write(case: str, folder: Path) -> tuple[list[str], dict[str, float]]:
    """Write release, original and proof; return their paths and some figures."""
    name, cost, k = case.split(":")
    table, size = read(name), int(k)
    sources = {}
    if cost != "stars":
        prefix = ROOT / "hierarchies" / f"{name}_hierarchy_"
        sources = {c: HierarchyFile(Path(f"{prefix}{c}.csv")) for c in table.columns}
    values = {c: table[c].unique().to_list() for c in table.columns}
    trees, scale = build_trees(values, sources, cost)
    place = [{leaf: code for code, leaf in enumerate(tree.leaves)} for tree in trees]
    codes = [
        table[t.column].replace_strict(p, return_dtype=pl.Int32)
        for t, p in zip(trees, place, strict=True)
    ]
    codes = np.column_stack([c.to_numpy() for c in codes])
    instance, copy = from_codes(codes, trees, scale=scale)
    started = time.process_time()
    tree = PrefixTree(instance)
    start, _ = support_prices(tree, size)
    bound = PriceBound() if name != "million" else PriceBound(rounds=3, iterations=30)
    prices = certify(tree, size, bound.ascend(tree, size, start.astype(np.float64)))
    pricing = time.process_time() - started
    rows = instance.rows
    solution = Solution.of(instance, np.minimum(np.arange(rows) // size, rows // size - 1))
    class_of_row = solution.classes[copy]
    released = {}
    for j, t in enumerate(trees):
        labels = np.array([*(label for row in t.labels for label in row)], dtype=object)
        offset = np.cumsum([0] + [len(row) for row in t.labels])
        level = solution.levels[class_of_row, j]
        ids = offset[level] + t.node[level, codes[:, j]]
        released[t.column] = pl.Series(labels.tolist()).gather(ids)
    order = np.random.default_rng(1).permutation(rows)
    release = pl.DataFrame(released)[order]
    paths = [folder / "release.csv", folder / "original.csv", folder / "out.proof"]
    release.write_csv(paths[0], separator=";")
    table.write_csv(paths[1], separator=";")
    ladders = ladders_of(trees)
    classes = recheck(table, release, ladders, size, solution.cost, origin=order)
    known = {c: {"origin": Path(s.path).name, "sha256": None} for c, s in sources.items()}
    evidence = Evidence(
        solution=solution, copy_of_row=copy, order=order, classes=classes,
        roles=Roles(tuple(table.columns)), models=[{"model": "k-anonymity", "k": size}],
        prices=prices, price_k=size, csv={"delimiter": ";"}, hierarchies=known,
    )  # fmt: skip
    write_proof(paths[2], evidence, paths[1], paths[0])
    megabytes = paths[2].stat().st_size / 1e6
    return [str(p) for p in paths], {"rows": rows, "pricing": pricing, "proof MB": megabytes}


def main(cases: list[str]) -> None:
    """Print one line of a Markdown table per case."""
    print("| table | cost | k | rows | certified bound | proof, MB | checker, CPU s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            paths, figures = write(case, Path(folder))
            out = subprocess.run(
                [sys.executable, "-c", CHECK, *paths], check=True, capture_output=True, text=True
            )
        accepted, reason, bound, seconds, memory = json.loads(out.stdout)
        if not accepted:
            raise SystemExit(f"{case}: rejected: {reason}")
        name, cost, k = case.split(":")
        print(
            f"| {name} | {cost} | {k} | {figures['rows']:,} | {bound:,} | "
            f"{figures['proof MB']:.1f} | {seconds:.1f} | {memory} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or CASES)
