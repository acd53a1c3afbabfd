"""Attacks on a release by its own publisher, who knows the truth and can count what succeeds.

front.py      attack(): wiring only
catalog.py    the attacks: name, what the attacker knows, function
scene.py      what the attacker sees, and what the publisher knows beside it
reading.py    from tables to a scene      whose.py    which released row is whose
labels.py     the released labels, and which rows are a class
register.py   a register of some columns: who fits which row
people.py     the people of the control: given, or held out; nobody in both
fits.py       the classes that a person may stand in      cells.py  what hidden cells may be
rates.py      successes, intervals, residual risk
findings.py   what is found, as frozen values, as JSON and as tables
advice.py     what helps against them

One file each: singling.py, linkage.py, inference.py, definetti.py, downcoding.py (helped by
what refinement.py excludes), minimality.py, composition.py.
"""

from typing import TYPE_CHECKING

from incrowd.run.late import importer

if TYPE_CHECKING:
    from incrowd.attacks.findings import Finding as Finding
    from incrowd.attacks.findings import Findings as Findings
    from incrowd.attacks.front import attack as attack

__all__ = ["Finding", "Findings", "attack"]

_HOME = {
    "Finding": "incrowd.attacks.findings",
    "Findings": "incrowd.attacks.findings",
    "attack": "incrowd.attacks.front",
}

__getattr__ = importer(__name__, _HOME)
