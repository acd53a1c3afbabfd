"""Who changes places: nobody is lost, signatures are kept, counts are right."""

import numpy as np
import pytest

from dial import few
from incrowd.problem.instance import from_codes
from incrowd.series import exchange
from incrowd.series.exchange import themes_of

VALUES, WIDEST = 6, 3


def series(rng: np.random.Generator):
    """Return classes, signatures, values and leaves of a table in which some were published."""
    classes, signatures, values = [], [], []
    for c in range(12):
        held = rng.choice(VALUES, WIDEST, replace=False).tolist()
        one = {}
        for value in held:
            if rng.random() < 0.2:
                one[value] = -1
                continue
            one[value] = len(values)
            values.append(value)
            known = c % 2 and rng.random() < 0.6
            signatures.append(frozenset(held) if known else None)
        classes.append(one)
    return classes, signatures, values, rng.integers(0, 3, (len(values), 4)).astype(np.int32)


def cost(classes, leaves) -> int:
    """Count stars, the slow way."""
    total = 0
    for one in classes:
        rows = [row for row in one.values() if row >= 0]
        total += len(rows) * sum(len(set(leaves[rows, j])) > 1 for j in range(leaves.shape[1]))
    return total


@pytest.mark.parametrize("seed", range(few(12)))
@pytest.mark.parametrize("stay", [False, True])
def test_nobody_is_lost_and_signatures_are_kept(seed: int, stay: bool) -> None:
    rng = np.random.default_rng(seed)
    classes, signatures, values, leaves = series(rng)
    tables = from_codes(leaves)[0].tables
    after = exchange.exchanged(classes, signatures, stay, leaves, tables, 1.0, seed, slowly=400)
    assert sorted(r for one in after for r in one.values() if r >= 0) == list(range(len(values)))
    assert sum(map(len, after)) == sum(map(len, classes))
    for one, before in zip(after, classes, strict=True):
        assert len(one) == len(before)
        for value, row in one.items():
            if row >= 0:
                assert values[row] == value
                assert signatures[row] in (None, frozenset(one))
                assert not stay or signatures[row] is None or before[value] == row
    if not stay:
        assert cost(after, leaves) < cost(classes, leaves)


def worth(seats, themes, leaves) -> float:
    """Count what signatures are worth, the slow way."""
    total = 0.0
    columns = leaves.shape[1]
    for j in range(columns + 1):
        pairs = [
            (int(key), int(leaves[row, j]) if j < columns else 0)
            for rows, key in zip(seats.member, seats.key, strict=True)
            for row in rows
            if row >= 0
        ]
        total += sum(themes.worth[int(j == columns), pairs.count(pair)] for pair in set(pairs))
    return total


@pytest.mark.parametrize("seed", range(8))
def test_counts_are_right_and_cold_moves_lose_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes, signatures, _, leaves = series(rng)
    tables = from_codes(leaves)[0].tables
    part = rng.integers(1 << 62, size=VALUES)
    signed = [-1 if s is None else np.bitwise_xor.reduce(part[list(s)]) for s in signatures]
    seats = exchange.seats_of(classes, part, np.array(signed, np.int64))
    themes = themes_of(seats.member, seats.key, part, leaves, 1.0)
    best = worth(seats, themes, leaves) - cost(classes, leaves)
    state = np.array([seed], np.uint64)
    for _ in range(few(20)):
        paid, keys = np.zeros(len(classes), np.int64), np.array(signed, np.int64)
        exchange.exchange(seats, paid, keys, themes, leaves, tables, 20, 1e-9, 1e-9, state)
        again = themes_of(seats.member, seats.key, part, leaves, 1.0)
        assert (again.counts == themes.counts).all()
        for key, held in zip(seats.key, seats.held, strict=True):
            assert key == np.bitwise_xor.reduce(part[held])
        now = [
            dict(zip(held.tolist(), rows.tolist(), strict=True))
            for held, rows in zip(seats.held, seats.member, strict=True)
        ]
        assert paid.sum() == cost(now, leaves)
        after = worth(seats, themes, leaves) - cost(now, leaves)
        assert after >= best - 1e-6
        best = after
