"""Releases of SPSS, Stata and SAS files: how released texts stand in numeric variables.

A numeric variable cannot hold ``*``.  In SPSS a suppressed cell becomes a new code, declared
missing and labelled ``suppressed``; in Stata an extended missing value (``.s`` where it is free)
of that label.  Generalised values become new codes labelled ``group: …`` where every value of
the variable has a label; elsewhere the variable becomes text.  SAS transport files hold neither
labels nor lettered missing values, so there every changed variable becomes text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import IO, Any

from incrowd.errors import InputError
from incrowd.hierarchy.tree import STAR
from incrowd.tables.atomic import scratch
from incrowd.tables.stat import StatTable, pyreadstat
from incrowd.tables.stat_column import GROUP, SUPPRESSED, Label, Raw, StatColumn, Tag

LETTERS = "stuvwxyzabcdefghijklmnopqr"


def write_stat(table: StatTable, form: str, file: IO[bytes], codebook: bool = False) -> None:
    """Write a table as ``sav``, ``zsav``, ``dta`` or ``xpt``.

    Parameters
    ----------
    codebook: keep the file's label, and the labels of codes that occur in hidden cells alone.

    Raises
    ------
    InputError: something of the file could not be kept; says what, and what to do instead.
    """
    columns = [physical(column, table.family, codebook) for column in table.variables.values()]
    frame = _frame(columns, table.family)
    library = pyreadstat()
    common = {
        "file_label": (table.title or "") if codebook else "",
        "column_labels": {c.name: c.title for c in columns if c.title},
        "variable_format": {c.name: c.format for c in columns if c.format},
    }
    labels = {c.name: {_plain(v): t for v, t in c.labels.items()} for c in columns if c.labels}
    with scratch() as folder:
        path = folder / f"release.{form}"
        if table.family == "spss":
            library.write_sav(
                frame,
                path,
                **common,
                compress=form == "zsav",
                row_compress=form == "sav",
                variable_value_labels=labels,
                missing_ranges={c.name: _ranges(c) for c in columns if c.missing},
                variable_measure={c.name: c.measure for c in columns if c.measure},
                variable_display_width={c.name: c.width for c in columns if c.width},
            )
        elif table.family == "stata":
            tags = {c.name: [v.letter for v in c.values if isinstance(v, Tag)] for c in columns}
            library.write_dta(
                frame,
                path,
                **common,
                version=14,  # the oldest with Unicode; what is newer only some editions read
                variable_value_labels=labels,
                missing_user_values={name: letters for name, letters in tags.items() if letters},
            )
        else:
            library.write_xport(
                frame,
                path,
                **common,
                table_name=table.table_name or None,
                file_format_version=table.version,
            )
        file.write(path.read_bytes())


def _ranges(column: StatColumn) -> list[Any]:
    return [low if low == high else {"lo": low, "hi": high} for low, high in column.missing]


def _plain(value: Any) -> Any:
    return value.letter if isinstance(value, Tag) else value


def _frame(columns: Sequence[StatColumn], family: str) -> Any:
    import numpy as np
    import polars as pl

    series = {}
    for column in columns:
        values = [_plain(value) for value in column.values]
        if column.text:
            cells = pl.Series("value", values, dtype=pl.String).gather(column.codes)
        elif family == "stata":  # objects: letters beside numbers, and whole numbers stay whole
            if any(isinstance(v, float) for v in values):  # the library takes one kind of number
                values = [float(v) if isinstance(v, int) else v for v in values]
            objects = np.array([*values, None], dtype=object)[column.codes]
            mixed = any(v is None or isinstance(v, str) for v in values)
            known = any(v is not None for v in values)
            dtype = (pl.Object if mixed else None) if known else pl.Int32
            cells = pl.Series("value", objects.tolist(), dtype=dtype)
        else:
            cells = pl.Series("value", values, dtype=pl.Float64).gather(column.codes)
        series[column.name] = cells
    return pl.DataFrame(series)


def physical(column: StatColumn, family: str, codebook: bool = False) -> StatColumn:
    """Return a variable whose released texts stand as its file format can hold them.

    ``codebook``: with the labels of codes that occur in hidden cells alone.

    Raises
    ------
    InputError: the format has no way to keep what the variable holds.
    """
    if family == "sas" and any(isinstance(v, Tag) for v in column.values) and not _changed(column):
        raise InputError(
            f"column {column.name!r} has lettered missing values, which a SAS transport file made "
            "here cannot hold; write .csv or .parquet"
        )
    by_code = column.stars_alone() or column.labelled()
    column = column if codebook else column.bare()
    if not _changed(column):
        return column
    if column.text:
        values = tuple(v.text if isinstance(v, Label) else v for v in column.values)
        return replace(column, values=values, format=None, width=None)
    if family == "sas":
        return as_text(column, family)
    if not by_code:
        return as_text(column, family)
    return suppressed(grouped(column), family)


def _changed(column: StatColumn) -> bool:
    return any(isinstance(value, Label) for value in column.values)


def as_text(column: StatColumn, family: str) -> StatColumn:
    """Return a numeric variable as text; labels of its values stay where strings can have them."""
    left = {v: label for v, label in column.labels.items() if not column.is_missing(v)}
    if left and family == "stata":
        raise InputError(
            f"column {column.name!r}: some of its values have labels and some not, and Stata "
            "labels no text, which its generalized values would need; label all values or none, "
            "suppress it (no --hierarchy for it), or write .csv or .parquet"
        )
    return replace(
        column,
        values=tuple(column.as_text(value) or "" for value in column.values),
        text=True,
        epoch=None,
        labels={column.as_text(value): label for value, label in left.items()},
        missing=(),
        format=None,  # the library sizes strings by their content
        measure="nominal" if family == "spss" else None,
        width=None,
    )


def grouped(column: StatColumn) -> StatColumn:
    """Give each generalized value a code above all others, labelled ``group: …``."""
    texts = sorted({v.text for v in column.values if isinstance(v, Label) and v.text != STAR})
    if not texts:
        return column
    numbers = _numbers(column)
    highest = max((high for high in numbers if high < float("inf")), default=0)
    if any(high == float("inf") for _, high in column.missing):
        raise InputError(
            f"column {column.name!r}: all codes from some value up are declared missing, so none "
            "is left for generalized values; end the range in the data, or write .csv or .parquet"
        )
    first = 10 ** len(str(int(max(highest, 0)))) + 1
    code = {text: first + i for i, text in enumerate(texts)}
    values: tuple[Raw, ...] = tuple(
        code[v.text] if isinstance(v, Label) and v.text in code else v for v in column.values
    )
    labels = dict(column.labels) | {code[text]: GROUP + text for text in texts}
    return replace(column, values=values, labels=labels, format=_wide_enough(column, code.values()))


def suppressed(column: StatColumn, family: str) -> StatColumn:
    """Give suppressed cells a missing value labelled ``suppressed``."""
    if not _changed(column):
        return column
    if family == "stata":
        taken = {v.letter for v in (*column.values, *column.labels) if isinstance(v, Tag)}
        free = [letter for letter in LETTERS if letter not in taken]
        if not free:
            raise InputError(f"column {column.name!r}: all 26 extended missing values are in use")
        mark: Any = Tag(free[0])
        missing = column.missing
    else:
        mark, missing = _missing_code(column)
    values = tuple(mark if isinstance(v, Label) else v for v in column.values)
    labels = dict(column.labels) | {mark: SUPPRESSED}
    form = column.format if family == "stata" else _wide_enough(column, [mark])
    return replace(column, values=values, labels=labels, missing=missing, format=form)


def _numbers(column: StatColumn) -> list[float]:
    """All numbers that a variable's values, labels and missing ranges name."""
    named = [*column.values, *column.labels, *(end for pair in column.missing for end in pair)]
    return [float(n) for n in named if isinstance(n, int | float)]


