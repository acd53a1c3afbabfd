"""SPSS, Stata and SAS files as tables, with their labels and missing values (extra ``stat``)."""

import codecs
import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.errors import InputError, MissingExtraError
from incrowd.tables.addresses import workbook_of
from incrowd.tables.base import Column, Edit, places_in
from incrowd.tables.stat_beside import WALKED, holds_more
from incrowd.tables.stat_column import Raw, StatColumn, Tag, epoch_of

FAMILY = {
    "sav": "spss",
    "zsav": "spss",
    "por": "spss",
    "dta": "stata",
    "sas7bdat": "sas",
    "xpt": "sas",
}
PACKAGE = {"spss": "SPSS", "stata": "Stata", "sas": "SAS"}
SUFFIXES = {f".{form}": form for form in FAMILY}
WRITTEN = {"spss": (".sav", ".zsav"), "stata": (".dta",), "sas": (".xpt",)}
PACKED = (".gz", ".zip", ".zst", ".bz2", ".xz")
MISSPELT = (".parquet", ".feather", ".arrow", ".xlsx")  # suffixes long enough to tell near ones
OF_EXCEL = (".xls", ".xlsm", ".xlsb")
FOREIGN = (
    *OF_EXCEL, ".json", ".jsonl", ".ndjson", ".xml", ".html",
    ".orc", ".avro", ".pkl", ".pickle", ".rds", ".rdata", ".h5", ".db", ".sqlite", ".duckdb",
    ".pdf", ".doc", ".docx",
)  # fmt: skip
UNSEEN = "what the file (.{}) holds beside its rows, which only SPSS or SAS shows"
SAS_MAGIC = bytes(12) + b"\xc2\xea\x81\x60"


def stat_form(data: bytes) -> str | None:
    """Return ``sav``, ``por``, ``dta``, ``xpt``, ``sas7bdat``, by the first bytes, or None."""
    if data[:4] in (b"$FL2", b"$FL3"):
        return "sav"
    if data.startswith(b"<stata_dta>"):
        return "dta"
    if data[:1] and data[0] in range(104, 116) and data[1:4] in (b"\1\1\0", b"\2\1\0"):
        return "dta"  # Stata 4 to 12: version, byte order, 1, 0
    if data.startswith(b"HEADER RECORD*******LI"):
        return "xpt"
    if data.startswith(SAS_MAGIC):
        return "sas7bdat"
    return "por" if b"SPSSPORT" in data[:600].translate(None, b"\r\n") else None


def pyreadstat() -> Any:
    """Import the library.

    Raises
    ------
    MissingExtraError: it is not installed.
    """
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError("pyreadstat", "stat", "an SPSS, Stata or SAS file") from None
    return pyreadstat


@dataclass(eq=False)
class StatTable:
    """A table from a statistics package's file.

    Attributes
    ----------
    variables: by name, in order; family: ``spss``, ``stata`` or ``sas``.
    title: the file's own label; table_name: that of a SAS table.
    version: of a SAS transport file, 5 or 8; others 0.
    apart: variables of which the file holds −0.0 and 0.0, which read alike.
    notes: whether the file holds notes, attributes, sets of variables, labels of no variable, or
        bytes behind rows and texts; none are written.
    unseen: what the file may hold and nobody looks at, in words; empty for nothing.
    """

    variables: Mapping[str, StatColumn]
    rows: int
    family: str
    title: str | None = None
    table_name: str | None = None
    version: int = 0
    apart: frozenset[str] = frozenset()
    notes: bool = False
    unseen: str = ""
    path: str | None = None
    _texts: dict[str, Column] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(self.variables)

    def encode(self, column: str) -> Column:
        """Values of one variable as text; see ``stat_column`` for how they read."""
        if column not in self._texts:
            self._texts[column] = self.variables[column].encode()
        return self._texts[column]

    def numeric(self, column: str) -> bool:
        """Whether a variable holds numbers, other than times."""
        return not self.variables[column].text and self.variables[column].epoch is None

    def edited(self, edit: Edit) -> "StatTable":
        """Return the release; untouched variables stay as they are, labels and all."""
        variables = {}
        for name in edit.columns:
            column, new = self.variables[name], edit.replacements.get(name)
            if new is not None and new.changed:
                numbers = name in edit.numbers
                column = (column.averaged(new) if numbers else None) or column.replaced(new)
            if edit.order is not None:
                column = replace(column, codes=column.codes[edit.order])
            if edit.order is not None and len(edit.order) < self.rows:
                column = replace(column, hides=True).compact()
                if column.text:  # as wide as the longest text, which may be one that is left out
                    column = replace(column, format=None, width=None)
            variables[name] = replace(column, storage=None)
        rows = self.rows if edit.order is None else len(edit.order)
        return replace(self, rows=rows, variables=variables, notes=False, unseen="", _texts={})

    def native(self) -> Any:
        """Return a polars frame: whole numbers as such, all else as text."""
        import polars as pl

        return pl.DataFrame({name: self._series(name) for name in self.columns})

    def _series(self, name: str) -> Any:
        import polars as pl

        variable, column = self.variables[name], self.encode(name)
        values: Any = pl.Series("value", column.values, dtype=pl.String)
        known = [raw for raw in variable.values if raw is not None]
        if known and all(_whole(variable, raw) for raw in known):
            values = values.cast(pl.Int64)
        return values.gather(column.codes) if len(column.values) else values


