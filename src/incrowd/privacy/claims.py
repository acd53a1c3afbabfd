"""Privacy models as the plain data that a proof states; see docs/reference/proof-format.md."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from incrowd.errors import OutOfScopeError
from incrowd.privacy.all_of import parts
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Model
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.people import People
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness

Values = Mapping[str, Sequence[str | None]]


def plain_models(model: Model, sensitive: Values) -> list[dict[str, Any]]:
    """Return a model as plain data, one entry per part and sensitive column.

    Parameters
    ----------
    sensitive: each sensitive column's values by code, columns in the order of the attributes.

    Raises
    ------
    OutOfScopeError: the checker does not know the model.
    """

    entries: list[dict[str, Any]] = []
    for part in parts(model):
        if isinstance(part, KAnonymity):
            entries.append({"model": "k-anonymity", "k": part.k})
        else:
            entries += _on_attributes(part, sensitive)
    return entries


def _on_attributes(part: Model, sensitive: Values) -> list[dict[str, Any]]:

    if isinstance(part, People):
        return [{"model": "people", "k": part.l, "columns": list(part.columns)}]
    columns = list(sensitive)
    if isinstance(part, DisjointDiversity):
        wanted = range(len(columns)) if part.attributes is None else part.attributes
        return [{"model": "disjoint", "l": part.l, "columns": [columns[a] for a in wanted]}]
    attribute = getattr(part, "attribute", None)
    chosen = columns if attribute is None else [columns[attribute]]
    return [_entry(part, sensitive[c]) | {"column": c} for c in chosen]


def _entry(part: Model, values: Sequence[str | None]) -> dict[str, Any]:

    if isinstance(part, DistinctDiversity):
        return {"model": "distinct", "l": part.l}
    if isinstance(part, FrequencyDiversity):
        return {"model": "frequency", "l": part.l}
    if isinstance(part, EntropyDiversity):
        return {"model": "entropy", "l": str(part.l)}
    if isinstance(part, RecursiveDiversity):
        return {"model": "recursive", "c": str(part.c), "l": part.l}
    if isinstance(part, TCloseness):
        return {"model": "t-closeness", "t": str(part.t), **_distance(part.distance, values)}
    if isinstance(part, AlphaK):
        entry = {"model": "alpha-k", "alpha": str(part.alpha), "k": part.k}
        if part.values is None:
            return entry
        return entry | {"values": [values[v] for v in part.values if v < len(values)]}
    if isinstance(part, BasicBetaLikeness):
        return {"model": "basic-beta", "beta": str(part.beta)}
    if isinstance(part, EnhancedBetaLikeness):
        return {"model": "enhanced-beta", "beta": str(part.beta)}
    if isinstance(part, DeltaDisclosure):
        return {"model": "delta-disclosure", "delta": str(part.delta)}
    raise OutOfScopeError(
        f"a proof cannot state {part.name} yet: the independent checker does not know it; "
        "release without --proof"
    )


def _distance(distance: Any, values: Sequence[str | None]) -> dict[str, Any]:
    """The ground distance, with the values spelled out, for codes mean nothing to the checker."""
    if distance.name == "equal":
        return {"distance": "equal"}
    if distance.name == "ordered":
        order = range(len(values)) if distance.order is None else distance.order
        return {"distance": "ordered", "order": [values[code] for code in order]}
    if distance.name == "hierarchical":
        levels = [list(level) for level in distance.levels]
        return {"distance": "hierarchical", "order": list(values), "levels": levels}
    matrix = [[str(Fraction(x)) for x in row] for row in distance.matrix]
    return {"distance": "metric", "order": list(values), "matrix": matrix}
