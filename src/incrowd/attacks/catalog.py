"""The attacks: name, what the attacker knows, what the control is, function.

A new attack is a function over a scene and a line here; the command, Python, the report and the
pages follow.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from incrowd.attacks import inference, linkage
from incrowd.attacks.composition import composition
from incrowd.attacks.definetti import de_finetti
from incrowd.attacks.downcoding import downcoding
from incrowd.attacks.findings import Outcome
from incrowd.attacks.minimality import minimality
from incrowd.attacks.refinement import refinement
from incrowd.attacks.scene import Scene
from incrowd.attacks.singling import singling_out
from incrowd.errors import InputError, did_you_mean

Run = Callable[[Scene, int, np.random.Generator], Outcome]
"""A scene, the number of a sensitive column (0 where none is guessed), and chance."""

EVERYBODY = "all quasi-identifiers of a person who is in the table"
BY_LOT = "a released row taken by lot"
CLASSES = "the quasi-identifiers and the class of everybody in the table"
STRANGERS = "the same guess about people who are not in the table"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One attack.

    Attributes
    ----------
    family: attacks that are asked for together by this name.
    knows: what the attacker has beside the release, the method and the hierarchies.
    against: what the control is.
    run: makes it.
    people: whether it needs people who are not in the table.
    secret: whether it guesses a sensitive column: it is then made for each of them.
    whose: whether its count rests on which released row is whose.
    shadow: whether it needs a release of the other people, made by the same rules.
    register: whether it needs a register that somebody may have.
    other: whether it needs another release about people of the table.
    one_row: whether it knows one row of a person, taken by lot, where people have several.
    of_rows: whether it thinks of models of rows, and is not made where people are counted.
    """

    name: str
    family: str
    knows: str
    against: str
    run: Run
    people: bool = False
    secret: bool = False
    whose: bool = False
    shadow: bool = False
    register: bool = False
    other: bool = False
    one_row: bool = False
    of_rows: bool = False


LINKAGE = partial(Attack, family="linkage")
INFERENCE = partial(Attack, family="inference", secret=True)
GUESS = partial(INFERENCE, knows=EVERYBODY, against=STRANGERS, people=True, one_row=True)
"""What a person's class tells of a sensitive column."""

ATTACKS = (
    LINKAGE(name="prosecutor", knows=EVERYBODY, against=BY_LOT, run=linkage.prosecutor),
    LINKAGE(
        name="journalist",
        knows="a register of people with all quasi-identifiers: those of the table and, where "
        "other people are given, those",
        against="a person of the register taken by lot",
        run=linkage.journalist,
    ),
    Attack(
        name="register",
        family="register",
        knows="the given register (--register): some of the quasi-identifiers of people, of whom "
        "some or all are in the table",
        against="a person of the register taken by lot",
        run=linkage.register,
        whose=True,
        register=True,
    ),
    LINKAGE(
        name="marketer",
        knows="the class of everybody in the table",
        against=BY_LOT,
        run=linkage.marketer,
    ),
    LINKAGE(
        name="cheapest-class",
        knows=EVERYBODY + ", and that the method changes little",
        against="any released row that fits the person",
        run=linkage.cheapest_class,
        whose=True,
    ),
    GUESS(name="homogeneity", run=inference.homogeneity),
    GUESS(name="skewness", run=inference.skewness),
    GUESS(name="best-guess", run=inference.inference),
    INFERENCE(
        name="minimality",
        knows=CLASSES + ", and that the method splits what it may",
        against="the commonest value of the class",
        run=minimality,
        of_rows=True,
        whose=True,
    ),
    INFERENCE(
        name="de-finetti", knows=CLASSES, against=STRANGERS, run=de_finetti, people=True, whose=True
    ),
    Attack(
        name="downcoding",
        family="reconstruction",
        knows="people of the same kind, of whom a release can be made by the same method",
        against="a guess from the published cells alone",
        run=downcoding,
        people=True,
        whose=True,
        shadow=True,
    ),
    Attack(
        name="refinement",
        family="reconstruction",
        knows="nothing but the release, and that the method changes little",
        against="a value as common as it is among published cells",
        run=refinement,
        whose=True,
    ),
    Attack(
        name="singling-out",
        family="singling-out",
        knows="nothing but the release, and that the method changes little",
        against="the same descriptions among people who are not in the table",
        run=singling_out,
        people=True,
    ),
    Attack(
        name="composition",
        family="composition",
        knows=EVERYBODY + " and in that of the other release",
        against="the same guess from this release alone",
        run=composition,
        one_row=True,
        secret=True,
        whose=True,
        other=True,
    ),
)
FAMILIES = tuple(dict.fromkeys(attack.family for attack in ATTACKS))


def chosen(names: Iterable[str]) -> tuple[Attack, ...]:
    """Return the attacks of these names or families, in the order of ``ATTACKS``; none: all.

    Raises
    ------
    InputError: no attack and no family is called so.
    """
    wanted = set(names)
    known = {attack.name for attack in ATTACKS} | set(FAMILIES)
    for name in sorted(wanted - known, key=str):
        raise InputError(f"no attack is called {name!r}{did_you_mean(name, sorted(known))}")
    return tuple(a for a in ATTACKS if not wanted or {a.name, a.family} & wanted)
