"""A descriptor beside a release: Frictionless Data Package v1, Tabular Data Resource.

It is made from the released table and the written file; types are those of the released cells, so
no hidden cell and no figure of the original but cost and bound is in it, and no seed.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import InputError
from incrowd.published.base import Published
from incrowd.report.view import UNCHANGED, View, view_of
from incrowd.tables.atomic import whole
from incrowd.tables.base import Table
from incrowd.tables.csv_table import EditedCsv, read_csv
from incrowd.tables.dialect import BOM
from incrowd.tables.files import output_format
from incrowd.text.models import models_in_words
from incrowd.text.numerals import POINT, pointed, thousands_marks
from incrowd.text.paths import readable

WHOLE = re.compile(r"[-+]?(0|[1-9]\d{0,17})")
NUMBER = re.compile(r"[-+]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
MEDIA = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
}


def write_metadata(release: Published, output: str | Path, path: str | Path) -> None:
    """Write the descriptor of the release in the file ``output``.

    Raises
    ------
    InputError: the folder cannot be written; the release is a folder.
    """
    release.require_kept(path, "the metadata")
    found = descriptor(release, Path(output), Path(path).parent)
    with whole(path) as file:
        text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
        file.write(text.encode("utf-8", "replace"))


def descriptor(release: Published, output: Path, beside: Path) -> dict[str, Any]:
    """Return the descriptor as plain data.

    Parameters
    ----------
    output: the released file; beside: the folder of the descriptor, where paths start.
    """
    if output.is_dir():
        raise InputError(f"{output}: metadata describes one file, and this is a folder")
    view = view_of(release, readable(output.name), None)
    combinations = [{"columns": list(one.columns), "k": one.k} for one in view.combinations]
    name = slug(readable(output.stem))
    return {
        "profile": "tabular-data-package",
        "name": name,
        "title": f"Release obeying {models_in_words(view.models)}",
        "resources": [resource(view, output, beside)],
        "incrowd": {
            "version": view.version,
            "models": list(view.models),
            "k": view.k,
            **({"combinations": combinations} if combinations else {}),
            "cost": view.cost,
            "cost_fraction": view.cost_fraction,
            "cost_measure": view.cost_name,
            "lower_bound": view.lower_bound,
            "gap": view.gap,
            "status": view.status,
            "changed_cells": dict(view.changed),
            **lacking(view),
            "columns_left_out": view.left_out,
        },
    }


def lacking(view: View) -> dict[str, Any]:
    """Return how many rows the release lacks, where its cost counts any."""
    found: dict[str, Any] = {}
    if view.suppressed_rows:
        found["suppressed_rows"] = view.suppressed_rows
    if view.deleted is not None:
        found |= {"deleted_rows": view.deleted[0], "deletion_price": view.deleted[1]}
    return found


def resource(view: View, output: Path, beside: Path) -> dict[str, Any]:
    """Describe the released file."""
    data = output.read_bytes()
    form = output_format(output, view.after)
    found: dict[str, Any] = {
        "profile": "tabular-data-resource",
        "name": slug(readable(output.stem)),
        "path": relative(output, beside),
        "format": form,
        "mediatype": MEDIA.get(form, "application/octet-stream"),
        "bytes": len(data),
        "hash": f"sha256:{hashlib.sha256(data).hexdigest()}",
    }
    if form == "csv":
        found |= dialect_of(view.after, data)
    found["schema"] = {
        "fields": [field(view, name) for name in view.after.columns],
        "missingValues": ["", view.star],
    }
    found["rows"] = view.rows
    return found


def relative(output: Path, beside: Path) -> str:
    """Return the path from the descriptor's folder; the bare name where it lies elsewhere."""
    try:
        return readable(output.resolve().relative_to(beside.resolve()).as_posix())
    except ValueError:
        return readable(output.name)


def dialect_of(table: Table, data: bytes) -> dict[str, Any]:
    """Encoding and dialect of a delimited file, as it was written or else as it reads."""
    dialect = (table if isinstance(table, EditedCsv) else read_csv(data, "the release")).dialect
    return {
        "encoding": dialect.encoding or ("utf-8-sig" if data.startswith(BOM) else "utf-8"),
        "dialect": {
            "delimiter": dialect.delimiter,
            "lineTerminator": dialect.newline,
            "quoteChar": '"',
            "doubleQuote": True,
            "header": True,
        },
    }


def field(view: View, name: str) -> dict[str, Any]:
    """Describe one column."""
    if name in view.pseudonyms:
        told = "A keyed hash: the same value has the same pseudonym; the key is the publisher's."
        return {"name": name, "type": "string", "role": "pseudonym", "description": told}
    values = [v for v in view.columns[name].values if v not in (None, "", view.star)]
    found: dict[str, Any] = {"name": name, **typed(values, view.decimal)}
    if name in view.qi:
        found["role"] = "quasi-identifier"
        found["generalization"] = view.how[name]
        if name in view.averaged:
            found["description"] = "A cell is a figure of its class, the same in all rows of it."
        elif view.how[name] != UNCHANGED:
            found["description"] = (
                f"A cell {view.star!r} is suppressed: its value is withheld, not unknown."
            )
    else:
        found["role"] = "sensitive" if name in view.sensitive else "other"
    return found


def typed(values: Sequence[str], decimal: str) -> dict[str, str]:
    """Return the type of these texts, with the marks of numbers that have a decimal comma."""
    if decimal == POINT:
        return {"type": type_of(values)}
    numbers = [pointed(value, decimal) for value in values]
    kind = type_of([number or "" for number in numbers])
    if kind not in ("integer", "number"):
        return {"type": "date" if type_of(values) == "date" else "string"}
    between = thousands_marks(values)
    if kind == "integer" and not between:
        return {"type": kind}
    if len(between) > 1:
        return {"type": "string"}
    group = {"groupChar": next(iter(between))} if between else {}
    return {"type": "number", "decimalChar": decimal, **group}


def type_of(values: Sequence[str]) -> str:
    """Return the narrowest type that all of these texts have."""
    if not values:
        return "string"
    for kind, pattern in (("integer", WHOLE), ("number", NUMBER), ("date", DATE)):
        if all(value and pattern.fullmatch(value) for value in values):
            return kind
    return "string"


def slug(text: str) -> str:
    """Return a name of lower-case letters, digits, ``.``, ``-`` and ``_``."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-.") or "release"
