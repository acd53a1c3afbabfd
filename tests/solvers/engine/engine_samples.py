"""Small tables for the engine's tests, and naive counterparts of what it computes."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dial import few
from incrowd.hierarchy.tree import Tree
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.solution import Solution

KINDS = ("suppression", "weights", "trees")


def ragged_tree(name: str, leaves: int, rng: np.random.Generator) -> Tree:
    """A tree of height 1 to 4: leaves at unequal depth, only children, free inner nodes.

    Each level merges some neighbouring nodes of the one below.  A node that does not grow is the
    same node at the same cost, as padding makes it, or (an only child) a dearer one.
    """
    nodes, costs = [np.arange(leaves)], [np.zeros(leaves, np.int64)]
    for _ in range(int(rng.integers(0, 4))):
        below, paid = nodes[-1], costs[-1]
        starts = np.concatenate([[True], rng.random(below.max()) < 0.6])
        node = (np.cumsum(starts) - 1)[below]
        cost = paid.copy()
        for n in range(node.max() + 1):
            inside = node == n
            grew = len(np.unique(below[inside])) > 1
            step = int(rng.integers(0, 3)) if grew or rng.random() < 0.2 else 0
            cost[inside] = paid[inside].max() + step
        nodes.append(node)
        costs.append(cost)
    nodes.append(np.zeros(leaves, np.int64))
    costs.append(np.full(leaves, costs[-1].max() + int(rng.integers(1, 4))))
    labels = tuple(tuple(map(str, range(n.max() + 1))) for n in nodes)
    return Tree(name, labels, np.array(nodes, np.int32), np.array(costs, np.int64))


def random_rows(
    rng: np.random.Generator, rows: int, columns: int, values: int
) -> NDArray[np.int64]:
    """Rows of a table; often copies of one another, or of one another but for a cell."""
    table = rng.integers(0, values, (rows, columns))
    for i in range(1, rows):
        if rng.random() < 0.4:
            table[i] = table[rng.integers(0, i)]
            if rng.random() < 0.5:
                table[i, rng.integers(0, columns)] = rng.integers(0, values)
    return table


def random_table(
    rng: np.random.Generator,
    kind: str,
    rows: tuple[int, int] = (1, 9),
    columns: tuple[int, int] = (1, 5),
) -> Instance:
    """One table with the trees of a kind: stars, weighted stars, or random hierarchies."""
    n, m, values = int(rng.integers(*rows)), int(rng.integers(*columns)), int(rng.integers(1, 6))
    table = random_rows(rng, n, m, values)
    trees = None
    if kind == "weights":
        leaves = tuple(map(str, range(values)))
        trees = tuple(Tree.suppression(f"q{j}", leaves, int(rng.integers(1, 8))) for j in range(m))
    elif kind == "trees":
        trees = tuple(ragged_tree(f"q{j}", values, rng) for j in range(m))
    return from_codes(table, trees)[0]


def random_tables(
    seed: int,
    number: int,
    kind: str,
    rows: tuple[int, int] = (1, 9),
    columns: tuple[int, int] = (1, 5),
) -> Iterator[tuple[Instance, np.random.Generator]]:
    """Yield tables, each with the generator for further choices."""
    rng = np.random.default_rng(seed)
    for _ in range(few(number, 12)):
        yield random_table(rng, kind, rows, columns), rng


@lru_cache(maxsize=4)
def node_tuples(instance: Instance) -> dict[tuple[int, ...], int]:
    """Every pattern: the distinct rows that match it, and its least cost.

    Goes through all tuples of levels and of nodes.  Patterns that match the same rows are one
    entry, at the cost of the cheapest, which is their join.
    """
    found: dict[tuple[int, ...], int] = {}
    columns = instance.codes.T
    steps = [  # by column and level: each row's node, and what it costs
        list(zip(tree.node[:, code].tolist(), tree.cost[:, code].tolist(), strict=True))
        for tree, code in zip(instance.trees, columns, strict=True)
    ]
    for levels in product(*steps):
        groups: dict[tuple[int, ...], list[int]] = {}
        costs: dict[tuple[int, ...], int] = {}
        nodes_of = zip(*(node for node, _ in levels), strict=True)
        costs_of = zip(*(cost for _, cost in levels), strict=True)
        for r, (nodes, paid) in enumerate(zip(nodes_of, costs_of, strict=True)):
            groups.setdefault(nodes, []).append(r)
            costs[nodes] = sum(paid)
        for nodes, rows in groups.items():
            key = tuple(rows)
            found[key] = min(costs[nodes], found.get(key, costs[nodes]))
    return found


def supported(instance: Instance, k: int) -> dict[tuple[int, ...], int]:
    """The patterns that at least k copies match."""
    counts = instance.counts.tolist()
    return {
        rows: cost
        for rows, cost in node_tuples(instance).items()
        if sum(counts[r] for r in rows) >= k
    }


def highest(price: Any, counts: Any, rows: tuple[int, ...], k: int) -> list:
    """The k highest prices among rows, copies written out, falling."""
    every = [price[r] for r in rows for _ in range(counts[r])]
    return sorted(every, reverse=True)[:k]


def prices_hold(instance: Instance, k: int, price: NDArray[np.int64], quantum: int) -> bool:
    """Whether integer prices obey the inequality of every pattern."""
    prices, counts = price.tolist(), instance.counts.tolist()
    return all(
        sum(highest(prices, counts, rows, k)) <= k * cost * quantum
        for rows, cost in supported(instance, k).items()
    )


def naive_cost(solution: Solution) -> int:
    """Cost of a release, class by class, cell by cell."""
    instance, total = solution.instance, 0
    for number in sorted(set(solution.classes.tolist())):
        copies = np.flatnonzero(solution.classes == number)
        rows = instance.codes[instance.copies[copies]]
        for j, tree in enumerate(instance.trees):
            level = 0
            while len(set(tree.node[level, rows[:, j]].tolist())) > 1:
                level += 1
            total += len(copies) * int(tree.cost[level, rows[0, j]])
    return total


def lawful(solution: Solution, k: int) -> bool:
    """Whether all copies are in classes of at least k."""
    _, sizes = np.unique(solution.classes, return_counts=True)
    return len(solution.classes) == solution.instance.rows and bool((sizes >= k).all())
