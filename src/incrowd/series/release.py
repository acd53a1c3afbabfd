"""The next release of a series: a table with counterfeits in it, and the history with it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import hides_an_end, labels_by_level, labels_of_spans, spans_seen
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.privacy.cautions import people_twice, rewritten, twins
from incrowd.problem.instance import from_codes
from incrowd.problem.solution import Solution
from incrowd.published.cautions import widths_told
from incrowd.run import entropy
from incrowd.series.asked import Invariance
from incrowd.series.history import History, require_followed
from incrowd.series.plan import Layer
from incrowd.tables.atomic import alone_in, whole
from incrowd.tables.base import Edit
from incrowd.tables.files import alike, in_form_of, write
from incrowd.tables.inputs import require_apart
from incrowd.tables.released import fresh
from incrowd.text.units import Number, counted, gap_of, in_units, shown, warned

CLASS, COUNTERFEITS = "class", "counterfeits"
"""Columns that a release has beside those of the table."""


@dataclass(frozen=True, eq=False, repr=False)
class Republished:
    """The next release of a series.

    Attributes
    ----------
    table: the table of today, encoded; asked: of the series.
    classes: value → row of the table, −1 for a counterfeit; in an order that tells nothing.
    before, history: all that was published, without this release and with it.
    cost_units: what the cells of people cost, in units of 1/scale.
    bound_units: what a release of the same people with no more counterfeits costs at least: see
        ``incrowd.series.bound``.
    fewest: counterfeits of which no m-invariant release of everybody in the table has fewer.
    withheld: rows left out, by why: ``changed``, ``company``, ``newcomers``.
    """

    table: Coded
    asked: Invariance
    classes: Sequence[Layer]
    before: History
    history: History
    cost_units: int
    bound_units: int
    fewest: int
    withheld: Mapping[str, int]

    @property
    def rows(self) -> int:
        """People who are published."""
        return sum(row >= 0 for one in self.classes for row in one.values())

    @property
    def counterfeits(self) -> int:
        """Rows of nobody."""
        return sum(map(len, self.classes)) - self.rows

    @property
    def cost(self) -> Number:
        """What the cells of people cost, in the user's units."""
        return in_units(self.cost_units, self.table.instance.scale)

    @property
    def lower_bound(self) -> Number:
        """What no m-invariant release of these people and as few counterfeits costs less than."""
        return in_units(self.bound_units, self.table.instance.scale)

    @property
    def gap(self) -> float:
        """(cost − bound)/cost; 0 for a release that costs nothing."""
        return gap_of(self.cost_units, self.bound_units)

    def __repr__(self) -> str:
        return (
            f"<Republished: {counted(self.rows, 'person', 'people')} and "
            f"{counted(self.counterfeits, 'counterfeit')} in {len(self.classes)} classes, "
            f"m = {self.asked.m}, cost {shown(self.cost)}, bound {shown(self.lower_bound)}, "
            f"release {len(self.history.releases)} of its series{warned(self.warnings)}>"
        )

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Of sensitive values and people that are several to a class, and one to who reads them."""
        name = self.table.roles.sensitive[0]
        now = self.table.source.encode(name).values
        people = self.before.people.values()
        known = {value for person in people for value in person.signature}
        whose = {key: self.table.source.encode(key).values for key in self.table.roles.person}
        found = (*rewritten(name, known, now), *twins({name: now}), *people_twice(whose))
        hit = [
            tree.column
            for j, tree in enumerate(self.table.instance.trees)
            if isinstance(tree, RangeFamily)
            and hides_an_end(tree, *spans_seen(tree, *self._shown[j]))
        ]
        return (*found, *widths_told(hit))

    @cached_property
    def _shown(self) -> list[tuple[tuple[str | None, ...], NDArray[np.int64], NDArray[np.int64]]]:
        """By quasi-identifier labels, which of them each row shows (−1: the value), and leaves."""
        rows, number = places_of(self.classes)
        solution = solution_of(self.table, rows, number)
        leaf = self.table.leaves[leading(rows, number)] if len(rows) else self.table.leaves[:0]
        leaf, found = leaf.astype(np.int64), []
        for j, tree in enumerate(self.table.instance.trees):
            labels, at = (), np.zeros(0, np.int64)
            if solution is not None:
                labels, at = shown_by(tree, j, solution, number, leaf[:, j])
            found.append((labels, at, leaf[:, j]))
        return found

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The release as texts, class by class; ``class`` and ``counterfeits`` are numbers."""
        rows, number = places_of(self.classes)
        columns: dict[str, Any] = {}
        for tree, (labels, at, leaf) in zip(self.table.instance.trees, self._shown, strict=True):
            plain = pl.Series(tree.leaves, dtype=pl.String)
            shown = pl.Series(labels, dtype=pl.String)
            own = plain.gather(leaf) if len(leaf) else plain.clear()
            changed = shown.gather(np.maximum(at, 0)) if len(labels) else own
            columns[tree.column] = own.zip_with(pl.Series(at < 0), changed)
        values = [value for one in self.classes for value in one]
        columns[self.table.roles.sensitive[0]] = pl.Series(values, dtype=pl.String)
        columns[CLASS] = number + 1
        columns[COUNTERFEITS] = np.bincount(number[rows < 0], minlength=len(self.classes))[number]
        order = [n for n in self.table.source.columns if n in columns]
        return pl.DataFrame({name: columns[name] for name in (*order, CLASS, COUNTERFEITS)})

    @cached_property
    def published(self) -> pl.DataFrame:
        """The release, its rows in an order that nobody can make again."""
        shown = self.frame[entropy.shuffled(self.frame.height)]
        return pl.DataFrame({cells.name: fresh(cells) for cells in shown.get_columns()})

    @property
    def data(self) -> Any:
        """The release as a frame of the type that was given, polars for a file."""
        return alike(self.table.source, self.published.to_dict(as_series=False))

    def write(self, path: str | Path, history: str | Path) -> None:
        """Write the history once there is room for the release, then the release: both or neither.

        A process that is killed in between leaves a history that counts a release which is not
        there, never a release that no history knows: those after it could be intersected with it.
        It may be written several times.  Of two releases that follow the same one, only the first
        can be written to the series' history: the other does not know of it.

        Raises
        ------
        InputError: a folder cannot be written; at ``history`` stands what this release does not
            follow; the table of today would be written over.
        """
        outputs = {"the release": path, "the history": history}
        require_apart(outputs, self.table.source.path, ())
        source = in_form_of(self.table.source, self.published, path)
        with alone_in(Path(history).resolve().parent):
            require_followed(history, self.before, self.history)
            earlier, text = standing_at(history), self.history.text()
            try:
                write(source.edited(Edit(source.columns)), path, lambda _: put(history, text))
            except BaseException:
                if standing_at(history) != earlier:  # else there may be no room to write it again
                    put(history, earlier)
                raise