def _whole(variable: StatColumn, raw: Raw) -> bool:
    """Whether a value reads as a whole number that fits 64 bits."""
    if not isinstance(raw, int | float) or variable.epoch is not None or variable.is_missing(raw):
        return False
    return float(raw).is_integer() and abs(raw) < 2**53 and variable.as_text(raw) == str(int(raw))


def read_stat(data: bytes, name: str, form: str, encoding: str | None = None) -> StatTable:
    """Read a file's bytes.

    Parameters
    ----------
    encoding: of its text, such as ``latin-1``; None = as the file says (old files may not).

    Raises
    ------
    MissingExtraError: pyreadstat is not installed.
    InputError: the file cannot be read as what it starts like.
    """
    library = pyreadstat()
    options: dict[str, Any] = {"disable_datetime_conversion": True, "output_format": "polars"}
    if form in ("sav", "dta", "sas7bdat"):
        options["user_missing"] = True
    if encoding is not None and form != "por":
        options["encoding"] = _charset(encoding)
    reader = getattr(library, "read_xport" if form == "xpt" else f"read_{form}")
    try:
        frame, meta = reader(io.BytesIO(data), **options)
    except Exception:
        # the library's own message may quote the file's content
        package = PACKAGE[FAMILY[form]]
        raise InputError(
            f"{name}: starts like {package} ({form}), but cannot be read; if it is whole, its text "
            "may be of another encoding: try --encoding latin-1"
        ) from None
    variables = {
        column: _variable(FAMILY[form], column, frame.get_column(column), meta)
        for column in meta.column_names
    }
    version = {"sas7bdat": 8, "xpt": 5 if b"LIBRARY HEADER" in data[:48] else 8}.get(form, 0)
    apart = frozenset(name for name in variables if _two_zeros(frame.get_column(name)))
    names, told = (meta.file_label, meta.table_name), bool(meta.notes or meta.mr_sets)
    told |= bool({*meta.value_labels} - {*meta.variable_to_label.values()})
    told |= holds_more(form, data, frame.height)
    unseen = "" if form in WALKED else UNSEEN.format(form)
    return StatTable(variables, frame.height, FAMILY[form], *names, version, apart, told, unseen)


def _two_zeros(series: Any) -> bool:
    """Whether a column holds −0.0 and 0.0."""
    if not series.dtype.is_object():
        series = series.filter(series == 0) if series.dtype.is_float() else series.clear()
    zeros = {math.copysign(1, x) for x in series.to_list() if isinstance(x, float) and x == 0}
    return len(zeros) > 1


def _charset(encoding: str) -> str:
    """Return the name of an encoding as the library's C code knows it.

    Raises
    ------
    InputError: there is no such encoding.
    """
    try:
        return codecs.lookup(encoding).name.replace("iso8859-", "ISO-8859-").upper()
    except LookupError:
        raise InputError(f"--encoding {encoding!r}: no such encoding; try latin-1") from None


