"""Whose rows are, and what models of people say of all classes together: counted plainly."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, str | None]
Models = Sequence[Mapping[str, Any]]
PSEUDONYM = re.compile(r"p[0-9a-f]{32}\Z")


def people_in(models: Models) -> list[Mapping[str, Any]]:
    """Return the models that count people."""
    return [model for model in models if model["model"] == "people"]


def nobody(row: Row, columns: Sequence[str]) -> bool:
    """Whether a row does not say whose it is."""
    return any(not row[column] for column in columns)


def owner(model: Mapping[str, Any], number: int, row: Row) -> tuple[object, ...]:
    """Return whose a row is; of a row of nobody it is known only that it is one row."""
    alone = nobody(row, model["columns"])
    return (number,) if alone else tuple(row[column] for column in model["columns"])


def owned(models: Models, table: Sequence[Row]) -> list[Row]:
    """Return the rows that a proof speaks of."""
    whose = [m["columns"] for m in people_in(models) if m.get("missing") == "drop"]
    return [row for row in table if not any(nobody(row, columns) for columns in whose)]


def people_faults(
    kept: Sequence[Row],
    after: Sequence[Row],
    roles: Mapping[str, list[str]],
    models: Models,
) -> list[str]:
    """Return what is false of whole people: who they are, their records, their constant columns."""
    found, rules = [], [model.get("missing") for model in people_in(models)]
    key = [tuple(row[column] for column in roles["qi"]) for row in after]
    for model in people_in(models):
        whose = [owner(model, i, row) for i, row in enumerate(kept)]
        silent = any(nobody(row, model["columns"]) for row in kept)
        if silent and (model.get("missing") != "own" or {*rules} != {"own"}):
            found.append("rows of nobody are counted")
        if model.get("linked"):
            found += records_shared(whose, key, model["k"])
        if model.get("alike"):
            found += alike_faults(whose, kept, after, roles["qi"], "whole" in model)
    for column in roles.get("pseudonym", ()):
        found += pseudonym_faults(column, kept, after, models)
    if (
        any("once" in m for m in models)
        and len({tuple(m["columns"]) for m in people_in(models)}) != 1
    ):
        found.append("values count once, and whose is not said")
    return found


def records_shared(whose: Sequence[object], key: Sequence[object], k: int) -> list[str]:
    """Return whether fewer than k people share all rows of one of them."""
    rows: dict[object, list[str]] = {}
    for person, one in zip(whose, key, strict=True):
        rows.setdefault(person, []).append(repr(one))
    few = Counter(tuple(sorted(mine)) for mine in rows.values())
    return [f"{n} people share a record" for n in few.values() if n < k]


def alike_faults(
    whose: Sequence[object],
    kept: Sequence[Row],
    after: Sequence[Row],
    qi: Sequence[str],
    whole: bool,
) -> list[str]:
    """Return which constant column differs within a person; or varies, where none is said to."""
    found = []
    for column in qi:
        kinds = [len({*zip(whose, (row[column] for row in table), strict=True)})
                 for table in (kept, after)]  # fmt: skip
        constant = kinds[0] == len({*whose})
        if constant and kinds[1] > kinds[0]:
            found.append(f"{column} differs within a person")
        if whole and not constant:
            found.append(f"{column} varies within a person")
    return found


def pseudonym_faults(
    column: str, kept: Sequence[Row], after: Sequence[Row], models: Models
) -> list[str]:
    """Return what is false of a column of pseudonyms, or linked by them."""
    pairs = [(old[column] or None, new[column]) for old, new in zip(kept, after, strict=True)]
    named = {pair for pair in pairs if pair[0] is not None}
    fine = all(new is not None and PSEUDONYM.match(new) for _, new in named)
    fine = fine and all(new is None for old, new in pairs if old is None)
    fine = fine and len(named) == len({a for a, _ in named}) == len({b for _, b in named})
    asked = any(m.get("linked") and m["columns"] == [column] for m in people_in(models))
    several = len(named) < sum(old is not None for old, _ in pairs)
    return ([] if fine else [f"{column}: no pseudonyms"]) + (
        [f"{column}: rows are linked"] if several and not asked else []
    )


def together(models: Models, rows: Sequence[int], table: Sequence[Row]) -> bool:
    """Whether a class has all rows of its people, where a model says that it does."""
    for model in people_in(models):
        if "whole" in model:
            whose = [owner(model, i, row) for i, row in enumerate(table)]
            inside = {whose[i] for i in rows}
            if sum(person in inside for person in whose) > len(rows):
                return False
    return True
