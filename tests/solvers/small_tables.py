"""Small random tables with weights, hierarchies and sensitive values, and models for them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dial import few
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Hierarchical
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.model import Model
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes


@dataclass(frozen=True)
class Shape:
    """What a random table looks like."""

    rows: tuple[int, int] = (2, 10)
    columns: tuple[int, int] = (1, 5)
    values: tuple[int, int] = (2, 5)
    trees: bool = False
    sensitive: tuple[int, ...] = ()


def random_tree(name: str, values: int, rng: np.random.Generator) -> Tree:
    """A tree of height 1 with a weight, or of height 2 with costs that may rise or not."""
    weight = int(rng.integers(1, 4))
    leaves = tuple(map(str, range(values)))
    if values < 3 or rng.random() < 0.3:
        return Tree.suppression(name, leaves, weight)
    middle = np.unique(np.sort(rng.integers(0, 2, values)), return_inverse=True)[1]
    node = np.vstack([np.arange(values), middle, np.zeros(values)]).astype(np.int32)
    root = weight + int(rng.integers(0, 3))
    cost = np.vstack([np.zeros(values), np.full(values, weight), np.full(values, root)])
    labels = (leaves, tuple(f"m{i}" for i in range(middle.max() + 1)), ("*",))
    return Tree(name, labels, node, cost.astype(np.int64))


def random_table(rng: np.random.Generator, shape: Shape) -> Instance:
    """One table of a shape; few values, so that copies are common."""
    rows, columns, values = (
        int(rng.integers(*limits)) for limits in (shape.rows, shape.columns, shape.values)
    )
    trees = None
    if shape.trees:
        trees = tuple(random_tree(f"q{j}", values, rng) for j in range(columns))
    sensitive = None
    if shape.sensitive:
        sensitive = np.column_stack([rng.integers(0, v, rows) for v in shape.sensitive])
    return from_codes(rng.integers(0, values, (rows, columns)), trees, sensitive)[0]


def tables(seed: int, number: int, shape: Shape) -> Iterator[tuple[Instance, np.random.Generator]]:
    """Yield tables, each with the generator for further choices."""
    rng = np.random.default_rng(seed)
    for _ in range(few(number, 12)):
        yield random_table(rng, shape), rng


def models(instance: Instance, rng: np.random.Generator) -> list[Model]:
    """One model of each kind that the table's sensitive values allow, and combinations."""
    k = KAnonymity(int(rng.integers(1, 5)))
    if instance.sensitive is None:
        return [k]
    t = ["0", "0.1", "0.2", "0.3", "0.5", "1/3", "1/2"][rng.integers(7)]
    first = instance.sensitive_sizes[0]
    distance = rng.integers(2, 5, (first, first))
    distance = np.minimum(distance, distance.T)
    np.fill_diagonal(distance, 0)
    halves = tuple(v // 2 for v in range(first))
    tree = Hierarchical((tuple(range(first)), halves, (0,) * first))
    return [
        k,
        DistinctDiversity(2),
        FrequencyDiversity(2),
        DisjointDiversity(2),
        EntropyDiversity(2),
        DistinctDiversity(2) & KAnonymity(3),
        FrequencyDiversity(2) & KAnonymity(3),
        FrequencyDiversity(2) & DistinctDiversity(3),
        TCloseness(t),
        TCloseness(t) & KAnonymity(2),
        TCloseness(t, Ordered()),
        TCloseness(t, Metric.of(distance.tolist()), attribute=0),
        TCloseness(t, tree, attribute=0),
    ]