def _variable(family: str, name: str, series: Any, meta: Any) -> StatColumn:
    text = meta.readstat_variable_types[name].startswith("string")
    tags = set(meta.missing_user_values.get(name, ()))
    values, codes = _factor(series, tags if not text else set())
    form = meta.original_variable_types.get(name)
    labels = {
        Tag(value) if isinstance(value, str) and not text else value: label
        for value, label in meta.variable_value_labels.get(name, {}).items()
    }
    return StatColumn(
        name,
        values,
        codes,
        text,
        epoch=None if text else epoch_of(family, form),
        title=meta.column_names_to_labels.get(name),
        labels=labels,
        missing=tuple((each["lo"], each["hi"]) for each in meta.missing_ranges.get(name, ())),
        format=form,
        measure=meta.variable_measure.get(name),
        width=meta.variable_display_width.get(name),
        storage=meta.variable_storage_width.get(name),
    )


def _factor(series: Any, tags: set[str]) -> tuple[tuple[Raw, ...], Any]:
    """Return a series' distinct values and each row's index into them."""
    import polars as pl

    if series.dtype == pl.Object:  # numbers and letters mixed
        place: dict[Any, int] = {}
        codes = [place.setdefault(value, len(place)) for value in series.to_list()]
        return _tagged(place, tags), np.array(codes, np.int32)
    distinct = series.unique(maintain_order=True)
    return _tagged(distinct.to_list(), tags), places_in(distinct, series)


def _tagged(values: Iterable[Any], tags: set[str]) -> tuple[Raw, ...]:
    """Tell lettered missing values from text."""
    return tuple(Tag(v) if isinstance(v, str) and v in tags else v for v in values)


def require_place_of(
    path: str | Path, table: Any, proof: bool = False, codebook: bool = False
) -> None:
    """Raise when a table cannot be written under a name, before a long search rather than after.

    Parameters
    ----------
    proof: whether a proof is to be written as well; codebook: whether labels of absent codes are.

    Raises
    ------
    InputError: no such format is written, or not from such a table; names one that is.
    """
    suffix = Path(path).suffix.lower()
    sheets = {".xlsx", ".ods"}
    whose = {suffix, f".{getattr(table, 'form', '')}"}
    if proof and (isinstance(table, StatTable) or suffix in SUFFIXES or whose & sheets):
        raise InputError(
            "proof: the independent checker reads CSV, Parquet and Arrow only; convert the table "
            "first, or make no proof (the release itself is re-checked all the same)"
        )
    if workbook_of(path)[1] is not None:
        raise InputError(
            f"{path}: a release is a workbook of its own; leave out what follows the #"
        )
    if codebook and suffix not in SUFFIXES:
        raise InputError(f"{path}: --codebook goes with SPSS, Stata and SAS files")
    if suffix in PACKED:
        raise InputError(
            f"{path}: packed files are not written; write {Path(path).stem!r} and pack it"
        )
    if suffix in FOREIGN:  # CSV under such a name would be taken for what it is not
        own = ".xlsx, " if suffix in OF_EXCEL else ""
        raise InputError(
            f"{path}: no {suffix} files are written; write {own}.csv, .parquet or .arrow"
        )
    meant = get_close_matches(suffix, MISSPELT, n=1, cutoff=0.8)
    if meant and suffix not in (*MISSPELT, *SUFFIXES):  # it would be CSV under that name
        raise InputError(f"{path}: no {suffix} files are written; did you mean {meant[0]}?")
    form = SUFFIXES.get(suffix)
    if form is None or str(path) == "-":
        return
    family = FAMILY[form]
    own = " or ".join(WRITTEN[family])
    if suffix not in WRITTEN[family]:
        raise InputError(f"{path}: .{form} files can be read, not written; write {own}")
    found = table.family if isinstance(table, StatTable) else None
    if found != family:
        other = f", or {' or '.join(WRITTEN[found])}" if found else ""
        raise InputError(
            f"{path}: {PACKAGE[family]} files are written from {PACKAGE[family]} files only, whose "
            f"labels and missing values they keep; write .csv or .parquet{other}"
        )
    pyreadstat()
