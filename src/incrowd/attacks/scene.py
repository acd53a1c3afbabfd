"""What the attacker sees, and what the publisher knows beside it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.fits import Fits, fits_of
from incrowd.attacks.register import Register
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import ends
from incrowd.kernels.types import Ints
from incrowd.privacy.model import Model


@dataclass(frozen=True, eq=False, kw_only=True)
class Secret:
    """A sensitive column of a release.

    Attributes
    ----------
    values: its values, in text order.
    counts: int64, shape (classes, values): rows of each class with each value.
    """

    column: str
    values: tuple[str | None, ...]
    counts: Ints

    @cached_property
    def table(self) -> Ints:
        """int64, shape (values,): rows of the release with each value."""
        return self.counts.sum(axis=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """A release as everybody sees it, and the hierarchies, which are no secret.

    Attributes
    ----------
    trees: one for each quasi-identifier; their leaves are the values that anybody bears.
    levels, nodes: int64, shape (classes, columns): each class's labels, in label order.
    sizes: int64, shape (classes,): its rows.
    secrets: the sensitive columns.
    k, l: what the publisher says of every class; l is 1 where no diversity was asked for.
    model: all that every class obeys; None where that is not about rows.
    broken: how many classes do not obey it, or are smaller than k.
    """

    trees: tuple[Family, ...]
    levels: Ints
    nodes: Ints
    sizes: Ints
    secrets: tuple[Secret, ...] = ()
    k: int = 1
    l: int = 1  # noqa: E741 (the field's own letter)
    model: Model | None = None
    broken: int = 0

    @property
    def rows(self) -> int:
        """Rows of the release."""
        return int(self.sizes.sum())

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """bool, shape (classes, columns): whether the label is more than one value."""
        kinds = np.zeros(self.nodes.shape, bool)
        for j, tree in enumerate(self.trees):
            low, high = ends(tree, self.levels[:, j], self.nodes[:, j])
            kinds[:, j] = high - low > 1
        return kinds


@dataclass(frozen=True, eq=False, kw_only=True)
class People:
    """Rows about people, with what the release hides of them.

    Attributes
    ----------
    codes: int64, shape (people, columns): leaves of the trees.
    secrets: int64, shape (people, sensitive columns): values, numbered as in ``Secret.values``.
    place: int64, shape (people,): the class in which each one stands; None where they stand in
        none, or nobody knows.
    whose: int64, shape (people,): the person whose row each one is, where people have several rows
        and are counted; None: each is a person.
    """

    codes: Ints
    secrets: Ints
    place: Ints | None = None
    whose: Ints | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def chosen(self, which: Ints) -> "People":
        """Return some of them, in this order."""
        place = None if self.place is None else self.place[which]
        whose = None if self.whose is None else self.whose[which]
        return replace(
            self, codes=self.codes[which], secrets=self.secrets[which], place=place, whose=whose
        )

    @property
    def persons(self) -> int:
        """How many people there are, of whom each may have several rows."""
        return len(self) if self.whose is None else len(np.unique(self.whose))

    def by_lot(self, rng: np.random.Generator) -> Ints:
        """int64, shape (persons,): one row of each, ascending; all rows where each is a person."""
        if self.whose is None:
            return np.arange(len(self))
        order = rng.permutation(len(self))
        _, first = np.unique(self.whose[order], return_index=True)
        return np.sort(order[first])


@dataclass(frozen=True, eq=False, kw_only=True)
class Other:
    """Another release about the same people.

    Attributes
    ----------
    codes: int64, shape (members, its quasi-identifiers): leaves of its own trees.
    place: int64, shape (members,): the class of each member of the first; −1 for who is not in it.
    approximate: whether that was found by a matching.
    """

    seen: Seen
    codes: Ints
    place: Ints
    approximate: bool = False

    def chosen(self, which: Ints) -> "Other":
        """Return it with some of the members, in this order."""
        return replace(self, codes=self.codes[which], place=self.place[which])


@dataclass(frozen=True, eq=False, kw_only=True)
class Scene:
    """A release, the people in it, and people who are not.

    Attributes
    ----------
    others: people who are not in the table; None where an attack has to do without.
    shadow: a release of the others, made by the same rules, who are its members; None without.
    other: another release about the members; None without.
    register: what a register of people tells of the members; None without.
    approximate: which class is whose was found by a matching, and may be another.
    notes: what a reader of the figures should know.
    """

    seen: Seen
    members: People
    others: People | None = None
    shadow: "Scene | None" = None
    other: Other | None = None
    register: Register | None = None
    approximate: bool = False
    notes: tuple[str, ...] = ()

    @cached_property
    def fits(self) -> Fits:
        """The classes in which each member may stand."""
        return self._fits(self.members)

    @cached_property
    def fits_of_others(self) -> Fits:
        """The classes in which each of the others would."""
        return self._fits(self.strangers)

    def _fits(self, people: People) -> Fits:
        seen = self.seen
        return fits_of(seen.trees, seen.levels, seen.nodes, seen.sizes, people.codes)

    def one_row_each(self, rng: np.random.Generator) -> "Scene":
        """Return the scene in which the attacker knows one row of each person, taken by lot."""
        mine, others, other = self.members.by_lot(rng), self.others, self.other
        if others is not None:
            others = others.chosen(others.by_lot(rng))
        if other is not None:
            other = other.chosen(mine)
        return replace(self, members=self.members.chosen(mine), others=others, other=other)

    @property
    def strangers(self) -> People:
        """The others, for attacks that cannot do without them."""
        if self.others is None:
            raise ValueError("this attack needs people who are not in the table")
        return self.others
