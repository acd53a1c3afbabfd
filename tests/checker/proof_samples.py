"""Small random problems, brute force over their patterns and classes, proofs of them, a forger."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from incrowd.bounds.prices import Prices
from incrowd.checker.ladder import tables, validated
from incrowd.checker.ranges import Windows
from incrowd.checker.recheck import recheck
from incrowd.checker.unchanged import require_unchanged
from incrowd.checker.verify import Verdict, check
from incrowd.hierarchy.tree import Tree
from incrowd.policy.roles import Roles
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.solution import Solution
from incrowd.proof.writing import Evidence, pack, sha256_of, write_proof
from incrowd.published.ladders import ladder_of, ladders_of

NAMES = ("release.csv", "original.parquet", "out.proof")


def judged(before: pl.DataFrame, after: pl.DataFrame, role: str) -> None:
    """Hold a release against its original, row by row, all columns having that role."""
    roles = {"qi": [], "sensitive": [], "keep": []} | {role: after.columns}
    require_unchanged(before, after, np.arange(before.height), roles, False)


@st.composite
def trees(draw: st.DrawFn, column: str) -> Tree:
    """A tree of up to four levels over up to five leaves, one of them missing, padding included."""
    leaves = draw(st.integers(1, 5))
    values: list[str | None] = [f"{column}{v}" for v in range(leaves)]
    if draw(st.booleans()):
        values[-1] = None
    node, labels, costs = [np.arange(leaves)], [tuple(values)], [np.zeros(leaves, np.int64)]
    for level in range(1, draw(st.integers(1, 3))):
        cuts = draw(st.lists(st.booleans(), min_size=leaves, max_size=leaves))
        below = node[-1]
        new = np.array([i == 0 or (below[i] != below[i - 1] and c) for i, c in enumerate(cuts)])
        above = np.cumsum(new) - 1
        names, cost = [], np.zeros(leaves, np.int64)
        for a in range(above[-1] + 1):
            under = np.flatnonzero(above == a)
            single = len(under) == 1 and draw(st.booleans())  # a shallow leaf repeats itself
            alone = single and labels[-1][below[under[0]]] == values[under[0]]
            names.append(values[under[0]] if alone else f"{column}-{level}-{a}")
            rise = 0 if alone else draw(st.integers(0, 3))
            cost[under] = costs[-1][under].max() + rise
        node.append(above)
        labels.append(tuple(names))
        costs.append(cost)
    node.append(np.zeros(leaves, np.int64))
    labels.append(("*",))
    costs.append(np.full(leaves, costs[-1].max() + draw(st.integers(0, 3)), np.int64))
    return Tree(column, tuple(labels), np.array(node, np.int32), np.array(costs))


@st.composite
def problems(draw: st.DrawFn, rows: int = 8) -> tuple[Instance, np.ndarray, np.ndarray, int]:
    """An instance, its rows as leaf codes, the copy of each row, and k = 1..4."""
    some = tuple(draw(trees(f"q{j}")) for j in range(draw(st.integers(1, 3))))
    k = draw(st.integers(1, 4))
    n = draw(st.integers(k, rows))
    cells = [[draw(st.integers(0, len(t.leaves) - 1)) for t in some] for _ in range(n)]
    codes = np.array(cells, np.int32).reshape(n, len(some))
    instance, copy = from_codes(codes, some, scale=draw(st.integers(1, 3)))
    return instance, codes, copy, k


def broken_pattern(codes: np.ndarray, price: Sequence[int], some: Any, k: int, unit: int) -> bool:
    """Whether some pattern breaks the price inequality, straight from the definition."""
    for levels in product(*(range(tree.levels) for tree in some)):
        groups: dict[tuple[int, ...], list[int]] = {}
        cost = {}
        for r, row in enumerate(codes):
            pattern = tuple(int(t.node[lv, c]) for t, lv, c in zip(some, levels, row, strict=True))
            cost[pattern] = sum(t.cost[lv, c] for t, lv, c in zip(some, levels, row, strict=True))
            groups.setdefault(pattern, []).append(price[r])
        for pattern, prices in groups.items():
            if len(prices) >= k and sum(sorted(prices)[-k:]) > k * cost[pattern] * unit:
                return True
    return False


def join_cost(codes: np.ndarray, some: Any) -> int:
    """Cost per row of the join of rows of leaf codes."""
    total = 0
    for j, tree in enumerate(some):
        levels = range(tree.levels)
        level = next(lv for lv in levels if len(set(tree.node[lv][codes[:, j]].tolist())) == 1)
        total += int(tree.cost[level, codes[0, j]])
    return total


def broken_class(
    codes: np.ndarray,
    price: Sequence[int],
    sets: Sequence[tuple[set[int], int, int]],
    some: Any,
    k: int,
    unit: int,
) -> bool:
    """Whether some class of at least k rows breaks the inequality with (set, weight, modulus)."""
    n = len(codes)
    for size in range(k, n + 1):
        for rows in combinations(range(n), size):
            left = sum(price[r] for r in rows)
            left += sum(w * (len(members & set(rows)) % q) for members, w, q in sets)
            if left > size * join_cost(codes[list(rows)], some) * unit:
                return True
    return False


def scaled(trees: Sequence[Any], unit: int) -> list[Any]:
    """Return columns as the price inequality asks for them, costs in units of prices."""
    return [t.times(unit) if isinstance(t, Windows) else (t[0], t[1] * unit) for t in trees]


def coded(some: Sequence[Tree], codes: np.ndarray) -> tuple[list[np.ndarray], list[Any]]:
    """Leaf codes and tables as the checker numbers them."""
    leaves, numbered = [], []
    for j, tree in enumerate(some):
        order, node, cost = tables(validated(ladder_of(tree), tree.column))
        place = {value: code for code, value in enumerate(order.to_list())}
        leaves.append(np.array([place[tree.leaves[c]] for c in codes[:, j]], np.int64))
        numbered.append((node, cost))
    return leaves, numbered


def released(solution: Solution, codes: np.ndarray, copy: np.ndarray) -> pl.DataFrame:
    """The released text of each row."""
    class_of_row = solution.classes[copy]
    columns = {}
    for j, tree in enumerate(solution.instance.trees):
        level = solution.levels[class_of_row, j]
        cells = [
            tree.labels[lv][tree.node[lv, c]] for lv, c in zip(level, codes[:, j], strict=True)
        ]
        columns[tree.column] = pl.Series(cells, dtype=pl.String)
    return pl.DataFrame(columns)


def hierarchies_of(some: Sequence[Tree], folder: Path) -> dict[str, dict[str, str | None]]:
    """Write a hierarchy file for each tree that is higher than suppression."""
    known: dict[str, dict[str, str | None]] = {}
    for tree in some:
        if tree.levels > 2:
            path = folder / f"{tree.column}.csv"
            rungs = zip(tree.labels, tree.node, strict=True)
            paths = zip(*([labels[i] for i in node] for labels, node in rungs), strict=True)
            path.write_text("".join(";".join(p or "" for p in path) + "\n" for path in paths))
            known[tree.column] = {"origin": path.name, "sha256": sha256_of(path)}
    return known


def write_honest(
    folder: Path,
    instance: Instance,
    codes: np.ndarray,
    copy: np.ndarray,
    classes: Any,
    k: int,
    prices: Prices,
    order: np.ndarray | None = None,
) -> tuple[Path, Path, Path]:
    """Write original, release and proof; return release, original, proof."""
    solution = Solution.of(instance, np.asarray(classes))
    names = [[t.leaves[c] for c in codes[:, j]] for j, t in enumerate(instance.trees)]
    columns = [t.column for t in instance.trees]
    original = pl.DataFrame(
        [pl.Series(c, v, dtype=pl.String) for c, v in zip(columns, names, strict=True)]
    )
    extra = pl.Series("note", [f"n{i}" for i in range(len(codes))])
    secret = pl.Series("id", list(range(len(codes))))
    after = released(solution, codes, copy).with_columns(extra)
    take = np.arange(len(codes)) if order is None else order
    ladders = ladders_of(instance.trees)
    after = after[take.tolist()]
    numbered = recheck(original, after, ladders, k, solution.cost, origin=take)
    paths = folder / "release.csv", folder / "original.parquet", folder / "out.proof"
    after.write_csv(paths[0], separator=";")
    original.with_columns(extra, secret).write_parquet(paths[1])
    evidence = Evidence(
        solution=solution, copy_of_row=copy, order=order, classes=numbered,
        roles=Roles(tuple(columns), keep=("note",), id=("id",)),
        models=[{"model": "k-anonymity", "k": k}], prices=prices, price_k=k,
        csv={"delimiter": ";", "newline": "\n"},
        hierarchies=hierarchies_of(instance.trees, folder),
    )  # fmt: skip
    write_proof(paths[2], evidence, paths[1], paths[0])
    return paths


class Forger:
    """Opens a proof and its tables, lets them be changed, and writes them back consistently."""

    def __init__(self, source: Path, target: Path) -> None:
        self.folder = target
        self.paths = tuple(target / name for name in NAMES)
        for name, path in zip(NAMES, self.paths, strict=True):
            path.write_bytes((source / name).read_bytes())
        with zipfile.ZipFile(self.paths[2]) as archive:
            self.facts = json.loads(archive.read("proof.json"))
            files = [n for n in archive.namelist() if n.endswith(".parquet")]
            self.parts = {n: pl.read_parquet(io.BytesIO(archive.read(n))) for n in files}
        self.release = pl.read_csv(self.paths[0], separator=";", infer_schema=False)
        self.original = pl.read_parquet(self.paths[1])

    def cell(self, table: str, column: str, row: int, change: Callable[[Any], Any]) -> None:
        """Change one cell of a part, of ``release`` or of ``original``."""
        frame = self.parts.get(table, getattr(self, table, None))
        assert frame is not None
        cells = frame[column].to_list()
        assert change(cells[row]) != cells[row]
        cells[row] = change(cells[row])
        changed = frame.with_columns(pl.Series(column, cells, dtype=frame.schema[column]))
        self.put(table, changed)

    def put(self, table: str, frame: pl.DataFrame) -> None:
        """Replace a table."""
        if table in self.parts:
            self.parts[table] = frame
        else:
            setattr(self, table, frame)

    def save(self, rehash: bool = True) -> Verdict:
        """Write all, with matching hashes unless told not to, and check."""
        self.release.write_csv(self.paths[0], separator=";")
        self.original.write_parquet(self.paths[1])
        data = {}
        for name, frame in self.parts.items():
            out = io.BytesIO()
            frame.write_parquet(out)
            data[name] = out.getvalue()
        if rehash:
            self.facts["release"]["sha256"] = sha256_of(self.paths[0])
            self.facts["original"]["sha256"] = sha256_of(self.paths[1])
            self.facts["parts"] = {n: sha256(part).hexdigest() for n, part in data.items()}
        pack(self.paths[2], self.facts, data)
        return check(*self.paths)
