"""Dropping rows from a table that breaks the model as a whole: ``suppress_rows``.

A lawful release exists exactly when the table as one class is lawful.  Where it is not, some rows
may be left unpublished; the release is then one of the rows that are kept, each dropped row counts
as wholly suppressed, and the bound speaks of releases of the kept rows.

Fewest for one attribute.  Diversity by distinct values, frequency, entropy or recursion, and
(α,k)-anonymity, ask something of the counts that depends on their order alone and is the easier
to meet the more even they are: if one histogram majorizes another of the same sum, and obeys,
so does the other.  Of all ways to drop d rows, taking each from the value that is then the most
frequent leaves the histogram that all others majorize.  So the first d at which it obeys is the
fewest.  With several attributes the rows are chosen greedily, and may not be the fewest: of rows
that serve alike those go whose values are frequent in all attributes, for a rare one may be what
keeps another attribute lawful.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded, coded
from incrowd.errors import NoLawfulReleaseError
from incrowd.kernels.types import Ints
from incrowd.policy import Policy
from incrowd.policy.deletion import limit_of
from incrowd.privacy.base import Group
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance
from incrowd.tables.base import FewerRows
from incrowd.text.units import counted


@dataclass(frozen=True, eq=False)
class Kept:
    """A table of which some rows may be missing.

    Attributes
    ----------
    table: what is left, encoded.
    rows: rows that were dropped; units: what they count, in units of 1/scale, each as a row of
        stars.
    """

    table: Coded
    rows: int = 0
    units: int = 0


def fewest_dropped(
    model: Model,
    table: Group,
    most: int,
    dear: NDArray[np.float64],
    names: Sequence[str] = (),
    pairs: Sequence[int] = (),
) -> Ints:
    """Return the numbers of the rows (int64, rising) to drop so that the rest is lawful.

    Parameters
    ----------
    most: rows that may be dropped.
    dear: float64, shape (rows,): of rows that serve alike the dearest one is dropped.
    names: of the sensitive columns, for messages.
    pairs: the attributes of pairs of a value and a person, where models count those.

    Raises
    ------
    NoLawfulReleaseError: so many rows are not enough, or no number of them is.
    """
    kept = np.ones(table.rows, bool)
    advice = "leaving out more does not help; ask for less"
    order = np.argsort(-dear, kind="stable")
    for dropped in range(most + 1):
        rest = Group(table.values[kept], table.sizes)
        if model.lawful(rest, rest):
            return np.flatnonzero(~kept)
        load = model.load(rest, table.values)
        if load is None or rest.rows <= 1:
            break
        if dropped == most:
            advice = "let more rows be dropped (--suppress-rows), or ask for less"
            break
        load[~kept] = -1
        serve = order[load[order] == load.max()]
        if pairs:
            work = rows_of_pairs(rest, table.values[serve], pairs)
            serve = serve[work == work.min()]
        kept[serve[np.argmax(frequency(rest, table.values[serve]))]] = False
    none = "obeys" if len(table.sizes) <= 1 else "was found that obeys"
    raise NoLawfulReleaseError(
        f"no release {none} {model.in_words(names)}, even when {counted(most, 'row')} "
        f"may be dropped: the table as one class breaks it; {advice}"
    )


def frequency(rest: Group, values: NDArray[np.int32]) -> Ints:
    """int64, shape (rows,): how often the values of rows stand in ``rest``, over all attributes."""
    counts = (rest.histograms[a][values[:, a]] for a in range(len(rest.sizes)))
    return np.sum([*counts], axis=0) if len(rest.sizes) else np.zeros(len(values), np.int64)


def rows_of_pairs(rest: Group, values: NDArray[np.int32], pairs: Sequence[int]) -> Ints:
    """int64, shape (rows,): how many rows of ``rest`` have the pairs of these rows."""
    return np.sum([rest.histograms[a][values[:, a]] for a in pairs], axis=0)


def rarity(instance: Instance) -> NDArray[np.float64]:
    """float64, shape (distinct,): how rare a row's values are; rare rows are dear to publish."""
    found = np.zeros(instance.distinct)
    for j in range(instance.columns):
        counts = np.bincount(instance.codes[:, j], instance.counts)
        found -= np.log(counts[instance.codes[:, j]])
    return found


def without_rows(table: Coded, policy: Policy) -> Kept:
    """Drop the fewest rows from a table that breaks the model, none from one that does not."""
    instance = table.instance
    row = instance.copies  # copy by copy: which of equal rows is the first, lots have said
    group = Group(instance.sensitive_codes[row], instance.sensitive_sizes)
    names, dear = table.roles.sensitive, rarity(instance)[row]
    most = limit_of(policy.suppress_rows, instance.rows)
    pairs = range(len(names) + 1, len(table.attributes))  # the persons stand before them
    dropped = fewest_dropped(table.model, group, most, dear, names, pairs)
    if not len(dropped):
        return Kept(table)
    kept = np.ones(instance.rows, bool)
    kept[dropped] = False
    rest = coded(FewerRows(table.source, np.flatnonzero(kept[table.copy_of_row])), policy)
    each = sum(tree.dearest for tree in rest.instance.trees)
    return Kept(rest, len(dropped), len(dropped) * each)
