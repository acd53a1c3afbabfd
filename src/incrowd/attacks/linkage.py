"""Linkage: which released row is this person's?

Where people have several rows, the attacker knows one row of a target, without knowing which of the
released rows are of one person.  A person counts once, by the row that is the easiest to link: as
``incrowd measure`` has it, a person's risk is that of the riskiest row.

References
----------
K. El Emam, F. K. Dankar. Protecting privacy using k-anonymity. JAMIA 15(5), 2008.
"""

import numpy as np

from incrowd.attacks.findings import Outcome
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import People, Scene
from incrowd.kernels.types import Floats, Ints
from incrowd.privacy.classes import values_by_class


def prosecutor(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Take, by lot, one of the released rows that fit a known row of a person of the table."""
    whose, place = owned(scene.members)
    fitting = scene.fits.rows(scene.seen.sizes)
    own = np.bincount(scene.fits.person, own_rows(scene), len(place))
    attack = by_riskiest(own / np.maximum(fitting, 1), whose, place)
    least = int(values_by_class(place, whose).min())
    says = (
        "Somebody who takes one of the released rows that fit a person finds the right one "
        f"for {attack.rate:.1%} of the people; {1 / least:.1%} is what the smallest class allows."
    )
    if scene.members.whose is not None:
        says = (
            "Somebody who knows a row of a person, the riskiest, and takes one of the released "
            f"rows that fit it, has one of this person's rows for {attack.rate:.1%} of the people; "
            f"who takes one of the people of the class with the fewest is right in {1 / least:.1%}"
        )
        matched = ", as rows were matched here: true classes may hold more people"
        says += f"{matched if scene.approximate else ''}."
    more = {"allowed": 1 / least, "median_rows_that_fit": float(np.median(fitting))}
    return Outcome(attack=attack, control=by_lot(scene), says=says, more=more)


def journalist(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
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
    says = (
        f"Somebody who has a register of {total:,} people and takes one whom a released row "
        f"fits is right for {attack.rate:.1%} of the rows."
    )
    if scene.members.whose is not None:
        says = (
            f"Somebody who has a register of {total:,} people with all their rows, and takes one "
            "of whom a row fits a released row, the riskiest of a person, is right for "
            f"{attack.rate:.1%} of the people."
        )
    more = {"highest": 1 / int(np.maximum(register, 1).min()), "register": total}
    return Outcome(
        attack=attack, control=Rate.exactly(1 / total, attack.tries), says=says, more=more
    )


def register(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Take, by lot, one person of the given register who fits a released row of the target."""
    known = scene.register
    assert known is not None
    whose, place = owned(scene.members)
    attack = by_riskiest(known.right / np.maximum(known.fits, 1), whose, place)
    people = round(by_riskiest(known.inside, whose, place).success)
    lone = known.fits == 1
    only = [len(np.unique(whose[which])) for which in (lone, lone & (known.right > 0))]
    who = "people" if scene.members.whose is not None else "rows"
    known_of, of_all = (
        ", ".join(known.columns),
        f"{people:,} of {attack.tries:,} are in the register",
    )
    says = (
        f"Somebody who has the register of {known.people:,} people with {known_of}, and "
        f"takes one of those who fit a released row, names the right one for {attack.rate:.1%} "
        f"of the {who}. {only[0]:,} of them fit one person of it alone, who is the right one for "
        f"{only[1]:,}. {of_all + '.' if known.named else f'At most {of_all}{ASSUMED}'}"
    )
    more = {"register": known.people, "inside": people, "alone": only[0], "alone_right": only[1]}
    control = Rate.exactly(people / attack.tries / known.people, attack.tries)
    return Outcome(attack=attack, control=control, says=says, more=more)


ASSUMED = (
    ": as no identifier (--id) is in both, as many of the rows with the same values in these "
    "columns were taken to be of people in the register as it has people with these values."
)


def marketer(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Link everybody within each class, the class being known: one of its people is right."""
    whose, place = owned(scene.members)
    people = values_by_class(place, whose, len(scene.seen.sizes))
    every = np.repeat(np.arange(len(people)), people)
    attack = Rate.of(1 / people[every], every)
    says = (
        "Somebody who links all rows, and knows the class of everybody, is right for "
        f"{attack.success:,.0f} of {attack.tries:,}, one a class."
    )
    if scene.members.whose is not None:
        says = (
            "Somebody who links people in every class, and knows the classes of everybody, is "
            f"right for {attack.success:,.0f} of {attack.tries:,}, one a class; a person counts in "
            "each class that holds rows of this person."
        )
    control = Rate.exactly(1 / scene.members.persons, attack.tries)
    return Outcome(attack=attack, control=control, says=says, more={"classes": len(people)})


def cheapest_class(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Take a row of the cheapest classes that fit: a method that changes little puts people there.

    The control takes any row that fits, so that the risk is what near optimality gives away.
    """
    seen, fits = scene.seen, scene.fits
    whose, place = owned(scene.members)
    every, cheap = own_rows(scene), fits.least
    held = np.bincount(fits.person[cheap], seen.sizes[fits.place[cheap]], len(place))
    own = np.bincount(fits.person[cheap], every[cheap], len(place))
    attack = by_riskiest(own / np.maximum(held, 1), whose, place)
    any_own = np.bincount(fits.person, every, len(place)) / np.maximum(fits.rows(seen.sizes), 1)
    control = by_riskiest(any_own, whose, place)
    more = {
        "own_among_cheapest": float((own > 0).mean()),
        "allowed": 1 / int(values_by_class(place, whose).min()),
    }
    says = (
        "A row taken from the cheapest classes that fit a row of a person, the riskiest, is "
        f"one of this person's for {attack.rate:.1%} of the people; one taken from all rows that "
        f"fit, for {control.rate:.1%}."
    )
    if scene.members.whose is None:
        in_class = float((own * seen.sizes[place] / np.maximum(held, 1)).mean())
        more = {"class_right": in_class, **more}
        says = (
            "A row taken from the cheapest classes that fit stands in the person's own class for "
            f"{in_class:.1%} of the people, and is the person's for {attack.rate:.1%}; one taken "
            f"from all rows that fit is the person's for {control.rate:.1%}."
        )
    return Outcome(attack=attack, control=control, says=says, more=more)


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
