"""The moves of the local search, against recounting everything."""

import numpy as np
import pytest

from incrowd.constraints.crowd import Costs, Crowd, new_crowd, revalue
from incrowd.constraints.repair import sweep
from incrowd.hierarchy.tree import Tree
from incrowd.problem.instance import from_codes


def naive_value(crowd: Crowd, costs: Costs, trees: tuple[Tree, ...], rows: list[int]) -> int:
    """What a class costs, from its rows."""
    levels = []
    for j, tree in enumerate(trees):
        codes = {int(crowd.codes[r, j]) for r in rows}
        up = next(u for u in range(tree.levels) if len({int(tree.node[u, c]) for c in codes}) == 1)
        levels.append(up)
    torn = {int(costs.link[j]) for j, up in enumerate(levels) if up and costs.link[j] >= 0}
    levels = [1 if int(costs.link[j]) in torn else up for j, up in enumerate(levels)]
    total = 0
    for r in rows:
        for j, up in enumerate(levels):
            if up:
                cost = int(trees[j].cost[up, crowd.codes[r, j]]) * costs.fine
                total += cost + int(costs.by_column[j]) + int(costs.by_row[r])
    return total


def tall(name: str) -> Tree:
    """Six values in three pairs."""
    node = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0] * 6], np.int32)
    labels = (tuple("abcdef"), ("ab", "cd", "ef"), ("*",))
    return Tree(name, labels, node, np.array([[0] * 6, [1] * 6, [2] * 6], np.int64))


@pytest.mark.parametrize("seed", range(4))
def test_moves_keep_the_books(seed: int) -> None:
    """Tests that sizes, values, lists, groups and k are right after many moves."""
    rng = np.random.default_rng(seed)
    rows, k = 60, 3
    codes = rng.integers(0, [6, 3, 3], (rows, 3)).astype(np.int32)
    flat = [Tree.suppression(name, tuple("xyz")) for name in "bc"]
    trees = (tall("a"), *flat)
    instance, _ = from_codes(codes, trees)
    group = (np.arange(rows) % 2).astype(np.int64)
    member = np.empty(rows, np.int64)
    member[np.argsort(group, kind="stable")] = np.arange(rows) // k
    crowd = new_crowd(codes, group, member, k)
    by_row = rng.integers(0, 3, rows).astype(np.int64)
    link = np.array([-1, 0, 0], np.int64) if seed % 2 else np.full(3, -1, np.int64)
    costs = Costs(instance.tables, 4, link, np.array([1, 0, 2], np.int64), by_row)
    revalue(crowd, costs)
    order = np.stack([rng.permutation(rows) for _ in range(3)])
    near = np.stack([order, np.argsort(order, axis=1)], axis=1).astype(np.int64)
    start = int(crowd.value.sum())
    made = sweep(crowd, costs, k, near, np.arange(5), rng.random((4000, 5)), 3.0)
    made += sweep(crowd, costs, k, near, np.arange(5), rng.random((4000, 5)), 1e-9)
    assert made > 0
    assert crowd.value.sum() < start
    for c in range(len(crowd.size)):
        members = np.flatnonzero(crowd.member == c).tolist()
        assert len(members) == crowd.size[c]
        assert not members or len(members) >= k
        assert len({int(group[r]) for r in members}) <= 1
        listed, row = [], int(crowd.head[c])
        while row >= 0:
            listed.append(row)
            row = int(crowd.after[row])
        assert sorted(listed) == members
        assert crowd.value[c] == (naive_value(crowd, costs, trees, members) if members else 0)
        assert crowd.weight[c] == sum(int(by_row[r]) for r in members)
