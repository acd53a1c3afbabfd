"""Cells that a spreadsheet would run as a formula when it opens a CSV file.

A program such as a spreadsheet takes a cell that starts with ``=``, ``+``, ``-``, ``@``, a tab or
a carriage return for a formula (OWASP, "CSV Injection").  A leading apostrophe makes it text.
Plain numbers such as ``-1.5`` are left alone.
"""

import re
from dataclasses import replace

import numpy as np

from incrowd.tables.base import Column, Edit, Replacement, Source, replaced

NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?%?")


def runs(text: str | None) -> bool:
    """Whether a spreadsheet would run the cell."""
    if not text or text[0] not in "=+-@\t\r":
        return False
    return NUMBER.fullmatch(text) is None


def is_marked(text: str | None) -> bool:
    """Whether a cell gets an apostrophe: also one that has some, so that none becomes another."""
    return text is not None and runs(text.lstrip("'"))


def made_safe(source: Source, edit: Edit) -> tuple[Edit, int]:
    """Put an apostrophe before each cell that a spreadsheet would run; also count them."""
    replacements = dict(edit.replacements)
    cells = 0
    for name in edit.columns:
        column = source.encode(name)
        none = Replacement((), np.full(source.rows, -1, np.int32))
        old = replacements.get(name, none)
        vocabulary, index = replaced(column, old)
        unsafe = np.array([is_marked(text) for text in vocabulary] or [False])
        hit = unsafe[index] if len(index) else np.zeros(0, bool)
        if hit.any():
            labels = [f"'{text}" if is_marked(text) else text for text in vocabulary]
            ids = np.where((old.ids >= 0) | hit, index, -1).astype(np.int32)
            replacements[name] = Replacement(tuple(labels), ids)
            cells += int(hit.sum())
    return replace(edit, replacements=replacements, fewer=False), cells


def undone(column: Column) -> Column:
    """Take the apostrophes away again, to compare a release with its original."""
    values = [
        v[1:] if v is not None and v[:1] == "'" and is_marked(v) else v for v in column.values
    ]
    return Column.of(values, column.codes)
