"""Tests that trees from random hierarchies mean what their paths say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.checker.ladder import validated
from incrowd.hierarchy import HierarchyRows, Tree, build_trees
from incrowd.published.ladders import ladder_of

Rows = tuple[tuple[str, ...], ...]


@st.composite
def hierarchies(draw: st.DrawFn, even: bool = False) -> Rows:
    """Rows (leaf, groups from low to high, ``*``); of unequal length unless ``even``."""
    height = draw(st.integers(1, 4))
    shortest = height if even else 1
    branches = st.lists(st.integers(0, 2), min_size=shortest - 1, max_size=height - 1)
    leaves = draw(st.lists(branches, min_size=1, max_size=12))
    rows = []
    for i, turns in enumerate(leaves):
        groups = ["g" + "".join(map(str, turns[:depth])) for depth in range(len(turns), 0, -1)]
        rows.append((f"v{i}", *groups, "*"))
    return tuple(draw(st.permutations(rows)))


def built(rows: Rows, values: list[str | None], cost: str) -> tuple[Tree, int]:
    (tree,), scale = build_trees({"q": values}, {"q": HierarchyRows(rows)}, cost)
    return tree, scale


def some_values(data: st.DataObject, rows: Rows) -> list[str | None]:
    pool: list[str | None] = [row[0] for row in rows] + [None]
    return data.draw(st.lists(st.sampled_from(pool), unique=True, min_size=1))


def join(tree: Tree, codes: list[int]) -> tuple[str | None, list[int]]:
    """The label of the lowest level at which some leaves meet, and each one's cost there."""
    for level in range(tree.levels):
        nodes = {int(tree.node[level, c]) for c in codes}
        if len(nodes) == 1:
            return tree.labels[level][nodes.pop()], [int(tree.cost[level, c]) for c in codes]
    raise AssertionError("the root is above all leaves")


@given(hierarchies(), st.data())
def test_every_node_is_a_run_and_levels_nest(rows: Rows, data: st.DataObject) -> None:
    """Tests that leaf codes stand in hierarchy order and ancestors' ancestors agree."""
    tree, _ = built(rows, some_values(data, rows), "ncp")
    for below, above in zip(tree.node[:-1], tree.node[1:], strict=True):
        assert (np.diff(above) >= 0).all()
        assert (np.diff(above) <= 1).all()
        for node in np.unique(below):
            assert len(np.unique(above[below == node])) == 1
    assert (tree.node[-1] == 0).all()
    assert [len(labels) for labels in tree.labels] == [len(np.unique(n)) for n in tree.node]


@given(hierarchies(), st.data())
def test_join_is_the_lowest_common_ancestor(rows: Rows, data: st.DataObject) -> None:
    """Tests the join of any set of leaves against the paths of the rows."""
    values = some_values(data, rows)
    tree, _ = built(rows, values, "stars")
    paths: dict[str | None, list[str | None]] = {row[0]: list(row) for row in rows}
    paths[None] = [None, "*"]
    chosen = data.draw(st.lists(st.sampled_from(values), unique=True, min_size=1))
    common = next(label for label in paths[chosen[0]] if all(label in paths[v] for v in chosen))
    label, costs = join(tree, [tree.leaves.index(v) for v in chosen])
    assert label == common
    assert costs == [int(len(chosen) > 1)] * len(chosen)


@given(hierarchies(), st.data(), st.sampled_from(["ncp", "stars"]))
def test_costs_never_fall_and_a_kept_value_is_free(
    rows: Rows, data: st.DataObject, cost: str
) -> None:
    """Tests monotone costs, also on leaves at unequal depth, by the independent checker too."""
    tree, scale = built(rows, some_values(data, rows), cost)
    assert (np.diff(tree.cost, axis=0) >= 0).all()
    for level, labels in enumerate(tree.labels):
        kept = [labels[node] == leaf for node, leaf in zip(tree.node[level], tree.leaves)]  # noqa: B905
        assert (tree.cost[level][kept] == 0).all()
    assert tree.cost.max() <= scale
    validated(ladder_of(tree), "q")


@given(hierarchies(), st.data())
def test_ncp_counts_the_leaves_of_the_file(rows: Rows, data: st.DataObject) -> None:
    """Tests (leaves − 1)/(domain − 1) over all rows, whichever values the table has."""
    values = some_values(data, rows)
    tree, scale = built(rows, values, "ncp")
    domain = len(rows) + (None in values)
    for code, leaf in enumerate(tree.leaves):
        for level in range(tree.levels):
            label = tree.labels[level][tree.node[level, code]]
            below = domain if label == "*" else sum(label in row for row in rows)
            below = 1 if label == leaf else below
            exact = (below - 1) / max(domain - 1, 1)
            assert abs(tree.cost[level, code] / scale - exact) <= 0.5000001e-6


@given(hierarchies(even=True), st.data())
def test_level_cost_is_level_over_height(rows: Rows, data: st.DataObject) -> None:
    """Tests the level cost by each label's written position; a missing value pays for ``*``."""
    tree, scale = built(rows, some_values(data, rows), "level")
    height = len(rows[0]) - 1
    assert scale == height
    position = {label: up for row in rows for up, label in enumerate(row)}
    for code, leaf in enumerate(tree.leaves):
        for level in range(tree.levels):
            label = tree.labels[level][tree.node[level, code]]
            assert tree.cost[level, code] == (0 if label == leaf else position[str(label)])


@given(hierarchies(), st.data())
def test_the_order_of_values_does_not_matter(rows: Rows, data: st.DataObject) -> None:
    """Tests that the same values in another order give the same tree."""
    values = some_values(data, rows)
    one, _ = built(rows, values, "ncp")
    other, _ = built(rows, data.draw(st.permutations(values)), "ncp")
    assert one.labels == other.labels
    assert (one.node == other.node).all()
    assert (one.cost == other.cost).all()


@settings(max_examples=few(50))
@given(hierarchies(even=True))
def test_padding_by_hand_changes_nothing_but_the_level_cost(rows: Rows) -> None:
    """Tests that a label repeated on the next level is the same node."""
    padded = tuple((row[0], *(label for label in row for _ in (0, 1))) for row in rows)
    padded = tuple((*row[:-2], "*") for row in padded)
    values: list[str | None] = [row[0] for row in rows]
    plain, _ = built(rows, values, "ncp")
    doubled, _ = built(padded, values, "ncp")
    for a in range(len(values)):
        for b in range(len(values)):
            assert join(plain, [a, b]) == join(doubled, [a, b])


def test_a_table_without_rows() -> None:
    """Tests that no values give trees without leaves."""
    tree, _ = built((("a", "A", "*"),), [], "level")
    assert tree.levels == 3
    assert tree.leaves == ()
    (suppressed,), _ = build_trees({"q": []})
    assert suppressed.labels == ((), ("*",))
