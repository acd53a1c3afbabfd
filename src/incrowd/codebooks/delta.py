"""δ of a sampled count that is seen from k on.

One row more changes the count of one pattern from Bin(n, β) to Bin(n + 1, β), of which all below k
is one outcome.  δ(ε) is the largest over n of both hockey-stick divergences.

**Claim.**  With N = n + 1, b_n(j) = P(Bin(n, β) = j) and e = e^ε the divergences are

    up(n)   = β b_n(s − 1) − (e − 1) P(Bin(n, β) ≥ s),      s = max(k, ⌊N γ⌋ + 1), γ = 1 − (1 − β)/e
    down(n) = e β b_n(s − 1) − (e − 1) P(Bin(n, β) < s),    s = max(k, ⌈N ζ⌉),     ζ = 1 − (1 − β) e

or 0 where that is negative; down is 0 everywhere where ζ ≤ 0.  From n on no up exceeds r^N with
r = exp(−KL(γ, β)), once N γ ≥ k; no down exceeds max(P(Bin(n, β) < k), r^N/(1 − β)), r of ζ.

**Argument.**  P(Bin(N, β) = j)/b_n(j) = N (1 − β)/(N − j) rises with j, and so it does when the
outcomes below k are taken together; so the best event is "at least s", or "less than s", with the s
at which the ratio passes e, or 1/e.  P(Bin(N, β) ≥ s) = P(Bin(n, β) ≥ s) + β b_n(s − 1) gives the
formulas.  The tails are Chernoff's; with probability 1 − β the last coin adds nothing, so
P(Bin(n, β) < s) ≤ P(Bin(N, β) < s)/(1 − β).

**Source.**  For the mechanism and a bound of its δ: N. Li, W. Qardaji, D. Su. On sampling,
anonymization, and differential privacy: or, k-anonymization meets differential privacy.
ASIACCS 2012.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from incrowd.checker.hockey import require_reach
from incrowd.checker.rejection import RejectedError
from incrowd.errors import InputError, quoted
from incrowd.text.exact import part_of

DIGITS = 120
SLACK = Decimal(10) ** -80  # sums of less than 10^7 terms below 1, each right to 10^-119
MOST_STEPS = 2_000_000
MOST_EPSILON = 100
LEAST_DELTA = Fraction(1, 10**60)
LARGEST_DELTA = 0.5  # beyond it a warning says that nobody is protected


@dataclass(frozen=True)
class Asked:
    """k, the sample's share and ε, exactly.

    Raises
    ------
    InputError: k is not a whole number above 0, the share is not between 0 and 1, ε is not above 0.
    """

    k: int
    sample: Fraction
    epsilon: Fraction

    @classmethod
    def of(cls, k: Any, sample: Any, epsilon: Any) -> "Asked":
        """Read the numbers, texts such as ``1/3`` too."""
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise InputError(f"k: expected a whole number above 0, not {quoted(k)}")
        share, limit = _number("sample", sample), _number("epsilon", epsilon)
        if share >= 1:
            raise InputError(
                "sample: expected a probability between 0 and 1, such as 0.5, "
                f"not {quoted(sample)}: what hides whether somebody is in the table is that not "
                "everybody is taken"
            )
        return cls(k, share, limit)


def _number(name: str, given: Any) -> Fraction:
    try:
        found = part_of("" if isinstance(given, bool) else str(given))
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found <= MOST_EPSILON:
        raise InputError(f"{name}: expected a number above 0, such as 0.5, not {quoted(given)}")
    return found


def delta_of(k: int, sample: Any, epsilon: Any) -> float:
    """Return the least δ, rounded up, of the (ε, δ) that a release by fixed patterns has.

    Parameters
    ----------
    k: rows from which on a pattern is published.
    sample: probability with which each row is taken; epsilon: the ε.

    Raises
    ------
    InputError: see ``Asked``; or ε is so small that the largest n cannot be found.
    """
    found = exact_delta(Asked.of(k, sample, epsilon))
    with localcontext() as context:
        context.prec, context.rounding = 6, ROUND_CEILING
        return float(+found)


def of_delta(asked: Asked, delta: float) -> list[str]:
    """Warn of a δ with which hardly anybody is protected, and of one that nobody can recompute."""
    found = []
    if delta > LARGEST_DELTA:
        found.append(
            f"δ is {delta:g}: with this probability somebody may be disclosed, so next to nothing "
            "is promised; take a smaller sample, or a larger k or ε"
        )
    try:
        require_reach(asked.k, asked.sample, asked.epsilon, Fraction(str(delta)))
    except RejectedError as no:
        found.append(
            f"incrowd verify --patterns will refuse the statement, for {no.reason}; take a smaller "
            "sample, a smaller k, or a larger ε, so that others can check it"
        )
    return found


def least_k(sample: Any, epsilon: Any, delta: Any) -> int:
    """Return the least k with which δ is at most so much.

    What a larger k shows follows from what a smaller one shows, so δ never rises with k.

    Raises
    ------
    InputError: see ``delta_of``.
    """
    limit = _number("delta", delta)
    if limit < LEAST_DELTA:
        raise InputError(f"delta: expected 1e-60 or more, not {quoted(delta)}")
    low, high = 1, 1
    while delta_of(high, sample, epsilon) > limit:
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        if delta_of(middle, sample, epsilon) > limit:
            low = middle + 1
        else:
            high = middle
    return high


def exact_delta(asked: Asked) -> Decimal:
    """Return δ, at most 10⁻⁷⁹ more than it is, and no less."""
    with localcontext(Context(prec=DIGITS)):
        share, epsilon = (
            Decimal(x.numerator) / x.denominator for x in (asked.sample, asked.epsilon)
        )
        worst = Decimal(0)
        for step in (rising(asked.k, share, epsilon), falling(asked.k, share, epsilon)):
            for steps, (found, most) in enumerate(step):
                worst = max(worst, found)
                if most <= max(worst, SLACK):
                    break
                if steps >= MOST_STEPS:
                    raise InputError(
                        f"epsilon {float(asked.epsilon):g} is too small for k = {asked.k} and this "
                        "sample: δ takes counts of millions; a larger epsilon, or a smaller k"
                    )
        return worst + SLACK


def rising(k: int, share: Decimal, epsilon: Decimal) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield up(n), and what no later one exceeds, for n = k − 1, k, …"""
    e, rest = epsilon.exp(), 1 - share
    gamma = 1 - rest / e
    ratio = _chernoff(gamma, share, (1 - gamma) * -epsilon)
    state = Binomial.start(k, share)
    while True:
        size = state.n + 1
        while state.s < int(size * gamma) + 1:
            state.raise_s()
        found = share * state.below - (e - 1) * state.tail
        yield max(found, Decimal(0)), ratio**size if size * gamma >= k else Decimal(1)
        state.raise_n()


