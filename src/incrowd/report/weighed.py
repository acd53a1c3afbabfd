"""What rows count for in a comparison: one each, or what a column of survey weights says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.report.distribution import Bar
from incrowd.report.html import Html, cell_text, joined
from incrowd.report.sample import Sample, require_weights
from incrowd.report.use import Numbers, mean_bounds, numbers_of, variance_bounds
from incrowd.report.view import Inside
from incrowd.tables.base import Column

AS_PUBLISHED = ": before by its numbers, after by what is published, ranges by their midpoints."
AS_BEFORE = "; after, too, by the original's numbers, which readers of the release do not have."


@dataclass(frozen=True, eq=False)
class Weighed:
    """What the rows of a table count for in the section.

    Attributes
    ----------
    before, after: what each row of the original counts for.
    columns: the numbers that intervals or averages have changed, but for the weights themselves.
    ranged: least and greatest weight that each row may have after, where weights are ranges.
    words: by what figures are weighted, and how after; None where no column of weights was named.
    name: of that column.
    """

    before: Sample
    after: Sample
    columns: dict[str, Numbers]
    ranged: Numbers | None = None
    words: Html | None = None
    name: str | None = None

    @classmethod
    def of(cls, inside: Inside) -> "Weighed":
        """Find the weights: as they are published where ranges or averages stand for them."""
        people, name = inside.release.owners, inside.survey_weight or inside.policy.survey_weight
        columns = numbers_of(inside.release)
        if name is None:
            every = Sample(np.ones(inside.before.rows), people)
            return cls(every, every, columns)
        stratum = inside.policy.survey_stratum
        strata = None if stratum is None else inside.before.encode(stratum).codes.astype(np.int64)
        every = Sample(require_weights(inside.before, inside.policy, name), people, strata)
        ranged = columns.pop(name, None)
        if ranged is None:
            return cls(every, every, columns, None, words_of(inside, name), name)
        told = np.zeros(len(every.weights))
        told[ranged.rows] = np.where(every.weights[ranged.rows] > 0, ranged.middle, 0)
        if ranged.averages or (ranged.low == ranged.high).all():
            ranged = None
        before, after = (f"{each.sum():,.0f}" for each in (every.weights, told))
        sums = f" The weights add up to {before} before, and to {after} after."
        words = joined(words_of(inside, name, AS_PUBLISHED), sums)
        return cls(every, Sample(told, people, strata), columns, ranged, words, name)

    @property
    def weighted(self) -> bool:
        """Whether a column of survey weights was named."""
        return self.words is not None

    @property
    def what(self) -> str:
        """What is counted."""
        return "Shares of the weights" if self.weighted else "Rows"

    def shown(self, x: float) -> str:
        """Return a count of rows, or a share of the weights."""
        if np.isnan(x):
            return "–"
        return f"{x:.2%}" if self.weighted else f"{x:,.1f}".removesuffix(".0")

    def counted(self, columns: Mapping[str, Numbers]) -> dict[str, Numbers]:
        """Leave out the rows that do not count, and columns without others."""
        found = {}
        for name, c in columns.items():
            there = self.before.weights[c.rows] > 0
            if there.any():
                before, low, high = (each[there] for each in (c.before, c.low, c.high))
                found[name] = Numbers(c.rows[there], before, low, high, c.averages)
        return found

    def samples(self, numbers: Numbers) -> tuple[Sample, Sample]:
        """Return what the rows of a column count for."""
        return self.before.of(numbers.rows), self.after.of(numbers.rows)

    def ends(self, numbers: Numbers) -> tuple[tuple[float, float], tuple[float, float] | None]:
        """Return between which figures mean and variance lie; None: not known."""
        low, high, weights = numbers.low, numbers.high, self.after.weights[numbers.rows]
        if self.ranged is None:
            return mean_bounds(low, high, weights, weights), variance_bounds(low, high, weights)
        least, most = (
            ends[np.searchsorted(self.ranged.rows, numbers.rows)]
            for ends in (self.ranged.low, self.ranged.high)
        )
        return mean_bounds(low, high, least, most), None

    def bars(
        self, bars: Sequence[Bar], before: Column, after: Column, order: NDArray[np.int64] | None
    ) -> list[list[str]]:
        """Return what each bar counts before and after, and a standard error.

        order: int64, shape (rows,): which row of the original each released one is; None: the same.
        """
        now = self.after.weights if order is None else self.after.weights[order]
        place = {value: at for at, bar in enumerate(bars) for value in bar.old}
        places = np.array([place.get(value, -1) for value in before.values])[before.codes]
        share, error = self.before.shares(places, len(bars))
        later = {value: at for at, bar in enumerate(bars) for value in bar.new}
        then = np.array([later.get(value, -1) for value in after.values])[after.codes]
        found = [now[then == at].sum() / now.sum() for at in range(len(bars))]
        unit = 1.0 if self.weighted else self.before.weights.sum()
        return [
            [self.shown(x * unit) for x in each[:2]]
            + [self.shown(each[2] * unit) if bar.old else "–"]
            for bar, each in zip(bars, zip(share, found, error, strict=True), strict=True)
        ]


def words_of(inside: Inside, name: str, how: str = ", before and after.") -> Html:
    """By what figures are weighted, and how after."""
    release = inside.release
    if how != AS_PUBLISHED and (name in release.roles.id or release.changed.get(name)):
        how = AS_BEFORE
    left_out = " Rows without a weight, or with 0, are left out."
    said = ["Figures are weighted by ", cell_text(name), how, left_out]
    if stratum := inside.policy.survey_stratum:
        by_strata = " Standard errors are those of a sample drawn by strata: "
        said += [by_strata, cell_text(stratum), "."]
    return joined(*said)
