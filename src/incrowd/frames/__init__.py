"""The only folder that knows files and data frames.

    base.py         what the others see: columns of text codes in, an edit out
    files.py        reading and writing by name; formats
    csv_table.py    delimited text over its own bytes    dialect.py  its form
    native.py       data frames, through narwhals        scalars.py  typed values as text
    atomic.py       files that appear whole or not at all
    spreadsheet.py  cells that a spreadsheet would run

Typical use::

    table = open_table(data)             # a frame or a path
    column = table.encode("age")         # values as text, codes per row
"""

from incrowd.frames.base import Column, Edit, Replacement, Source, Table, replaced, texts
from incrowd.frames.files import open_table, read, write
from incrowd.frames.native import from_native

__all__ = [
    "Column",
    "Edit",
    "Replacement",
    "Source",
    "Table",
    "from_native",
    "open_table",
    "read",
    "replaced",
    "texts",
    "write",
]