def falling(k: int, share: Decimal, epsilon: Decimal) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield down(n), and what no later one exceeds, for n = k − 1, k, …"""
    e, rest = epsilon.exp(), 1 - share
    zeta = 1 - rest * e
    if zeta <= 0:
        return
    ratio = _chernoff(zeta, share, (1 - zeta) * epsilon)
    state = Binomial.start(k, share)
    while True:
        size = state.n + 1
        few = 1 - state.tail if state.s == k else Decimal(0)
        while state.s < size * zeta:
            state.raise_s()
        found = e * share * state.below - (e - 1) * (1 - state.tail)
        yield max(found, Decimal(0)), max(few, ratio**size / rest)
        state.raise_n()


def _chernoff(part: Decimal, share: Decimal, other: Decimal) -> Decimal:
    """exp(−KL(part, share)); ``other`` is (1 − part) ln((1 − part)/(1 − share))."""
    return (-(part * (part / share).ln() + other)).exp()


@dataclass
class Binomial:
    """P(Bin(n, share) ≥ s) as ``tail`` and P(Bin(n, share) = s − 1) as ``below``, carried along."""

    n: int
    s: int
    share: Decimal
    tail: Decimal
    below: Decimal

    @classmethod
    def start(cls, k: int, share: Decimal) -> "Binomial":
        """Return n = k − 1, s = k: nothing is seen yet."""
        return cls(k - 1, k, share, Decimal(0), share ** (k - 1))

    def raise_n(self) -> None:
        """One row more."""
        self.tail += self.share * self.below
        self.n += 1
        self.below *= (1 - self.share) * self.n / (self.n - self.s + 1)

    def raise_s(self) -> None:
        """One more to be reached; s is at most n + 1 afterwards."""
        self.below *= self.share * (self.n - self.s + 1) / (self.s * (1 - self.share))
        self.tail -= self.below
        self.s += 1
