"""Combinations of columns with a k of their own, counted plainly, and the optimum by a program."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

Row = Mapping[str, str | None]
KIND = "combination"


def asked_of(models: Sequence[Mapping[str, Any]], qi: Sequence[str]) -> list[tuple[list[str], int]]:
    """Return columns and k of what is asked: the whole is a combination like others."""
    found = [(list(model["columns"]), model["k"]) for model in models if model["model"] == KIND]
    found += [(list(qi), model["k"]) for model in models if model["model"] == "k-anonymity"]
    return found


def combined_faults(
    after: Sequence[Row], qi: Sequence[str], models: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the combinations that are broken, or are none."""
    found = []
    for columns, k in asked_of(models, qi):
        if not columns or not {*columns} <= {*qi}:
            return [f"{columns} are not quasi-identifiers"]
        sizes = Counter(tuple(row[c] for c in columns) for row in after)
        found += [f"{columns}: {size} rows alike, not {k}" for size in sizes.values() if size < k]
    return found


def least_combined(
    choices: Sequence[Mapping[str, Mapping[str | None, int]]],
    models: Sequence[Mapping[str, Any]],
    qi: Sequence[str],
) -> int | None:
    """Return the least cost of a lawful release; ``choices``: row → column → label → cost."""
    each = [list(product(*(row[c].items() for c in qi))) for row in choices]
    flat = [(r, labels) for r, some in enumerate(each) for labels in some]
    cost = np.array([sum(x for _, x in labels) for _, labels in flat], float)
    rows, low, high = [], [], []
    for r in range(len(choices)):
        rows.append([float(r == owner) for owner, _ in flat])
        low.append(1.0)
        high.append(1.0)
    for columns, k in asked_of(models, qi):
        at = [qi.index(c) for c in columns]
        shown = [tuple(labels[j][0] for j in at) for _, labels in flat]
        for n, key in enumerate(shown):  # whoever shows it does so beside k − 1 others
            line = np.array([float(other == key) for other in shown])
            line[n] -= k
            others = [i for i, (owner, _) in enumerate(flat) if owner == flat[n][0] and i != n]
            for i in others:
                line[i] -= k * (shown[i] == key)
            rows.append(line.tolist())
            low.append(0.0)
            high.append(np.inf)
    found = milp(cost, constraints=LinearConstraint(np.array(rows), low, high),
                 integrality=np.ones(len(cost)), bounds=Bounds(0, 1))  # fmt: skip
    return None if found.x is None else round(float(cost @ np.round(found.x)))
