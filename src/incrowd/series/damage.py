"""Whether what a history says holds together: a damaged one would mislead the next release.

A history is the owner's own file, so nothing here defends against somebody who makes a new one that
holds together (``history.require_expected`` does, where its hash is kept elsewhere).  What is found
is an entry that was taken out, doubled, or changed by itself, with a hash that was made anew.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from incrowd.errors import InputError
from incrowd.series.history import DAMAGED, History, Person

PEOPLE = "people"  # of a release: how many are known with it
OF_RELEASE = {"rows", "counterfeits", "classes", "withheld", PEOPLE}


def require_whole(path: str | Path, history: History) -> None:
    """Raise InputError unless people, classes and releases of a file's history fit each other."""
    m, k = history.asked["m"], history.asked["k"]
    people = history.people
    if not (
        all(fits_itself(key, one, people, m, k) for key, one in people.items())
        and fit_people(history.classes, people, m)
        and fit_releases(history)
    ):
        raise InputError(DAMAGED.format(path))


def fits_itself(key: str, one: Person, people: Mapping[str, Person], m: int, k: int) -> bool:
    """Whether a person has a value of a signature of m or more, and company of the same one."""
    others = [people.get(other) for other in one.beside]
    return (
        bool(key)
        and one.value in one.signature
        and "" not in one.signature
        and len(one.signature) >= m
        and len(one.beside) >= k - 1
        and key not in one.beside
        and all(
            other is not None and other.signature == one.signature and other.value != one.value
            for other in others
        )
    )


def fit_people(
    classes: Sequence[Mapping[str, str | None]], people: Mapping[str, Person], m: int
) -> bool:
    """Whether everybody in the last classes stands there once, under what is known of each."""
    for one in classes:
        here = {key for key in one.values() if key is not None}
        if len(one) < m or not here:
            return False
        for value, key in one.items():
            if key is None:
                continue
            known = people.get(key)
            if known is None or (known.value, known.signature) != (value, frozenset(one)):
                return False
            if not known.beside < here:
                return False
    seen = Counter(key for one in classes for key in one.values() if key is not None)
    return max(seen.values(), default=1) == 1


def fit_releases(history: History) -> bool:
    """Whether releases are counted in whole numbers, the last as its classes are."""
    releases: Sequence[Mapping[str, Any]] = history.releases
    for each in releases:
        if {*each} != OF_RELEASE:
            return False
        if any(type(number) is not int or number < 0 for number in each.values()):
            return False
    places = sum(map(len, history.classes))
    real = sum(key is not None for one in history.classes for key in one.values())
    found = {"rows": real, "counterfeits": places - real, "classes": len(history.classes)}
    last = releases[-1] if releases else dict.fromkeys(OF_RELEASE, 0)
    rows, known = [each["rows"] for each in releases], len(history.people)
    counts = [each[PEOPLE] for each in releases]
    return (
        all(last[name] == number for name, number in found.items())
        and max(rows, default=0) <= known <= sum(rows)
        and all(before <= after for before, after in pairwise(counts))
        and last[PEOPLE] == known
    )
