"""Tests the walk over prefixes: its sorting, and which patterns it meets."""

import numpy as np
import pytest

from incrowd.bounds.prefix_tree import SUPPORT, PrefixTree
from incrowd.lattice.cursor import FEW, new_buffers, sort_rows
from incrowd.problem.instance import from_codes


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


def test_where_a_walk_stands() -> None:
    """Tests that its share rises from 0 to 1, by walks that end early at later and later places."""
    rng = np.random.default_rng(3)
    tree = PrefixTree(from_codes(rng.integers(0, 5, (300, 5)))[0])
    assert tree.walked() == 0.0

    def walked(visits: int) -> float:
        price = np.full(tree.instance.distinct, 1 << 20)
        tree.run(SUPPORT, 2, price, visits=visits)
        return tree.walked()

    assert walked(1 << 62) == 1.0
    whole = tree.visits
    shares = [walked(whole * part // 20) for part in range(1, 20)]
    assert shares == sorted(shares) and shares[0] < 0.05 < 0.2 < shares[9] < 0.6
