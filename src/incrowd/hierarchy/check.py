"""Everything that is wrong with a hierarchy, not only the first thing."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from incrowd.errors import HierarchyError
from incrowd.hierarchy.costs import Cost, Explicit
from incrowd.hierarchy.file import HierarchyFile, HierarchyRows, Tidy, lacking, nearest
from incrowd.hierarchy.ladder import Ladder, Source
from incrowd.hierarchy.paths import faults as shape_faults
from incrowd.hierarchy.paths import number
from incrowd.hierarchy.text import NoTableError
from incrowd.text.units import counted

MOST = 20
"""Values named one by one; the rest is counted."""


@dataclass(frozen=True, eq=False)
class Findings:
    """What a check found.

    Attributes
    ----------
    faults: what must be mended before a release; empty = the hierarchy can be used as asked.
    notes: what is worth knowing.
    """

    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing must be mended."""
        return not self.faults


def check(source: Source, column: str, values: Sequence[str | None] | None, cost: Cost) -> Findings:
    """Check a hierarchy in itself, against a column's distinct values, and under a cost.

    Parameters
    ----------
    values: the distinct values of the column; None = check the hierarchy by itself (rules such
        as intervals have no values of their own, so there is nothing to check without them).

    Raises
    ------
    HierarchyError: a file that cannot be read at all.
    """
    found = Findings()
    by_itself = values is None
    if isinstance(source, HierarchyFile | HierarchyRows):
        try:
            tidied = source.tidy()
        except NoTableError as error:
            found.faults.append(str(error))
            return found
        _check_rows(tidied, column, values, found)
        if found.faults:
            return found
        values = list(tidied.grid.columns[0]) if values is None else values
    try:
        ladder = replace(source.build(column, values or []), by_itself=by_itself)
        _describe(ladder, found)
        cost.charge(ladder)
    except HierarchyError as error:
        found.faults.append(str(error))
        return found
    if isinstance(cost, Explicit):
        used = {label for level in ladder.labels for label in level}
        unused = sorted(label for label in cost.costs if label not in used)
        if unused:
            found.notes.append(f"costs never used: {len(unused)}, the first for {unused[0]!r}")
    return found


def _check_rows(
    tidied: Tidy, column: str, values: Sequence[str | None] | None, found: Findings
) -> None:
    """Report broken rows, a broken shape, and values that the hierarchy lacks."""
    found.faults.extend(tidied.faults)
    grid = tidied.grid
    if tidied.repeated:
        found.notes.append(f"lines that repeat an earlier line, ignored: {tidied.repeated}")
    leaves = grid.columns[0]
    if leaves:
        found.faults.extend(shape_faults(grid, *number(grid.columns)))
    if values is None:
        return
    known = [value for value in values if value is not None]
    absent = lacking(known, set(leaves))
    for value in absent[:MOST]:
        found.faults.append(
            f"column {column!r}: the value {value!r} is not in {grid.origin}"
            f"{nearest(value, list(leaves))}"
        )
    if len(absent) > MOST:
        found.faults.append(
            f"column {column!r}: {len(absent) - MOST} more values are not in {grid.origin}"
        )
    missing = [""] if len(known) < len(values) else []  # an empty leaf is for missing values
    unused = len(set(leaves).difference(known, missing))
    if unused:
        found.notes.append(
            f"{unused} of {counted(len(leaves), 'value')} of the file "
            f"{'does' if unused == 1 else 'do'} not occur in the table"
        )
    if missing and "" not in leaves:
        found.notes.append("the column has missing values; they can only stay or become '*'")


def _describe(ladder: Ladder, found: Findings) -> None:
    sizes = [len(level) for level in ladder.labels]
    found.notes.append(
        f"height {ladder.levels - 1}; labels per level, from the values to the root: "
        f"{' > '.join(map(str, sizes))}"
    )
    if ladder.uneven:
        found.notes.append(f"leaves at unequal depth: {ladder.uneven}")
