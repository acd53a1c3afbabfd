"""Tests of exact thresholds and comparisons."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd.errors import InputError
from incrowd.privacy.numbers import exact, log_sign, written

F = Fraction


@pytest.mark.parametrize("value", [0.2, "0.2", "1/5", Decimal("0.2"), F(1, 5), "2e-1"])
def test_exact(value: object) -> None:
    """Tests that a threshold is what is written, not the nearest binary fraction."""
    assert exact(value, "t") == F(1, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", ["x", "", None, True, float("nan"), float("inf"), "1/0", [1], "1e400"]
)
def test_no_number(value: object) -> None:
    """Tests that anything else is refused with the parameter's name."""
    with pytest.raises(InputError, match="t must be a number"):
        exact(value, "t")  # type: ignore[arg-type]


def test_written() -> None:
    """Tests that numbers are written as people do, and never as another number."""
    assert [written(F(x)) for x in ("0.2", "3", "1/3", "0.05")] == ["0.2", "3", "1/3", "0.05"]
    assert F(written(F(1, 5) + F(1, 10**30))) == F(1, 5) + F(1, 10**30)


@settings(max_examples=few(200), deadline=None)
@given(st.dictionaries(st.integers(1, 40), st.integers(-30, 30), max_size=5))
def test_log_sign(terms: dict[int, int]) -> None:
    """Tests the sign of Σ a·ln b against the whole numbers Π b^a."""
    above = below = 1
    for b, a in terms.items():
        if a > 0:
            above *= b**a
        else:
            below *= b**-a
    assert log_sign(terms) == (above > below) - (above < below)


def test_log_sign_near_zero() -> None:
    """Tests equality by primes, and differences far below double precision."""
    assert log_sign({6: 50, 2: -50, 3: -50}) == 0
    n = 10**18
    assert log_sign({n + 1: 1, n: -1}) == 1
    assert log_sign({n + 1: -1, n: 1}) == -1
    assert log_sign({}, F(0)) == 0
    assert log_sign({1: 5}, F(1, 10**60)) == -1
    assert log_sign({2: 1}, F("0.6931471805599453094172321214581765680755")) == 1
    assert log_sign({2: 1}, F("0.6931471805599453094172321214581765680756")) == -1
