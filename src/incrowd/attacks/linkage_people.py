"""Linkage where people have several rows: who is found, by the riskiest row of each.

The attacker knows one row of a target, without knowing which of the released rows are of one
person.  A person counts once, by the row that is the easiest to link: as ``incrowd measure`` has
it, a person's risk is that of the riskiest row.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.findings import Outcome
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import People, Scene
from incrowd.privacy.classes import values_by_class

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def prosecutor(scene: Scene) -> Outcome:
    """Take, by lot, one of the released rows that fit a known row of a person of the table."""
    seen, fits = scene.seen, scene.fits
    whose, place = owned(scene.members)
    fitting = fits.rows(seen.sizes)
    own = np.bincount(fits.person, own_rows(scene), len(place))
    attack = by_riskiest(own / np.maximum(fitting, 1), whose, place)
    least = int(values_by_class(place, whose).min())
    return Outcome(
        attack=attack,
        control=by_lot(scene),
        says="Somebody who knows a row of a person, the riskiest, and takes one of the released "
        f"rows that fit it, has one of this person's rows for {attack.rate:.1%} of the people; who "
        f"takes one of the people of the class with the fewest is right in {1 / least:.1%}.",
        more={"allowed": 1 / least, "median_rows_that_fit": float(np.median(fitting))},
    )


def journalist(scene: Scene) -> Outcome:
    """Take, by lot, one person of a register of whom a row fits a released row of the target."""
    whose, place = owned(scene.members)
    register = values_by_class(scene.fits.place, whose[scene.fits.person], len(scene.seen.sizes))
    others = 0
    if scene.others is not None:
        theirs, fits = numbered(scene.others), scene.fits_of_others
        register = register + values_by_class(fits.place, theirs[fits.person], len(register))
        others = scene.others.persons
    attack = by_riskiest(1 / np.maximum(register, 1)[place], whose, place)
    total = attack.tries + others
    return Outcome(
        attack=attack,
        control=Rate.exactly(1 / total, attack.tries),
        says=f"Somebody who has a register of {total:,} people with all their rows, and takes one "
        f"of whom a row fits a released row, the riskiest of a person, is right for "
        f"{attack.rate:.1%} of the people.",
        more={"highest": 1 / int(np.maximum(register, 1).min()), "register": total},
    )


def marketer(scene: Scene) -> Outcome:
    """Link everybody within each class: one of its people comes out right."""
    whose, place = owned(scene.members)
    people = values_by_class(place, whose, len(scene.seen.sizes))
    every = np.repeat(np.arange(len(people)), people)
    attack = Rate.of(1 / people[every], every)
    return Outcome(
        attack=attack,
        control=Rate.exactly(1 / scene.members.persons, attack.tries),
        says="Somebody who links people in every class, and knows the classes of everybody, is "
        f"right for {attack.success:,.0f} of {attack.tries:,}, one a class; a person counts in "
        "each class that holds rows of this person.",
        more={"classes": len(people)},
    )


def cheapest_class(scene: Scene) -> Outcome:
    """Take a row of the cheapest classes that fit a known row; the control: any row that fits."""
    seen, fits = scene.seen, scene.fits
    whose, place = owned(scene.members)
    every, cheap = own_rows(scene), fits.least
    held = np.bincount(fits.person[cheap], seen.sizes[fits.place[cheap]], len(place))
    own = np.bincount(fits.person[cheap], every[cheap], len(place))
    attack = by_riskiest(own / np.maximum(held, 1), whose, place)
    any_own = np.bincount(fits.person, every, len(place)) / np.maximum(fits.rows(seen.sizes), 1)
    control = by_riskiest(any_own, whose, place)
    right = own > 0
    return Outcome(
        attack=attack,
        control=control,
        says="A row taken from the cheapest classes that fit a row of a person, the riskiest, is "
        f"one of this person's for {attack.rate:.1%} of the people; one taken from all rows that "
        f"fit, for {control.rate:.1%}.",
        more={
            "own_among_cheapest": float(right.mean()),
            "allowed": 1 / int(values_by_class(place, whose).min()),
        },
    )


def owned(members: People) -> tuple[Ints, Ints]:
    """Return the person, numbered 0, 1, …, and the class of each row of the table."""
    assert members.place is not None
    return numbered(members), members.place


def numbered(people: People) -> Ints:
    """int64, shape (rows,): whose each row is, as 0, 1, …; each its own where nobody says."""
    if people.whose is None:
        return np.arange(len(people))
    return np.unique(people.whose, return_inverse=True)[1].ravel().astype(np.int64)


def own_rows(scene: Scene) -> Ints:
    """int64, shape (pairs of ``Scene.fits``,): rows in the class that are of the row's person."""
    whose, place = owned(scene.members)
    classes = len(scene.seen.sizes)
    pairs, count = np.unique(whose * classes + place, return_counts=True)
    sought = whose[scene.fits.person] * classes + scene.fits.place
    at = np.minimum(np.searchsorted(pairs, sought), len(pairs) - 1)
    return np.where(pairs[at] == sought, count[at], 0)


def by_riskiest(score: Floats, whose: Ints, place: Ints) -> Rate:
    """Count each person once, by the row with the highest score, of the first such class."""
    order = np.lexsort((place, -score, whose))
    first = order[np.flatnonzero(np.diff(whose[order], prepend=-1))]
    return Rate.of(score[first], place[first])


def by_lot(scene: Scene) -> Rate:
    """Return the rate of who takes any released row at all: over all people, one of each."""
    people = scene.members.persons
    return Rate.exactly(1 / people, people)
