"""The only folder that knows files and data frames.

    base.py         what the others see: columns of text codes in, an edit out
    files.py        reading and writing by name          one_file.py  one file, by its bytes
    formats.py      the formats, a row each              inputs.py  what is read, and written over
    parts.py        tables in several files              parts_write.py  and back into them
    csv_table.py    delimited text over its own bytes    dialect.py  its form
    csv_kernels.py  finding fields in the bytes, numbering values, writing
    packed.py       Parquet and Arrow files, as codes of each column's values; arrow_file.py
    database.py     databases, by SQLAlchemy; adbc.py, sending.py    place.py, addresses.py  names
    sheets.py       workbooks; kinds.py, looks.py, opendocument.py, hidden.py: what their cells show
    sheets_write.py what a sheet holds of a release
    native.py       data frames, through narwhals; readable.py    scalars.py, times.py as text
    stat.py         SPSS, Stata and SAS files; stat_column.py, stat_beside.py, stat_write.py
    whose.py        whose each row is, by the columns that name a person
    derived.py      a column in place of another         totals.py  tables as exports leave them
    released.py     cells as a release shows them; spelling.py, one spelling for each value
    spreadsheet.py  cells that a spreadsheet would run
    numbers.py      averages as numbers, of a type that holds them    changed.py  in frames
    atomic.py       files that appear whole or not at all    folders.py, key_file.py
    samples.py      data to try incrowd on

Typical use::

    table = open_table(data)             # a frame or a path
    column = table.encode("age")         # values as text, codes per row

The names are imported when first used: a Spark driver, which needs ``scalars`` and ``base`` alone,
gets along without numba.
"""

from typing import TYPE_CHECKING

from incrowd.run.late import importer

if TYPE_CHECKING:
    from incrowd.tables.base import Column as Column
    from incrowd.tables.base import Edit as Edit
    from incrowd.tables.base import Replacement as Replacement
    from incrowd.tables.base import Source as Source
    from incrowd.tables.base import Table as Table
    from incrowd.tables.base import replaced as replaced
    from incrowd.tables.base import texts as texts
    from incrowd.tables.files import open_table as open_table
    from incrowd.tables.files import read as read
    from incrowd.tables.files import write as write
    from incrowd.tables.native import from_native as from_native

_HOME = {
    "Column": "incrowd.tables.base",
    "Edit": "incrowd.tables.base",
    "Replacement": "incrowd.tables.base",
    "Source": "incrowd.tables.base",
    "Table": "incrowd.tables.base",
    "from_native": "incrowd.tables.native",
    "open_table": "incrowd.tables.files",
    "read": "incrowd.tables.files",
    "replaced": "incrowd.tables.base",
    "texts": "incrowd.tables.base",
    "write": "incrowd.tables.files",
}

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


__getattr__ = importer(__name__, _HOME)
