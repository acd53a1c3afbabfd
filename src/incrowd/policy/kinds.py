"""Values of a policy, as they are given in Python, held against the kinds they are of."""

from collections.abc import Collection, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from incrowd.errors import InputError, did_you_mean, quoted
from incrowd.policy.options import MISSING_PERSON


def require_no_table(name: str, given: Any, named: bool) -> None:
    """Raise InputError for a frame or a table's text as an option: messages quote what is given.

    ``named``: whether it names columns, as it may with line ends; messages cut names.
    """
    within = given.values() if isinstance(given, Mapping) else given
    for each in (given, *(within if isinstance(within, Collection) else ())):
        if hasattr(type(each), "columns") and hasattr(type(each), "shape"):
            raise InputError(f"{name} takes no data frame")
        if not named and isinstance(each, str | Path) and len(str(each).splitlines()) > 2:
            raise InputError(
                f"{name}: a text of several lines, which is taken for that of a table; give a "
                "value, or the name of a file"
            )


def names_of(role: str, given: Any) -> tuple[str, ...] | None:
    """Return column names as a tuple; None for quasi-identifiers that nobody named."""
    if given is None:
        return None if role == "qi" else ()
    if isinstance(given, str):
        return (given,)
    names = tuple(given) if isinstance(given, Iterable) else (given,)
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None or not isinstance(given, Iterable):
        raise InputError(f"{role} takes a column name or a list of them, not {quoted(wrong)}")
    return names


def lists_of(name: str, given: Any) -> tuple[tuple[str, ...], ...]:
    """Return lists of column names as tuples."""
    if given is None:
        return ()
    wrong = isinstance(given, str) or not isinstance(given, Iterable)
    lists = () if wrong else tuple(given)
    if wrong or any(isinstance(each, str) or not isinstance(each, Iterable) for each in lists):
        raise InputError(f"{name} takes a list of lists of column names, not {quoted(given)}")
    return tuple(tuple(each) for each in lists)


def plain_number(value: Any) -> Any:
    """Return a number of numpy as one of Python, and anything else as it is."""
    own: Any = getattr(value, "item", None)
    return own() if isinstance(value, Real) and own is not None else value


def take_plain_numbers(policy: Any) -> None:
    """Put numbers of Python in place of numpy's, so that a policy reads again as it was."""
    for name in ("l", "c", "t", "time_limit", "gap"):
        object.__setattr__(policy, name, plain_number(getattr(policy, name)))
    if isinstance(policy.weights, Mapping):
        plain = {column: plain_number(weight) for column, weight in policy.weights.items()}
        object.__setattr__(policy, "weights", plain)


def require_number(name: str, value: Any, allowed: str, fits: Any) -> None:
    """Raise InputError for what is no number, or not one of those allowed."""
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not fits(value):
        raise InputError(f"{name} must be {allowed}, not {quoted(value)}")


def keys_by_column(given: Any) -> dict[str, str]:
    """Return column → key file, empty for a key that is thrown away."""
    if given is None or isinstance(given, str):
        return {given: ""} if given else {}
    if isinstance(given, Mapping):
        return {str(column): str(file or "") for column, file in given.items()}
    if not isinstance(given, Iterable):
        raise InputError(f"pseudonym takes column names, or column → key file, not {quoted(given)}")
    return {str(column): "" for column in given}


def require_values(policy: Any) -> None:
    """Raise InputError for values that are not of their kind."""
    if policy.missing_person not in MISSING_PERSON:
        hint = did_you_mean(policy.missing_person, MISSING_PERSON)
        raise InputError(f"missing_person is {quoted(policy.missing_person)}{hint}")
    if len(policy.person) > 1 and any(name in policy.pseudonym for name in policy.person):
        raise InputError(
            "a pseudonym of one of several columns that together name a person is not served; make "
            "one column of them"
        )
    for name in ("strict", "hold_back", "spend", "constant_alike", "linked_rows"):
        if not isinstance(getattr(policy, name), bool):
            raise InputError(f"{name} must be true or false, not {quoted(getattr(policy, name))}")
    for name in ("survey_weight", "survey_stratum"):
        if not isinstance(getattr(policy, name), str | None):
            raise InputError(f"{name} must be the name of a column")
