"""Attacks where people have several rows, against counts over people and rows one by one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from attack.worlds import drawn
from incrowd.attacks.people import halves
from incrowd.policy import Policy
from incrowd.tables.files import open_table

NAMES = ["a", "b", "c", "d"]
Row = tuple[str, ...]


def visits(people: int, seed: int) -> pl.DataFrame:
    """One to four rows of each person."""
    number = np.random.default_rng(seed).integers(1, 5, people)
    frame = drawn(int(number.sum()), seed)
    return frame.with_columns(who=pl.Series(np.repeat(np.arange(people), number)).cast(pl.String))


def strangers_of(people: int, seed: int) -> pl.DataFrame:
    """The same with other people."""
    return visits(people, seed).with_columns(("x" + pl.col("who")).alias("who"))


def released(frame: pl.DataFrame, **more: Any) -> ic.Release:
    """A release in which three people are in every class."""
    return ic.anonymize(frame, k=3, person="who", sensitive="s", order="keep", seed=1, **more)


def fits(label: Row, row: Row) -> bool:
    """Whether a released row may be an original one."""
    return all(a in (b, "*") for a, b in zip(label, row, strict=True))


@pytest.mark.parametrize("seed", [1, 2])
def test_linkage_by_brute_force(seed: int) -> None:
    """Tests rates of people, each by the riskiest row, with every pair of rows looked at."""
    frame, others = visits(40, seed), strangers_of(30, seed + 10)
    release = released(frame)
    found = ic.attack(release, people=others, attacks="linkage")
    before, after = frame.select(NAMES).rows(), release.data.select(NAMES).rows()
    whose, strangers = frame["who"].to_list(), others["who"].to_list()
    theirs = others.select(NAMES).rows()
    taken: dict[str, list[float]] = {}
    guessed: dict[str, list[float]] = {}
    for i, row in enumerate(before):
        fine = [j for j, label in enumerate(after) if fits(label, row)]
        right = sum(whose[j] == whose[i] for j in fine) / len(fine)
        taken.setdefault(whose[i], []).append(right)
        register = {w for w, r in zip(whose, before, strict=True) if fits(after[i], r)}
        register |= {w for w, r in zip(strangers, theirs, strict=True) if fits(after[i], r)}
        guessed.setdefault(whose[i], []).append(1 / len(register))
    rates = {one.name: one.outcome for one in found}
    for name, scores in (("prosecutor", taken), ("journalist", guessed)):
        assert rates[name].attack.tries == 40
        assert rates[name].attack.rate == pytest.approx(np.mean([max(x) for x in scores.values()]))
    pairs = {(label, w) for label, w in zip(after, whose, strict=True)}
    assert rates["marketer"].attack.tries == len(pairs)
    assert rates["marketer"].attack.success == pytest.approx(len(set(after)))
    assert rates["prosecutor"].more["allowed"] == 1 / (release.fewest_people or 0)
    assert rates["prosecutor"].control.rate == pytest.approx(1 / 40)
    assert rates["journalist"].control.rate == pytest.approx(1 / 70)
    assert rates["cheapest-class"].attack.tries == 40
    assert any("riskiest row" in note for note in found.notes)


def test_people_of_one_row_each_are_rows() -> None:
    """Tests that naming people changes no figure where each has one row."""
    frame = drawn(60, 5).with_columns(who=pl.Series(range(60)).cast(pl.String))
    others = drawn(50, 6).with_columns(who=pl.Series(range(100, 150)).cast(pl.String))
    kinds = ["linkage", "homogeneity", "skewness", "best-guess", "singling-out"]
    data = released(frame).data
    asked: dict[str, Any] = {"k": 3, "sensitive": "s"}
    rows = ic.attack(data, frame, others, attacks=kinds, policy=Policy(id="who", **asked))
    people = ic.attack(data, frame, others, attacks=kinds, policy=Policy(person="who", **asked))
    for one, two in zip(rows, people, strict=True):
        mine, theirs = one.record(), two.record()
        for name in ("tries", "success", "control", "risk", "low", "high"):
            assert mine[name] == pytest.approx(theirs[name]), (one.name, name)


def test_each_person_is_guessed_of_once() -> None:
    """Tests tries of guesses, of descriptions, and that the control is of other people."""
    frame = visits(30, 3)
    found = ic.attack(released(frame), seed=2)
    assert found["best-guess"].outcome.attack.tries == 15  # half of the people are the control
    assert found["best-guess"].outcome.control.tries == 15
    assert found["singling-out"].outcome.more["counted_among"] == 15
    with pytest.raises(KeyError):
        found["minimality"]
    with pytest.raises(ic.InputError, match=r"minimality: thinks of models of rows"):
        ic.attack(released(frame), attacks="minimality")


def test_nobody_is_in_both_halves() -> None:
    """Tests that people are held out, with all their rows."""
    frame = visits(31, 4)
    inside, outside = halves(
        open_table(frame), Policy(k=3, person="who", sensitive="s"), np.random.default_rng(0)
    )
    mine, theirs = ({*frame["who"][rows.tolist()]} for rows in (inside, outside))
    assert not mine & theirs and len(mine) == 15 and len(theirs) == 16
    assert sorted([*inside, *outside]) == list(range(frame.height))
    with pytest.raises(ic.NoLawfulReleaseError, match="31 people, too few"):
        halves(open_table(frame), Policy(k=8, person="who"), np.random.default_rng(0))


def test_one_person_with_most_rows_of_a_class() -> None:
    """Tests that a class of two people hides the one of nine rows badly, and that it is said."""
    frame = pl.DataFrame({"a": ["x"] * 10, "who": ["A"] * 9 + ["B"]})
    found = ic.attack(
        frame.select("a"), frame, policy=Policy(k=2, person="who"), attacks="prosecutor"
    )
    attack = found["prosecutor"].outcome.attack
    assert (attack.tries, attack.success) == (2, pytest.approx(1.0))  # 9/10 and 1/10
    assert "right in 50.0%" in found["prosecutor"].outcome.says


def test_linkage_of_people_by_a_matching_is_said_to_be_one() -> None:
    """Tests a shuffled release, of which nobody knows whose rows stand in which class."""
    frame = visits(40, 3)
    release = released(frame).data.sample(fraction=1, shuffle=True, seed=1)
    policy = Policy(k=3, person="who", sensitive="s")
    found = ic.attack(release, frame, policy=policy, attacks="linkage")
    assert all(one.approximate for one in found)
    assert found["prosecutor"].outcome.says.endswith(
        "as rows were matched here: true classes may hold more people."
    )
    known = ic.attack(released(frame), attacks="prosecutor")["prosecutor"]
    assert not known.approximate and "matched" not in known.outcome.says


def test_rows_of_one_person_are_no_class() -> None:
    """Tests that a release whose classes have k rows of too few people is not taken for lawful."""
    who = np.repeat(np.arange(60), 3)
    frame = pl.DataFrame({"a": (who // 2).astype(str), "s": who.astype(str), "who": who})
    policy = Policy(k=3, person="who", sensitive="s")
    raw = frame.select("a", "s")
    with pytest.raises(ic.InputError, match=r"best-guess: the release has 30 classes that k or"):
        ic.attack(raw, frame, policy=policy, attacks="best-guess")
    lawful = ic.anonymize(frame, policy=policy)
    assert ic.attack(lawful, attacks="best-guess")["best-guess"].held_out


def test_people_named_by_two_columns_are_others_if_both_differ() -> None:
    """Tests that a hospital in both tables is no person in both."""
    frame = visits(40, 7).with_columns(at=pl.lit("H"))
    others = strangers_of(30, 8).with_columns(at=pl.lit("H"))
    policy = Policy(k=3, person=["at", "who"], sensitive="s")
    release = ic.anonymize(frame, policy=policy)
    assert ic.attack(release, people=others, attacks="best-guess")
    with pytest.raises(
        ic.InputError, match=r"of the other people bear an identifier \('at\+who'\)"
    ):
        ic.attack(release, people=frame, attacks="best-guess")


def test_releases_to_compare_with_have_no_pseudonyms(tmp_path: Path) -> None:
    """A table whose visits have pseudonyms, too, is attacked; no key file is read or made."""
    key = tmp_path / "visits.key"
    frame = visits(40, 5).with_row_index("visit").cast({"visit": pl.String})
    frame = frame.filter(pl.len().over("who") < 3)
    policy = Policy(
        k=3, person=["who"], pseudonym={"who": "", "visit": str(key)}, sensitive=["s"], qi=NAMES
    )
    made = replace(policy, pseudonym={"who": "", "visit": ""}, order="keep")
    release = ic.anonymize(frame, policy=made)
    found = ic.attack(release, seed=1)
    assert {"prosecutor", "downcoding"} <= {one.name for one in found}
    again = ic.attack(release.data, original=frame, policy=policy, seed=1)
    assert [one.name for one in again] == [one.name for one in found]
    assert not key.exists()
