"""Classes of newcomers are trimmed, and dear places stay open."""

from collections import Counter

import numpy as np
import pytest

from dial import few
from incrowd.hierarchy.tree import Tree
from incrowd.series.plan import Planner, trimmed


@pytest.mark.parametrize("seed", range(few(20)))
def test_trimmed_classes_keep_everybody(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes, rows = [], 0
    for _ in range(9):
        held = rng.choice(7, int(rng.integers(3, 6)), replace=False).tolist()
        classes.append({str(v): rows + i for i, v in enumerate(held)})
        rows += len(held)
    value = {row: v for one in classes for v, row in one.items()}
    spare = sum(len(one) - 3 for one in classes)
    after = trimmed([dict(one) for one in classes], 3)
    assert sorted(row for one in after for row in one.values()) == list(range(rows))
    assert all(value[row] == v for one in after for v, row in one.items())
    assert min(map(len, after)) >= 3
    left = Counter(v for one in after for v in list(one)[3:])
    assert sum(left.values()) == spare - 3 * (len(after) - len(classes))
    assert len(left) < 3, "what three have to spare is a class"


def test_dear_places_stay_open_where_that_is_asked() -> None:
    tree = Tree.suppression("q", ("0", "1", "2"))
    leaves = np.array([[0], [0], [1], [0], [1], [2]], np.int32)
    signature = [frozenset("abc")] * 2 + [None] * 4
    planner = Planner(
        list("abcabc"), signature, leaves, (tree,), 3, list("abc"), lambda rows: [rows]
    )
    last = [{"a": 0, "b": 1, "c": -1}]
    assert planner.added(last[0], [2, 5]).tolist() == [planner.cost([0, 1, 2])] * 2
    assert all(row >= 0 for row in planner.plan(last, 99)[0].values())
    open_ = planner.plan(last, 99, 0)
    assert open_[0] == {"a": 0, "b": 1, "c": -1}
    assert sorted(r for one in open_ for r in one.values() if r >= 0) == list(range(6))
