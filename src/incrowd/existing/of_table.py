"""Adding rows to an earlier release: it stays as it is, and the union is lawful."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker import recheck
from incrowd.checker.models import require_lawful
from incrowd.checker.people import named
from incrowd.checker.recheck import classes_of
from incrowd.checker.rejection import RejectedError, require
from incrowd.constraints.of_release import require_constraints_of
from incrowd.constraints.plan import plan_of
from incrowd.encoding.encoded import Coded, kept_of, shuffled
from incrowd.encoding.pseudonyms import with_pseudonyms
from incrowd.errors import InputError, VerificationError
from incrowd.existing.both import Both, both_of, strangers
from incrowd.existing.capping import joining_of
from incrowd.existing.classes import (
    places_of_labels,
    published_of,
    replacements_of,
    require_lawful_classes,
)
from incrowd.existing.covers import Published
from incrowd.existing.join import Ints
from incrowd.existing.linking import searched
from incrowd.existing.placing import Placing
from incrowd.existing.served import (
    require_columns,
    require_columns_capped,
    require_joined_texts,
    require_other_names,
)
from incrowd.existing.told import in_words, told, why_held
from incrowd.existing.union import union
from incrowd.existing.whole import WholeRelease, whole_of
from incrowd.hierarchy.family import FamilySource
from incrowd.policy import Policy
from incrowd.privacy.cautions import few_new, rewritten
from incrowd.privacy.classes import values_by_class
from incrowd.published.cautions import of_keys, repeatable, told_by_width
from incrowd.published.ladders import ladders_of, ranges_of
from incrowd.reduce.linked import Links
from incrowd.release import Release
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.tables.base import Edit, FewerRows, Source, Table, texts
from incrowd.tables.files import write_as_it_is
from incrowd.tables.key_file import key_in


@dataclass(frozen=True, eq=False, repr=False)
class ExtendedRelease(Release):
    """An earlier release with new rows in it.

    ``rows``, ``cells``, ``cost``, ``lower_bound``, ``changed`` are about the new rows; ``data``,
    ``class_of_row``, ``classes``, ``smallest_class`` about the union, whose rows are the earlier
    ones and then the new ones, unless shuffled.

    Attributes
    ----------
    existing: the earlier release.
    held: int64, shape (rows held back,), rising: new rows left out, see ``existing.told``.
    held_for: why they are, in words; empty where none is.
    cautions: what the difference to the earlier release tells, and what the cost.
    """

    existing: Any = None
    held: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    held_for: str = ""
    cautions: tuple[str, ...] = ()
    shuffle: NDArray[np.int64] | None = field(default=None)

    @cached_property
    def _union(self) -> Source:
        """Earlier and new rows, in this order."""
        new = self.source
        like = new.source if isinstance(new, FewerRows) else new
        return union(self.existing, new.edited(self.edit), like, self.edit.columns)

    @cached_property
    def table(self) -> Table:
        """The union as it is to be written."""
        edit = Edit(self.edit.columns, {}, self.shuffle, kept=self.edit.kept)
        return self._union.edited(edit)

    @cached_property
    def class_of_row(self) -> NDArray[np.int64]:
        """int64, shape (rows of the union,): class of each row of ``data``, by first appearance.

        Raises
        ------
        VerificationError: the union is not what it claims to be.
        """
        self._checked_union()
        released = texts(self.table, self.roles.qi)
        released.columns = [str(j) for j in range(released.width)]
        return classes_of(released, released.columns)

    @property
    def joined(self) -> int:
        """New rows that look like a published class; the others form classes of their own."""
        old, new = self._sizes
        return int(new[old > 0].sum())

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        """int64, shape (rows of the union,): which of earlier and new rows each row is."""
        return np.arange(self.table.rows) if self.shuffle is None else self.shuffle

    @cached_property
    def _sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Earlier and new rows of each class: int64, shape (classes,)."""
        later = self._place >= self.existing.rows
        old, new = (
            np.bincount(self.class_of_row[rows], minlength=self.classes) for rows in (~later, later)
        )
        return old, new

    def verify(self) -> bool:
        """Re-check the union, with code the search does not share; see ``class_of_row``."""
        self._checked_union()
        return True

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Of new rows that stand out, and of the seed; nobody knows whom earlier rows name."""
        found: list[str] = []
        for name in (*self.roles.qi, *self.roles.sensitive):
            both = (table.encode(name).values for table in (self.existing, self.source))
            found += rewritten(name, *both)
        old, new = self._sizes
        if self.roles.person:  # of new rows, people
            place, later = self._place, self._place >= self.existing.rows
            whose = self.coded.owners[place[later]]
            new = values_by_class(self.class_of_row[later], whose, self.classes)
        grown = new[(old > 0) & (new > 0)]
        few = int((grown < self.k).sum())
        found += [few_new(few, len(grown), self.k)] if few else []
        return (*found, *self.cautions, *repeatable(self.policy), *of_keys(self.policy))

    @property
    def files_read(self) -> Iterator[tuple[str, str]]:
        """Those of any release, and the earlier release."""
        earlier = self.existing.path
        yield from () if earlier is None else [("read for existing", earlier)]
        yield from super().files_read

    def write_held(self, path: str | Path) -> None:
        """Write the rows that were held back, as they were, for their owner alone.

        Raises
        ------
        InputError: the folder cannot be written.
        """
        self.require_kept(path, "the rows held back")
        whole = self.source.source if isinstance(self.source, FewerRows) else self.source
        write_as_it_is(FewerRows(whole, self.held), path)

    def texts_of_union(self) -> pl.DataFrame:
        """Return the earlier rows and then the new ones, as text."""
        return texts(self._union, self.edit.columns)

    def whole(
        self, original: Source | str | Path, proof: str | Path, published: str | Path | None = None
    ) -> WholeRelease:
        """Return this release as one of all rows, to be proven or reported on.

        Parameters
        ----------
        original: what the earlier release was made from; proof: of that release.
        published: that release's file; then it has to be the one that the proof is of.

        Raises
        ------
        InputError: they do not go with the earlier release, or with the policy.
        """
        return whole_of(self, original, proof, published)

    def write_proven(self, *_: Any, **__: Any) -> dict[str, Any]:
        """Refuse: without the originals of earlier rows nothing is proven of them.

        Raises
        ------
        InputError: always; ``whole`` returns a release that can be proven.
        """
        raise InputError(
            "a proof of rows added to an earlier release needs that one's original and proof; see "
            "whole(original, proof)"
        )

    def require_same(self, written: Source) -> None:
        """Raise VerificationError unless a table, read back, is the union."""
        if written.columns != self.edit.columns or written.rows != self.table.rows:
            raise VerificationError("the written file has other columns or rows than the union")
        for name in self.edit.columns:
            if not texts(written, [name]).equals(texts(self.table, [name])):
                raise VerificationError(f"column {name!r} of the written file is not the union's")

    def _checked_union(self) -> None:
        """Check the truth of new cells, the earlier rows, the classes, the cost."""
        whole = self.texts_of_union()
        earlier = self.existing.rows
        before = texts(self.existing, self.edit.columns)
        if not whole[:earlier].equals(before):
            raise VerificationError("an earlier row is not as it was published")
        released, original = whole[earlier:], texts(self.source, self.roles.qi)
        total = 0
        try:
            ranges = ranges_of(self.trees)
            for name, ladder in ladders_of(self.trees).items():
                both = original.get_column(name), released.get_column(name)
                total += recheck.cells_cost(*both, ladder, name, ranges.get(name))
            new = pl.DataFrame([released.get_column(name) for name in self.roles.qi])
            require_constraints_of(self.source, new, None, self.roles, self.policy)
            qi = whole.clone()
            qi.columns = [str(j) for j in range(qi.width)]
            at = [str(self.edit.columns.index(name)) for name in self.roles.qi]
            classes = recheck.classes_of(qi, at)
            recheck.require_size(classes, self.k)
            if plain := self.claims.models:
                require_lawful(classes, self._looked_at(), plain)
            require(total == self.cost_units, f"the new rows cost {total}, not as claimed")
        except RejectedError as error:
            raise VerificationError(f"the re-check of the union: {error.reason}") from None

    def _looked_at(self) -> pl.DataFrame:
        """What the models look at, of the union: sensitive columns, and persons."""
        found = texts(self._union, self.roles.sensitive)
        if not self.roles.person:
            return found
        whose = texts(self.source, self.roles.person)
        new = named(whose.get_columns(), self.claims.models)
        old = strangers(self.existing.rows).values
        moved = pl.DataFrame(
            {c.name: pl.Series([*old, *c.to_list()], dtype=pl.String) for c in new}
        )
        return found.hstack(moved) if found.width else moved

    @cached_property
    def people_of_class(self) -> NDArray[np.int64] | None:
        """None: nobody says whose earlier rows are."""
        return None

    @property
    def people(self) -> None:
        """None: nobody says whose earlier rows are."""


def extended(table: Coded, existing: Source, policy: Policy, context: Context) -> ExtendedRelease:
    """Add the rows of a table to an earlier release, whose rows stay as they are.

    Parameters
    ----------
    table: the new rows, with all columns that ``policy`` gives a role.
    existing: the earlier release, with the columns that are published.

    Raises
    ------
    InputError: columns differ, or the earlier release is not lawful under the policy.
    OutOfScopeError: a model compares classes with the whole table, which new rows change.
    NoLawfulReleaseError: some new rows fit nowhere.  InputError: fixed columns, see ``plan_of``.
    """
    columns = table.roles.published(table.source.columns)
    require_columns(existing.columns, columns)
    require_joined_texts(existing, table.source, columns)
    both = both_of(existing, table, policy)
    published = classes_of_release(existing, table, both)
    if not table.source.rows:
        raise InputError("there are no new rows")
    secret = both.codes[both.earlier :] if both.attributes else None
    plan = plan_of(table, policy)
    require_columns_capped(plan)
    seen = searched(table, published, plan)
    named = {name: key_in(file) for name, file in policy.pseudonym.items()}
    require_other_names(existing, table.source, named)
    names = table.roles.sensitive
    placing = Placing(
        table, secret, seen, policy, lambda rows: joining_of(rows, both.model, seen, context, names)
    )

    def edit() -> Edit:
        return edit_of(placing.table, published, placing.place, columns, plan.links)

    counts_told = placed(placing, existing, policy, edit, context.stop)
    (cost, bound), table, stop = placing.units, placing.table, context.stop
    made = edit()
    release = ExtendedRelease(
        coded=replace(table, model=both.model, attributes=both.attributes),
        edit=with_pseudonyms(made, table.source, named),
        policy=policy,
        cost_units=cost,
        bound_units=bound,
        method="existing",
        ended=stop.why() if stop.now() else "stopped paying",
        seconds=stop.elapsed(),
        existing=existing,
        held=np.flatnonzero(placing.held),
        held_for=why_held(placing.lost, placing.untold),
        cautions=(
            *in_words(counts_told, len(placing.place), bool(table.roles.person)),
            *told_by_width(table, made.replacements, published.ends(table.instance.trees)),
        ),
        shuffle=shuffled(table, policy.order, policy.seed, existing.rows),
    )
    _ = release.class_of_row  # the independent re-check
    return release


def placed(
    placing: Placing, existing: Source, policy: Policy, edit: Callable[[], Edit], stop: Stop
) -> dict[str, int]:
    """Place all new rows, or hold some back; return how many are told, by sensitive column.

    Parameters
    ----------
    existing: the earlier release.
    edit: returns what changes in the rows that are placed.
    """
    placing.search(stop)
    known = told(existing, placing.table, edit())
    while policy.hold_back and (which := np.logical_or.reduce([*known.values()])).any():
        placing.hold(which)
        placing.untold.update({name: int(rows.sum()) for name, rows in known.items()})
        known = {}
        if placing.broken:  # a cap is a share of fewer rows now
            placing.search(stop)
            known = told(existing, placing.table, edit())
    return {name: int(which.sum()) for name, which in known.items()}


def classes_of_release(existing: Source, table: Coded, both: Both) -> Published:
    """Return the classes of the earlier release that can cover new rows."""
    columns = [existing.encode(name) for name in table.roles.qi]
    pattern = np.column_stack([column.codes for column in columns])
    kinds, member = np.unique(pattern, axis=0, return_inverse=True)
    secret = both.codes[: both.earlier]
    require_lawful_classes(
        both.model, member.ravel(), secret, both.sizes, len(kinds), table.roles.sensitive
    )
    trees = table.instance.trees
    places = [places_of_labels(tree, c.values) for tree, c in zip(trees, columns, strict=True)]
    return published_of(kinds, places, member.ravel(), secret)


def edit_of(
    table: Coded, published: Published, place: Ints, columns: tuple[str, ...], links: Links = ()
) -> Edit:
    """Return what changes in the new rows."""
    made = replacements_of(table.leaves, table.instance.trees, published, place, links)
    return Edit(columns, made, kept=kept_of(table.roles))


def ends_beyond(source: Source, existing: Source, policy: Policy) -> dict[str, tuple[str, ...]]:
    """Return by column the ends of published ranges that are no values of the new rows.

    Parameters
    ----------
    source: the new rows; existing: the earlier release.
    """
    found = {}
    qi = policy.roles(source.columns).qi
    for name, rule in policy.sources().items():
        if isinstance(rule, FamilySource) and name in qi and name in existing.columns:
            own, published = (table.encode(name).values for table in (source, existing))
            found[name] = rule.ends_in(name, own, published)
    return found
