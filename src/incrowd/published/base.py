"""The table that may be published, and what is known about it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.checker.recheck import classes_of
from incrowd.encoding.encoded import Coded
from incrowd.encoding.pseudonyms import write_table
from incrowd.errors import VerificationError
from incrowd.hierarchy.family import Family
from incrowd.policy.base import Policy
from incrowd.policy.roles import Roles
from incrowd.privacy.classes import values_by_class
from incrowd.privacy.model import Claims, Model, claims_of
from incrowd.published import cautions
from incrowd.published.figures import Figures
from incrowd.published.rechecked import rechecked
from incrowd.published.unchanged import of_unchanged
from incrowd.published.window import Windows
from incrowd.tables import files
from incrowd.tables.base import Edit, FewerRows, Source, Table, agree, labelled
from incrowd.tables.inputs import require_kept, texts_in
from incrowd.text.units import Number, in_units

if TYPE_CHECKING:
    from incrowd.averages.of_table import Averaged
    from incrowd.combinations.solving import Protected
    from incrowd.deletion.of_table import Deleted
    from incrowd.published.window import Window
    from incrowd.veil.release import Veil


@dataclass(frozen=True, eq=False, repr=False)
class Published(Figures):
    """A release as a table with figures; ``incrowd.Release`` is one that also draws and reports.

    Attributes
    ----------
    coded: the original table, encoded; edit: what changes in it.
    policy: what was asked.
    cost_units, bound_units: integers in units of 1/scale: the release, the proven lower bound.
    method, ended: which solver ran, and why it ended.
    seconds: wall time of the whole run.
    solved: the solution behind the release (``incrowd.driver.solve.Solved``).
    written: the edit to publish where it is not ``edit``: with cells made safe for spreadsheets.
    further_units: lower bounds, by name, that the method reports beside the best, in that unit.
    suppressed_rows: rows left out because the table broke the model; ``source`` is without them.
    suppressed_units: what they count, in that unit: within cost, bound and worst.
    deleted: the rows that were cheaper to delete, where that was asked for; ``source`` is without
        them, and ``suppressed_units`` counts what they cost.
    averaged: where columns show averages of classes, what is known of these.
    protected: what was asked of combinations of columns, and what is proven.
    veil: what is said of the coins that hid cells beforehand (``incrowd.veil.release.Veil``).
    """

    coded: Coded
    edit: Edit
    policy: Policy
    cost_units: int
    bound_units: int
    method: str
    ended: str
    seconds: float
    solved: Any = None
    written: Edit | None = None
    further_units: Mapping[str, int] = field(default_factory=dict)
    suppressed_rows: int = 0
    suppressed_units: int = 0
    veil: "Veil | None" = None
    deleted: "Deleted | None" = None
    averaged: "Averaged | None" = None
    protected: "Protected | None" = None

    @property
    def source(self) -> Source:
        """The original table."""
        return self.coded.source

    @property
    def roles(self) -> Roles:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The roles of its columns."""
        return self.coded.roles

    @property
    def model(self) -> Model:
        """What every class obeys."""
        return self.coded.model

    @property
    def trees(self) -> tuple[Family, ...]:
        """The hierarchies, one for each quasi-identifier."""
        return self.coded.instance.trees

    @property
    def scale(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Costs are integers in units of 1/scale."""
        return self.coded.instance.scale

    @property
    def worst_units(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The cost of the release in which every cell is a star, in that unit."""
        if self.deleted is not None:
            return self.deleted.table.instance.worst_cost
        return self.coded.instance.worst_cost + self.suppressed_units

    @cached_property
    def searched(self) -> Table:
        """The release as the search meant it."""
        return self.source.edited(self.edit)

    @cached_property
    def table(self) -> Table:
        """The released table."""
        return self.searched if self.written is None else self.source.edited(self.written)

    @cached_property
    def data(self) -> Any:
        """The release as a frame of the type that was given (polars for a file)."""
        return self.table.native()

    @property
    def models(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Names of the privacy models that every class obeys."""
        found = self.model.names(self.roles.attributes)
        if not self.policy.protect:
            return found
        whole = found if self.k > 1 else found[1:]
        return (*whole, *(one.name for one in self.policy.protect))

    @cached_property
    def claims(self) -> Claims:
        """What the independent checker is told of the models."""
        if self.model.size_decides:
            return Claims([], ())  # counted where the classes are
        attributes = self.coded.attributes.items()
        return claims_of(self.model, {name: column.values for name, column in attributes})

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Names of the models that the independent checker does not know.

        Each class was held against them by their own definition, and by nothing else.
        """
        return tuple(part.called(self.roles.attributes) for part in self.claims.unchecked)

    @property
    def rows(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of rows, the original's."""
        return self.source.rows

    @property
    def further_bounds(self) -> Mapping[str, Number]:
        """Lower bounds that the method reports beside the best one: ``forest`` its weight."""
        return {name: in_units(units, self.scale) for name, units in self.further_units.items()}

    @property
    def veiled_bound(self) -> Number | None:
        """What no lawful release of the veiled table costs less than; None without a veil."""
        return None if self.veil is None else in_units(self.veil.veiled_bound_units, self.scale)

    @cached_property
    def changed(self) -> Mapping[str, int]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Number of changed cells by quasi-identifier."""
        empty = dict.fromkeys(self.roles.qi, 0)
        found = self.edit.replacements
        return empty | {name: found[name].changed for name in empty if name in found}

    @cached_property
    def class_of_row(self) -> NDArray[np.int64]:
        """int64, shape (rows,): class of each released row, by first appearance.

        Counted by the independent checker on the released text.

        Raises
        ------
        VerificationError: the release is not what it claims to be.
        """
        return rechecked(self, self.searched)

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """int64, shape (classes,): rows in each class."""
        return np.bincount(self.class_of_row)

    @property
    def classes(self) -> int:
        """Number of classes: of different rows of quasi-identifiers in the release."""
        return len(self.class_sizes)

    @property
    def smallest_class(self) -> int:
        """Rows in the smallest class; 0 for a table without rows."""
        return int(self.class_sizes.min()) if self.classes else 0

    @property
    def smallest_groups(self) -> tuple[int, ...]:
        """For each combination of ``protect`` the fewest rows that show the same in its columns."""
        asked = [tuple(one.columns) for one in self.policy.protect]
        released = labelled(self.searched, self.roles.qi)
        groups = (classes_of(released, columns) for columns in asked)
        return tuple(int(np.bincount(group).min()) if len(group) else 0 for group in groups)

    @cached_property
    def people_of_class(self) -> NDArray[np.int64] | None:
        """int64, shape (classes,): different people in each class; None where nobody said who.

        Classes are numbered by their first original row.
        """
        owners = self.owners
        return None if owners is None else values_by_class(self._class_of_original, owners)

    @property
    def owners(self) -> NDArray[np.int64] | None:
        """int64, shape (original rows,): whose each row is; None where nobody said who."""
        if not self.roles.person:
            return None
        return self.coded.owners

    @property
    def people(self) -> int | None:
        """Number of different people in the table; None where nobody said who is who."""
        if not self.roles.person:
            return None
        return len(np.unique(self.coded.owners))

    @property
    def rows_without_person(self) -> int:
        """Rows left out because they do not say whose they are."""
        source = self.source
        if self.policy.missing_person != "drop" or not isinstance(source, FewerRows):
            return 0
        return source.source.rows - self.rows

    @property
    def fewest_people(self) -> int | None:
        """People in the class that has the fewest; None where nobody said who is who."""
        found = self.people_of_class
        return None if found is None else min(found.tolist(), default=0)

    @property
    def _class_of_original(self) -> NDArray[np.int64]:
        """int64, shape (rows,): the class of each original row."""
        found = self.class_of_row[: self.rows]
        if self.edit.order is None:
            return found
        classes = np.empty_like(found)
        classes[self.edit.order] = found
        return classes

    def window(
        self,
        start: int = 0,
        count: int = 50,
        *,
        changed: bool | str | Sequence[str] = False,
        of_class: int | None = None,
        where: tuple[str, str | None] | None = None,
    ) -> "Window":
        """Return some rows before and after, in the original's order; for the publisher alone.

        Any window of ten million rows comes at once: what was read of the table is kept.

        Parameters
        ----------
        start, count: the first row, from 0, and how many; of the chosen ones.
        changed: only rows of which a cell changes; of these columns where they are named.
        of_class: only rows of this class.
        where: a column and a text (None: missing): only rows whose original cell is that.

        Raises
        ------
        InputError: there is no such column, or the numbers are below 0.
        """
        return self._windows.window(start, count, changed, of_class, where)

    @cached_property
    def _windows(self) -> "Windows":
        return Windows(self.source, self.written or self.edit, self._class_of_original)

    @cached_property
    def warnings(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the release does not protect from, for the publisher alone; no cell is named."""
        classes, replaced, roles = self._class_of_original, self.edit.replacements, self.roles
        found = [*cautions.shared(self.coded, classes, self.k)]
        found += cautions.repeated_in_combinations(self.coded, replaced, self.policy)
        k = max([self.k, *(one.k for one in self.policy.protect)])
        hidden = {name: replaced[name] for name in roles.qi if name in replaced}
        found += of_unchanged(self.source, roles, hidden, k)
        found += cautions.told_by_width(self.coded, replaced)
        found += cautions.of_models(self.policy)
        found += cautions.of_cells(self.coded)
        found += cautions.lost_zeros(self.coded, self.policy)
        found += cautions.thousands(self.coded, self.policy)
        found += cautions.of_index(self.source, self.policy.order)
        found += cautions.of_combinations(self.policy, self.roles.qi)
        found += cautions.missing_in_words(self.coded, self.policy)
        if self.veil is None:  # coins split pairs that are alike, and order rows
            if not self.policy.protect:  # there, what hides in pairs is no class
                found += cautions.told_by_pairs(self.coded, replaced, classes)
            found += cautions.repeatable(self.policy)
        else:
            found += cautions.light_pairs(self.coded, self.policy)
        found += cautions.of_keys(self.policy)
        found += cautions.of_averages(self.averaged)
        return tuple(found)

    def verify(self) -> bool:
        """Re-check the release as it stands in ``data``, with code the search does not share.

        Every cell is the original one or an ancestor, every class has k rows, the cost is as
        claimed, other columns are as they were.

        Raises
        ------
        VerificationError: says what is wrong, with the row and the column.
        """
        released = files.open_table(self.data)
        found = released if self.written is None else self.searched
        rechecked(self, found)
        # made afresh, for what was handed out may share its memory with ``table``
        promised = self.source.edited(self.written or self.edit)
        for name in (*self.roles.sensitive, *self.roles.keep, *self.roles.pseudonym):
            if not agree(promised, released, name):
                raise VerificationError(f"column {name!r} of the release is not as promised")
        return True

    def write(
        self,
        path: str | Path,
        then: Callable[[Path], None] | None = None,
        *,
        codebook: bool = False,
        replace: bool = False,
    ) -> None:
        """Write the release: CSV, or Parquet or Arrow by the name; ``-`` is standard output.

        To the address of a database, such as ``sqlite:///hospital.db/release``, it is a new table.

        The finished file is read back and compared before it gets its name; it appears whole or
        not at all.

        Parameters
        ----------
        then: called with the path of the finished file before it gets its name.
        codebook: keep of SPSS, Stata and SAS files the label, and labels of codes that occur in
            hidden cells alone.
        replace: whether a table of the database may be written over; files always are.

        Raises
        ------
        InputError: the folder cannot be written; the table is there already; the original, or
            another file that was read, is at ``path``; the file cannot hold the columns' names.
        VerificationError: what was written is not the release.
        """
        self.require_kept(path, "the release")
        files.require_names(self.source, self.edit.columns, str(path))
        files.write(self.table, path, self.require_same, then, codebook, replace=replace)

    def write_pseudonyms(self, path: str | Path) -> None:
        """Write which value has which pseudonym, as CSV that only its owner may open.

        Raises
        ------
        InputError: no column has pseudonyms, or the folder cannot be written.
        """
        self.require_kept(path, "the table of pseudonyms")
        write_table(path, self.source, {n: self.edit.replacements[n] for n in self.roles.pseudonym})

    def require_kept(self, path: str | Path, output: str) -> None:
        """Raise InputError where writing ``output`` at ``path`` would replace what was read."""
        require_kept(path, output, self.source.path, self.files_read)

    @property
    def files_read(self) -> Iterator[tuple[str, str]]:
        """What files beside the original are to the release, and their names."""
        for option in ("hierarchies", "models", "distance", "cost", "pseudonym"):
            found = texts_in(getattr(self.policy, option))
            yield from ((f"read for {option}", text) for text in found)

    def require_same(self, written: Source) -> None:
        """Raise VerificationError unless a table, read back, is this release."""
        if written.columns != self.edit.columns or written.rows != self.rows:
            raise VerificationError("the written file has other columns or rows than the release")
        for name in self.edit.columns:
            if not agree(self.table, written, name):
                raise VerificationError(f"column {name!r} of the written file is not the release's")
