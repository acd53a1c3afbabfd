"""Identity: the people who stood in every class that a person stood in."""

from collections.abc import Mapping, Sequence

from incrowd.series.history import Person

Class = Mapping[str, str | None]


def beside(classes: Sequence[Class], people: Mapping[str, Person]) -> dict[str, frozenset[str]]:
    """Return by key of a published person who stood in all classes of the person, this one too."""
    found = {}
    for one in classes:
        here = frozenset(key for key in one.values() if key is not None)
        for key in here:
            before = people[key].beside if key in people else here
            found[key] = (before & here) - {key}
    return found


def with_company(
    classes: Sequence[Class], people: Mapping[str, Person], k: int
) -> tuple[list[dict[str, str | None]], list[str]]:
    """Withhold those who would have fewer than k − 1 others in all their classes.

    One who is withheld is missed by others, so this goes on until nobody is short of company.  A
    counterfeit takes the place; a class of counterfeits alone goes.

    Returns
    -------
    the classes, and the keys of those who are withheld.
    """
    left, withheld = [dict(one) for one in classes], []
    while True:
        lonely = {key for key, others in beside(left, people).items() if len(others) < k - 1}
        if not lonely:
            break
        withheld += sorted(lonely)
        for one in left:
            one.update({v: None for v, key in one.items() if key in lonely})
    return [one for one in left if any(key is not None for key in one.values())], withheld
