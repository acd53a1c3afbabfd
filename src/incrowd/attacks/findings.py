"""What attacks found, as frozen values; ``Findings.record`` is the JSON object."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group
from rich.text import Text

from incrowd.attacks.rates import Rate, residual
from incrowd.text.grids import Tabled, grid, named
from incrowd.text.units import three_places

Number = int | float | None
VERDICTS = {"met": "kept", "broken": "broken", "inconclusive": "inconclusive"}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an attack comes to.

    Attributes
    ----------
    attack, control: how often its guesses were right, and those of the control.
    says: one plain sentence.
    more: further figures by name.
    """

    attack: Rate
    control: Rate
    says: str
    more: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One attack on one release.

    Attributes
    ----------
    name: of the attack; column: the sensitive column that it guesses, or None.
    knows: what the attacker knows; against: what the control is.
    outcome: the counts and the sentence.
    held_out: whether a release of half of the table was attacked, made anew.
    approximate: whether it rests on a guess of which released row is whose.
    required: the most that the risk may be; None: whatever it is.
    """

    name: str
    column: str | None
    knows: str
    against: str
    outcome: Outcome
    held_out: bool = False
    approximate: bool = False
    required: float | None = None

    @property
    def risk(self) -> float | None:
        """(attack − control)/(1 − control), not clipped; 0 where there was nothing to try."""
        return self._residual[0]

    @property
    def low(self) -> float | None:
        """Lower limit of the risk, 95 %; None where it has none."""
        return self._residual[1]

    @property
    def high(self) -> float | None:
        """Upper limit of the risk, 95 %."""
        return self._residual[2]

    @property
    def _residual(self) -> tuple[float | None, float | None, float | None]:
        if not self.outcome.attack.tries:
            return 0.0, 0.0, 0.0
        return residual(self.outcome.attack, self.outcome.control)

    @property
    def verdict(self) -> str | None:
        """``"met"``, ``"broken"``, or ``"inconclusive"`` where the interval spans the limit."""
        if self.required is None:
            return None
        if self.high is not None and self.high <= self.required:
            return "met"
        return "broken" if self.low is not None and self.low > self.required else "inconclusive"

    def record(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        attack, control = self.outcome.attack, self.outcome.control
        return {
            "name": self.name,
            "column": self.column,
            "knows": self.knows,
            "tries": attack.tries,
            "success": as_count(attack.success),
            "rate": attack.rate,
            "control": as_count(control.success),
            "control_tries": control.tries,
            "control_rate": control.rate,
            "control_is": self.against,
            "risk": self.risk,
            "low": self.low,
            "high": self.high,
            "required": self.required,
            "verdict": self.verdict,
            "held_out": self.held_out,
            "approximate": self.approximate,
            "sentence": self.outcome.says,
            "more": dict(self.outcome.more),
        }


def as_count(success: float) -> Number:
    """Return a whole number where it is one: a sum of probabilities need not be."""
    return int(success) if float(success).is_integer() else success


@dataclass(frozen=True, kw_only=True)
class Findings(Tabled):
    """All attacks on one release.

    Attributes
    ----------
    found: one entry for each attack, for each sensitive column where it guesses one.
    notes: what a reader of the figures should know.
    advice: what helps against the attacks that did better than chance.
    seed: of all randomness.
    """

    found: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    seed: int = 0

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __getitem__(self, name: str) -> Finding:
        """Return the first finding of an attack.

        Raises
        ------
        KeyError: it was not made.
        """
        for finding in self.found:
            if finding.name == name:
                return finding
        raise KeyError(name)

    @property
    def failed(self) -> tuple[Finding, ...]:
        """Those that are not known to keep what was required."""
        return tuple(one for one in self.found if one.verdict not in (None, "met"))

    def record(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "attacks": [one.record() for one in self.found],
            "notes": list(self.notes),
            "advice": list(self.advice),
            "seed": self.seed,
        }

    def __rich__(self) -> Group:
        """Return a table of figures, and a sentence for each attack."""
        asked = any(one.required is not None for one in self)
        heads = ["attack", "tries", "right", "control", "risk", "95 % interval"]
        made = grid(heads + (["limit"] if asked else []))
        for one in self:
            attack = one.outcome.attack
            cells = [f"{attack.tries:,}", percent(attack), percent(one.outcome.control)]
            cells += [
                three_places(one.risk),
                f"{three_places(one.low)} to {three_places(one.high)}",
            ]
            made.add_row(named(title(one)), *cells, *([limit(one)] if asked else []))
        sentences = [Text.assemble((f"{title(one)}: ", "bold"), one.outcome.says) for one in self]
        told = [Text(note) for lines in (self.notes, self.advice) if lines for note in ("", *lines)]
        return Group(made, *sentences, *told)


def title(one: Finding) -> str:
    """Name an attack and the column that it guesses."""
    return one.name if one.column is None else f"{one.name} ({one.column})"


def percent(rate: Rate) -> str:
    """Write a rate."""
    return f"{rate.rate:.1%}" if rate.tries else "–"


def limit(one: Finding) -> str:
    """Write what was required of an attack and how it stands."""
    if one.required is None or one.verdict is None:
        return ""
    return f"{one.required:g}: {VERDICTS[one.verdict]}"
