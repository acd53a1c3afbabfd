"""The options as arguments of a function, and the policy that they make."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from incrowd.errors import InputError, did_you_mean
from incrowd.policy.base import Policy
from incrowd.policy.cap import caps_of
from incrowd.policy.protect import Unsaid
from incrowd.policy.table import OPTION

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
    constant_alike: bool
    linked_rows: bool
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
    spend: bool
    seed: int | None
    threads: int | None
    suppress_rows: int | str
    delete_rows: str | Mapping[str, Any] | None
    hold_back: bool
    strict: bool
    na: Any
    decimal: str
    derive: Mapping[str, str] | None
    survey_weight: str | None
    survey_stratum: str | None
    order: str


def policy_of(who: str, policy: Policy | str | Path | None, asked: Mapping[str, Any]) -> Policy:
    """Return the policy asked for by itself, or by its parts, or with parts in place of its own.

    As on the command line, what is given beside a policy goes before it; hierarchies, weights and
    what else goes by column do so column by column.

    Parameters
    ----------
    who: the function that was called, for messages.
    asked: options by name.

    Raises
    ------
    TypeError: no option has this name.
    InputError: a value is none that its option can have.
    """
    for name in asked:
        if name not in OPTION:
            raise TypeError(
                f"{who}() got an unexpected keyword argument {name!r}{did_you_mean(name, OPTION)}"
            )
    if policy is None:
        return Policy(**asked)
    if not isinstance(policy, Policy | str | Path):
        kind = type(policy).__name__
        raise InputError(f"policy: {kind} is neither an incrowd.Policy nor the path of one")
    base = policy if isinstance(policy, Policy) else Policy.read(policy)
    beside = {n: x for n, x in asked.items() if not isinstance(x, Unsaid)}
    return replace(base, **{n: over(getattr(base, n), x, n) for n, x in beside.items()})


def over(before: Any, given: Any, name: str) -> Any:
    """Return what is given in place of a policy's own value: of mappings and caps some alone."""
    if name == "caps":
        new = caps_of(given)
        places = {cap.place for cap in new}
        return [*(cap for cap in before if cap.place not in places), *new]
    several = isinstance(before, Mapping) and isinstance(given, Mapping)
    return {**before, **given} if several else given
