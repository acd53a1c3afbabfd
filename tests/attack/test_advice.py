"""Tests of what findings advise: only where an attack did better than chance."""

from pathlib import Path

import polars as pl
import pytest

import incrowd as ic
from incrowd.attacks.advice import HELPS, advised
from incrowd.attacks.catalog import ATTACKS
from incrowd.attacks.findings import Finding, Outcome
from incrowd.attacks.rates import Rate

FAMILY = {one.name: one.family for one in ATTACKS}


def found(name: str, right: int, control: int, tries: int = 200) -> Finding:
    """A finding with these counts."""
    rates = [Rate.of([1.0] * n + [0.0] * (tries - n)) for n in (right, control)]
    outcome = Outcome(attack=rates[0], control=rates[1], says="")
    return Finding(name=name, column=None, knows="", against="", outcome=outcome)


def test_every_family_has_its_advice():
    assert set(FAMILY.values()) == set(HELPS)


@pytest.mark.parametrize("name", FAMILY)
def test_advice_follows_the_lower_limit_of_the_risk(name: str):
    sure, chance, nothing = found(name, 120, 20), found(name, 21, 20), found(name, 0, 0, 0)
    told = advised([nothing, sure, chance], FAMILY)
    assert told[0] == f"What helps against {FAMILY[name]}: {HELPS[FAMILY[name]]}."
    assert len(told) == 2 and told[1].startswith("Make the release anew")
    assert advised([chance, nothing], FAMILY) == ()


def test_a_family_is_told_once_and_everywhere(tmp_path: Path):
    """Tests text, record and internal report."""
    people = pl.DataFrame({"a": [i // 2 for i in range(40)], "s": [str(i % 7) for i in range(40)]})
    release = ic.anonymize(people, k=2, sensitive="s")
    attacked = ic.attack(release, attacks="linkage")
    assert sum("What helps against linkage" in text for text in attacked.advice) == 1
    assert " ".join(str(attacked).split()).endswith(" ".join(attacked.advice))
    assert attacked.record()["advice"] == list(attacked.advice)
    release.report(tmp_path / "inside.html", internal=True, attacks=attacked)
    assert "What helps against linkage" in (tmp_path / "inside.html").read_text()
