"""The classes of an earlier release, as new rows meet them, and what new rows then show."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.driver.solve import solve
from incrowd.errors import InputError, NoLawfulReleaseError
from incrowd.existing.covers import Ints, Published
from incrowd.existing.join import Solve, count_broken
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import (
    WHOLE,
    ends,
    labels_by_level,
    labels_of_spans,
    places_among,
)
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.reduce.linked import LinkedSolution, Links
from incrowd.solvers.base import Context
from incrowd.tables.base import Replacement


def require_lawful_classes(
    model: Model,
    member: Ints,
    secret: NDArray[np.int32],
    sizes: tuple[int, ...],
    classes: int,
    names: Sequence[str],
) -> None:
    """Raise InputError for an earlier release that is not lawful itself.

    Parameters
    ----------
    member: int64, shape (rows,): the class of each earlier row; secret: its sensitive values.
    sizes: how many values each attribute has.  names: of the sensitive columns.
    """
    broken = count_broken(model, member.astype(np.int64), secret, sizes)
    if broken:
        raise InputError(
            f"the earlier release is not lawful itself: {broken} of its {classes} classes break "
            f"{model.in_words(names)}; give the policy it was made with"
        )


def places_of_labels(tree: Family, texts: Iterable[str | None]) -> Ints:
    """int64, shape (texts, 2): level and node of each text; −1 where it is no label."""
    texts = tuple(texts)
    place = places_among(tree, texts)
    return np.array([place.get(text, (-1, -1)) for text in texts] or [(-1, -1)], np.int64)


def published_of(
    kinds: NDArray[np.integer], places: Sequence[Ints], member: Ints, secret: NDArray[np.int32]
) -> Published:
    """Return the classes of an earlier release that can cover new rows.

    Parameters
    ----------
    kinds: shape (classes, columns): which of its column's texts each class shows.
    places: by column, see ``places_of_labels``.
    member, secret: class of each earlier row, and its sensitive values.
    """
    levels, nodes = np.zeros(kinds.shape, np.int64), np.zeros(kinds.shape, np.int64)
    for j, place in enumerate(places):
        levels[:, j], nodes[:, j] = place[kinds[:, j]].T
    known = (levels >= 0).all(axis=1)
    order = np.argsort(member, kind="stable")
    cuts = np.concatenate([[0], np.cumsum(np.bincount(member, minlength=len(kinds)))])
    values = tuple(secret[order[cuts[c] : cuts[c + 1]]] for c in np.flatnonzero(known).tolist())
    return Published(levels[known], nodes[known], values)


def shown(
    leaves: NDArray[Any],
    trees: Sequence[Family],
    published: Published,
    place: Ints,
    links: Links = (),
) -> tuple[Ints, Ints, Ints]:
    """Return the levels that rows are released at, and the ends of what holds them there.

    Parameters
    ----------
    leaves: shape (rows, columns): leaf codes.
    place: int64, shape (rows,): published class, or classes + number of a new class.
    links: columns that show one level in new classes.

    Returns
    -------
    three of int64, shape (rows, columns): levels, least and greatest code.
    """
    fresh = place >= len(published.levels)
    levels, low, high = (np.zeros(leaves.shape, np.int64) for _ in range(3))
    if fresh.any():
        part = Instance(leaves[fresh], np.ones(int(fresh.sum()), np.int64), tuple(trees))
        solution = LinkedSolution.of_links(part, place[fresh], links)
        new = (solution.levels, *solution.spans)
        levels[fresh], low[fresh], high[fresh] = (each[solution.classes] for each in new)
    joined = place[~fresh]
    for j, tree in enumerate(trees):
        level = published.levels[:, j]
        levels[~fresh, j] = level[joined]
        if isinstance(tree, RangeFamily):
            begin, end = ends(tree, level, published.nodes[:, j])
            low[~fresh, j], high[~fresh, j] = begin[joined], end[joined] - 1
    return levels, low, high


def replacements_of(
    leaves: NDArray[Any],
    trees: Sequence[Family],
    published: Published,
    place: Ints,
    links: Links = (),
) -> dict[str, Replacement]:
    """Return by column what placed rows show in place of their values; see ``shown``."""
    fresh = place >= len(published.levels)
    levels, low, high = shown(leaves, trees, published, place, links)
    found = {}
    for j, tree in enumerate(trees):
        leaf = leaves[:, j]
        if isinstance(tree, RangeFamily):
            labels, ids, own = labels_of_spans(tree, low[:, j], high[:, j])
            ids = np.where(own == leaf, -1, ids)
            starred = ~fresh & (levels[:, j] == WHOLE)
            labels, ids[starred] = (*labels, tree.star), len(labels)
        else:
            labels, ids = labels_by_level(tree)
            ids = ids[levels[:, j], leaf]
        found[tree.column] = Replacement(labels, ids)
    return found


def costs_of(
    leaves: NDArray[Any], trees: Sequence[Family], published: Published, place: Ints
) -> Ints:
    """int64, shape (rows,): what each placed row pays; see ``shown``."""
    fresh = place >= len(published.levels)
    levels, low, high = shown(leaves, trees, published, place)
    paid = np.zeros(len(leaves), np.int64)
    for j, tree in enumerate(trees):
        if isinstance(tree, RangeFamily):
            whole = ~fresh & (levels[:, j] == WHOLE)
            paid += np.where(whole, tree.dearest, tree.join_costs(low[:, j], high[:, j]))
        else:
            paid += tree.cost[levels[:, j], leaves[:, j]]
    return paid


def solver(model: Model, context: Context) -> Solve:
    """Return a function that makes classes of an instance of new rows."""

    def run(instance: Instance) -> tuple[Ints, NDArray[np.float64]] | None:
        try:
            solved = solve(Problem(instance, model), "auto", context)
        except NoLawfulReleaseError:
            return None
        price = np.zeros(instance.distinct)
        if solved.prices is not None:
            price = solved.prices.price / solved.prices.quantum
        return solved.solution.classes, price

    return run
