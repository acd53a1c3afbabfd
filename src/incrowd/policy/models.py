"""From a policy's l, t and distance to the privacy models that every class has to obey."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.errors import InputError, did_you_mean
from incrowd.policy.model_spec import DIVERSITIES, ModelSpec, model_spec
from incrowd.policy.model_spec import diversity as _diversity
from incrowd.privacy.base import Model
from incrowd.privacy.k_anonymity import KAnonymity

if TYPE_CHECKING:
    from incrowd.frames.base import Column
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.policy import Policy
    from incrowd.privacy.distance import GroundDistance

DISTANCES = ("equal", "ordered", "hierarchy")


def asks_of_sensitive(policy: "Policy") -> bool:
    """Whether any model of the policy looks at the sensitive columns."""
    further = any(getattr(model, "asks_of_sensitive", True) for model in policy.models)
    return further or policy.l is not None or policy.t is not None


def model_of(
    policy: "Policy", sensitive: Mapping[str, "Column"], sources: Mapping[str, "Hierarchy"]
) -> Model:
    """Return all that a class has to obey as one model.

    Parameters
    ----------
    sensitive: the sensitive columns, in the order of the attributes.
    sources: hierarchies of sensitive columns, for the distance ``"hierarchy"``.

    Raises
    ------
    InputError: a parameter is missing or wrong; no column is sensitive.
    """
    parts: list[Model] = [KAnonymity(policy.k)]
    if asks_of_sensitive(policy) and not sensitive:
        raise InputError(
            "l, t and other models look at sensitive columns; name them with --sensitive "
            "(sensitive= in Python)"
        )
    if policy.l is not None:
        parts.append(diversity(policy))
    if policy.t is not None:
        parts += closeness(policy, sensitive, sources)
    for model in map(model_spec, policy.models):
        parts += model.models(sensitive, sources) if isinstance(model, ModelSpec) else [model]
    if len(parts) == 1:
        return parts[0]
    from incrowd.privacy.all_of import AllOf

    return AllOf(tuple(parts))


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
        raise InputError(f"l_kind is {kind!r}{did_you_mean(str(kind), DIVERSITIES)}")
    if (kind == "recursive") != (c is not None):
        raise InputError(
            "recursive l-diversity takes c as well as l (--c X), the other kinds do not"
        )
    return _diversity(kind, policy.l, c)


def closeness(
    policy: "Policy", sensitive: Mapping[str, "Column"], sources: Mapping[str, "Hierarchy"]
) -> list[Model]:
    """Return t-closeness of each attribute under the policy's ground distance."""
    from incrowd.privacy.t_closeness import TCloseness

    return [
        TCloseness(policy.t, distance_of(policy.distance, name, column, sources), attribute)
        for attribute, (name, column) in enumerate(sensitive.items())
    ]


def distance_of(
    text: str, name: str, column: "Column", sources: Mapping[str, "Hierarchy"]
) -> "GroundDistance":
    """Return a ground distance over a column's codes.

    Parameters
    ----------
    text: ``equal``, ``ordered`` (numbers by size, dates by time), ``hierarchy``, or a file: of
        lines ``value;other value;distance``, or of one value a line from least to greatest.
    """
    from incrowd.privacy.distance import Equal, Hierarchical, Ordered

    if text == "equal":
        return Equal()
    if text == "ordered":
        from incrowd.measure.orders import natural_order

        order = natural_order(column.values)
        if order is None:
            raise InputError(
                f"the values of {name!r} have no order that the table knows (numbers and ISO dates "
                "have); give a file with one value a line, from least to greatest, as --distance"
            )
        return Ordered(order)
    if text == "hierarchy":
        if name not in sources:
            raise InputError(
                f"the distance 'hierarchy' needs a hierarchy of {name!r}: --hierarchy {name}=…"
            )
        from incrowd.hierarchy.build import build_trees

        tree = build_trees({name: column.values}, {name: sources[name]}, "stars")[0][0]
        return Hierarchical.of(tree, column.values)
    if not Path(text).is_file():
        hint = did_you_mean(text, DISTANCES)
        raise InputError(f"distance {text!r} is neither one of ours nor a file{hint}")
    return _from_file(Path(text), name, column)


def _from_file(path: Path, name: str, column: "Column") -> "GroundDistance":
    """Read a metric or an order; lines with two delimiters make it a metric."""
    from incrowd.measure.metric_file import read_metric, read_order
    from incrowd.measure.orders import given_metric, given_order
    from incrowd.privacy.distance import Ordered

    first = path.read_text(encoding="utf-8-sig", errors="replace").partition("\n")[0]
    if any(first.count(delimiter) >= 2 for delimiter in ";\t,"):
        return given_metric(name, column.values, read_metric(path))
    return Ordered(given_order(name, column.values, read_order(path)))
