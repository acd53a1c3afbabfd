"""Tests the walk over prefixes: its sorting, and which patterns it meets."""

import numpy as np
import pytest

from incrowd.lattice.cursor import FEW, new_buffers, sort_rows


@pytest.mark.parametrize("n", [1, 2, FEW, FEW + 1, 300, 3000])
@pytest.mark.parametrize("codes", [1, 2, 9, 250, 4000, 2_000_000])
def test_rows_are_sorted_stably_by_code(n: int, codes: int) -> None:
    """Tests few and many rows, codes that are dense and codes that are sparse."""
    rng = np.random.default_rng([n, codes])
    code = rng.integers(0, codes, n + 7).astype(np.int32)
    rows = rng.permutation(n + 7)[:n].astype(np.int32)
    expected = rows[np.argsort(code[rows], kind="stable")]
    sort_rows(rows, n, code, new_buffers(1, n + 7, codes))
    assert rows.tolist() == expected.tolist()
