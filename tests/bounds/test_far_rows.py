"""Prices of rows far from all others, against all sets of k copies."""

import numpy as np
import pytest

from bounds.near_set_samples import UNIT, broken_sets, never
from dial import enough
from incrowd.bounds import far_rows as module
from incrowd.bounds.far_rows import FarRows, far_rows
from incrowd.bounds.span_sets import SpanSets
from solvers.ranged_tables import ranged_tables


def test_raised_prices_hold_and_are_nearly_the_highest() -> None:
    """Tests that no set breaks them, and that some set limits each row that was raised."""
    raised = 0
    for instance, rng in ranged_tables(51, 60, (4, 9), False):
        k = int(rng.integers(2, min(4, instance.rows + 1)))
        sets = SpanSets(instance, k)
        start = sets.neighbours(never)
        assert start is not None
        rows = rng.permutation(instance.distinct)
        found = FarRows(sets, never).raised(start * UNIT, UNIT, rows)
        assert (found >= start * UNIT).all()
        assert not broken_sets(instance, k, found, UNIT)
        raised += (found > start * UNIT).sum()
        for row in rows[instance.counts[rows] == 1]:
            higher = found.copy()
            higher[row] += 2 + found[row] // 500
            least = k * UNIT * instance.worst_cost
            assert broken_sets(instance, k, higher, UNIT) or least == 0
    assert raised > enough(50)


def test_searches_that_do_not_end_raise_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests few steps for a row, few for all, and a clock that has run out."""
    for limit, late in (("LOOKS", False), ("ALL_LOOKS", False), ("TRIES", True)):
        with monkeypatch.context() as changed:
            changed.setattr(module, limit, 0 if limit != "TRIES" else 12)
            for instance, _ in ranged_tables(52, 5, (6, 9), False):
                sets = SpanSets(instance, 2)
                start = sets.neighbours(never)
                assert start is not None
                rows = np.arange(instance.distinct)
                found = FarRows(sets, lambda late=late: late).raised(start, 1, rows)
                assert (found == start).all()


def test_far_rows_come_farthest_first() -> None:
    """Tests which rows are raised, and in which order."""
    assert far_rows(np.array([1, 9, 2, 30, 3]), 1.2).tolist() == [3, 1, 4]
