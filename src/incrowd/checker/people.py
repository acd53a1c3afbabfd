"""Whose a row is, where classes are counted in people: what the model ``people`` looks at."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from incrowd.checker.files import MARK, as_text
from incrowd.checker.inequality import Ints
from incrowd.checker.rejection import require

Plain = Mapping[str, Any]


def persons(models: Sequence[Plain]) -> list[str]:
    """Return the columns that name people, whom a model counts."""
    of = [model["columns"] for model in models if model.get("model") == "people"]
    return list(dict.fromkeys(column for columns in of for column in columns))


def together(model: Plain, mark: str = "") -> str:
    """Return what a pricing rule calls the columns that together name a person."""
    return mark + "+".join(column.removeprefix(mark) for column in model["columns"])


def secrets_of(
    before: pl.DataFrame, origin: Ints, roles: dict[str, list[str]], models: Sequence[Plain]
) -> pl.DataFrame:
    """Return what the models look at, as text and in the order of the release.

    That is the sensitive columns, and those that name people.
    The latter must not be in the release: who sees which rows are one person's knows several.
    """
    whose = persons(models)
    for column in whose:
        fine = column in roles["id"]
        require(fine, "a column that names people is not left out of the release", column=column)
    wanted = (*roles["sensitive"], *whose)
    return pl.DataFrame([as_text(before[column]).gather(origin) for column in wanted])


def with_people(sensitive: pl.DataFrame, models: Sequence[Plain]) -> pl.DataFrame:
    """Return the table with one column for several that together name a person."""
    for model in models:
        name = together(model, MARK) if model["model"] == "people" else None
        if name is not None and len(model["columns"]) > 1:
            require(name not in sensitive.columns, "a column is called like several together")
            whose = pl.struct(model["columns"]).rank("dense").cast(pl.String)
            sensitive = sensitive.with_columns(whose.alias(name))
    return sensitive
