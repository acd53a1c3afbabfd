"""δ of a release by fixed patterns, from its definition, in whole numbers.

One row more changes the count of a pattern from Bin(n, β) to Bin(n + 1, β); what lies below k is
seen as one outcome.  δ is the largest, over n, of Σ (P − e^ε Q)⁺, either one being P.
"""

from fractions import Fraction
from math import comb, factorial, log

from incrowd.checker.rejection import RejectedError, require

MOST = 4000
"""Rows of a pattern up to which the definition is computed; the work grows with the square."""
MOST_BITS = 1 << 36
"""Bits of all numbers that are added up: half a minute."""
BEYOND = f"delta cannot be recomputed within {MOST} rows of a pattern"
STEEPEST, FINEST = 100, 10**20
"""The largest ε, and the denominators of samples up to which the numbers fit in the memory."""


def require_delta(k: int, share: Fraction, epsilon: Fraction, claimed: Fraction) -> None:
    """Reject a claimed δ that some number of rows exceeds."""
    require(k >= 1 and 0 < share < 1 and epsilon > 0, "k, sample or epsilon is out of range")
    require(0 < claimed <= 1, "delta is out of range")
    require_reach(k, share, epsilon, claimed)
    factor = below_exponential(epsilon)
    part, whole = share.numerator, share.denominator
    n = k - 1
    left = MOST_BITS
    few = [comb(n, j) * part**j * (whole - part) ** (n - j) for j in range(n + 1)]
    while not none_later(k, n, share, factor, claimed, Fraction(sum(few[:k]), whole**n)):
        left -= n * n * whole.bit_length()  # so many numbers, each of so many bits for each row
        if n >= MOST or left < 0:
            raise RejectedError(BEYOND)
        more = [(whole - part) * a + part * b for a, b in zip([*few, 0], [0, *few], strict=True)]
        one, two = seen(more, k), seen([whole * weight for weight in [*few, 0]], k)
        found = max(hockey_stick(one, two, factor), hockey_stick(two, one, factor))
        holds = found / whole ** (n + 1) <= claimed
        require(holds, f"delta is more than claimed: {n:,} rows of a pattern, and one more")
        few, n = more, n + 1


def require_reach(k: int, share: Fraction, epsilon: Fraction, claimed: Fraction) -> None:
    """Reject a claim for which the definition would have to be computed too far, at once.

    It goes on to where Chernoff's bound speaks of the rest; near a sample of 1 that is far away.
    """
    require(k <= MOST, BEYOND)
    small = epsilon <= STEEPEST and share.denominator < FINEST
    require(small, "delta cannot be recomputed for such a sample or epsilon")
    factor, left, n = below_exponential(epsilon), MOST_BITS, k - 1
    while not none_later(k, n, share, factor, claimed, Fraction(0)):
        left -= n * n * share.denominator.bit_length()
        require(n < MOST and left >= 0, BEYOND)
        n += 1


def seen(weights: list[int], k: int) -> list[int]:
    """All below k together, then each count."""
    return [sum(weights[:k]), *weights[k:]]


def hockey_stick(one: list[int], two: list[int], factor: Fraction) -> Fraction:
    """Σ (one − factor · two)⁺."""
    up, down = factor.numerator, factor.denominator
    return Fraction(sum(max(0, down * x - up * y) for x, y in zip(one, two, strict=True)), down)


def below_exponential(epsilon: Fraction) -> Fraction:
    """A number just below e^ε; with it divergences are no less than with e^ε."""
    total, term, i = Fraction(1), Fraction(1), 0
    while i <= epsilon or term > Fraction(1, 10**40):
        i += 1
        term = epsilon**i / factorial(i)
        total += term
    return Fraction(int(total * 10**40), 10**40)


def none_later(
    k: int, n: int, share: Fraction, factor: Fraction, claimed: Fraction, hidden: Fraction
) -> bool:
    """Whether Chernoff's bound says that no n from here on exceeds the claim.

    The best event is "more than (n + 1) γ", or "fewer than (n + 1) ζ", where k lets it be seen.
    """
    size, beta = n + 1, float(share)
    gamma = float(1 - (1 - share) / factor)
    zeta = max(float(1 - (1 - share) * factor), 1e-12)
    need = -log(claimed) + 1e-6
    fine = size * gamma > k + 1e-6 and size * distance(gamma, beta) > need
    if (1 - share) * factor >= 1:
        return fine  # one row more never makes small counts likelier by so much
    return fine and hidden <= claimed and size * distance(zeta, beta) > need - log(1 - beta)


def distance(p: float, q: float) -> float:
    """KL(p, q), less what rounding may have added."""
    found = p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))
    return found * (1 - 1e-6) - 1e-15
