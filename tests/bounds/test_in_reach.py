"""Pairs that a better release may have, by prices with odd sets: against every class."""

import pytest

from bounds.odd_set_samples import classes_of, everything, raised, worth_of
from incrowd.bounds.listing import in_reach
from incrowd.bounds.odd_sets.certificate import exact, settled
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from solvers.engine.engine_samples import KINDS, random_tables


def missed(lists: Emission, lifted: Lifted, instance: Instance, k: int, slack: float) -> int:
    """Count classes within ``slack`` that no listed pattern of their cost holds."""
    every, number = everything(instance, k), 0
    held: dict[int, list[set[int]]] = {}
    for p, cost in enumerate(lists.cost.tolist()):
        rows = lists.rows[lists.offset[p] : lists.offset[p + 1]].tolist()
        held.setdefault(cost, []).append(set(rows))
    for p, cost in enumerate(every.cost.tolist()):
        for one in classes_of(instance, p, every, k):
            if worth_of(one, p, every, lifted) >= -slack:
                number += not any(set(one) <= rows for rows in held.get(cost, []))
    return number


@pytest.mark.parametrize("kind", KINDS)
def test_no_class_in_reach_is_missed(kind: str) -> None:
    """Tests prices with odd sets, for slacks of any size."""
    left_out = 0
    for instance, rng in random_tables(62, 25, kind, (5, 11), (2, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, tree = raised(instance, k)
        prices = settled(lifted.lists, lifted, instance, k)
        assert prices is not None
        lifted = exact(prices, lifted.lists, instance)
        for slack in (0.0, 0.5, 1.0, 3.0):
            lists = in_reach(tree, lifted.price, k, slack * instance.cell + 1e-6, 10**6)
            assert lists is not None
            assert not missed(lists, lifted, instance, k, slack * instance.cell)
            left_out += len(lists.rows) < len(everything(instance, k).rows)
            assert in_reach(tree, lifted.price, k, 1e9 * instance.cell, 1) is None
    assert left_out
