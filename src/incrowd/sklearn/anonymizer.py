"""A scikit-learn transformer over ``anonymize`` (extra ``sklearn``)."""

import datetime
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from incrowd._api import anonymize
from incrowd.errors import IncrowdError, MissingExtraError
from incrowd.policy.options import documented, taking
from incrowd.policy.table import LEVELS, OPTION
from incrowd.sklearn.patterns import patterns_of
from incrowd.text.units import in_units

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils._set_output import _get_output_config  # no public name tells it
    from sklearn.utils.validation import (
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn", "incrowd.sklearn") from None

SENSITIVE = "sensitive value"
SERVED = tuple(
    LEVELS if name == "hierarchies" else OPTION[name]
    for name in (
        *("k", "l", "l_kind", "c", "t", "distance", "hierarchies", "weights", "cost", "star"),
        *("method", "time_limit", "gap", "spend", "seed", "threads", "na"),
    )
)

UNSERVED = {
    "decimal": "features are numbers, or texts that are categories",
    "derive": "a transformer keeps its features; derive the column before it in the pipeline",
    "protect": "a learnt class is a pattern of all features, so k holds for all of them",
}


@documented(SERVED)
class Anonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Generalizes and suppresses features so that every fitted row hides among at least k.

    ``fit`` makes a k-anonymous release of its table and learns its classes.  ``transform`` maps
    each row, by its values alone, to a learnt pattern: a row that was seen in ``fit`` to exactly
    its released row, any other to the cheapest learnt pattern that covers it, or, where none
    does, to a row of suppressed cells.

    What is guaranteed:

    - The fitted table, transformed, is k-anonymous, and obeys l and t where they were asked for.
    - So is the fitted table together with any further rows, but for rows that are suppressed
      whole: of these there may be fewer than k; they tell nothing of their features.
    - New rows *by themselves* may be fewer than k of a kind.  Each then looks like at least k of
      the fitted rows (or is suppressed whole).  Do not publish them without the fitted ones;
      to publish a new table on its own, call ``incrowd.anonymize`` on it.
    - l and t say nothing of new rows, whose sensitive values were not known.

    Nothing is said of models trained behind it: a model can tell more than the rows it saw.  The
    fitted transformer, pickled or copied, holds the fitted table itself: do not hand it out.

    Parameters
    ----------
    {options}

    Columns are features, by name (``x0``, ``x1`` … for arrays); the sensitive one, for l and t, is
    ``y``.  ``star`` stands for a suppressed cell in a feature of text.

    Attributes
    ----------
    release_: the release (``incrowd.Release``); its bound holds for ``cost_`` too.
    cost_: of the fitted table, transformed, in the user's units; it is higher than the release's
        where copies of one row had been put into different classes, with l or t sometimes by half.
    n_features_in_, feature_names_in_: as everywhere in scikit-learn.

    Notes
    -----
    A feature of numbers without a hierarchy stays numeric, and a suppressed cell is NaN.  Other
    features become text, also whole numbers beyond 2^53, which floats do not tell apart.  The
    output is a float array if all features stay numeric, else an array of objects;
    ``set_output(transform="pandas")`` gives a frame.  Missing values are values of their own.

    Examples
    --------
    >>> from incrowd.sklearn import Anonymizer
    >>> Anonymizer(k=2).fit_transform([[1.0, 5.0], [1.0, 6.0], [2.0, 7.0], [2.0, 7.0]])
    array([[ 1., nan],
           [ 1., nan],
           [ 2.,  7.],
           [ 2.,  7.]])
    """

    l: Any  # noqa: E741 (the field's own letter)
    t: Any
    hierarchies: Any

    @taking(SERVED)
    def __init__(self, k: int = 5, **asked: Any) -> None:
        self.k = k
        for option in SERVED[1:]:
            setattr(self, option.name, asked.pop(option.name, option.default))
        for name in asked:
            why = f": {UNSERVED[name]}" if name in UNSERVED else ""
            raise TypeError(f"Anonymizer() got an unexpected keyword argument {name!r}{why}")

    def fit(self, X: Any, y: Any = None) -> "Anonymizer":
        """Make a release of ``X`` and learn its patterns.

        Parameters
        ----------
        X: array or frame of shape (rows, features); numbers, text, dates, missing values.
        y: shape (rows,): the sensitive attribute, where l or t is asked for; else ignored.

        Raises
        ------
        ValueError: what ``anonymize`` would say; e.g. k is larger than the table.
        """
        import polars as pl

        X = self._validated(X, reset=True)
        if isinstance(self.k, numbers.Integral) and len(X) < self.k:
            raise ValueError(
                f"k = {self.k} is larger than the table: n_samples = {len(X)}; use a smaller k"
            )
        names = [str(name) for name in self.get_feature_names_out()]  # pyright: ignore
        columns = {name: texts_of(X[:, j]) for j, name in enumerate(names)}
        secret: tuple[str, ...] = ()
        if self.l is not None or self.t is not None:
            if y is None:
                raise ValueError("requires y to be passed, but the target y is None")
            check_consistent_length(X, y)
            name = free_name(SENSITIVE, names)
            columns[name], secret = texts_of(column_or_1d(y)), (name,)
        ruled = self.hierarchies or ()
        self._numeric = [n not in ruled and is_numeric(X[:, j]) for j, n in enumerate(names)]
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        try:
            release = anonymize(
                frame,
                self.k,
                qi=names,
                sensitive=secret,
                **{option.name: getattr(self, option.name) for option in SERVED[1:]},
            )
            self._patterns = patterns_of(release)
        except IncrowdError as error:
            raise ValueError(str(error)) from error
        self.release_ = release
        self.cost_ = in_units(self._patterns.cost, self.release_.scale)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows as they are released: a function of each row alone.

        Raises
        ------
        NotFittedError: ``fit`` was not called.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        rows = list(zip(*(texts_of(X[:, j]) for j in range(X.shape[1])), strict=True))
        released = self._patterns.released(rows)
        columns = []
        for j, numeric in enumerate(self._numeric):
            before = [row[j] for row in rows]
            after = [row[j] for row in released]
            columns.append(_numbers(X[:, j], before, after) if numeric else after)
        if _get_output_config("transform", self)["dense"] == "polars":
            return self._polars(columns)
        out = np.empty(X.shape, float if all(self._numeric) else object)
        for j, column in enumerate(columns):
            out[:, j] = column
        return out

    def _validated(self, X: Any, reset: bool) -> Any:
        """Return features as scikit-learn checks them: an array, numbers finite or missing."""
        with_text = dates_as_text(X)
        return validate_data(
            self, with_text, dtype=None, ensure_all_finite="allow-nan", reset=reset
        )

    def _polars(self, columns: list[Any]) -> Any:
        """Return columns as a frame: from an array of objects polars would make no numbers."""
        import polars as pl

        names = map(str, self.get_feature_names_out())  # pyright: ignore
        kinds = [pl.Float64 if numeric else pl.String for numeric in self._numeric]
        series = zip(names, columns, kinds, strict=True)
        return pl.DataFrame(
            {n: pl.Series(list(c), dtype=kind, strict=False) for n, c, kind in series}
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = self.l is not None or self.t is not None
        return tags


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return the name, lengthened until it is none of those that are taken."""
    while name in taken:
        name += "_"
    return name


def dates_as_text(X: Any) -> Any:
    """Return a frame with its dates as text; anything else as it is.

    Beside numbers scikit-learn makes numbers of a polars frame's, and cannot do with pandas'.

    Raises
    ------
    ValueError: two features have one name.
    """
    import polars as pl

    if isinstance(X, pl.DataFrame):
        dated = [one for one in X.get_columns() if one.dtype.is_temporal()]
        told = [texts_of(np.array([*one], object)) for one in dated]
        named = zip(dated, told, strict=True)
        return X.with_columns(pl.Series(one.name, text, pl.String) for one, text in named)
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return X
    if not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()][0]
        raise ValueError(f"several features are called {twice!r}; give each a name of its own")
    dated = [name for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") == "M"]
    return X.astype(dict.fromkeys(dated, object)) if dated else X


def is_numeric(values: Any) -> bool:
    """Whether a feature holds numbers alone that a float tells apart, missing ones aside."""
    if values.dtype != object:
        kind = values.dtype.kind
        return kind in "bf" or (kind in "iu" and all(map(_told_by_float, values.tolist())))
    known = [value for value in values if not _is_missing(value)]
    return all(
        isinstance(v, numbers.Real) and not isinstance(v, bool) and _told_by_float(v) for v in known
    )


def _told_by_float(value: Any) -> bool:
    return not isinstance(value, numbers.Integral) or abs(int(value)) <= 2**53


def texts_of(values: Any) -> list[str | None]:
    """Return values as text, each by itself: whole numbers without a fraction, ISO dates."""
    if values.dtype.kind == "M":
        values = values.astype("datetime64[us]").astype(object)
    listed: Sequence[Any] = values.tolist()
    return [None if _is_missing(value) else _text(value) for value in listed]


def _text(value: Any) -> str:
    if isinstance(value, str | bool):
        return str(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, datetime.datetime):
        whole = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if whole else value.isoformat(sep=" ")
    return str(value)


def _numbers(values: Any, before: list[str | None], after: list[str | None]) -> Any:
    """Return numbers with NaN where the text changed, equal ones (0.0, −0.0) in one form."""
    first: dict[str | None, Any] = {}
    cells = [first.setdefault(text, value) for text, value in zip(before, values, strict=True)]
    out = np.full(len(values), np.nan, values.dtype if values.dtype == object else float)
    kept = [i for i, text in enumerate(before) if text == after[i]]
    out[kept] = [cells[i] for i in kept]
    return out


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
