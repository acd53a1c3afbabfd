"""Tables that searches take long over, and the models to ask of them."""

from collections.abc import Callable

import numpy as np

from incrowd.hierarchy.tree import Tree
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem

SENSITIVE = 4  # values


def table(codes: np.ndarray, trees: tuple[Tree, ...] | None = None) -> Instance:
    """A table with the sensitive values 0, 1, 2, 3, 0, …"""
    secret = np.arange(len(codes)) % SENSITIVE
    return from_codes(codes, trees, secret[:, None])[0]


def random(rows: int, columns: int, values: int) -> np.ndarray:
    """Codes at random."""
    return np.random.default_rng(rows + columns).integers(0, values, (rows, columns))


def apart(rows: int) -> Instance:
    """Columns that cost 1, 10⁹, 1, 1 and 10⁶."""
    leaves = tuple(map(str, range(4)))
    weights = 1, 10**9, 1, 1, 10**6
    trees = tuple(Tree.suppression(f"q{j}", leaves, w) for j, w in enumerate(weights))
    return table(random(rows, len(weights), len(leaves)), trees)


def deep(rows: int, columns: int, height: int) -> Instance:
    """Halving hierarchies under certainty penalties in millionths."""
    size = 2**height
    node = np.array([np.arange(size) >> level for level in range(height + 1)], np.int32)
    share = (2.0 ** np.arange(height + 1) - 1) / (size - 1)
    cost = np.repeat(np.round(share * 10**6)[:, None], size, 1).astype(np.int64)
    labels = [tuple(f"{j}.{i}" for i in range(size >> j)) for j in range(height)]
    trees = tuple(Tree(f"q{j}", (*labels, ("*",)), node, cost) for j in range(columns))
    return table(random(rows, columns, size), trees)


TABLES: dict[str, Callable[[], Instance]] = {
    "tiny": lambda: table(random(20, 8, 4)),
    "weights apart": lambda: apart(40),
    "weights apart, larger": lambda: apart(400),
    "deep": lambda: deep(300, 4, 8),
    "all different": lambda: table(np.repeat(np.arange(3000)[:, None], 8, 1)),
    "all equal": lambda: table(np.zeros((3000, 8), np.int64)),
    "wide": lambda: table(random(200, 40, 3)),
    "uniform": lambda: table(random(800, 8, 4)),
}
MODELS: dict[str, Model] = {
    "k=2": KAnonymity(2),
    "k=3": KAnonymity(3),
    "k=20": KAnonymity(20),
    "l=3": DistinctDiversity(3),
    "f=2": FrequencyDiversity(2),
    "t=0.3": TCloseness("0.3"),
}


def problem(name: str, model: str) -> Problem:
    """One table, without its sensitive values under k-anonymity, and a model."""
    asked, instance = MODELS[model], TABLES[name]()
    if isinstance(asked, KAnonymity):
        instance = from_codes(instance.codes[instance.copies], instance.trees)[0]
    return Problem(instance, asked)
