"""What two releases tell of newcomers, by brute force: texts, and ways to deal rows to people."""

from collections.abc import Sequence

Cells = tuple[str, ...]


def fits(row: Cells, labels: Cells) -> bool:
    """Whether a row may show these labels, its own cells or stars."""
    return all(label in (cell, "*") for cell, label in zip(row, labels, strict=True))


def told(
    new: Sequence[Cells], whole: Sequence[Cells], people: Sequence[str] | None = None
) -> list[int]:
    """Return the new rows whose value the difference tells, and the later release alone does not.

    Parameters
    ----------
    new: quasi-identifiers of the new rows; people: whose they are.
    whole: the later release, new rows last, the sensitive cell last in each row.
    """
    gained, found = whole[len(whole) - len(new) :], []
    for *labels, _ in set(gained):
        mine = [i for i, row in enumerate(gained) if [*row[:-1]] == labels]
        one_person = people is not None and len({people[i] for i in mine}) == 1
        values = {gained[i][-1] for i in mine}
        alone = {row[-1] for i in mine for row in whole if fits(new[i], row[:-1])}
        if (len(values) == 1 or one_person) and len(alone) > 1:
            found += mine
    return sorted({*found})


def dealt(people: Sequence[Cells], rows: Sequence[Cells], one: int) -> set[str]:
    """Return the values that one person has in some way to deal all rows to all people."""
    above = [[j for j, row in enumerate(rows) if fits(q, row[:-1])] for q in people]
    return {rows[j][-1] for j in above[one] if _all_served([*above[:one], [j], *above[one + 1 :]])}


def _all_served(above: list[list[int]]) -> bool:
    """Whether everybody can have a row, by augmenting paths."""
    owner: dict[int, int] = {}

    def serve(person: int, seen: set[int]) -> bool:
        for row in above[person]:
            if row not in seen:
                seen.add(row)
                if row not in owner or serve(owner[row], seen):
                    owner[row] = person
                    return True
        return False

    return all(serve(person, set()) for person in range(len(above)))
