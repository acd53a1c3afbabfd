"""Whose a row is, where classes are counted in people: what the model ``people`` looks at."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from incrowd.checker.files import MARK, as_text
from incrowd.checker.inequality import Ints
from incrowd.checker.models import least_size, number
from incrowd.checker.rejection import require, require_none

Plain = Mapping[str, Any]


def persons(models: Sequence[Plain]) -> list[str]:
    """Return the columns that name people, whom a model counts."""
    of = [model["columns"] for model in models if model.get("model") == "people"]
    return list(dict.fromkeys(column for columns in of for column in columns))


def together(model: Plain, mark: str = "") -> str:
    """Return what a pricing rule calls the columns that together name a person."""
    return mark + "+".join(column.removeprefix(mark) for column in model["columns"])


def secrets_of(
    before: pl.DataFrame,
    after: pl.DataFrame,
    origin: Ints,
    roles: dict[str, list[str]],
    models: Sequence[Plain],
) -> pl.DataFrame:
    """Return what the models look at, as text and in the order of the release.

    That is the sensitive columns, and those that name people.
    The latter must not be in the release: who sees which rows are one person's knows several.
    But under pseudonyms they may, if a model asks that all rows of a person are shared.
    """
    whose, hidden = persons(models), roles.get("pseudonym", [])
    # linked rows of one person alone hide nobody, and of fewer than a class has, fewer than is said
    told = [number(model, "k", whole=True) for model in models if model.get("model") == "people"]
    company = max([Fraction(min(2, least_size(models))), *told])
    alone = [model for model in models if model.get("linked") and len(model["columns"]) == 1]
    alone = [model for model in alone if number(model, "k", whole=True) >= company]
    linked = persons(alone)  # of several columns that name a person, one links more than its rows
    for column in hidden:
        require_pseudonyms(as_text(before[column]).gather(origin), after[column], column in linked)
    for column in whose:
        fine = column in roles["id"] or (column in linked and column in hidden)
        require(fine, "a column that names people is not left out of the release", column=column)
    found = [as_text(before[column]) for column in roles["sensitive"]]
    found += named([as_text(before[column]) for column in whose], models)
    return pl.DataFrame([column.gather(origin) for column in found])


def require_pseudonyms(old: pl.Series, new: pl.Series, linked: bool) -> None:
    """Reject a column that is not under pseudonyms, one for each value; or that links rows.

    ``linked``: whether a model asks something of linked rows.  Whether a pseudonym follows from its
    value by anything but a secret key cannot be seen here.
    """
    there, column = is_named(old), old.name
    form = new.cast(pl.String).str.contains(r"^p[0-9a-f]{32}$")
    wrong = pl.Series(form.fill_null(False) != there) | (~there & new.is_not_null())
    require_none(wrong.arg_true(), "the cell is not a pseudonym", column)
    pairs = pl.DataFrame([old.alias("old"), new.alias("new")]).filter(there).unique()
    once = pairs.height == pairs["old"].n_unique() == pairs["new"].n_unique()
    require(once, "its pseudonyms are not one for each value", column=column)
    alone = linked or pairs.height == int(there.sum())
    require(alone, "its pseudonyms link rows, of which no model asks anything", column=column)


def named(whose: Sequence[pl.Series], models: Sequence[Plain]) -> list[pl.Series]:
    """Return the columns that name people; a row without a name is of its own, if a model says so.

    Otherwise such rows are rejected: they could be of one person, or of as many as they are.
    """
    if rule(models) != "own":
        for column in whose:
            fine = bool(is_named(column).all())
            require(fine, "rows do not say whose they are, nor does a model", column=column.name)
        return [*whose]
    own = pl.Series([f"?{row}" for row in range(len(whose[0]))], dtype=pl.String)
    return [("!" + p.alias("")).zip_with(is_named(p), own).rename(p.name) for p in whose]


def is_named(persons: pl.Series) -> pl.Series:
    """Return whether a row says whose it is: a cell that is missing or empty does not."""
    return (persons.alias("") != "").fill_null(False)  # polars takes ^a$ for a pattern of names


def rule(models: Sequence[Plain]) -> str:
    """Return what becomes of rows that do not say whose they are: ``own``, ``drop`` or nothing."""
    rules = {str(m.get("missing", "")) for m in models if m.get("model") == "people"}
    require(len(rules) <= 1, "two models of people differ in what a row without a person is")
    return rules.pop() if rules else ""


def with_owners(
    before: pl.DataFrame, origin: Ints, models: Sequence[Plain]
) -> tuple[pl.DataFrame, Ints]:
    """Return the original without rows that do not say whose they are, where those are left out.

    And the row map into that.  The claim is then about the others.
    """
    whose = persons(models)
    require(all(c in before.columns for c in whose), "a model counts people by no column")
    if rule(models) != "drop":
        return before, origin
    kept = pl.Series(np.ones(before.height, bool))
    for column in whose:
        kept &= is_named(as_text(before[column]))
    inside = not len(origin) or bool(origin.min() >= 0 and origin.max() < before.height)
    require(inside, "the row map names a row that is not there")
    require(bool(kept.to_numpy()[origin].all()), "a row without a person is in the release")
    return before.filter(kept), np.cumsum(kept.to_numpy())[origin] - 1


def with_people(sensitive: pl.DataFrame, models: Sequence[Plain]) -> pl.DataFrame:
    """Return the table with one column for several that together name a person."""
    for model in models:
        name = together(model, MARK) if model["model"] == "people" else None
        if name is not None and len(model["columns"]) > 1:
            require(name not in sensitive.columns, "a column is called like several together")
            whose = pl.struct(model["columns"]).rank("dense").cast(pl.String)
            sensitive = sensitive.with_columns(whose.alias(name))
    return sensitive
