"""What was given for a policy, held together: kinds of values, and what belongs to what."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from incrowd.errors import InputError


def require_kinds(policy: Any) -> None:
    """Values of a wrong kind would only fail where nobody knows which argument they were."""
    for name in ("hierarchies", "weights"):
        given = getattr(policy, name)
        if given is None:
            object.__setattr__(policy, name, given := {})
        if not isinstance(given, Mapping):
            raise InputError(f"{name} maps columns to values; {type(given).__name__} does not")
    for column, spec in policy.hierarchies.items():
        if not isinstance(spec, str | Path) and not hasattr(spec, "build"):
            wrong = type(spec).__name__
            raise InputError(
                f"hierarchy of {column!r}: {wrong} is not a text, a path or a source"
                "; write a rule such as 'interval:5,10', or a file's name"
            )
    if not isinstance(policy.method, str) and not hasattr(policy.method, "refuse"):
        wrong = type(policy.method).__name__
        raise InputError(f"method: {wrong} is neither 'auto', a method's id nor a solver")


def require_owners(policy: Any) -> None:
    """What belongs to ``l`` or ``t`` would be asked of nobody without it."""
    if policy.l is None and (policy.c is not None or policy.l_kind != "distinct"):
        name = "l_kind" if policy.c is None else "c"
        raise InputError(
            f"{name} belongs to l, which is not given: add --l L (l= in Python), or name the "
            "model with its own parameters, such as --model l=3,kind=entropy"
        )
    if policy.t is None and policy.distance != "equal":
        raise InputError(
            "distance belongs to t, which is not given: add --t X (t= in Python), or name the "
            "model with its own parameters, such as --model t=0.2,distance=ordered"
        )


def take_models(policy: Any) -> None:
    """Read models given as text or mappings; those that ask for rows only raise k."""
    if not policy.models:
        return
    from incrowd.policy.model_spec import ModelSpec, model_spec

    given = policy.models
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        given = (given,)
    k, kept = policy.k, []
    for model in map(model_spec, given):
        if isinstance(model, ModelSpec) and not model.asks_of_sensitive:
            k = max(k, model.k or 1)
        else:
            kept.append(model)
    object.__setattr__(policy, "k", k)
    object.__setattr__(policy, "models", tuple(kept))
