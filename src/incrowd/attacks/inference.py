"""Inference: what is this person's sensitive value?  Homogeneity, skewness, and the best guess.

The attacker knows all quasi-identifiers and that the person is in the table, and takes the cheapest
class that fits.  The control is the same guess about people who are not in the table: what the
release tells about people at large is no harm to those in it.

References
----------
A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam. l-diversity. ICDE 2006.
N. Li, T. Li, S. Venkatasubramanian. t-closeness. ICDE 2007.
"""

import numpy as np

from incrowd.attacks.findings import Outcome
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import People, Scene
from incrowd.kernels.types import Ints

FOLD = 5  # times as frequent in a class as in the table: worth a guess


def homogeneity(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Guess where all rows of the class say the same."""
    worn = scene.seen.secrets[secret]
    kinds = (worn.counts > 0).sum(axis=1)
    value = np.where(kinds == 1, worn.counts.argmax(axis=1), -1)
    attack, control = both(scene, secret, value)
    rows = int(scene.seen.sizes[kinds == 1].sum())
    two = int(scene.seen.sizes[kinds <= 2].sum())
    return Outcome(
        attack=attack,
        control=control,
        says=f"{rows:,} rows stand in classes that say the same of all, {two:,} in classes that "
        f"leave two values at most; {right(attack, control)}",
        more={"homogeneous_rows": rows, "rows_of_two_values": two},
    )


def skewness(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Guess the value that a class has far more often than the table, where there is one."""
    worn = scene.seen.secrets[secret]
    within = worn.counts / scene.seen.sizes[:, None]
    times = within * worn.table.sum() / np.maximum(worn.table, 1)
    value = np.where(times.max(axis=1) >= FOLD, times.argmax(axis=1), -1)
    attack, control = both(scene, secret, value)
    rows = int(scene.seen.sizes[value >= 0].sum())
    return Outcome(
        attack=attack,
        control=control,
        says=f"{rows:,} rows stand in classes with a value {FOLD} times as common as in the table; "
        f"{right(attack, control)}",
        more={"skewed_rows": rows},
    )


def inference(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Guess the commonest value of the class; of the table, where no class fits."""
    worn = scene.seen.secrets[secret]
    attack, control = both(scene, secret, worn.counts.argmax(axis=1), int(worn.table.argmax()))
    naive = float(worn.table.max() / worn.table.sum())
    return Outcome(
        attack=attack,
        control=control,
        says=f"The commonest value of the cheapest class that fits is right for {attack.rate:.1%} "
        f"of the people, for {control.rate:.1%} of those who are not in the table; always saying "
        f"the table's commonest, for {naive:.1%}.",
        more={"table_mode": naive},
    )


def both(scene: Scene, secret: int, value: Ints, otherwise: int = -1) -> tuple[Rate, Rate]:
    """Guess of members and of strangers the ``value`` of their class; −1: no guess."""
    mine = guessed(scene.fits.cheapest, scene.members, secret, value, otherwise)
    theirs = guessed(scene.fits_of_others.cheapest, scene.strangers, secret, value, otherwise)
    return mine, theirs


def guessed(place: Ints, people: People, secret: int, value: Ints, otherwise: int) -> Rate:
    """Count the guesses about some people whose supposed classes are ``place``."""
    guess = np.where(place >= 0, value[place], otherwise)
    made = np.flatnonzero(guess >= 0)
    unit = np.where(place >= 0, place, -1 - np.arange(len(place)))  # each by itself in no class
    return Rate.of(guess[made] == people.secrets[made, secret], unit[made])


def right(attack: Rate, control: Rate) -> str:
    """Say how guesses about the people of the table went, and those about others."""
    if not attack.tries:
        return "no guess could be made."
    return (
        f"guesses from them were right for {share(attack)} of the people they were made about, "
        f"{share(control)} about people who are not in the table."
    )


def share(rate: Rate) -> str:
    """Write a rate with its counts."""
    return f"{rate.success:,.0f} of {rate.tries:,}" + (f" ({rate.rate:.1%})" if rate.tries else "")
