"""From a policy's l, t and distance to the privacy models that every class has to obey."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.checker.limits import MOST_DIGITS
from incrowd.errors import InputError, did_you_mean
from incrowd.hierarchy.missing import declared
from incrowd.kernels.types import Ints
from incrowd.policy.distances import distance_of, require_coarse, require_shallow
from incrowd.policy.model_spec import ModelSpec, model_spec
from incrowd.policy.model_spec import diversity as _diversity
from incrowd.policy.options import DIVERSITIES
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model, all_of
from incrowd.privacy.once import Once
from incrowd.privacy.people import People
from incrowd.privacy.t_closeness import TCloseness
from incrowd.text.missing import marks_for

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.policy import Policy
    from incrowd.tables.base import Column


def asks_of_sensitive(policy: "Policy") -> bool:
    """Whether any model of the policy looks at the sensitive columns, or at the persons."""
    asked = policy.l is not None or policy.t is not None or bool(policy.person)
    return asked or further_asks(policy)


def further_asks(policy: "Policy") -> bool:
    """Whether one of the further models looks at the sensitive columns."""
    return any(getattr(model, "asks_of_sensitive", True) for model in policy.models)


def model_of(
    policy: "Policy", attributes: Mapping[str, "Column"], sources: Mapping[str, "Hierarchy"]
) -> Model:
    """Return all that a class has to obey as one model.

    Parameters
    ----------
    attributes: the sensitive columns, then the persons where the policy names them.
    sources: hierarchies of sensitive columns, for the distance ``"hierarchy"``.

    Raises
    ------
    InputError: a parameter is missing or wrong; no column is sensitive.
    """
    parts: list[Model] = [KAnonymity(policy.k)]
    sensitive = {
        name: replace(column, values=declared(column.values, marks_for(policy.na, name)))
        for name, column in attributes.items()
    }
    pairs: list[Ints] = []
    if policy.person:
        number = len(set(policy.sensitive))
        pairs = values_of_pairs(list(sensitive.values()), number)
        sensitive = dict(list(sensitive.items())[:number])
    asked = policy.l is not None or policy.t is not None or further_asks(policy)
    if asked and not sensitive:
        raise InputError(
            "l, t and other models look at sensitive columns; name them with --sensitive "
            "(sensitive= in Python)"
        )
    if policy.l is not None:
        parts.append(diversity(policy))
    if policy.t is not None:
        parts += closeness(policy, sensitive, sources)
    for model in map(model_spec, policy.models):
        if isinstance(model, ModelSpec):
            parts += model.models(sensitive, sources, policy.decimal)
        else:
            parts.append(model)
    require_within_limits(parts)
    if policy.person:
        parts = of_people(policy, parts, len(sensitive), pairs)
    return all_of(parts)


def require_within_limits(given: Sequence[Model]) -> None:
    """Raise InputError for what the re-check would refuse only after the search.

    That is numbers of many digits, and distances that are too fine or of too many values.
    """
    parts = [part for model in given for part in model.parts]
    distances: list[Any] = [getattr(part, "distance", None) for part in parts]
    for distance in distances:
        if hasattr(distance, "matrix"):  # as a table says them
            require_coarse(distance)
        if hasattr(distance, "levels"):
            require_shallow(len(distance.levels))
    for name in ("t", "l", "c", "alpha", "beta", "delta"):
        if any(len(str(getattr(part, name, ""))) > MOST_DIGITS for part in parts):
            raise InputError(f"{name} has more than {MOST_DIGITS} digits as a fraction; round it")


def counts_pairs(policy: "Policy") -> bool:
    """Whether a model may ask how many people have a value: each pair of the two counts once."""
    counting = policy.l is not None and policy.l_kind not in ("distinct", "disjoint")
    return bool(policy.person) and (counting or policy.t is not None or further_asks(policy))


def values_of_pairs(attributes: Sequence["Column"], sensitive: int) -> list[Ints]:
    """int64, shape (pairs,), of each sensitive column: the value in each pair with a person.

    ``attributes``: the sensitive columns, the persons, then columns of pairs, if any.
    """
    found = []
    for column, pair in zip(attributes, attributes[sensitive + 1 :], strict=False):
        value = np.zeros(len(pair.values), np.int64)
        value[pair.codes] = column.codes
        found.append(value)
    return found


def of_people(
    policy: "Policy", found: Sequence[Model], sensitive: int, pairs: Sequence[Ints]
) -> list[Model]:
    """Return the models with k people in every class; ``sensitive``: number of sensitive columns.

    A model of "each attribute" is asked of the sensitive ones alone: the persons are not published.
    One that counts how frequent values are counts each value of a person once.

    Raises
    ------
    InputError: a model that counts rows, of which a person may have many.
    """
    linked = policy.links_rows
    people = People(
        policy.k, sensitive, tuple(policy.person), policy.missing_person, linked,
        alike=policy.constant_alike,
    )  # fmt: skip
    if linked and any(not model.size_decides for model in found):
        raise InputError(
            "with linked_rows or a pseudonym of the person only k is served: other models do not "
            "know yet which rows stay linked"
        )
    kept: list[Model] = [people]
    for model in found:
        asked = model.of_people(sensitive)
        if asked is None:
            each = model.one_by_one(sensitive)
            if each is None:
                raise InputError(
                    f"{model.name} counts rows, of which a person may have many; with person "
                    "(--person) models are served that look at one histogram at a time"
                )
            asked = [Once(m, sensitive + 1 + m.attribute, pairs[m.attribute]) for m in each]
        kept = [*asked, *kept] if model.size_decides else [*kept, *asked]
    return kept


def require_used(policy: "Policy", sensitive: Sequence[str]) -> None:
    """Raise InputError for a hierarchy of a sensitive column that no distance looks at."""
    asked = policy.t is not None and policy.distance == "hierarchy"
    specs = [model for model in policy.models if isinstance(model, ModelSpec)]
    on = [model.on or sensitive for model in specs if model.distance == "hierarchy"]
    for name in sensitive:
        if name in policy.hierarchies and not asked and not any(name in names for names in on):
            raise InputError(
                f"hierarchy for the column {name!r}, which is sensitive and published unchanged; "
                "only t-closeness with --distance hierarchy looks at it"
            )


def diversity(policy: "Policy") -> Model:
    """Return the l-diversity that ``l``, ``l_kind`` and ``c`` ask for, of each attribute."""
    kind, c = policy.l_kind, policy.c
    if kind not in DIVERSITIES:
        raise InputError(f"l_kind is {kind!r}{did_you_mean(kind, DIVERSITIES)}")
    if (kind == "recursive") != (c is not None):
        raise InputError(
            "recursive l-diversity takes c as well as l (--c X), the other kinds do not"
        )
    return _diversity(kind, policy.l, c)


def closeness(
    policy: "Policy", sensitive: Mapping[str, "Column"], sources: Mapping[str, "Hierarchy"]
) -> list[Model]:
    """Return t-closeness of each attribute under the policy's ground distance."""
    more = sources, policy.decimal
    return [
        TCloseness(policy.t, distance_of(policy.distance, name, column, *more), attribute)
        for attribute, (name, column) in enumerate(sensitive.items())
    ]
