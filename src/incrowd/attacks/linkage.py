"""Linkage: which released row is this person's?

References
----------
K. El Emam, F. K. Dankar. Protecting privacy using k-anonymity. JAMIA 15(5), 2008.
"""

import numpy as np

from incrowd.attacks.findings import Outcome
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import Scene


def prosecutor(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Take, by lot, one of the released rows that fit a person of the table."""
    seen, members = scene.seen, scene.members
    fitting = scene.fits.rows(seen.sizes)
    attack = Rate.of(1 / np.maximum(fitting, 1), members.place)
    return Outcome(
        attack=attack,
        control=by_lot(scene),
        says="Somebody who takes one of the released rows that fit a person finds the right one "
        f"for {attack.rate:.1%} of the people; {1 / seen.sizes.min():.1%} is what the smallest "
        "class allows.",
        more={
            "allowed": 1 / int(seen.sizes.min()),
            "median_rows_that_fit": float(np.median(fitting)),
        },
    )


def journalist(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Take, by lot, one person of a register whom a released row fits."""
    seen = scene.seen
    register = scene.fits.persons(len(seen.sizes))
    others = 0
    if scene.others is not None:
        register = register + scene.fits_of_others.persons(len(seen.sizes))
        others = len(scene.others)
    every = np.repeat(np.arange(len(seen.sizes)), seen.sizes)
    attack = Rate.of(1 / np.maximum(register, 1)[every], every)
    whole = len(scene.members) + others
    return Outcome(
        attack=attack,
        control=Rate.exactly(1 / whole, attack.tries),
        says=f"Somebody who has a register of {whole:,} people and takes one whom a released row "
        f"fits is right for {attack.rate:.1%} of the rows.",
        more={"highest": 1 / int(np.maximum(register, 1).min()), "register": whole},
    )


def marketer(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Link every row within its class, the class being known: classes/rows come out right."""
    seen = scene.seen
    every = np.repeat(np.arange(len(seen.sizes)), seen.sizes)
    attack = Rate.of(1 / seen.sizes[every], every)
    return Outcome(
        attack=attack,
        control=by_lot(scene),
        says=f"Somebody who links all rows, and knows the class of everybody, is right for "
        f"{attack.success:,.0f} of {attack.tries:,}, one a class.",
        more={"classes": len(seen.sizes)},
    )


def cheapest_class(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Take a row of the cheapest classes that fit: a method that changes little puts people there.

    The control takes any row that fits, so that the risk is what near optimality gives away.
    """
    seen, members, fits = scene.seen, scene.members, scene.fits
    assert members.place is not None
    cheap = fits.least
    held = np.bincount(fits.person[cheap], seen.sizes[fits.place[cheap]], len(members))
    own = cheap & (fits.place == members.place[fits.person])
    right = np.bincount(fits.person[own], minlength=len(members)).astype(bool)
    attack = Rate.of(right / np.maximum(held, 1), members.place)
    control = Rate.of(1 / np.maximum(fits.rows(seen.sizes), 1), members.place)
    in_class = float((right * seen.sizes[members.place] / np.maximum(held, 1)).mean())
    return Outcome(
        attack=attack,
        control=control,
        says=f"A row taken from the cheapest classes that fit stands in the person's own class for "
        f"{in_class:.1%} of the people, and is the person's for {attack.rate:.1%}; one taken from "
        f"all rows that fit is the person's for {control.rate:.1%}.",
        more={
            "class_right": in_class,
            "own_among_cheapest": float(right.mean()),
            "allowed": 1 / int(seen.sizes.min()),
        },
    )


def by_lot(scene: Scene) -> Rate:
    """Return the rate of who takes any released row at all."""
    return Rate.exactly(1 / scene.seen.rows, len(scene.members))