def _missing_code(column: StatColumn) -> tuple[float, tuple[tuple[Any, Any], ...]]:
    """Return a free code and the missing ranges that declare it.

    SPSS allows three single codes, or one range and one single code.
    """
    ranges = [pair for pair in column.missing if pair[0] != pair[1]]
    single = [pair for pair in column.missing if pair[0] == pair[1]]
    lowest = min((n for n in _numbers(column) if n > -float("inf")), default=0.0)
    code = -9.0
    while code >= lowest:
        code = code * 10 - 9
    if not ranges and len(single) == 3:  # 97, 98, 99 become the range from 97 to 99
        ends = (min(low for low, _ in single), max(high for _, high in single))
        taken = {n for n in _numbers(column) if ends[0] <= n <= ends[1]}
        if taken <= {low for low, _ in single}:
            ranges, single = [ends], []
    if len(ranges) + len(single) < (2 if ranges else 3):
        if any(low == -float("inf") for low, _ in ranges):
            return code, column.missing
        return code, (*ranges, *single, (code, code))
    inside = _free_inside(ranges, set(_numbers(column)))
    if inside is None:
        raise InputError(
            f"column {column.name!r}: SPSS has no room for one more missing value, which its "
            "suppressed cells need; declare fewer, or write .csv or .parquet"
        )
    return inside, column.missing


def _free_inside(ranges: Iterable[tuple[Any, Any]], taken: set[float]) -> float | None:
    """Return a whole number inside a range of missing values that nothing uses."""
    for low, high in ranges:
        start = int(low) if low > -float("inf") else int(high) - len(taken) - 1
        for number in range(start, start + len(taken) + 2):
            if low <= number <= high and number not in taken:
                return float(number)
    return None


def _wide_enough(column: StatColumn, codes: Iterable[float]) -> str | None:
    """Return the numeric format, widened so that SPSS can show new codes."""
    kind, dot, decimals = (column.format or "").partition(".")
    if kind[:1] != "F" or not kind[1:].isdecimal():
        return column.format
    extra = int(decimals) + 1 if decimals.isdecimal() and int(decimals) else 0
    need = max(len(str(int(code))) for code in codes) + extra
    return f"F{max(int(kind[1:]), need)}{dot}{decimals}"
