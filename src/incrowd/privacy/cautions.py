"""What a lawful table does not protect from: sentences that name no cell."""

from collections.abc import Sequence

DIVERSITY = (
    "l-diversity counts the values of each class; it does not limit what can be inferred: somebody "
    "who learns across classes, or knows some people, does better than 1/l (incrowd attack "
    "measures it)"
)

ANOTHER = (
    "these figures are of this table alone: somebody who has another release of the same people "
    "can intersect the classes of both, which no model here limits (incrowd attack --other "
    "measures it)"
)


def few_new(classes: int, joined: int, k: int) -> str:
    """Return the caution that the difference of two releases tells which rows are new.

    classes: how many of the ``joined`` published classes got fewer than k new rows.
    """
    of = "class" if joined == 1 else "classes"
    return (
        f"{classes:,} of {joined:,} published {of} that got new rows got fewer than {k:,}: who has "
        "the earlier release as well sees which rows are new, and people known to be new "
        "hide among those of their class alone. Larger deliveries make that rarer"
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
