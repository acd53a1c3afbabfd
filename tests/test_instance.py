"""Tests of rows as integers: equal exactly where the rows are."""

import numpy as np
import pytest

from incrowd.problem.instance import packed, places_in, row_order


def rows_of(seed: int, rows: int, columns: int, values: int, step: int) -> np.ndarray:
    """Rows of few values, many of them alike; as far apart as ``step``."""
    return np.random.default_rng(seed).integers(0, values, (rows, columns)) * step


SHAPES = [(300, 5, 3, 1), (300, 90, 2, 1 << 30), (300, 0, 3, 1), (0, 4, 3, 1), (300, 1, 400, 7)]


@pytest.mark.parametrize("shape", SHAPES)
def test_packed_and_sorted(shape: tuple[int, int, int, int]) -> None:
    """Tests that the integers tell rows apart, however wide, and sort as the rows do."""
    table = rows_of(0, *shape)
    key, size = packed(list(table.T), len(table))
    assert len({*map(tuple, table.tolist())}) == len(np.unique(key))
    assert len(np.unique(np.column_stack([key, table]), axis=0)) == len(np.unique(key))
    assert ((key >= 0) & (key < size)).all()
    order = row_order(table)
    assert table[order].tolist() == sorted(table.tolist())


@pytest.mark.parametrize("shape", SHAPES)
def test_places_in(shape: tuple[int, int, int, int]) -> None:
    """Tests that each row is found where it is known, and nowhere else."""
    known = np.unique(rows_of(1, *shape), axis=0)
    known = known[np.random.default_rng(2).permutation(len(known))][: len(known) // 2 + 1]
    sought = rows_of(3, *shape)
    place = {tuple(row): i for i, row in enumerate(known.tolist())}
    assert places_in(known, sought).tolist() == [place.get(tuple(r), -1) for r in sought.tolist()]
    assert places_in(known[:0], sought).tolist() == [-1] * len(sought)
