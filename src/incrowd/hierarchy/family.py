"""What a column's values may become: a tree, or the intervals of their order."""

from collections.abc import Iterable, Sequence
from typing import Protocol, cast, runtime_checkable

from incrowd.errors import OutOfScopeError
from incrowd.hierarchy.costs import Cost
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.tree import Tree

Family = Tree | RangeFamily


@runtime_checkable
class FamilySource(Protocol):
    """A source of a column's family as a whole, in place of a ladder that a cost then prices."""

    def family(
        self, column: str, values: Sequence[str | None], cost: Cost
    ) -> tuple[RangeFamily, int]:
        """Return the family of a column's distinct values, and the unit of what it costs.

        Raises
        ------
        HierarchyError: the source does not fit the values, or the cost does not fit it.
        """
        ...

    def ends_in(
        self, column: str, values: Sequence[str | None], published: Sequence[str | None]
    ) -> tuple[str, ...]:
        """Return the values that published labels name, and that a column does not have itself.

        Raises
        ------
        HierarchyError: the source does not fit the values.
        """
        ...


def no_ranges(families: Iterable[Family], who: str) -> str | None:
    """Say which column is generalized to ranges, for ``who`` that does not serve them; or None."""
    for family in families:
        if isinstance(family, RangeFamily):
            return (
                f"column {family.column!r} is generalized to ranges ({family.rule['rule']}), "
                f"which {who} does not serve; give it a hierarchy with levels, like "
                "interval:5,10,20"
            )
    return None


def no_widest(families: Iterable[Family], who: str) -> str | None:
    """Say which ranges have a widest interval, for ``who`` that does not serve them; or None."""
    for family in families:
        if isinstance(family, RangeFamily) and not family.straight:
            return (
                f"column {family.column!r} has a widest range ({family.rule['rule']}), which {who} "
                "does not serve: two intervals may cost less than the * that holds both; use "
                "engine, or leave most= out"
            )
    return None


def costs_to_keep(family: Family) -> bool:
    """Whether some value of the column costs something though it stays."""
    return isinstance(family, Tree) and bool(family.cost[0].any())


def trees_of(families: Iterable[Family], who: str) -> tuple[Tree, ...]:
    """Return the families, all of them trees.

    Raises
    ------
    OutOfScopeError: some are ranges, which ``who`` does not serve.
    """
    families = tuple(families)
    reason = no_ranges(families, who)
    if reason is not None:
        raise OutOfScopeError(reason)
    return cast(tuple[Tree, ...], families)  # the same tuple, which who compares may ask
