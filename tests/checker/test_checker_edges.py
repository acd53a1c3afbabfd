"""Tests the exact edges of the checker's laws, which searches for dear classes seldom touch."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from incrowd.checker.charges import Charges, crowd_of
from incrowd.checker.models import lawful
from incrowd.checker.sizes import BySize, Size, depth_of, sized_exceeds

TABLE = np.array([6, 3, 2])
SHARES = ["0", "1/10", "1/4", "2/3", "1"]


def beyond(rows: int, n: int, v: int) -> int:
    """How far so many rows of a value lie beyond its due in a class of n, in 1/N of a row."""
    return max(0, rows * int(TABLE.sum()) - n * int(TABLE[v]))


@pytest.mark.parametrize("t", SHARES)
def test_a_row_lies_as_far_beyond_as_it_adds(t: str) -> None:
    """Tests what each row adds to the distance, for charges and for prices by size."""
    within = Fraction(t)
    charges, by_size = Charges(within, 2, TABLE), BySize(within, 2, 4, TABLE)
    for size, v in product(by_size.sizes, range(len(TABLE))):
        n, held = size.rows, int(TABLE[v])
        rank = np.arange(held)
        adds = [beyond(j + 1, n, v) - beyond(j, n, v) for j in range(held)]
        wanted = within.denominator * np.array(adds)
        assert charges.far(n, rank, v).tolist() == wanted.tolist()
        own = size.far[by_size.of_slot == v]
        assert own.tolist() == wanted[: len(own)].tolist()


@pytest.mark.parametrize("t", SHARES)
@pytest.mark.parametrize("n", range(1, 9))
def test_the_deepest_of_a_value(t: str, n: int) -> None:
    """Tests that a value may have so many rows and no more: all else within its due, as it may."""
    found = depth_of(Fraction(t), n, TABLE).tolist()
    for v, held in enumerate(TABLE.tolist()):
        fits = [h for h in range(min(n, held) + 1) if beyond(h, n, v) <= Fraction(t) * n * 11]
        assert found[v] == max(fits)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_slope_proves_of_all_sizes(seed: int) -> None:
    """Tests that of each value as many rows are counted as are worth the most."""
    rng = np.random.default_rng(seed)
    e, value = np.sort(rng.integers(-4, 9, 9))[::-1], rng.permutation([0, 0, 0, 0, 1, 1, 1, 2, 2])
    charges = Charges(Fraction(1, 4), 2, TABLE)
    crowd, sizes = crowd_of(e, np.ones(9, np.int64), value, 3), np.arange(2, 10)
    for slope, last in product((0, 1, 2, 5, 9), (-60, -9, 0, 25, 88, 170)):
        found = charges.proven(crowd, sizes, slope, last)
        for n, proven in zip(sizes.tolist(), found.tolist(), strict=True):
            wanted = n * (last + slope * 11)
            for v in range(3):
                sums = np.append(0, np.cumsum(e[value == v])).tolist()
                wanted += max(
                    worth * 44 - 4 * slope * beyond(x, n, v) - last * x
                    for x, worth in enumerate(sums)
                )
            assert proven == wanted


@pytest.mark.parametrize(
    ("rows", "spare", "start", "far", "worth"),
    [
        (1, 2, 17, [3], [1]),  # no class lies near enough, and the steepest slope does not show it
        (1, 5, 12, [3, 0], [-3, 0]),  # the last slope that is left shows it
        (2, 5, 19, [1, 2, 1, 2], [-4, -1, 1, -2]),
    ],
)
def test_the_last_slope_is_tried(
    rows: int, spare: int, start: int, far: list[int], worth: list[int]
) -> None:
    """Tests that honest prices are not refused where one slope alone proves them."""
    size = Size(rows, 3, spare, np.zeros(0, np.int64), np.array(far), None)
    held = np.ones((1, len(far)), bool)
    found, _ = sized_exceeds(size, np.array([worth]), held, np.array([start]))
    assert not found[0]


@pytest.mark.parametrize("c", ["1/2", "1", "3/2", "2"])
@pytest.mark.parametrize("l", [1, 2, 3])
def test_recursive_diversity_is_strict(c: str, l: int) -> None:  # noqa: E741
    """Tests that as many rows of the commonest value as c times the rest are too many."""
    model, seen = {"model": "recursive", "c": c, "l": l, "column": "s"}, set()
    for counts in product(range(4), repeat=3):
        falling = sorted((x for x in counts if x), reverse=True)
        if falling:
            group = {(str(v),): x for v, x in enumerate(falling)}
            spare = Fraction(c) * sum(falling[l - 1 :]) - falling[0]
            assert lawful(model, group, group) == (spare > 0)
            seen.add(spare == 0)
    assert l != 2 or seen == {True, False}