def standing_at(history: str | Path) -> bytes | None:
    """Return what stands in a history; None where there is none."""
    return Path(history).read_bytes() if Path(history).exists() else None


def put(history: str | Path, text: bytes | None) -> None:
    """Write a history, or take it away where there was none."""
    if text is None:
        Path(os.path.realpath(history)).unlink(missing_ok=True)
    else:
        with whole(history, private=True) as file:
            file.write(text)


def places_of(classes: Sequence[Layer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return of each place, class by class, its row (−1: a counterfeit) and its class's number."""
    rows = np.array([row for one in classes for row in one.values()], np.int64)
    return rows, np.repeat(np.arange(len(classes)), [len(one) for one in classes])


def leading(rows: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64, shape (places,): a person of each place's class, its own where it has one."""
    first = np.zeros(int(number.max(initial=-1)) + 1, np.int64)
    real = np.flatnonzero(rows >= 0)
    first[number[real]] = rows[real]
    return np.where(rows >= 0, rows, first[number])


def shown_by(
    tree: Family, j: int, solution: Solution, number: NDArray[np.int64], leaf: NDArray[np.integer]
) -> tuple[tuple[str | None, ...], NDArray[np.int64]]:
    """Return labels, and which of them rows of these classes show in a column: −1 for the value."""
    if isinstance(tree, RangeFamily):
        low, high = (ends[:, j] for ends in solution.spans)
        labels, ids, own = labels_of_spans(tree, low, high)
        return labels, np.where(own[number] == leaf, -1, ids[number])
    labels, ids = labels_by_level(tree)
    return labels, ids[solution.levels[number, j], leaf].astype(np.int64)


def solution_of(
    table: Coded, rows: NDArray[np.int64], number: NDArray[np.int64]
) -> Solution | None:
    """Return the classes of people, without counterfeits; None where nobody is in them."""
    real = rows >= 0
    if not real.any():
        return None
    instance, copy = from_codes(
        table.leaves[rows[real]], table.instance.trees, None, table.instance.scale
    )
    classes = np.empty(int(real.sum()), np.int64)
    classes[copy] = number[real]
    return Solution(instance, classes)


def cost_of(table: Coded, classes: Sequence[Layer]) -> int:
    """Return what the cells of people cost, in units of 1/scale."""
    solution = solution_of(table, *places_of(classes))
    return 0 if solution is None else solution.cost
