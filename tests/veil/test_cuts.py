"""Tests of cuts and ends against all whole points of small programs."""

from itertools import product

import numpy as np

from incrowd.run.stop import Stop
from incrowd.veil.cuts import narrowed


def questions(times: int):
    """Random programs of few columns: gains, ends, rows."""
    rng = np.random.default_rng(3)
    for _ in range(times):
        columns, rows = int(rng.integers(3, 8)), int(rng.integers(2, 7))
        high = rng.integers(1, 3, columns).tolist()
        gains = rng.integers(1, 1 << 26, columns).tolist()
        asked = []
        for _ in range(rows):
            factors = rng.integers(-4, 2, columns).tolist()
            row = {j: factor for j, factor in enumerate(factors) if factor}
            asked.append((row, -int(rng.integers(1, 9))))
        yield gains, high, asked


def meets(x: tuple[int, ...], rows: list[tuple[dict[int, int], int]]) -> bool:
    return all(sum(f * x[j] for j, f in row.items()) >= least for row, least in rows)


def test_no_point_is_lost():
    """Tests that all points which gain enough keep within the ends, and meet all cuts."""
    cuts = fixed = 0
    for gains, high, rows in questions(150):
        points = [x for x in product(*(range(h + 1) for h in high)) if meets(x, rows)]
        gain = {x: sum(g * at for g, at in zip(gains, x, strict=True)) for x in points}
        enough = sorted(gain.values())[-min(3, len(gain))]
        left = narrowed(gains, high, rows, enough, Stop())
        for x in points:
            if gain[x] >= enough:
                assert meets(x, left.cuts)
                ends = zip(left.low, x, left.high, strict=True)
                assert all(low <= at <= most for low, at, most in ends)
        cuts += len(left.cuts)
        fixed += sum(low == most for low, most in zip(left.low, left.high, strict=True))
    assert cuts > 100
    assert fixed > 100
