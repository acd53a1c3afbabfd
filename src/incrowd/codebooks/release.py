"""``codebook``: from a table and a list of patterns to a release; rows are lost by design."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from incrowd.codebooks.delta import Asked, delta_of, of_delta
from incrowd.codebooks.patterns import NONE, Patterns
from incrowd.codebooks.statement import statement
from incrowd.errors import InputError, VerificationError, few_of
from incrowd.hierarchy.tree import STAR
from incrowd.kernels.types import Bools, Ints
from incrowd.policy.base import Policy, Roles
from incrowd.published.cautions import told
from incrowd.run import entropy
from incrowd.tables.atomic import whole
from incrowd.tables.base import Edit, Source
from incrowd.tables.files import alike, open_table, write
from incrowd.tables.inputs import require_kept
from incrowd.tables.released import fresh
from incrowd.tables.whose import repeating

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy

Names = str | Sequence[str]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CodebookRelease:
    """A release by fixed patterns.  What is known of rows left out is for the publisher alone.

    Attributes
    ----------
    source: the original.  patterns: the list.  roles: of the original's columns.
    texts: the released table, in an order by lot.
    k, sample, epsilon: what was asked, exactly.
    delta: the release is (epsilon, delta)-differentially private; rounded up.
    taken: rows that the coins took; unmatched: those of them that match no pattern; few: those of
        them whose pattern fewer than k have.
    classes, smallest_class: different rows of the release, and rows of the fewest.
    changed: changed cells of the published rows by quasi-identifier; stars: those suppressed.
    warnings: what the release does not protect from.
    """

    source: Source
    patterns: Patterns
    roles: Roles
    texts: "pl.DataFrame"
    k: int
    sample: Fraction
    epsilon: Fraction
    delta: float
    taken: int
    unmatched: int
    few: int
    classes: int
    smallest_class: int
    changed: Mapping[str, int]
    stars: int
    warnings: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Published rows."""
        return self.texts.height

    @property
    def data(self) -> Any:
        """The release as a frame of the type that was given (polars for a file), all text."""
        return alike(self.source, {name: self.texts[name].to_list() for name in self.texts.columns})

    def statement(self, path: str | Path, patterns: str | Path) -> dict[str, Any]:
        """Return what may be said in public.

        Parameters
        ----------
        path: the written release; patterns: the file of patterns.
        """
        asked = Asked(self.k, self.sample, self.epsilon)
        beside = (*self.roles.sensitive, *self.roles.keep)
        return statement(asked, self.delta, self.patterns, beside, (path, patterns))

    def write(self, path: str | Path) -> None:
        """Write the release: CSV, Parquet or Arrow by the name, text in all columns.

        Raises
        ------
        InputError: the folder cannot be written; the original or the patterns are there.
        VerificationError: what was written is not the release.
        """
        patterns = self.patterns.path
        others = () if patterns is None else [("read for patterns", patterns)]
        require_kept(path, "the release", self.source.path, others)
        table = open_table(self.texts)
        if str(path) == "-":
            with whole(path) as file:
                self.texts.write_csv(file)
            return

        def check(written: Source) -> None:
            same = written.columns == table.columns and written.rows == table.rows
            if not same or not all(
                written.encode(name).equals(table.encode(name)) for name in table.columns
            ):
                raise VerificationError("the written file is not the release")

        write(table.edited(Edit(table.columns)), path, check)

    def __repr__(self) -> str:
        return (
            f"<CodebookRelease: {self.rows} of {self.source.rows} rows in {self.classes} classes, "
            f"k = {self.k}, ({float(self.epsilon):g}, {self.delta:g})-differentially private>"
        )


