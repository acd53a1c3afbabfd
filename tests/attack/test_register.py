"""Tests of the attack by a register that has some of the columns, against brute force."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from attack.worlds import drawn, starred
from incrowd.cli import cli
from incrowd.errors import InputError


def covers(label: str | None, value: str | None, known: set[str]) -> bool:
    """Whether a released cell may be of somebody with this value; None: the register is empty."""
    if value is None or label == "*":
        return True
    if label is not None and "-" in label and value in known:
        low, high = map(int, label.split("-"))
        return low <= int(value) <= high
    return label == value


@pytest.mark.parametrize("named", [True, False])
def test_against_brute_force(named: bool):
    """Tests people in and out of a register that lacks a column, with empty and unknown cells."""
    rng = np.random.default_rng(3)
    ages = rng.integers(20, 40, 90).astype(str)
    table = drawn(90, 2, (2, 3)).with_columns(
        who=pl.Series([f"p{i % 80}" for i in range(90)]), age=pl.Series(ages)
    )
    release = ic.anonymize(
        table, k=3, id="who", sensitive="s", hierarchies={"age": "interval:5,10"}
    )
    strangers = table.sample(50, seed=1).with_columns(
        who=pl.Series([f"x{i}" for i in range(50)]),
        age=pl.Series([["41", "x", None, "22", "29"][i % 5] for i in range(50)]),
    )
    asked = pl.concat([table.sample(60, seed=2), strangers]).select("age", "a", "who")
    if not named:
        asked = asked.drop("who")
    found = ic.attack(release, register=asked, attacks="register")["register"]
    known, right, fits, inside = set(ages), 0.0, [], 0
    pairs = zip(release.data.iter_rows(named=True), table.iter_rows(named=True), strict=True)
    for shown, own in pairs:
        people = [
            one
            for one in asked.iter_rows(named=True)
            if all(covers(shown[name], one[name], known) for name in ("age", "a"))
        ]
        if named:
            share = sum(one["who"] == own["who"] for one in people)
            inside += own["who"] in asked["who"]
        else:
            pair = (own["age"], own["a"])
            alike = [frame.select("age", "a").rows().count(pair) for frame in (asked, table)]
            share = min(alike[0] / alike[1], 1)
            inside += share
        fits.append(len(people))
        right += share / max(len(people), 1)
    outcome = found.outcome
    assert outcome.attack.success == pytest.approx(right)
    assert outcome.more["alone"] == fits.count(1)
    assert outcome.more["inside"] == round(inside)
    assert ("taken to be" in outcome.says) == (not named)


def test_people_and_notes():
    """Tests that a person counts once, by the riskiest row, and columns written otherwise."""
    table = pl.DataFrame(
        {"pid": list("aabbcd"), "sex": list("ffmmff"), "zip": ["11", "12", "11", "11", "11", "13"]}
    )
    release = starred(table.drop("pid"), {0: ["zip"], 1: ["zip"], 4: ["sex"], 5: ["zip"]})
    asked = pl.DataFrame({"pid": list("acde"), "sex": ["F"] * 4, "zip": ["11", "11", "13", "99"]})
    policy = ic.Policy(k=1, person="pid")
    found = ic.attack(release, table, register=asked.drop("sex"), policy=policy, attacks="register")
    # zip: * fits 4, of whom a and d are right; 11 fits a and c: c is right in half, b never
    assert found["register"].outcome.attack.success == pytest.approx(1 / 4 + 1 / 2 + 1 / 4)
    assert found["register"].outcome.attack.tries == 4
    assert not any("written" in note for note in found.notes)
    found = ic.attack(release, table, register=asked, policy=policy, attacks="register")
    assert "column 'sex' stands" in found.notes[-1]


def test_command_and_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests the derived column of a register, and what is said of one that is no use."""
    monkeypatch.chdir(tmp_path)
    born = [f"{1950 + i % 9}-05-01" for i in range(40)]
    table = pl.DataFrame({"id": range(40), "born": born, "sex": list("fm") * 20})
    table.write_csv("t.csv")
    table.head(30).drop("sex").write_csv("voters.csv")
    made = ["-k", "2", "--id", "id", "--derive", "age=years(born, 2020-01-01)"]
    run = CliRunner().invoke
    assert run(cli, ["anonymize", "t.csv", "-o", "r.csv", *made, "-q"]).exit_code == 0
    told = ["attack", "r.csv", "--original", "t.csv", *made, "--attack", "register"]
    done = run(cli, [*told, "--register", "voters.csv"])
    assert "the register of 30 people with age, and takes" in " ".join(done.output.split()), (
        done.output
    )
    assert "30 of 40 are in the register." in " ".join(done.output.split())
    assert "needs a register (--register)" in run(cli, told).output
    made_of = ic.anonymize("t.csv", k=2, id="id", derive={"age": "years(born, 2020-01-01)"})
    with pytest.raises(InputError, match="none of the quasi-identifiers 'age', 'sex'"):
        ic.attack(made_of, register=table.select("id"))
    assert "(--register)" in run(cli, [*told[:-2], "--people", "voters.csv"]).output
