"""The options as arguments of a function, and the policy that they make."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from incrowd.errors import InputError, did_you_mean
from incrowd.policy.base import OPTION, Policy

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.policy.cap import Cap
    from incrowd.policy.model_spec import ModelSpec
    from incrowd.privacy.combination import Combination
    from incrowd.privacy.model import Model


class Arguments(TypedDict, total=False):
    """The options as arguments beside ``k``, for those who check types; ``Policy`` has the rows."""

    protect: "str | Sequence[Combination | Mapping[str, Any] | str]"
    qi: str | Sequence[str] | None
    sensitive: str | Sequence[str]
    id: str | Sequence[str]
    person: str | Sequence[str]
    missing_person: str
    pseudonym: str | Sequence[str] | Mapping[str, str | Path | None]
    keep: str | Sequence[str]
    l: Any  # noqa: E741 (the field's own letter)
    l_kind: str
    c: Any
    t: Any
    distance: str
    models: "Model | ModelSpec | str | Sequence[Model | ModelSpec | Mapping[str, Any] | str]"
    hierarchies: "Mapping[str, str | Path | Hierarchy] | None"
    weights: Mapping[str, Any] | None
    cost: Any
    star: str
    veil: Any
    fixed: str | Sequence[str]
    linked: Sequence[Sequence[str]]
    caps: "Mapping[str, Any] | Sequence[Cap | Mapping[str, Any]]"
    method: Any
    reductions: str | None
    time_limit: float | None
    gap: float | None
    seed: int | None
    threads: int
    suppress_rows: int
    delete_rows: str | Mapping[str, Any] | None
    hold_back: bool
    strict: bool
    na: Any
    derive: Mapping[str, str] | None
    order: str


def policy_of(who: str, policy: Policy | str | Path | None, asked: Mapping[str, Any]) -> Policy:
    """Return the policy asked for by itself, or by its parts.

    Parameters
    ----------
    who: the function that was called, for messages.
    asked: options by name.

    Raises
    ------
    TypeError: no option has this name.
    InputError: a policy, and something else beside it.
    """
    for name in asked:
        if name not in OPTION:
            raise TypeError(
                f"{who}() got an unexpected keyword argument {name!r}{did_you_mean(name, OPTION)}"
            )
    if policy is None:
        return Policy(**asked)
    beside = [n for n, value in asked.items() if not _is_default(value, OPTION[n].default)]
    if beside:
        raise InputError(
            f"policy says all; {', '.join(beside)} cannot be given beside it: change the policy, "
            f"dataclasses.replace(policy, {beside[0]}=…)"
        )
    return policy if isinstance(policy, Policy) else Policy.read(policy)


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | tuple) and value == default)