def codebook(
    data: Any,
    patterns: Any,
    k: int = 20,
    sample: Any = 0.5,
    *,
    epsilon: Any = 1,
    sensitive: Names = (),
    id: Names = (),
    keep: Names = (),
    hierarchies: "Mapping[str, str | Path | Hierarchy] | None" = None,
    star: str = STAR,
) -> CodebookRelease:
    """Release a table by patterns that were fixed without it: with differential privacy.

    Each row is taken by a coin of the operating system's generator, becomes the first pattern that
    it matches, and is published if at least k rows taken are alike in all published columns.
    **Rows are lost by design.**

    Parameters
    ----------
    data: as for ``anonymize``.
    patterns: a frame or a file whose columns are the quasi-identifiers, one row a pattern; see
        ``incrowd.codebooks.patterns.Patterns``.  They must come from elsewhere than ``data``.
    k: least number of rows alike; sample: probability with which each row is taken.
    epsilon: of differential privacy; δ follows from it, k and sample.
    sensitive, keep: columns published as they are.  k rows are alike in them too.
    id: columns left out.
    hierarchies: column → what its patterns' labels stand for, as for ``anonymize``.
    star: what is written for a suppressed cell.

    Raises
    ------
    InputError: something given is wrong; says what was found and what is allowed.
    """
    asked = Asked.of(k, sample, epsilon)
    delta = delta_of(k, sample, epsilon)
    source, known = open_table(data), Patterns.of(patterns, star)
    missing = [name for name in known.columns if name not in source.columns]
    if len(missing) == len(known.columns):  # without a header these are cells, which nobody names
        raise InputError(
            "the patterns have no column of the table: write a header with its quasi-identifiers"
        )
    if missing:
        raise InputError(f"the patterns have a column {missing[0]!r}, which the table has not")
    policy = Policy(
        qi=known.columns, sensitive=sensitive, id=id, keep=keep, hierarchies=hierarchies or {}
    )
    roles = policy.roles(source.columns)
    number = known.of_rows(source, policy.sources())
    labels = labels_of(source, (*roles.sensitive, *roles.keep), number)
    taken = entropy.tossed(source.rows, asked.sample)
    shown = np.flatnonzero(kept(labels, taken, k))
    shown = shown[entropy.shuffled(len(shown))]
    sizes = np.unique(labels[shown], return_counts=True)[1]
    texts = released(source, known, roles, number, shown)
    changed = {
        name: int(_texts(source, name, shown).ne_missing(texts[name]).sum())
        for name in known.columns
    }
    lost = int((taken & (number == NONE)).sum())
    return CodebookRelease(
        source=source,
        patterns=known,
        roles=roles,
        texts=texts,
        k=k,
        sample=asked.sample,
        epsilon=asked.epsilon,
        delta=delta,
        taken=int(taken.sum()),
        unmatched=lost,
        few=int(taken.sum()) - lost - len(shown),
        classes=len(sizes),
        smallest_class=int(sizes.min(initial=len(shown))),
        changed=changed,
        stars=sum(int((texts[name] == star).sum()) for name in known.columns),
        warnings=(*of_delta(asked, delta), *_empty(shown, k), *_repeated(source, roles.id)),
    )


def kept(labels: Ints, taken: Bools, k: int) -> Bools:
    """bool, shape (rows,): which rows are published, given those that the coins took.

    Parameters
    ----------
    labels: int64, shape (rows,): what each row would be published as; ``NONE`` for not at all.
    """
    seen = taken & (labels != NONE)
    counts = np.bincount(labels[seen], minlength=int(labels.max(initial=-1)) + 1)
    return seen & (np.append(counts, 0)[labels] >= k)


def labels_of(source: Source, others: Sequence[str], number: Ints) -> Ints:
    """int64, shape (rows,): number of all that would be published of each row, or ``NONE``."""
    codes = [number, *(source.encode(name).codes for name in others)]
    _, found = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    return np.where(number == NONE, NONE, found.ravel())


def released(
    source: Source, patterns: Patterns, roles: Roles, number: Ints, rows: Ints
) -> "pl.DataFrame":
    """Return the published rows as texts: made afresh, so that nothing of other rows is in it."""
    series = {}  # named at the end, as in tables.base.texts
    for name in roles.published(source.columns):
        if name in patterns.columns:
            j = patterns.columns.index(name)
            cells = pl.Series("value", [cells[j] for cells in patterns.cells], dtype=pl.String)
            series[name] = fresh(cells.gather(number[rows]))
        else:
            series[name] = fresh(_texts(source, name, rows))
    return pl.DataFrame(series)


def _texts(source: Source, name: str, rows: Ints) -> "pl.Series":
    column = source.encode(name)
    values = pl.Series("value", column.values, dtype=pl.String)
    return values.gather(column.codes[rows]) if len(column.values) else values


def _empty(shown: Ints, k: int) -> list[str]:
    """Say what helps where no row is published."""
    if len(shown):
        return []
    return [
        f"no row is published: no {k:,} of the rows taken are alike in all published columns, "
        "those too that are sensitive or kept. Leave columns of many values out (--id), or take "
        "coarser patterns or a smaller k"
    ]


def _repeated(source: Source, names: Sequence[str]) -> list[str]:
    """Warn of identifiers that stand in several rows: one row is protected, not all of a person."""
    known = [name for name in names if told(source, name) is not None]
    several = [name for name, _, _ in repeating(source, known)]
    found = [repr(name) for name in names if name in several or name not in known]
    if not found:
        return []
    one, repeat = len(found) == 1, "repeat" if several else "may repeat"
    whose = f"of {found[0]}, which is left out, {repeat}"
    whose = whose if one else f"of columns that are left out {repeat} ({few_of(found)})"
    return [
        f"values {whose}: the guarantee is about one row. If {found[0] if one else 'one of them'} "
        "names people, that of somebody with several rows is weaker; take one row each"
    ]
