"""How few counterfeits the next m-invariant release needs (docs/how-to/republish.md).

Theorem.  Let c(S, v) be the published people of signature S with value v who are still there,
D(v) = Σ_S (max_w c(S, w) − c(S, v)) the places open to v, f(v) the newcomers with value v,
F = Σ f, and low(v) = (f(v) − D(v))⁺.  Every m-invariant next release has at least
Σ D − F + max(Σ low, m·max low) counterfeits, and at least 0.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Need:
    """What the next release needs.

    Attributes
    ----------
    counterfeits: the fewest.
    low: by value, newcomers who find no open place.
    extra: rows of classes beyond those that survivors need.
    """

    counterfeits: int
    low: Mapping[str, int]
    extra: int


def need(survivors: Mapping[frozenset[str], Counter[str]], fresh: Counter[str], m: int) -> Need:
    """Return what the theorem says.

    Parameters
    ----------
    survivors: by signature, how many of them have each value.  fresh: newcomers by value.
    """
    places: Counter[str] = Counter()
    for signature, count in survivors.items():
        top = max(count[v] for v in signature)
        for v in signature:
            places[v] += top - count[v]
    low = {v: max(n - places[v], 0) for v, n in fresh.items()}
    extra = max(sum(low.values()), m * max(low.values(), default=0))
    return Need(max(0, places.total() - fresh.total() + extra), low, extra)
