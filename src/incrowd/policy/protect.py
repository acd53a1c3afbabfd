"""What a policy asks of combinations of quasi-identifiers, each with a k of its own."""

from collections.abc import Sequence
from typing import Any

from incrowd.errors import InputError, column_meant
from incrowd.privacy.combination import Combination


class Unsaid(int):
    """A k that nobody said: the default, which gives way to combinations."""


def asked_of(policy: Any, qi: Sequence[str]) -> tuple[Combination, ...]:
    """Return all that is asked: the combinations, and all quasi-identifiers with the whole k.

    Raises
    ------
    InputError: a column is not a quasi-identifier.
    """
    for one in policy.protect:
        for name in one.columns:
            if name not in qi:
                raise InputError(
                    f"protect: {name!r} is not a quasi-identifier{column_meant(name, qi)}"
                )
    whole = [Combination(tuple(qi), policy.k)] if policy.k > 1 and qi else []
    return (*policy.protect, *whole)


def telling(asked: Sequence[Combination]) -> tuple[Combination, ...]:
    """Return those that another does not imply, the first of equal ones."""
    kept: list[Combination] = []
    for n, one in enumerate(asked):
        others = (*kept, *asked[n + 1 :])
        if one.k > 1 and not any(one.within(other) for other in others):
            kept.append(one)
    return tuple(kept)
