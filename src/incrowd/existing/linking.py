"""New rows and published classes as they are searched: with one column for each link of columns.

A row joins a published class only where the class shows a link's columns at one level: then it is a
class of the tuples, too (``reduce.linked``).  So nothing is lost, and bounds hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.constraints.plan import Limit, Plan
from incrowd.encoding.encoded import Coded
from incrowd.existing.covers import Ints, Published
from incrowd.hierarchy.family import Family, trees_of
from incrowd.hierarchy.labels import places_of
from incrowd.hierarchy.tree import Tree
from incrowd.reduce.linked import LinkColumns, levels_of


@dataclass(frozen=True, eq=False)
class Searched:
    """What is searched: columns that no link names come first, then one for each link.

    Attributes
    ----------
    leaves: int32, shape (new rows, columns): leaf codes.
    trees: of these columns.
    published: the classes of the earlier release; nobody joins one that tears a link.
    fixed: numbers of the fixed columns.
    limits: the caps, each with the number of its column, or of its link.
    """

    leaves: NDArray[np.int32]
    trees: tuple[Family, ...]
    published: Published
    fixed: tuple[int, ...]
    limits: tuple[Limit, ...]


def searched(table: Coded, published: Published, plan: Plan) -> Searched:
    """Return new rows and published classes with linked columns as one; as they are without."""
    leaves, trees, link = table.leaves, table.instance.trees, LinkColumns(plan.links)
    if not plan.links:
        return Searched(leaves, trees, published, plan.fixed, plan.limits)
    free = link.others(len(trees))
    codes, whole = link.together(leaves, trees)
    levels, nodes = [published.levels[:, free]], [published.nodes[:, free]]
    for at, names in enumerate(plan.links, len(free)):
        own, tree = codes[:, at], whole[at]
        parts = trees_of([trees[j] for j in names], "a link of columns")
        tuples = leaves[np.unique(own, return_index=True)[1]][:, names]
        assert isinstance(tree, Tree)
        known = tuples_shown(tree, parts, tuples)
        each = np.hstack([published.levels[:, names], published.nodes[:, names]])
        nobody = 0, len(tree.leaves)  # no row has this node
        found = [known.get(tuple(key), nobody) for key in each.tolist()]
        level, node = np.array(found, np.int64).reshape(-1, 2).T
        levels.append(level[:, None])
        nodes.append(node[:, None])
    seen = Published(np.hstack(levels), np.hstack(nodes), published.values)
    at = {j: place for place, j in enumerate(free)}
    at |= {j: len(free) + i for i, names in enumerate(plan.links) for j in names}
    limits = tuple(replace(limit, column=at[limit.column or 0]) for limit in plan.limits)
    return Searched(codes, whole, seen, tuple(at[j] for j in plan.fixed), limits)


def tuples_shown(
    whole: Tree, parts: Sequence[Tree], tuples: NDArray[np.int32]
) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return levels, then nodes of what a link's columns show → level and node of the tuple.

    A label stands for its lowest level, in a column as in the link.

    Parameters
    ----------
    whole: the link's tree; parts: those of its columns.
    tuples: shape (leaves, columns): the columns' leaf codes of each leaf of the link.
    """
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for t, at in enumerate(levels_of(parts)):
        nodes, first = np.unique(whole.node[t], return_index=True)
        shown = [
            lowest(tree, level)[tree.node[level][tuples[first, j]]]
            for j, (tree, level) in enumerate(zip(parts, at, strict=True))
        ]
        keys = np.hstack([*np.stack(shown).transpose(2, 1, 0)])
        for node, key in zip(nodes.tolist(), keys.tolist(), strict=True):
            found.setdefault(tuple(key), (t, node))
    return found


def lowest(tree: Tree, level: int) -> Ints:
    """int64, shape (nodes, 2): the lowest level that has the label of each node, and its node."""
    place = places_of(tree)
    return np.array([place[label] for label in tree.labels[level]], np.int64).reshape(-1, 2)
