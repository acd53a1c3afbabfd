"""What a release gets from here: its report, its figures, a card for notebooks, a summary frame."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from incrowd.errors import InputError, did_you_mean
from incrowd.report.association import associations
from incrowd.report.counts import buckets
from incrowd.report.html import joined, tag
from incrowd.report.make import write_report
from incrowd.report.plots import (
    columns_figure,
    plot_associations,
    plot_classes,
    plot_risk,
    plot_shares,
)
from incrowd.report.sample import require_weights
from incrowd.report.sections import MOST_PAIRS
from incrowd.report.view import Inside, bars_of, require_group, require_whole
from incrowd.tables.base import Column
from incrowd.tables.files import alike
from incrowd.text.models import models_in_words
from incrowd.text.units import at_most, counted, shown, shown_gap

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from incrowd.published.base import Published
    from incrowd.report.view import Attacked, Curve


class Pictured:
    """Methods of ``incrowd.Release``; figures are of matplotlib and need the extra ``report``."""

    @property
    def _release(self) -> "Published":
        return cast("Published", self)

    @property
    def _compared(self) -> "Published":
        """The release, if it is one of a table that is at hand as a whole."""
        require_whole(self._release)
        return self._release

    def report(
        self,
        path: str | Path,
        internal: bool = False,
        *,
        frontier: "Curve | None" = None,
        attacks: "Attacked | None" = None,
        group: str | None = None,
        survey_weight: str | None = None,
    ) -> None:
        """Write a report as one HTML file that loads nothing.

        Parameters
        ----------
        internal: False: for the data's users: made from the release alone, without seed, risk and
            original.  True: for the publisher: before and after, risk, seed, how to make it again.
        frontier: what ``incrowd.frontier`` found, to be part of an internal report.
        attacks: what ``incrowd.attack`` found, likewise.
        group: column of the original that names households, likewise: one's risk is that of its
            riskiest member.
        survey_weight: column of the original that says how many people a row stands for, likewise,
            in place of the policy's: figures before and after are weighted by it.

        Raises
        ------
        MissingExtraError: matplotlib is not installed.
        InputError: the file cannot be written; a frontier, attacks, households or survey weights
            for an external report; no such column, or no column of weights.
        """
        given = {
            "a frontier tells more about the original than the release does": frontier,
            "what attacks found tells of the original": attacks,
            "risk of households is the publisher's": group,
            "weighted figures compare with the original": survey_weight,
        }
        if asked := [why for why, one in given.items() if one is not None and not internal]:
            raise InputError(f"{asked[0]}; it goes into an internal report (internal=True)")
        if group is not None:
            require_group(self._release, group)
        if survey_weight is not None:
            require_weights(self._release.source, self._release.policy, survey_weight)
        more: dict[str, Any] = {"frontier": frontier, "attacks": attacks, "group": group}
        inside = Inside(release=self._release, survey_weight=survey_weight, **more)
        write_report(self._release, path, internal, inside=inside if internal else None)

    def plot_classes(self) -> "Figure":
        """Draw rows by the size of their class, or people where they count, before and after."""
        before, after, what = self._crowds
        largest = max(int(before.max(initial=1)), int(after.max(initial=1)))
        return plot_classes(buckets(after, largest), buckets(before, largest), what)

    def plot_risk(self) -> "Figure":
        """Draw the share of rows (people) in classes of at most x rows (people)."""
        before, after, what = self._crowds
        return plot_risk(after, before, self._compared.k, what)

    @property
    def _crowds(self) -> "tuple[NDArray[np.int64], NDArray[np.int64], str]":
        """Sizes of classes before and after, and what they count."""
        inside = Inside(release=self._compared)
        before, after = inside.crowds
        return before, after, "rows" if inside.release.people_of_class is None else "people"

    def plot_changes(self) -> "Figure":
        """Draw the share of changed cells of each quasi-identifier."""
        changed, rows = self._compared.changed, max(self._compared.rows, 1)
        ranked = sorted(changed, key=lambda name: -changed[name])
        shares = [changed[name] / rows for name in ranked]
        return plot_shares(ranked, shares, "share of the column's cells changed")

    def plot_columns(self, *names: str) -> "Figure":
        """Draw the distributions of quasi-identifiers before and after; all without ``names``.

        Raises
        ------
        InputError: a name is not that of a quasi-identifier.
        """
        release = self._compared
        for name in names:
            if name not in release.roles.qi:
                hint = did_you_mean(name, release.roles.qi)
                raise InputError(f"no quasi-identifier is called {name!r}{hint}")
        both = _columns(release, names or release.roles.qi)
        return columns_figure(list(bars_of(release, *both).items()))

    def plot_associations(self) -> "Figure":
        """Draw Cramér's V of the strongest pairs of published columns, before and after."""
        release, roles = self._compared, self._compared.roles
        names = (*roles.qi, *roles.sensitive, *roles.keep)
        pairs = associations(*_columns(release, names), release.policy.star)
        return plot_associations(pairs[:MOST_PAIRS])

    def summary(self, by: str = "release") -> Any:
        """Return figures as a frame, of the type that the data came as (polars for a file).

        Parameters
        ----------
        by: ``"release"``: one row with rows, k, cost, lower_bound, gap, …; ``"column"``: one row
            for each quasi-identifier; ``"class"``: one row for each size of class.

        Raises
        ------
        InputError: ``by`` is none of these.
        """
        makers = {"release": whole, "column": by_column, "class": by_class}
        if by not in makers:
            raise InputError(f"summary: by is {by!r}{did_you_mean(by, makers)}")
        return alike(self._release.source, makers[by](self._release))

    def _repr_html_(self) -> str:
        """A card for notebooks; it shows no cell of the table."""
        return card(self._release)


