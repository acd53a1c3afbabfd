"""A pandera check that a frame is k-anonymous (extra ``pandera``).

Importing this module registers it, for pandas and polars schemas alike::

    import incrowd.pandera
    import pandera.polars as pa

    schema = pa.DataFrameSchema(checks=pa.Check.is_k_anonymous(k=5, qi=["age", "sex", "zip"]))

and ``incrowd.pandera.is_k_anonymous(5, ["age", "sex", "zip"])`` is the same check as a value, which
also works where pandas, without which pandera registers nothing, is not installed.
"""

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

from incrowd.errors import MissingExtraError
from incrowd.measures import measure
from incrowd.privacy.numbers import whole

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandera imports pyspark where there is one: it may warn
        from pandera.api.checks import Check
        from pandera.api.extensions import register_check_method
except ImportError:
    raise MissingExtraError("pandera", "pandera", "incrowd.pandera") from None

NAME = "is_k_anonymous"


def is_k_anonymous(k: int, qi: str | Sequence[str]) -> Check:
    """Return the check that every row agrees with at least k − 1 others on all of ``qi``.

    The check is of the whole frame: a failure names the model and the columns, never a cell.  A
    frame without rows passes.  Of a lazy polars frame pandera checks the schema alone unless told
    otherwise, so collect it first.

    Parameters
    ----------
    k: least number of rows alike.
    qi: quasi-identifiers.  There is no default: a column left out is one that nobody looks at.

    Raises
    ------
    InputError: k is not a whole number of at least 1.
    """
    return Check(_holds, name=NAME, error=_said(k, qi), k=whole(k, "k"), qi=qi)


def _holds(data: Any, *, k: int, qi: str | Sequence[str]) -> bool:
    """Measure a frame; polars schemas hand it over in a wrapper of their own."""
    found = measure(getattr(data, "lazyframe", data), qi=qi)
    return found.rows == 0 or found.k >= whole(k, "k")


def _said(k: int, qi: str | Sequence[str]) -> str:
    columns = [qi] if isinstance(qi, str) else list(qi)
    return f"{k}-anonymity on {', '.join(columns)}"


def _register() -> None:
    """Make it ``Check.is_k_anonymous``, once."""
    if NAME in Check.REGISTERED_CUSTOM_CHECKS:
        return

    def check(data: Any, *, k: int, qi: str | Sequence[str]) -> bool:
        return _holds(data, k=k, qi=qi)

    check.__name__ = NAME
    with contextlib.suppress(ImportError):  # pandera registers nothing where there is no pandas
        register_check_method(check, statistics=["k", "qi"])


_register()
