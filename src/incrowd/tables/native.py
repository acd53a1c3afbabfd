"""Data frames of any library that narwhals accepts, as tables; the same type comes back."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError, MissingExtraError, listed
from incrowd.tables import readable, released
from incrowd.tables.base import Column, Edit, Table, places_in
from incrowd.tables.changed import Changed, Numbers, Texts, changed
from incrowd.tables.scalars import as_texts, require_one_kind
from incrowd.tables.times import BEYOND, nanoseconds, untold
from incrowd.text.marks import require_characters

UNTYPED = (NotImplementedError, TypeError, ValueError, ArithmeticError)  # of cells without a type
SPELLED = ("Decimal", "Duration")  # types whose cells have several texts
CALENDAR = range(1, 10_000)  # the years that Python knows
FEW = 2000  # rows that Python numbers faster than a join does: .02 ms for .6, on 12 rows
EAGER = "pandas, polars, pyarrow, modin or cuDF"


class NativeTable:
    """A data frame as a table.

    Attributes
    ----------
    columns: its column names.
    """

    path: str | None = None

    def __init__(self, frame: "nw.DataFrame[Any]", back: Callable[[Any], Any]) -> None:
        self._frame, self._back = frame, back
        self.columns = tuple(frame.columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self._frame)

    def encode(self, column: str) -> Column:
        """Values of one column as text."""
        series = self._frame.get_column(column)
        if series.implementation.is_pandas_like():
            return _encode_pandas(series.to_native(), column)
        return encode_polars(readable.to_polars(series, column), column)

    def take(self, column: str, rows: slice) -> Any:
        """Return some rows of one column as a polars series.

        Raises
        ------
        InputError: polars knows no such cells.
        MissingExtraError: polars reads them by way of pyarrow, which is not installed.
        """
        import polars as pl

        try:
            with passing(self._frame):
                cells = readable.unpacked(self._frame.get_column(column)).to_polars()[rows]
        except (*UNTYPED, pl.exceptions.PolarsError):
            cells = None  # pyarrow's errors are such, too
        if cells is None or cells.dtype == pl.Object:
            raise InputError(
                f"column {column!r} holds values that files of data frames have no type for; make "
                "it text, or leave it out"
            )
        return cells

    def agrees(self, written: Table, column: str) -> bool:
        """Whether a column of decimals or spans has the same cells in a file read back.

        Their texts may differ: a workbook holds 1.50 as 1.5.
        """
        take: Any = getattr(written, "take", None)
        with contextlib.suppress(InputError):
            mine: Any = self.take(column, slice(None)) if take else None
            if take and str(mine.dtype).startswith(SPELLED):
                return mine.equals(take(column, slice(None)))
        return False

    @property
    def backend(self) -> nw.Implementation:
        """The library of the frame."""
        return self._frame.implementation

    def with_column(self, old: str, new: str, cells: "nw.Series[Any]") -> "NativeTable":
        """Return a table with a column in place of another."""
        if self.backend.is_pandas_like():
            native = self._frame.to_native().copy(deep=False)
            native.insert(list(native.columns).index(old), new, cells.to_native().to_numpy())
            frame = nw.from_native(native.drop(columns=[old]), eager_only=True)
        else:
            own = {n: cells if n == old else self._frame.get_column(n) for n in self.columns}
            frame = _framed({new if n == old else n: s for n, s in own.items()}, self.backend)
        return NativeTable(frame, self._back)

    def native(self) -> Any:
        """The frame, of the type that was given."""
        return self._back(self._frame.to_native())

    @property
    def names_rows(self) -> bool:
        """Whether a pandas frame has an index that may name rows: more than different numbers."""
        if not self._frame.implementation.is_pandas_like():
            return False
        index = self._frame.to_native().index
        plain = index.dtype.kind in "iu" and index.is_unique
        return not plain or any(name is not None for name in index.names)

    def alike(self, columns: Mapping[str, Sequence[Any]]) -> Any:
        """Return another frame of the type that was given, with these columns."""
        frame = nw.from_dict(dict(columns), backend=self._frame.implementation)
        return self._back(frame.to_native())

    def edited(self, edit: Edit) -> "NativeTable":
        """Replace cells, drop columns, reorder rows.

        A column without changed cells keeps its type, but equal values become one cell (−0.0 and
        0.0 would tell rows apart) unless its cells are kept (``Edit.kept``); others become text,
        but for those whose new texts are numbers (``Edit.numbers``).  The index of a pandas frame
        is kept; with a new order it is numbered afresh, for it would tell the old one.
        """
        texts: dict[str, Texts | Numbers] = {}
        for name, replacement in edit.replacements.items():
            if replacement.changed:
                texts[name] = changed(self, name, replacement, edit)
        pandas_like = self._frame.implementation.is_pandas_like()
        frame = (_edited_pandas if pandas_like else _edited)(self._frame, edit, texts)
        if edit.order is not None:
            frame = released.picked(frame, edit.order)
            if pandas_like and not edit.fewer:
                frame = nw.from_native(frame.to_native().reset_index(drop=True), eager_only=True)
            frame = _without_traces(frame, len(frame) < self.rows)
        if frame.implementation.is_polars():
            own = {c: released.fresh(cells.to_native()) for c, cells in frame.to_dict().items()}
            frame = _framed_polars(own)
        else:
            frame = released.without_rests(frame)
        return NativeTable(frame, self._back)


def _edited(frame: "nw.DataFrame[Any]", edit: Edit, texts: Changed) -> Any:
    """Pick columns and replace some.

    Column by column, for polars takes a name such as ``*`` or ``^a$`` for a pattern when it
    selects.
    """
    backend = frame.implementation
    made = {}
    for name in edit.columns:
        cells = texts[name].series(backend) if name in texts else frame.get_column(name)
        made[name] = cells if name in texts or name in edit.kept else released.one_form_of(cells)
    return _framed(made, backend)


def _framed(columns: Mapping[str, "nw.Series[Any]"], backend: Any) -> "nw.DataFrame[Any]":
    """Return a frame of columns; narwhals would make Categorical of polars' Enum.

    It would also hand pyarrow columns on by way of C, where older releases of it, 22 among them,
    crash on views.
    """
    cells = {name: series.to_native() for name, series in columns.items()}
    if backend.is_polars():
        return _framed_polars(cells)
    import pyarrow as pa

    return nw.from_native(pa.table(cells), eager_only=True)


def _framed_polars(columns: Mapping[str, Any]) -> "nw.DataFrame[Any]":
    import polars as pl

    return nw.from_native(pl.DataFrame(columns), eager_only=True)


def _edited_pandas(frame: "nw.DataFrame[Any]", edit: Edit, texts: Changed) -> Any:
    """The same for pandas and its kin, the index kept."""
    native = frame.to_native()[list(edit.columns)].copy(deep=False)
    # notes on the original, and what its columns are together, which files of a release would hold
    native.attrs, native.columns = {}, native.columns.rename(None)
    series = frame.implementation.to_native_namespace().Series
    for name in edit.columns:
        if name in texts:
            native[name] = texts[name].pandas(series, native[name])
        elif name in edit.kept:
            continue
        elif native[name].dtype == object:
            cells = _one_form_objects(native[name], name)
            native[name] = series(cells, index=native.index, dtype=object)
        elif (new := released.one_form_of_pandas(native[name])) is not None:
            native[name] = new
    return nw.from_native(native, eager_only=True)


def _without_traces(frame: "nw.DataFrame[Any]", fewer: bool) -> "nw.DataFrame[Any]":
    """Sort categories that have no order; if ``fewer``, drop those of rows that were left out."""
    backend = frame.implementation
    named = released.categorical(frame)
    if backend.is_pandas_like():
        native = frame.to_native().copy(deep=False)
        for name in named:
            native[name] = released.used_kinds(native[name], fewer)
        return nw.from_native(native, eager_only=True)
    if backend.is_polars() and not fewer:  # which sorts Categorical, and makes Enum by hand
        return frame
    names = released.used if backend.is_polars() else partial(released.used_words, fewer=fewer)
    kept = {c: names(cells) if c in named else cells for c, cells in frame.to_dict().items()}
    return _framed(kept, backend)


def _one_form_objects(series: Any, column: str) -> NDArray[np.object_]:
    """Return the cells of a pandas series with one object for all that read alike.

    Decimal("1") and Decimal("1.0") are equal, and so are times of several zones; None, NaN and NA
    are all missing.  A column without a text form stays as it is.
    """
    try:
        codes, distinct, texts = _numbered(series, column)
    except InputError:
        return series.to_numpy()
    first: dict[str, Any] = {}
    for value, text in zip(distinct, texts, strict=True):
        first.setdefault(text, value)
    cells = np.empty(len(texts) + 1, object)
    cells[:-1] = [first[text] for text in texts]
    cells[-1] = next(iter(series[series.isna()]), None)
    return cells[codes]


def _encode_pandas(series: Any, column: str) -> Column:
    """Number the values of a pandas series; NaN, None, NA and NaT are all missing."""
    if str(series.dtype) == "time64[ns][pyarrow]":  # as a Python object it lacks nanoseconds
        return encode_polars(nw.from_native(series, series_only=True).to_polars(), column)
    if "halffloat" in str(series.dtype):  # pandas numbers their bits where there is NaN
        wide = series.array.__arrow_array__().cast("float32")
        series = type(series)(type(series.array)(wide))
    codes, _, texts = _numbered(series, column)
    return Column.of([*texts, None], np.where(codes < 0, len(texts), codes)).compact()


def _numbered(series: Any, column: str) -> tuple[NDArray[np.integer], list[Any], list[str]]:
    """Return each cell's number (−1 = missing), the distinct values, and their texts."""
    if series.dtype == object:
        # before numbering, which takes 1, 1.0 and True for the same
        require_one_kind(series[series.notna()], column)
    try:
        codes, distinct = series.factorize()
    except (TypeError, *BEYOND):  # of pyarrow: lists, dictionaries that pandas cannot number
        raise InputError(
            f"column {column!r} holds values that cannot be compared; make it text, or leave it out"
        ) from None
    if str(series.dtype).startswith("datetime64") and not distinct.year.isin(CALENDAR).all():
        raise InputError(untold(column))  # pandas 2 crashes as soon as they become Python's
    try:
        return codes, list(distinct), as_texts(list(distinct), column)
    except BEYOND:
        raise InputError(untold(column)) from None


