"""Cells as a release shows them: no category, bit or byte beside them tells more than they do."""

import io
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

FEW = 1_000  # rows


def narrower(series: Any) -> Any:
    """Return the type of a polars series; of an Enum without categories that do not occur."""
    import polars as pl

    if not isinstance(series.dtype, pl.Enum):
        return series.dtype
    there = set(series.alias("value").unique())
    return pl.Enum([name for name in series.dtype.categories if name in there])


def stored(series: Any) -> Any:
    """Return the cells of a type of somebody's own as what they are stored as.

    A release would carry the parameters of such a type, and cells such as ``*`` are none of it.
    """
    import polars as pl

    own = getattr(pl, "BaseExtension", None)  # polars before 1.36 reads none
    return series.ext.storage() if own and isinstance(series.dtype, own) else series


def one_form(series: Any) -> Any:
    """Return a polars series in which 0.0 and NaN look one way each: their bits tell rows apart."""
    import polars as pl

    if not series.dtype.is_float():
        return series
    cells = series.alias("value")  # for a name such as "^a$" has a meaning of its own
    zero = pl.Series([0.0], dtype=series.dtype)
    return cells.zip_with(cells.ne_missing(0.0), zero).fill_nan(float("nan")).alias(series.name)


def fresh(series: Any) -> Any:
    """Return a polars series whose memory holds its own cells only, in their order.

    Rows that are picked from longer texts share the memory of the series that they came from,
    with the cells that were replaced or left out, and the old order; files of Arrow and pickles
    would hold all of it.  The older form of Arrow knows no such sharing.  Values that stand under
    missing cells, which is how programs hide them, become zeros.
    """
    import polars as pl

    series = stored(series)
    name, series = series.name, series.alias("value")  # for "^a$" has a meaning of its own
    if series.null_count() and series.dtype not in (pl.Null, pl.Object):
        series = series.zip_with(series.is_not_null(), series.clear(len(series)))
    if series.dtype.is_nested():
        whole = io.BytesIO()
        with suppress(pl.exceptions.InvalidOperationError):  # structs of no column are no Parquet
            series.to_frame().write_parquet(whole)  # which holds nothing of missing cells
            whole.seek(0)
            series = pl.read_parquet(whole).to_series()
    if not (series.dtype in (pl.String, pl.Binary) or series.dtype.is_nested()):
        return series.alias(name)
    if series.dtype == pl.String and len(series) <= FEW:  # a file takes longer
        return pl.Series(name, series.to_list(), dtype=pl.String)
    file = io.BytesIO()
    series.to_frame().write_ipc(file, compat_level=pl.CompatLevel.oldest())
    file.seek(0)
    return pl.read_ipc(file).to_series().alias(name)


def without_rests(frame: "nw.DataFrame[Any]") -> "nw.DataFrame[Any]":
    """Return a frame of pandas or pyarrow with its own cells, and nothing under missing ones."""
    native = frame.to_native()
    if frame.implementation.is_pyarrow():
        for j, cells in enumerate(native.columns):
            # it may share memory that holds other cells, such as those of a slice
            shares = _without_views(cells.type) or cells.get_total_buffer_size() > cells.nbytes
            if cells.null_count or _is_nested(cells.type) or shares:
                native = native.set_column(j, native.field(j), _arrow_without_rests(cells))
        return nw.from_native(native, eager_only=True)
    own = {name: native[name] for name in native.columns if _has_rests(native[name])}
    if own:
        native = native.copy(deep=False)
    for name, cells in own.items():
        native[name] = _pandas_without_rests(cells)
    return nw.from_native(native, eager_only=True)


