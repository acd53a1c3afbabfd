"""Tests of δ against its definition, in exact fractions."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import islice
from math import comb, factorial

import pytest

from incrowd.checker.hockey import MOST, below_exponential, require_delta
from incrowd.checker.rejection import RejectedError
from incrowd.codebooks.delta import (
    Asked,
    delta_of,
    exact_delta,
    falling,
    least_k,
    of_delta,
    rising,
)
from incrowd.errors import InputError


@cache
def counts(n: int, share: Fraction, k: int) -> list[Fraction]:
    """Bin(n, share), what lies below k as one outcome."""
    all_ = [comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(n + 1)]
    return [sum(all_[:k], Fraction(0)), *all_[k:]]


def stick(one: list[Fraction], two: list[Fraction], factor: Fraction) -> Fraction:
    return sum(
        (max(Fraction(0), p - factor * q) for p, q in zip(one, two, strict=True)), Fraction(0)
    )


def exponential(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions around e^ε, for ε up to 1: Lagrange's rest of the series."""
    low = sum((epsilon**i / factorial(i) for i in range(30)), Fraction(0))
    return low, low + 3 * epsilon**30 / factorial(30)


def largest(k: int, share: Fraction, factor: Fraction, most: int) -> Fraction:
    """δ by its definition, for n up to ``most``."""
    found = Fraction(0)
    for n in range(most):
        fewer, more = counts(n, share, k), counts(n + 1, share, k)
        fewer = fewer + [Fraction(0)] * (len(more) - len(fewer))
        found = max(found, stick(more, fewer, factor), stick(fewer, more, factor))
    return found


CASES = [
    (k, Fraction(share), Fraction(epsilon))
    for k in (1, 2, 5)
    for share in ("1/2", "1/3", "9/10", "1/20")
    for epsilon in ("1", "1/2", "1/5")
]


@pytest.mark.parametrize(("k", "share", "epsilon"), CASES)
def test_delta_is_the_largest_divergence(k: int, share: Fraction, epsilon: Fraction):
    """Tests both directions over many n; beyond them no larger one is expected, nor found."""
    low, high = exponential(epsilon)
    found = Fraction(exact_delta(Asked(k, share, epsilon)))
    tiny = Fraction(1, 10**25)
    assert largest(k, share, high, 60) - tiny <= found <= largest(k, share, low, 60) + tiny


LONG = Fraction(9, 10), Fraction(1, 5)  # takes ten times as long as others, for any k


@pytest.mark.parametrize(
    ("k", "share", "epsilon"), [case for case in CASES if case[0] in (1, 5) or case[1:] != LONG]
)
def test_the_checker_agrees(k: int, share: Fraction, epsilon: Fraction):
    """Tests that it takes what is computed, and refuses a claim a millionth below it."""
    found = Fraction(exact_delta(Asked(k, share, epsilon)))
    require_delta(k, share, epsilon, found * (1 + Fraction(1, 10**20)))
    with pytest.raises(RejectedError, match="delta is more than claimed"):
        require_delta(k, share, epsilon, found * (1 - Fraction(1, 10**6)))


@pytest.mark.parametrize(("k", "share", "epsilon"), [(2, "1/2", "1/50"), (3, "9/10", "1")])
def test_each_direction_and_its_tail(k: int, share: str, epsilon: str):
    """Tests every n by itself, and that what no later n exceeds is exceeded by none."""
    part, limit = Fraction(share), Fraction(epsilon)
    low, high = exponential(limit)
    tiny = Fraction(1, 10**25)
    with localcontext(Context(prec=100)):
        told = (
            Decimal(part.numerator) / part.denominator,
            Decimal(limit.numerator) / limit.denominator,
        )
        ways = [list(islice(way(k, *told), 50)) for way in (rising, falling)]
    for i in range(50):
        fewer, more = counts(k - 1 + i, part, k), counts(k + i, part, k)
        fewer = fewer + [Fraction(0)] * (len(more) - len(fewer))
        for (found, _), (one, two) in zip(
            (way[i] for way in ways), ((more, fewer), (fewer, more)), strict=True
        ):
            assert stick(one, two, high) - tiny <= Fraction(found) <= stick(one, two, low) + tiny
    for way in ways:
        assert all(later <= most for i, (_, most) in enumerate(way) for later, _ in way[i:])
        assert way[0][1] > way[-1][1] or way[-1][1] == 1


def test_figures_are_rounded_up_and_known():
    """Tests the figures of the documentation, and that a float is never less than δ."""
    assert f"{delta_of(20, 0.5, 1):.1e}" == "1.1e-04"
    assert delta_of(20, 0.5, 1) >= exact_delta(Asked.of(20, "0.5", 1))
    assert delta_of(20, 0.5, 1) == delta_of(20, "1/2", "1")
    assert (
        delta_of(1, 0.5, 100) <= 0.500001
    )  # the first row of a pattern shows itself when it is taken


def test_a_larger_k_is_never_worse():
    found = [delta_of(k, 0.3, 0.5) for k in range(1, 40)]
    assert found == sorted(found, reverse=True)


def test_least_k():
    for delta in (0.2, 1e-3, 1e-6):
        k = least_k(0.5, 1, delta)
        assert delta_of(k, 0.5, 1) <= delta < delta_of(k - 1, 0.5, 1)
    assert least_k(0.5, 1, 1) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0, 0.5, 1), "k:"),
        ((True, 0.5, 1), "k:"),
        ((5, 1, 1), "not everybody is taken"),
        ((5, 0, 1), "sample"),
        ((5, "x", 1), "sample"),
        ((5, 0.5, 0), "epsilon"),
        ((5, 0.5, "1000"), "epsilon"),
        ((5, 0.5, True), "epsilon"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        delta_of(*given)


def test_least_k_refuses_nothing_at_all():
    with pytest.raises(InputError, match="1e-60"):
        least_k(0.5, 1, 1e-70)


def test_the_checker_refuses():
    """Tests numbers out of range, and k too large for the definition."""
    half, one = Fraction(1, 2), Fraction(1)
    for wrong in ((0, half, one, half), (2, one, one, half), (2, half, one, Fraction(0))):
        with pytest.raises(RejectedError, match="out of range"):
            require_delta(*wrong)
    with pytest.raises(RejectedError, match=f"within {MOST} rows"):
        require_delta(MOST + 1, half, one, half**900)


def test_below_exponential():
    for epsilon in (Fraction(1, 7), Fraction(1), Fraction(10)):
        found = below_exponential(epsilon)
        more = sum(epsilon**i / factorial(i) for i in range(120))
        assert 0 < more - found < Fraction(1, 10**30)


@pytest.mark.parametrize(("sample", "warned"), [("0.5", 0), ("0.99", 1), ("0.999", 2)])
def test_what_nobody_can_recompute_is_said_when_it_is_made(sample: str, warned: int):
    """Tests samples near 1: the checker refuses δ at once, and the maker is told before."""
    asked, delta = Asked.of(20, sample, 1), delta_of(20, sample, 1)
    found = of_delta(asked, delta)
    assert len(found) == warned
    assert sum("verify --patterns will refuse" in one for one in found) == (warned == 2)
    if warned < 2:
        require_delta(20, asked.sample, asked.epsilon, Fraction(str(delta)))
        return
    with pytest.raises(RejectedError, match="cannot be recomputed"):
        require_delta(20, asked.sample, asked.epsilon, Fraction(str(delta)))
