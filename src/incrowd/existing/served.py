"""What adding rows to an earlier release serves."""

from collections.abc import Iterable, Mapping, Sequence

from incrowd.constraints.plan import Plan
from incrowd.encoding.pseudonyms import replacement_of
from incrowd.errors import InputError, OutOfScopeError, listed
from incrowd.policy import Policy
from incrowd.privacy.model import Model
from incrowd.published.pseudonyms import pseudonyms_broken
from incrowd.tables.base import Source
from incrowd.text.units import counted


def require_columns(found: Sequence[str], columns: Sequence[str]) -> None:
    """Raise InputError unless an earlier release has the columns of the new rows, in any order."""
    differ = differing("the earlier release", found, columns)
    if differ:
        raise InputError(
            f"the new rows would be published {differ}: rename columns, or give each the role that "
            "it had then"
        )


def differing(what: str, found: Sequence[str], columns: Sequence[str]) -> str:
    """Say which columns a table called ``what`` has more or less than another; nothing if none."""
    gone = listed(name for name in found if name not in columns)
    more = listed(name for name in columns if name not in found)
    told = [f"without {gone}, which {what} has"] if gone else []
    told += [f"with {more}, which {what} lacks"] if more else []
    return ", and ".join(told)


def require_joined_texts(existing: Source, new: Source, columns: Sequence[str]) -> None:
    """Raise InputError for a column without a text form, by which the union is checked."""
    for name in columns:
        new.encode(name)
        try:
            existing.encode(name)
        except InputError as error:
            raise InputError(f"the earlier release: {error}") from None


def require_other_names(existing: Source, new: Source, keys: Mapping[str, bytes]) -> None:
    """Raise InputError where pseudonyms would link two deliveries, or earlier cells are none.

    Parameters
    ----------
    keys: by column under pseudonyms, that of the new rows.
    """
    for name, key in keys.items():
        earlier = existing.encode(name)
        for reason in pseudonyms_broken(name, earlier):
            raise InputError(f"the earlier release: {reason}")
        both = {*earlier.values} & {*replacement_of(new.encode(name), key).labels} - {None}
        if both:
            raise InputError(
                f"{counted(len(both), 'value')} of {name!r} stand in the earlier release under the "
                "same key, so their pseudonyms would link rows; take another key, or leave these "
                "rows out"
            )


def require_columns_capped(plan: Plan) -> None:
    """Raise OutOfScopeError for a cap on a subgroup, for which rows would have to move anew."""
    for limit in plan.limits:
        if limit.column is None:
            raise OutOfScopeError(
                f"caps: a cap on {limit.cap.name} is not served with existing, one on a column is; "
                "cap columns, leave it out, or publish the whole table anew"
            )


def require_joinable(model: Model, names: Iterable[str], policy: Policy) -> None:
    """Raise OutOfScopeError for models that published classes could break without new rows.

    Parameters
    ----------
    names: of the model's parts.
    """
    for part, name in zip(model.parts, names, strict=True):
        if policy.person and not part.closed_under_supersets:
            raise OutOfScopeError(
                f"{name} counts people with each value; whose earlier rows are is not known, so "
                "with existing and person k, distinct and disjoint l-diversity are served"
            )
        if part.compares_with_table:
            raise OutOfScopeError(
                f"{name} compares every class with the whole table, which new rows change: "
                "published classes could become unlawful untouched; publish the whole table anew"
            )
