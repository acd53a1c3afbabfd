"""Which original row each released row was: one assignment of many, in the ways that Spark used.

Rows that agree in all published columns are exchangeable.  Spark tells in which ways the copies of
each distinct row were released, a few for each; a flow in these ways alone, among rows that agree
in the other columns, deals the rows out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.errors import VerificationError
from incrowd.kernels.types import Ints
from incrowd.problem.instance import places_in
from incrowd.published.fitting import common_keys, flow_between
from incrowd.spark.task import Task
from incrowd.spark.tasks import matrix, texts_of
from incrowd.tables.base import Column, Source, encoded_alike
from incrowd.tables.native import from_native

OTHER = "what was written are other rows than were released; did the table change meanwhile?"


class Ways(NamedTuple):
    """How distinct rows are released.

    rows: int32, shape (ways, columns): leaf codes, then those of the sensitive values.
    texts: what each quasi-identifier shows, by column.
    """

    rows: NDArray[np.int32]
    texts: list[pa.Array]

    def origin(self, table: Coded, released: Source, shown: "Shown") -> Ints:
        """int64, shape (rows,): an original row for each released row, by a flow in these ways.

        Raises
        ------
        VerificationError: the released rows are not the original ones, generalized in these ways.
        """
        original, roles, instance = table.source, table.roles, table.instance
        require_same_shape(original, released, roles.published(original.columns))
        pairs = [encoded_alike(original, released, n) for n in (*roles.sensitive, *roles.keep)]
        before, after = common_keys(pairs, original.rows, original.rows)
        known = np.hstack([instance.codes, instance.sensitive_codes])
        tail = places_in(known, self.rows)
        words = zip(shown.columns, self.texts, strict=True)
        head = places_in(shown.rows, np.column_stack([places_of(*pair) for pair in words]))
        there = (tail >= 0) & (head >= 0)
        row = table.distinct_of_row
        return dealt(before, row, after, shown.label, (tail[there], head[there]))


class Dealt(NamedTuple):
    """Released rows beside their originals, of a release that counts people.

    Rows that look alike may be of two people there, so not every assignment of them will do.

    rows: published columns as they were, then those that name the person, then what each
        quasi-identifier shows.
    """

    rows: pa.Table

    def origin(self, table: Coded, released: Source, shown: "Shown") -> Ints:
        """int64, shape (rows,): an original row of the person for each released row.

        Raises
        ------
        VerificationError: the original or the released rows are others.
        """
        original, roles = table.source, table.roles
        published = roles.published(original.columns)
        require_same_shape(original, released, published)
        cells, names = self.rows.columns, [*published, *roles.person]
        before = dict(zip(names, cells, strict=False))
        after = {name: before[name] for name in published}
        after |= dict(zip(roles.qi, cells[len(names) :], strict=True))
        was, met = same_rows(original, from_arrow(before), names)
        now, there = same_rows(released, from_arrow(after), published)
        found = np.empty(original.rows, np.int64)
        found[now] = was[np.argsort(met)][there]
        return found


def same_rows(table: Source, dealt: Source, names: Sequence[str]) -> tuple[Ints, Ints]:
    """Return two orders, int64, shape (rows,) each, in which rows of both tables are alike.

    Raises
    ------
    VerificationError: they hold other rows.
    """
    if table.rows != dealt.rows:
        raise VerificationError(OTHER)
    pairs = [encoded_alike(table, dealt, name) for name in names]
    mine, theirs = common_keys(pairs, table.rows, table.rows)
    first, second = (np.argsort(keys, kind="stable") for keys in (mine, theirs))
    if not np.array_equal(mine[first], theirs[second]):
        raise VerificationError(OTHER)
    return first, second


def from_arrow(columns: Mapping[str, pa.ChunkedArray]) -> Source:
    """Return columns as a table."""
    return from_native(pl.DataFrame({n: pl.from_arrow(column) for n, column in columns.items()}))


def require_same_shape(original: Source, released: Source, published: Sequence[str]) -> None:
    """Raise VerificationError unless as many rows were written, and these columns."""
    if released.rows != original.rows or released.columns != tuple(published):
        raise VerificationError("what was written has other rows or columns than the original")


def ways_of(task: Task, records: pa.Table) -> Ways:
    """Return the ways of ``RECORDS``."""
    codes = matrix(records, "k", len(task.trees))
    secret = matrix(records, "s", len(task.sensitive))
    return Ways(np.hstack([codes, secret]), [*texts_of(task, records).values()])


class Shown(NamedTuple):
    """What a release shows in its quasi-identifiers.

    columns: one for each.  rows: int64, shape (classes, columns): the different rows, in their
    codes.  label: int64, shape (rows,): which of these each row is.
    """

    columns: list[Column]
    rows: Ints
    label: Ints

    @classmethod
    def of(cls, released: Source, qi: Sequence[str]) -> "Shown":
        """Look at a release."""
        columns = [released.encode(name) for name in qi]
        codes = np.column_stack([column.codes for column in columns])
        rows, label = np.unique(codes, axis=0, return_inverse=True)
        return cls(columns, rows.astype(np.int64), label.ravel())


def places_of(column: Column, texts: pa.Array) -> Ints:
    """int64, shape (texts,): the code of each text in a column; that of no text where it has none.

    A code of no text is one more than all others, and found nowhere.
    """
    kinds: Any = texts.dictionary_encode("encode")
    place = {text: code for code, text in enumerate(column.values)}
    codes = [place.get(text, len(place)) for text in kinds.dictionary.to_pylist()]
    return np.array(codes, np.int64)[np.asarray(kinds.indices)]


def dealt(before: Ints, row: Ints, after: Ints, label: Ints, ways: tuple[Ints, Ints]) -> Ints:
    """int64, shape (rows,): an original row for each released row.

    Parameters
    ----------
    before, after: what the other columns of each original and each released row hold, as a number.
    row, label: distinct row of each original row, and what each released row shows, likewise.
    ways: distinct rows, and what they may show, pair by pair.
    """
    rows, labels = (
        1 + max(int(one.max(initial=0)) for one in both)
        for both in zip((row, label), ways, strict=True)
    )
    left, left_of, lefts = kinds_of(before * rows + row)
    right, right_of, rights = kinds_of(after * labels + label)
    tail, head = np.divmod(np.unique(ways[0] * labels + ways[1]), labels)
    begin = np.searchsorted(tail, np.arange(rows + 1))
    degree = np.diff(begin)[left % rows]
    tails = np.repeat(np.arange(len(left)), degree)
    within = np.arange(len(tails)) - np.repeat(np.cumsum(degree) - degree, degree)
    sought = left[tails] // rows * labels + head[begin[left[tails] % rows] + within]
    heads = np.minimum(np.searchsorted(right, sought), len(right) - 1)
    fits = right[heads] == sought
    found = flow_between(tails[fits], heads[fits], lefts, rights)
    if found.total != len(row):
        raise VerificationError(
            f"{len(row) - found.total:,} original rows have no released row of their own; did the "
            "table change meanwhile?"
        )
    return joined(found.tails, found.heads, found.numbers, left_of, right_of)


def kinds_of(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the different numbers, rising, the place of each one among them, and how many."""
    kinds, place, count = np.unique(keys, return_inverse=True, return_counts=True)
    return kinds, place.ravel(), count


def joined(tail: Ints, head: Ints, number: Ints, left_of: Ints, right_of: Ints) -> Ints:
    """int64, shape (rows,): an original row for each released row.

    ``number`` rows of kind ``tail`` become rows of kind ``head``, pair by pair; all of them do.
    """
    order = np.argsort(tail, kind="stable")
    to = np.repeat(head[order], number[order])  # of the original rows, by rising kind
    left = np.argsort(left_of, kind="stable")
    found = np.empty(len(left_of), np.int64)
    found[np.argsort(right_of, kind="stable")] = left[np.argsort(to, kind="stable")]
    return found
