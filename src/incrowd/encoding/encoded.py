"""From a table's text to the instance that solvers see, and from their classes back to text."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.lots import by_content, cells_of, drawn, first_of_equals
from incrowd.errors import InputError, LackingError
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.labels import labels_by_level, labels_of_spans, with_star
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.policy.base import Policy
from incrowd.policy.models import asks_of_sensitive, counts_pairs, model_of, require_used
from incrowd.policy.roles import Roles
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run import entropy
from incrowd.tables.base import Column, Edit, FewerRows, Replacement, Source, narrow, narrowed
from incrowd.tables.numbers import require_decimal_texts
from incrowd.tables.whose import (
    owners,
    require_once,
    require_unlinked,
    require_unmarked,
    with_persons,
)


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class Coded:
    """A table as an instance; whoever needs its codes or columns again takes them from here.

    Attributes
    ----------
    source: the table; without the rows that do not say whose they are, where those are dropped.
    roles: of its columns.
    instance: distinct rows of the quasi-identifiers.
    copy_of_row: int64, shape (rows,): the instance's copy that each row became.
    model: what every class has to obey.
    attributes: what the model looks at, by name: the sensitive columns, then the persons, then
        pairs of a value and a person where the model counts them; empty where it counts rows alone.
    """

    source: Source
    roles: Roles
    instance: Instance
    copy_of_row: NDArray[np.int64]
    model: Model
    attributes: Mapping[str, Column]

    @property
    def distinct_of_row(self) -> NDArray[np.int64]:
        """int64, shape (rows,): the instance's distinct row that each row is."""
        return self.instance.copies[self.copy_of_row]

    def by_copy(self, of_row: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64, shape (rows,): what is known of each row, in the order of the copies."""
        found = np.empty_like(of_row)
        found[self.copy_of_row] = of_row
        return found

    def rest(
        self, kept: NDArray[np.int64], instance: Instance, copy_of_row: NDArray[np.int64]
    ) -> "Coded":
        """Return the rows that are kept, encoded as these; hierarchies and model stay the same.

        Values that only other rows have stay, too: the model knows values by their numbers.
        """
        source = self.source if len(kept) == self.source.rows else FewerRows(self.source, kept)
        attributes = {n: Column(c.values, c.codes[kept]) for n, c in self.attributes.items()}
        return Coded(source, self.roles, instance, copy_of_row, self.model, attributes)

    @cached_property
    def leaves(self) -> NDArray[np.int32]:
        """int32, shape (rows, quasi-identifiers): leaf code of each cell."""
        return self.instance.codes[self.distinct_of_row]

    @property
    def owners(self) -> NDArray[np.int64]:
        """int64, shape (rows,): whose each row is, in a table whose roles say so."""
        return self.attributes[self.roles.attributes[-1]].codes.astype(np.int64)

    @property
    def problem(self) -> Problem:
        """What a solver is asked."""
        return Problem(self.instance, self.model, self.roles.attributes)


def coded(
    source: Source,
    policy: Policy,
    beyond: Mapping[str, tuple[str, ...]] | None = None,
    by_name: bool = False,
) -> Coded:
    """Encode a table under a policy.

    Parameters
    ----------
    beyond: column → values that its hierarchy covers too, though no row has them.
    by_name: number people in the order of their names, where nothing is searched any more, as those
        did who priced them; not by what their rows hold.

    Raises
    ------
    InputError: roles do not fit the columns; a cell equals the mark of a suppressed cell; a
        column has no text form; a hierarchy is broken or does not fit.
    """
    roles = policy.roles(source.columns)
    require_used(policy, roles.sensitive)
    sources = policy.sources()
    if policy.strict:
        require_once(source, policy.id)
    require_unlinked(source, tuple(c for c in roles.pseudonym if c not in roles.person))
    require_unmarked(source, roles.person, policy.na)
    source = with_persons(source, roles.person, policy.missing_person)
    require_decimal_texts(source, (*roles.qi, *roles.sensitive), policy.decimal)
    columns = {}
    for name in roles.qi:
        column = source.encode(name)
        require_no_star(name, column.values, policy.star)
        columns[name] = narrowed(column)
    with locating(source):
        trees, scale = build_trees(
            {name: (*c.values, *(beyond or {}).get(name, ())) for name, c in columns.items()},
            {name: origin for name, origin in sources.items() if name not in roles.sensitive},
            policy.cost,
            policy.weights,
        )
    widest = max((len(tree.leaves) for tree in trees), default=1)
    leaves = np.empty((source.rows, len(trees)), narrow(widest), order="F")  # rows are many
    for j, tree in enumerate(trees):
        leaves[:, j] = columns.pop(tree.column).among(tree.leaves)
    secret, codes = {}, None
    if asks_of_sensitive(policy):  # k-anonymity needs none; models take codes in text order
        secret = attributes_of(source, roles, policy, None if by_name else leaves)
        codes = np.column_stack([c.codes for c in secret.values()]) if secret else None
    with locating(source):
        model = model_of(policy, secret, sources)
    trees = tuple(with_star(tree, policy.star) for tree in trees)
    every = [*leaves.T, *([] if codes is None else codes.T)]
    equals = first_of_equals(policy, trees, every)
    instance, copy_of_row = from_codes(leaves, trees, codes, scale, equals)
    return Coded(source, roles, instance, copy_of_row, model, secret)


@contextlib.contextmanager
def locating(source: Source) -> Iterator[None]:
    """Say of a value that a hierarchy lacks in which row it stands."""
    try:
        yield
    except LackingError as error:
        column = source.encode(error.column)
        places = [code for code, value in enumerate(column.values) if value in error.absent]
        row = int(np.flatnonzero(np.isin(column.codes, places))[0]) + 1
        raise type(error)(error.column, error.absent, error.origin, row) from None


def attributes_of(
    source: Source, roles: Roles, policy: Policy, leaves: NDArray[np.integer] | None
) -> dict[str, Column]:
    """Return what the models look at: the sensitive columns, the persons, then pairs of the two.

    ``leaves``: what people are numbered by, beside sensitive values; None for their names.
    """
    found = {name: source.encode(name) for name in roles.sensitive}
    if roles.person:
        people = owners(source, roles.person)
        if leaves is not None:
            cells = [*leaves.T, *(column.codes for column in found.values())]
            lot = first_of_equals(policy, (), [*cells, people.codes])
            people = by_content(people, cells, lot)
        found[roles.attributes[-1]] = people
        for name in roles.sensitive if counts_pairs(policy) else ():
            found[f"{name}\0{roles.attributes[-1]}"] = paired(found[name], people)
    return found


def require_no_star(name: str, texts: tuple[str | None, ...], star: str) -> None:
    """Raise when a value of a column looks like a suppressed cell."""
    if star in texts:
        raise InputError(
            f"column {name!r} has a cell equal to {star!r}, which stands for a suppressed cell; "
            "choose another mark with --star SYMBOL (star= in Python)"
        )


def edit_for(
    table: Coded, solution: Solution, published: tuple[str, ...], order: NDArray[np.int64] | None
) -> Edit:
    """Return the edit that turns the table into the release which ``solution`` stands for."""
    instance, kept = table.instance, kept_of(table.roles)
    if not instance.rows:
        return Edit(published, kept=kept)
    replacements = {}
    for j, tree in enumerate(instance.trees):
        # copy by copy, which lie in the order of the distinct rows, then row by row
        leaf = np.repeat(instance.codes[:, j], instance.counts)
        if isinstance(tree, RangeFamily):
            low, high = (ends[:, j] for ends in solution.spans)
            labels, ids, own = labels_of_spans(tree, low, high)
            ids = ids.astype(narrow(len(labels)))[solution.classes]
            ids[own[solution.classes] == leaf] = -1
        else:
            labels, ids = labels_by_level(tree)
            level = solution.levels[:, j].astype(np.int8)[solution.classes]
            ids = ids.astype(narrow(len(labels)))[level, leaf]
        replacements[tree.column] = Replacement(labels, ids[table.copy_of_row])
    return Edit(published, replacements, order, kept=kept)


def kept_of(roles: Roles) -> frozenset[str]:
    """Return the columns whose cells a release publishes to the bit."""
    return frozenset((*roles.sensitive, *roles.keep))


def shuffled(
    table: Coded, order: str, seed: int | None, earlier: int = 0
) -> NDArray[np.int64] | None:
    """Return the order of the released rows, ``earlier`` ones with them: None for their own.

    Without a seed it comes from the operating system's entropy alone, and tells nothing.  It is no
    generator's output, of which a part that is known would tell the rest.

    With a seed it comes from that and all original cells, hidden ones too.  Guesses at hidden cells
    can be tested against such an order; see ``incrowd.published.cautions.repeatable``.
    """
    if order == "keep":
        return None
    rows = earlier + len(table.copy_of_row)
    if seed is None:
        return entropy.shuffled(rows)
    of_row = table.distinct_of_row
    codes = (*table.instance.codes.T, *table.instance.sensitive_codes.T)
    known = cells_of(table.instance.trees, (column[of_row] for column in codes))
    return drawn(rows, str(seed), known)


def paired(values: Column, people: Column) -> Column:
    """Return which pair of a value and a person each row has; its texts are numbers."""
    width = len(people.values)
    key = values.codes.astype(np.int64) * width + people.codes
    different, codes = np.unique(key, return_inverse=True)
    return Column(tuple(f"{i:012}" for i in range(len(different))), codes.ravel().astype(np.int32))
