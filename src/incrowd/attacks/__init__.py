"""Attacks on a release by its own publisher, who knows the truth and can count what succeeds.

front.py      attack(): wiring only
catalog.py    the attacks: name, what the attacker knows, function
scene.py      what the attacker sees, and what the publisher knows beside it
reading.py    from tables to a scene      whose.py    which released row is whose
people.py     the people of the control: given, or held out; nobody in both
fits.py       the classes that a person may stand in
rates.py      successes, intervals, residual risk
findings.py   what is found, as frozen values and as JSON      text.py  for people

One file each: linkage.py, inference.py.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.attacks.findings import Finding as Finding
    from incrowd.attacks.findings import Findings as Findings
    from incrowd.attacks.front import attack as attack

__all__ = ["Finding", "Findings", "attack"]

_HOME = {"Finding": "findings", "Findings": "findings", "attack": "front"}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used (PEP 562)."""
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f"incrowd.attacks.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