def _columns(
    release: "Published", names: Sequence[str]
) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return some columns by name, those of the original and those of the release."""
    before, after = (
        {name: table.encode(name).compact() for name in names}
        for table in (release.source, release.table)
    )
    return before, after


def lacking(release: "Published") -> dict[str, int]:
    """Return how many rows the release lacks, where its cost counts any."""
    found = {"suppressed_rows": release.suppressed_rows} if release.suppressed_rows else {}
    return found if release.deleted is None else found | {"deleted_rows": len(release.deleted.rows)}


def people_of(release: "Published") -> list[tuple[str, str]]:
    """Return the line that counts people, where they are counted."""
    if release.people is None:
        return []
    words = f"{release.people:,}, at least {release.fewest_people:,} in each class"
    return [("people", words)]


def smallest_of(release: "Published") -> list[tuple[str, str]]:
    """Return the line on the smallest class, or on the smallest group of each combination."""
    asked = models_in_words(release.models)
    if release.protected is None:
        return [("smallest class", f"{release.smallest_class:,} ({asked})")]
    fewest = ", ".join(f"{rows:,}" for rows in release.smallest_groups)
    return [("smallest groups", f"{fewest} ({asked})")]


def card(release: "Published") -> str:
    """Return a small table."""
    changed = f"{release.changed_cells:,} of {release.cells:,} cells"
    if release.cells:
        changed += f" ({release.changed_cells / release.cells:.1%})"
    proof = "optimal" if release.status == "optimal" else f"gap {shown_gap(release.gap)}"
    facts = [
        ("rows", f"{release.rows:,} in {counted(release.classes, 'class', 'classes')}"),
        *smallest_of(release),
        *people_of(release),
        *(("not re-checked", name) for name in release.unchecked),
        ("changed", changed),
        *((name.replace("_", " "), f"{rows:,}") for name, rows in lacking(release).items()),
        ("cost", shown(release.cost)),
        ("bound", f"{shown(release.lower_bound)} ({proof})"),
    ]
    if release.warnings:  # their words name columns; nothing else in a notebook says them
        facts.append(("warnings", f"{len(release.warnings)}, in .warnings"))
    left = "text-align:left"
    rows = [
        tag("tr", tag("th", n, scope="row", style=left), tag("td", v, style=left)) for n, v in facts
    ]
    caption = tag("caption", "incrowd release", style="text-align:left;font-weight:bold")
    return str(tag("table", caption, joined(*rows)))


def whole(release: "Published") -> dict[str, list[Any]]:
    """One row about the release."""
    people = release.people
    facts = {
        "rows": release.rows,
        "columns": release.columns,
        "cells": release.cells,
        "changed_cells": release.changed_cells,
        **lacking(release),
        "k": int(release.k),
        "models": models_in_words(release.models),
        **({"unchecked": " and ".join(release.unchecked)} if release.unchecked else {}),
        "cost": float(release.cost),
        "cost_fraction": release.cost_fraction,
        "lower_bound": at_most(release.bound_units, release.scale),
        "gap": release.gap,
        "status": release.status,
        "method": release.method,
        "classes": release.classes,
        "smallest_class": release.smallest_class,
        **({} if people is None else {"people": people, "fewest_people": release.fewest_people}),
        "seconds": release.seconds,
        "seed": int(release.seed),
    }
    return {name: [value] for name, value in facts.items()}


def by_column(release: "Published") -> dict[str, list[Any]]:
    """One row for each quasi-identifier."""
    names = list(release.roles.qi)
    counts = [release.changed[name] for name in names]
    star = release.policy.star
    before, after = _columns(release, names)
    return {
        "column": names,
        "changed": counts,
        "changed_fraction": [count / max(release.rows, 1) for count in counts],
        "suppressed": [int(c.shows(star).sum()) for c in after.values()],
        "values_before": [len(c.values) for c in before.values()],
        "values_after": [len({*c.values} - {star}) for c in after.values()],
    }


def by_class(release: "Published") -> dict[str, list[Any]]:
    """One row for each size of class."""
    sizes, number = np.unique(release.class_sizes, return_counts=True)
    return {
        "class_size": sizes.tolist(),
        "classes": number.tolist(),
        "rows": (sizes * number).tolist(),
    }
