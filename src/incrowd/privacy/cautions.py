"""What a lawful table does not protect from: sentences that name no cell."""

from collections.abc import Sequence

DIVERSITY = (
    "l-diversity counts the values of each class; it is no limit on what can be inferred: who "
    "learns across classes, or knows some people, does better than 1/l (incrowd attack measures it)"
)


def pairs(cells: int, columns: Sequence[str]) -> str:
    """Return the caution that hidden cells of two values in classes of two rows are no secret.

    A minimal method hides a cell of a pair only where the two differ: with two values, both are in.
    """
    names = ", ".join(map(repr, columns))
    return (
        f"{cells:,} cells of columns with two values ({names}) are hidden in classes of two rows, "
        "which hold both if the method is minimal: what is published with either value often fits "
        "one person alone. "
        "k = 3 or more makes that rarer (see incrowd attack --attack singling-out)"
    )
