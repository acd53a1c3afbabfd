"""Pseudonyms: a column's values under a keyed hash.

A pseudonym is the first 128 bits of HMAC-SHA-256 (RFC 2104) of the value's text, in hexadecimal
behind a ``p``, so that no program takes it for a number.  One key gives one value one pseudonym, in
every table and column; without the key nobody can tell a value's pseudonym, nor test a guess.
"""

import csv
import hashlib
import hmac
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from incrowd.errors import InputError
from incrowd.tables.atomic import whole
from incrowd.tables.base import Column, Edit, Replacement, Source

MARK = b"incrowd pseudonym "
DIGITS = 32
FORM = re.compile(f"p[0-9a-f]{{{DIGITS}}}")
"""What a pseudonym looks like."""


def pseudonym_of(key: bytes, text: str) -> str:
    """Return the pseudonym of a value."""
    found = hmac.new(key, MARK + text.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return "p" + found.hexdigest()[:DIGITS]


def with_pseudonyms(edit: Edit, source: Source, keys: Mapping[str, bytes]) -> Edit:
    """Return the edit that also publishes some columns under pseudonyms.

    Parameters
    ----------
    keys: by column.  A missing or empty value stays missing.
    """
    found = {name: replacement_of(source.encode(name), key) for name, key in keys.items()}
    return replace(edit, replacements={**edit.replacements, **found})


def replacement_of(column: Column, key: bytes) -> Replacement:
    """Return what takes the place of a column; labels stand in their own order, not the values'."""
    named = [pseudonym_of(key, value) if value else None for value in column.values]
    if len({*named} - {None}) < sum(map(bool, column.values)):
        raise InputError("two values have one pseudonym; take another key")
    labels = sorted({*named}, key=lambda name: name or "")
    place = {name: i for i, name in enumerate(labels)}
    of_code = np.array([place[name] for name in named], np.int32)
    ids = of_code[column.codes] if len(of_code) else column.codes.astype(np.int32)
    return Replacement(tuple(labels), ids)


def write_table(path: str | Path, source: Source, replaced: Mapping[str, Replacement]) -> None:
    """Write which value of which column has which pseudonym, sorted by these: private CSV.

    Raises
    ------
    InputError: no column has pseudonyms, or the folder cannot be written.
    """
    if not replaced:
        raise InputError("no column is published under pseudonyms (--pseudonym)")
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("column", "value", "pseudonym"))
    for name, new in replaced.items():
        column = source.encode(name)
        pairs = {
            (new.labels[label], column.values[code])
            for label, code in zip(new.ids.tolist(), column.codes.tolist(), strict=True)
        }
        named = sorted((label, value) for label, value in pairs if label and value)
        lines.writerows((name, value, label) for label, value in named)
    with whole(path, private=True) as file:
        file.write(text.getvalue().encode("utf-8", "surrogatepass"))
