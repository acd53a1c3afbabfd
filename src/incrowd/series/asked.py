"""What is asked of a series of releases."""

import shlex
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import InputError, listed, quoted
from incrowd.policy import Policy
from incrowd.policy.spell import said, typed_as
from incrowd.policy.table import OPTION

SHAPING = ("hierarchies", "weights", "cost", "star", "na", "decimal", "derive")
"""Options that say what cells may become, and at what cost."""
BACK = {
    "--hierarchy": "--hierarchy COLUMN=none for stars",
    "--cost": "--cost level for the usual cost",
    "--star": "--star '*' for the usual star",
}


@dataclass(frozen=True)
class Invariance:
    """What is asked of a series of releases.

    Attributes
    ----------
    m: least number of different sensitive values of a class.
    k: people who stand in all classes of a person, at least, the person among them.
    weight: what a counterfeit counts, in suppressed cells; None: as few as can be.
    all_new: whether nobody of an earlier release need be in the table.
    """

    m: int = 3
    k: int = 1
    weight: float | None = None
    all_new: bool = False

    def __post_init__(self) -> None:
        for name in ("m", "k"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} must be a whole number, at least 1, not {quoted(value)}")
        if self.k > self.m:
            raise InputError(
                f"k = {self.k} is above m = {self.m}: a class of m values may hold m people; ask "
                "for a larger m"
            )
        number = isinstance(self.weight, int | float) and not isinstance(self.weight, bool)
        if self.weight is not None and not (number and self.weight >= 0):
            raise InputError(
                f"the weight of a counterfeit must be a number, not {quoted(self.weight)}"
            )


def shape_of(policy: Policy) -> dict[str, Any]:
    """Return what a policy says of cells, for a history; None for what was made in Python."""
    found = {name: value for name, value in said(policy, {}) if name in SHAPING}
    return {name: _in_text(value) for name, value in found.items()}


def _in_text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(column): _in_text(each) for column, each in value.items()}
    if isinstance(value, list):
        return [_in_text(each) for each in value]
    return value if isinstance(value, str | int | float) else None


def require_repeated(
    path: str | Path, before: Mapping[str, Any], now: Mapping[str, Any], spoken: Container[str] = ()
) -> None:
    """Raise InputError where what an earlier release said of cells is not said of the next one.

    Else columns that showed ``1950-1959`` would show stars, and nobody would be told.  Another
    rule, or another file, is a choice; so is ``none``, and what holds by default.

    Parameters
    ----------
    spoken: options that the user gave, whatever their values are.
    """
    words = []
    for name in SHAPING:
        value, again = before.get(name, {}), now.get(name)
        if name in spoken and again is None:
            continue
        if isinstance(value, Mapping) and isinstance(again, Mapping | None):
            unsaid = {one: each for one, each in value.items() if one not in (again or ())}
            value = {one: each for one, each in unsaid.items() if each != "none"}
        elif again is not None:
            continue
        if value != {}:
            words += words_of(name, value)
    if words:
        ways = [way for flag, way in BACK.items() if flag in words]
        raise InputError(
            f"{path}: the release before was made with {shlex.join(words)}, and this one is asked "
            "without it; say it again, or say what holds instead"
            + (f" ({', '.join(ways)})" if ways else "")
        )


def words_of(name: str, value: Any) -> list[str]:
    """Return what an earlier release said of cells as it is typed."""
    option = OPTION[name]
    if isinstance(value, Mapping):
        value = {one: "(made in Python)" if each is None else each for one, each in value.items()}
        if option.kind == "text or by column":
            return [option.flag, f"(one for {listed(value)})"]
    elif value is None:
        return [option.flag, "(made in Python)"]
    return typed_as(option, value)