def encode_polars(series: Any, column: str) -> Column:
    """Number the values of a polars series; null is missing, NaN is a value."""
    import polars as pl

    dtype = series.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise InputError(
            f"column {column!r} is of type {dtype}, which has no text form; make it text, or "
            "leave it out"
        )
    series = series.alias("value")  # for a name such as "^a$" has a meaning of its own
    if isinstance(dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if str(dtype) == "Float16":  # polars does not find some of its cells again
        series = series.cast(pl.Float32)
    if series.dtype == pl.String and len(series) <= FEW:
        return Column.of(series.to_list(), np.arange(len(series)))
    distinct = series.unique()
    texts = iter(_texts(distinct.drop_nulls(), column))
    values = [next(texts) if there else None for there in distinct.is_not_null().to_list()]
    return Column.of(values, places_in(distinct, series))


def _texts(values: Any, column: str) -> list[str]:
    """Return the texts of a polars series without nulls, to the nanosecond."""
    import polars as pl

    dtype, finer = values.dtype, nanoseconds(values)
    if len(finer) and dtype != pl.Time:  # rounded down, which polars does of times, not of spans
        coarse = pl.Duration("us") if dtype == pl.Duration else pl.Datetime("us", dtype.time_zone)
        values = (values.to_physical() // 1000).cast(coarse)
    try:
        return as_texts(values.to_list(), column, finer.tolist())
    except (*BEYOND, pl.exceptions.PanicException):
        raise InputError(untold(column)) from None


def from_native(data: Any) -> NativeTable:
    """Take any data frame that narwhals accepts.

    Raises
    ------
    InputError: not a data frame; one that has to be collected first; names that are not text or
        not different.
    MissingExtraError: a relation of duckdb, where pyarrow is not installed.
    """
    wrapped = isinstance(data, nw.DataFrame | nw.LazyFrame)
    try:
        frame = nw.from_native(data)
    except TypeError:
        its = "; make a frame of it, as polars.DataFrame or polars.read_csv does"
        its = "; its .data is a frame" if hasattr(data, "policy") else its  # of a release
        raise InputError(
            f"expected a data frame ({EAGER}, polars lazy, duckdb) or a path, "
            f"not {type(data).__name__}{its}"
        ) from None
    except nw.exceptions.DuplicateError:
        names = data.column_names if hasattr(data, "column_names") else data.columns
        twice = [name for name, times in Counter(names).items() if times > 1]
        raise InputError(
            f"the frame has {listed(twice)} more than once as a column's name; rename the columns"
        ) from None
    if frame.implementation.is_pandas_like():  # a later change in place must not reach us
        frame = nw.from_native(frame.to_native().copy(deep=False))
    readable.require_readable(frame)
    back: Callable[[Any], Any] = _same
    if isinstance(frame, nw.LazyFrame):
        frame, back = _collected(frame)
    other = [name for name in frame.columns if not isinstance(name, str)]
    if other:
        raise InputError(
            f"column names must be text; {other[0]!r} is {type(other[0]).__name__}: "
            "rename it, in pandas by df.columns = [str(name) for name in df.columns]"
        )
    for name in frame.columns:
        require_characters(name, "a column's name")
    return NativeTable(frame, (lambda native: nw.from_native(back(native))) if wrapped else back)


def as_polars(table: Table) -> Any:
    """The table as a polars frame, types kept where it has any."""
    frame = nw.from_native(table.native())
    with passing(frame):
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        try:
            if frame.implementation.is_pyarrow():
                own = {c: readable.unpacked(cells) for c, cells in frame.to_dict().items()}
                frame = _framed(own, frame.implementation)
            made = frame.to_polars()
            made.columns = frame.columns  # polars names those without a name from pyarrow
            return made
        except UNTYPED:
            if isinstance(table, NativeTable):
                for name in table.columns:
                    table.take(name, slice(0))  # names the one that has no type
            raise


@contextlib.contextmanager
def passing(frame: Any) -> Iterator[None]:
    """Raise MissingExtraError where polars takes a frame by way of pyarrow, and it is not there."""
    try:
        yield
    except ImportError:
        kind = f"a frame of {frame.implementation.name.lower()}"
        raise MissingExtraError("pyarrow", None, f"passing {kind} to polars") from None


def _same(native: Any) -> Any:
    return native


def _collected(frame: "nw.LazyFrame[Any]") -> tuple["nw.DataFrame[Any]", Callable[[Any], Any]]:
    """Collect a lazy frame, and say how to make one again."""
    if frame.implementation.is_polars():
        return frame.collect(), lambda native: native.lazy()
    if frame.implementation.is_duckdb():
        import duckdb

        with passing(frame):
            return frame.collect(backend="polars"), lambda native: duckdb.from_arrow(native)
    raise InputError(
        f"a lazy frame of {frame.implementation.name.lower()} must be collected first ({EAGER})"
    )
