"""De Finetti: learn across classes which people bear which values, then deal each class's out.

The attacker knows everybody's quasi-identifiers and class.  Naive Bayes learns how
quasi-identifiers and the sensitive value go together, from the classes' bags of values dealt out to
their people; dealing out follows what was learnt; and so on in turns.

References
----------
D. Kifer. Attacks on privacy and de Finetti's theorem. SIGMOD 2009.
"""

import numpy as np

from incrowd.attacks.findings import Outcome
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import Scene
from incrowd.kernels.types import Floats, Ints

ROUNDS = 6
FITS = 15  # of rows and classes in turn, in each round
CELLS = 20_000_000  # people × values: beyond, some classes by lot
SURE = 0.9


def de_finetti(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Guess the likeliest value of everybody; the same model guesses of people outside."""
    people, place = taken(scene, secret, rng)
    worn = scene.members.secrets[people, secret]
    shares, learnt = dealt(scene, secret, people, place)
    guess = shares.argmax(axis=1)
    attack = Rate.of(guess == worn, place)
    others = scene.strangers
    control = Rate.of(learnt.of(others.codes).argmax(axis=1) == others.secrets[:, secret])
    sure = shares.max(axis=1) > SURE
    sure_right = int((guess == worn)[sure].sum())
    counts = scene.seen.secrets[secret].counts[place]
    bag = float((counts[np.arange(len(worn)), worn] / counts.sum(axis=1)).mean())
    return Outcome(
        attack=attack,
        control=control,
        says=f"Somebody who knows all classes and learns from them is right for {attack.rate:.1%} "
        f"of the people, for {control.rate:.1%} of those who are not in the table; a value by lot "
        f"from the class, for {bag:.1%}. {int(sure.sum()):,} guesses are surer than {SURE:.0%}, "
        f"and {sure_right:,} of them right.",
        more={"by_lot": bag, "sure": int(sure.sum()), "sure_right": sure_right},
    )


def taken(scene: Scene, secret: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the members that are looked at, by class, and their classes; all where they fit."""
    place = scene.members.place
    assert place is not None
    order = np.argsort(place, kind="stable")
    most = max(1, CELLS // max(1, len(scene.seen.secrets[secret].values)))
    if len(order) > most:
        lot = rng.permutation(len(scene.seen.sizes))
        last = np.searchsorted(np.cumsum(scene.seen.sizes[lot]), most)
        order = order[np.isin(place[order], lot[: max(1, int(last))])]
    return order, place[order]


class Bayes:
    """Naive Bayes over the quasi-identifiers, from weights of people in values."""

    def __init__(self, codes: Ints, sizes: list[int], weights: Floats) -> None:
        prior = weights.sum(axis=0) + 1
        self.prior = np.log(prior)
        self.tables = []
        for j, size in enumerate(sizes):
            table = np.zeros((size, weights.shape[1]))
            np.add.at(table, codes[:, j], weights)
            self.tables.append(np.log((table + 0.5) / (prior + 0.5 * size)))

    def of(self, codes: Ints, prior: bool = True) -> Floats:
        """float64, shape (people, values): logarithms of what each value is to be believed."""
        found = np.zeros((len(codes), len(self.prior)))
        for j, table in enumerate(self.tables):
            found += table[codes[:, j]]
        return found + self.prior if prior else found


def dealt(scene: Scene, secret: int, people: Ints, place: Ints) -> tuple[Floats, Bayes]:
    """Return float64, shape (people, values): probabilities, and what was learnt on the way.

    ``people`` stand class by class; each class's column sums are its bag of values.
    """
    codes = scene.members.codes[people]
    sizes = [len(tree.leaves) for tree in scene.seen.trees]
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    number = np.cumsum(np.diff(place, prepend=-1) != 0) - 1
    bag = scene.seen.secrets[secret].counts[place[starts]].astype(np.float64)
    shares = (bag / bag.sum(axis=1, keepdims=True))[number]
    learnt = Bayes(codes, sizes, shares)
    for _ in range(ROUNDS):
        logs = learnt.of(codes, prior=False)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True)) * (bag > 0)[number]
        shares = np.maximum(shares, 1e-12 * (bag > 0)[number])
        for _ in range(FITS):
            shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
            column = np.add.reduceat(shares, starts, axis=0)
            shares *= (bag / np.maximum(column, 1e-300))[number]
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        learnt = Bayes(codes, sizes, shares)
    return shares, learnt
