"""Composition: two releases about the same people, and the values that a person's classes share.

References
----------
S. R. Ganta, S. P. Kasiviswanathan, A. Smith. Composition attacks and auxiliary information in data
privacy. KDD 2008.
"""

import numpy as np

from incrowd.attacks.findings import Outcome
from incrowd.attacks.fits import fits_of
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import Other, Scene, Secret
from incrowd.kernels.types import Bools, Ints


def composition(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Intersect the values of the cheapest classes that fit in both; guess where one is left.

    The control does without the other release: what this one tells by itself.
    """
    other, members, mine = scene.other, scene.members, scene.seen.secrets[secret]
    assert other is not None
    assert members.place is not None
    both = np.flatnonzero(other.place >= 0)
    there = members.chosen(both)
    theirs = values_alike(mine, other.seen.secrets[secret])
    cheap = cheapest(other.chosen(both))
    mine_held, their_held = mine.counts > 0, theirs
    worn = there.secrets[:, secret]
    guesses = scene.fits.cheapest[both]
    found = alone(mine_held[guesses], their_held[cheap], worn)
    attack = Rate.of(found, guesses)
    control = Rate.of(alone(mine_held[guesses], mine_held[guesses], worn), guesses)
    known = alone(mine_held[there.place], their_held[other.place[both]], worn)  # pyright: ignore
    return Outcome(
        attack=attack,
        control=control,
        says=f"{len(both):,} people are in both releases; of {attack.success:,.0f} of them "
        f"({attack.rate:.1%}) the classes that fit share one value alone, and it is theirs; of "
        f"{control.rate:.1%} this release tells as much by itself.",
        more={"classes_known": float(known.mean()) if len(known) else 0.0},
    )


def values_alike(mine: Secret, theirs: Secret) -> Bools:
    """bool, shape (classes of the other, values of ours): which values its classes hold."""
    number = {text: code for code, text in enumerate(theirs.values)}
    held = np.column_stack([theirs.counts > 0, np.zeros(len(theirs.counts), bool)])
    return held[:, [number.get(text, -1) for text in mine.values]]


def cheapest(other: Other) -> Ints:
    """int64, shape (members,): the cheapest class of the other release that fits each."""
    seen = other.seen
    return fits_of(seen.trees, seen.levels, seen.nodes, seen.sizes, other.codes).cheapest


def alone(one: Bools, two: Bools, worn: Ints) -> Bools:
    """bool, shape (people,): whether one value alone is in both sets, and the person bears it."""
    meet = one & two
    return (meet.sum(axis=1) == 1) & meet[np.arange(len(worn)), worn]