def _is_nested(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_nested(kind)


def _without_views(kind: Any) -> Any:
    """Return the type of pyarrow whose texts stand one behind another, for views; else None."""
    import pyarrow as pa

    return {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(kind)


def _arrow_without_rests(cells: Any) -> Any:
    """Return a chunked array of pyarrow; those of lists and structs go through a file of Parquet.

    Which holds nothing of missing cells: what stands deeper than the first level has to go, too.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if plain := _without_views(cells.type):
        return _arrow_without_rests(cells.cast(plain)).cast(cells.type)
    there = cells.is_valid().to_numpy()
    cells = cells.take(pa.array(np.arange(len(there)), mask=~there))
    if not _is_nested(cells.type):
        return cells
    file = io.BytesIO()
    with suppress(pa.ArrowNotImplementedError, pa.ArrowInvalid):  # of a type that is no Parquet
        parquet.write_table(pa.table({"value": cells}), file)
        file.seek(0)
        again = parquet.read_table(file).column(0)
        cells = again if again.type == cells.type else cells
    return cells


def _has_rests(cells: Any) -> bool:
    """Whether a series of pandas may hold values under missing cells: numpy's types cannot."""
    return hasattr(getattr(cells, "array", None), "__arrow_array__") and bool(cells.isna().any())


def _pandas_without_rests(cells: Any) -> Any:
    array, missing = cells.array, cells.isna().to_numpy()
    if hasattr(cells.dtype, "pyarrow_dtype"):  # NaN is no missing cell there
        new = type(array)(_arrow_without_rests(array.__arrow_array__()))
    else:
        new = array.take(np.where(missing, -1, np.arange(len(missing))), allow_fill=True)
    return type(cells)(new, index=cells.index, name=cells.name)


def used(series: "nw.Series[Any]") -> "nw.Series[Any]":
    """Return a polars series whose type names the categories that occur."""
    cells = series.to_native()
    return nw.from_native(cells.cast(narrower(cells)), series_only=True)


def used_kinds(series: Any, fewer: bool) -> Any:
    """Return a series of pandas with its categories, or a dictionary's, as ``chosen_words`` has."""
    if hasattr(series, "cat"):
        found = series.cat.remove_unused_categories() if fewer else series
        words = found.cat.categories
        return found if found.cat.ordered else found.cat.reorder_categories(words[by_word(words)])
    cells = chosen_words(series.array.__arrow_array__(), fewer)
    return type(series)(type(series.array)(cells), index=series.index)


def used_words(series: "nw.Series[Any]", fewer: bool) -> "nw.Series[Any]":
    """Return a dictionary of pyarrow as ``chosen_words`` has it."""
    return nw.from_native(chosen_words(series.to_native(), fewer), series_only=True)


def by_word(words: Any) -> list[int]:
    """Return the places of words in their own order."""
    try:
        return sorted(range(len(words)), key=lambda place: words[place])
    except TypeError:  # of several kinds
        return sorted(range(len(words)), key=lambda place: str(words[place]))


def chosen_words(cells: Any, fewer: bool) -> Any:
    """Return a chunked array of a dictionary of pyarrow, with the words that occur if ``fewer``.

    Words without an order of their own are sorted: mostly they stand as the rows of the original
    did, and would tell what its first row holds.
    """
    import pyarrow as pa

    there = set(cells.to_pylist())
    every = _words(cells).unique()
    named = every.to_pylist()
    places = range(len(named)) if cells.type.ordered else by_word(named)
    kept = [place for place in places if not fewer or named[place] in there]
    words = every.take(pa.array(kept, pa.int64()))
    return _packed(cells.cast(cells.type.value_type), words, cells.type)


def _packed(cells: Any, words: Any, kind: Any) -> Any:
    """Return cells as a dictionary of this type of pyarrow, whose words are different."""
    import pyarrow as pa
    from pyarrow import compute

    known: Any = compute  # its functions are made when it is imported
    wide = pa.float32() if cells.type == pa.float16() else cells.type  # it looks up no halves
    codes = known.index_in(cells.cast(wide), words.cast(wide)).combine_chunks()
    packed = pa.DictionaryArray.from_arrays(
        codes.cast(kind.index_type), words, ordered=kind.ordered
    )
    return pa.chunked_array([packed])


def one_form_of(series: "nw.Series[Any]") -> "nw.Series[Any]":
    """Return a series of polars or pyarrow in which 0.0 and NaN look one way each."""
    if series.implementation.is_pyarrow():
        return nw.from_native(one_form_of_arrow(series.to_native()), series_only=True)
    if not series.dtype.is_float():
        return series
    return nw.from_native(one_form(series.to_native()), series_only=True)


def one_form_of_arrow(cells: Any) -> Any:
    """Return a chunked array of pyarrow in which 0.0 and NaN look one way each.

    Those of a dictionary are words of their own otherwise; its words keep their order.
    """
    import pyarrow as pa

    kind = cells.type
    named = pa.types.is_dictionary(kind)
    plain = kind.value_type if named else kind
    if not pa.types.is_floating(plain):
        return cells
    own = _one_form_of_plain(cells.cast(plain))
    return _packed(own, _one_form_of_plain(_words(cells)).unique(), kind) if named else own


def _words(cells: Any) -> Any:
    """Return a dictionary's words, of all chunks, as a chunked array; pyarrow unifies no nulls."""
    import pyarrow as pa

    words = [chunk.dictionary for chunk in cells.chunks]
    return pa.chunked_array(words, cells.type.value_type).drop_null()


def _one_form_of_plain(cells: Any) -> Any:
    import polars as pl
    import pyarrow as pa

    own: Any = one_form(pl.Series(pl.from_arrow(cells))).to_arrow()
    return pa.chunked_array([own.cast(cells.type)])


def one_form_of_pandas(cells: Any) -> Any:
    """Return a series of pandas in which 0.0 and NaN look one way each; None: no floats."""
    if hasattr(cells.dtype, "pyarrow_dtype"):  # which has NaN beside missing cells
        held = cells.array.__arrow_array__()
        new = one_form_of_arrow(held)
        array = type(cells.array)
        return None if new is held else type(cells)(array(new), index=cells.index)
    if cells.dtype.kind != "f":
        return None
    zero = (cells + 0.0).astype(cells.dtype)
    plain = isinstance(zero.dtype, np.dtype)  # others hold missing cells apart from NaN
    return zero.where(zero.notna(), np.nan) if plain else zero


def categorical(frame: "nw.DataFrame[Any]") -> list[str]:
    """Return the columns with categories; narwhals has no name for some other types of pyarrow."""
    if not frame.implementation.is_pyarrow():
        kinds = frame.schema.items()
        return [c for c, kind in kinds if isinstance(kind, nw.Categorical | nw.Enum)]
    import pyarrow as pa

    return [each.name for each in frame.to_native().schema if pa.types.is_dictionary(each.type)]


def picked(frame: "nw.DataFrame[Any]", rows: NDArray[np.int64]) -> "nw.DataFrame[Any]":
    """Return some rows; pyarrow picks none of views, which would share hidden text anyway."""
    if not frame.implementation.is_pyarrow():
        return frame[rows.tolist(), :]
    import pyarrow as pa

    table = frame.to_native()
    kinds = ((each.name, each.type) for each in table.schema)
    plain = pa.schema([(name, _without_views(kind) or kind) for name, kind in kinds])
    return nw.from_native(table.cast(plain).take(pa.array(rows)).cast(table.schema))
