"""Tests of ``ic.attack`` and ``incrowd attack``: what they refuse, say and require."""

import json
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from attack.worlds import drawn
from incrowd.attacks.people import in_common, require_others
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.policy.table import OPTIONS
from incrowd.tables.files import open_table


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, its release with a proof, and other people, in a folder."""
    folder = tmp_path_factory.mktemp("attack")
    drawn(70, 1).write_csv(folder / "t.csv")
    drawn(70, 2).write_csv(folder / "people.csv")
    made = run(
        folder, "anonymize", "t.csv", "-o", "r.csv", "-k", "3", "--sensitive", "s",
        "--proof", "p.proof", "-q",
    )  # fmt: skip
    assert made.exit_code == 0
    return folder


def run(folder: Path, *arguments: str):
    """Run a command in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(cli, list(arguments))


def test_releases_with_counterfeits_are_not_attacked(tmp_path: Path):
    """Tests that the error says whose the rows are that are nobody's in the original."""
    ill = ["flu", "gout", "asthma", "flu"] * 12
    people = {"pid": [f"p{i}" for i in range(48)], "x": ["a", "b"] * 24, "s": ill}
    pl.DataFrame(people).write_csv(tmp_path / "t.csv")
    words = ("t.csv", "-o", "r.csv", "--history", "h", "--person", "pid", "--sensitive", "s", "-m")
    assert run(tmp_path, "republish", *words, "3", "-q").exit_code == 0
    done = run(
        tmp_path, "attack", "r.csv", "--original", "t.csv", "--sensitive", "s", "--id", "pid"
    )
    assert done.exit_code == 2
    assert "incrowd republish adds it: its releases have rows that belong to nobody" in done.output


BASE = ("attack", "r.csv", "--original", "t.csv", "-k", "3", "--sensitive", "s")


def test_json(files: Path):
    """Tests the keys of the contract, and that a proof settles which row is whose."""
    record = json.loads(
        run(files, *BASE, "--people", "people.csv", "--proof", "p.proof", "--json").output
    )
    names = [one["name"] for one in record["attacks"]]
    assert names[:4] == ["prosecutor", "journalist", "marketer", "cheapest-class"]
    keys = {"name", "tries", "success", "control", "risk", "low", "high", "knows", "sentence"}
    for one in record["attacks"]:
        assert keys <= set(one)
        assert not one["approximate"]
        assert not one["held_out"]
    assert record["notes"] == []


@pytest.mark.parametrize("way", ["--delete-rows", "--suppress-rows", "--missing-person"])
def test_a_proof_of_fewer_rows_says_whose_they_are(way: str, tmp_path: Path) -> None:
    """Tests rows that were deleted, suppressed, or nobody's: the proof goes with the release."""
    rows = [("p", "a", "x"), ("q", "a", "y"), ("r", "b", "x"), ("s", "b", "y")] * 3
    lone = {"--suppress-rows": ("t", "a", "x"), "--missing-person": ("", "a", "x")}
    rows.append(lone.get(way, ("t", "c", "x")))
    frame = pl.DataFrame(rows, schema=["who", "a", "s"], orient="row")
    frame.write_csv(tmp_path / "t.csv")
    asked = {
        "--delete-rows": ["--id", "who", "--delete-rows", "price=1/2,most=1"],
        "--suppress-rows": ["--id", "who", "--model", "alpha=1/2,k=2", "--suppress-rows", "1"],
        "--missing-person": ["--person", "who", "--missing-person", "drop"],
    }[way]
    roles = ["-k", "2", "--sensitive", "s"]
    proof = ["--proof", "p.proof"]
    made = run(tmp_path, "anonymize", "t.csv", "-o", "r.csv", *roles, *asked, *proof, "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["rows"] == 12
    given = ["--original", "t.csv", *roles, *asked, *proof, "--attack", "prosecutor", "--json"]
    told = run(tmp_path, "attack", "r.csv", *given)
    assert told.exit_code == 0, told.output
    assert not json.loads(told.stdout)["attacks"][0]["approximate"]


def test_all_that_a_release_is_made_with_is_taken():
    """Tests that attack has each option of anonymize but those of how it is searched and told."""
    searched = "reductions gap spend threads order hold_back survey_weight survey_stratum"
    taken = {option.name for option in cli.get_command(None, "attack").params}  # pyright: ignore
    assert {option.name for option in OPTIONS} - taken == {*searched.split()}


def test_python_says_the_same(files: Path):
    """Tests that function and command agree."""
    told = json.loads(run(files, *BASE, "--people", "people.csv", "--json").output)
    made = ic.attack(
        files / "r.csv", files / "t.csv", files / "people.csv", k=3, sensitive="s"
    ).record()
    assert told == json.loads(json.dumps(made))


def test_the_same_seed(files: Path):
    """Tests that held-out people depend on the seed alone, and that the findings say so."""
    arguments = (*BASE, "--attack", "best-guess", "--json", "--seed")
    one, again, other = (run(files, *arguments, seed).output for seed in "001")
    assert one == again != other
    record = json.loads(one)
    assert record["attacks"][0]["held_out"]
    assert record["attacks"][0]["tries"] == 35
    assert "held out" in record["notes"][-1]


@pytest.mark.parametrize(
    ("limit", "code", "words"),
    [("1", 0, ""), ("0", 1, "more than the limit 0"), ("{risk}", 1, "inconclusive")],
)
def test_require(files: Path, limit: str, code: int, words: str):
    """Tests the three answers to a limit."""
    plain = (*BASE, "--people", "people.csv", "--attack", "best-guess")
    risk = json.loads(run(files, *plain, "--json").output)["attacks"][0]["risk"]
    found = run(files, *plain, "--require", f"best-guess={limit.format(risk=risk)}")
    assert found.exit_code == code
    assert words in found.stderr


WRONG = [
    (["--attack", "marketeer"], "no attack is called 'marketeer'; did you mean 'marketer'"),
    (["--require", "marketer"], "expected an attack and a risk"),
    (["--require", "marketer=2"], "a share from 0 to 1, not 2.0"),
    (["--attack", "marketer", "--require", "prosecutor=.1"], "no attack that is made is called"),
    (["--people", "t.csv"], "people who are not in the table"),
    (["--people", "half.csv"], "agree with a row of the table"),
    (["--proof", "t.csv"], "proof"),
    (["--proof", "no.proof"], "No such file"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_refusals(files: Path, arguments: list[str], message: str):
    """Tests that wrong usage ends with exit code 2 and one line."""
    half = pl.concat([drawn(70, 1).head(35), drawn(35, 5)])
    half.write_csv(files / "half.csv")
    found = run(files, *BASE, *arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert message in found.stderr
    assert found.stderr.count("\n") == 1


def test_an_identifier_in_both(files: Path):
    """Tests that one person with the same identifier is enough to refuse the control."""
    frame, people = drawn(60, 1), drawn(60, 2)
    mine = frame.with_columns(id=pl.int_range(60).cast(pl.String))
    theirs = people.with_columns(id=pl.int_range(59, 119).cast(pl.String))
    release = ic.anonymize(mine, k=3, id="id", sensitive="s")
    with pytest.raises(InputError, match=r"^1 of the other people bear an identifier \('id'\)"):
        ic.attack(release, people=theirs)
    theirs = people.with_columns(id=pl.int_range(60, 120).cast(pl.String))
    assert ic.attack(release, people=theirs)["marketer"].risk > 0


def test_no_message_tells_a_cell():
    """Tests that errors about cells name row and column, never the cell."""
    frame = pl.DataFrame({"a": ["secret1", "secret1", "secret2", "secret2"]})
    release = pl.DataFrame({"a": ["secret1", "secret1", "secret3", "secret3"]})
    with pytest.raises(InputError, match="row 3, column 'a'") as caught:
        ic.attack(release, frame, k=2, attacks="linkage")
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="2 released rows cannot be rows") as caught:
        ic.attack(pl.DataFrame({"a": ["secret1"] * 4}), frame, k=2, attacks="linkage")
    assert "secret" not in str(caught.value)


def test_no_sensitive_column():
    """Tests that attacks which guess one are left out, unless they are asked for by name."""
    frame = drawn(60, 1).drop("s")
    release = ic.anonymize(frame, k=3)
    assert "best-guess" not in [one.name for one in ic.attack(release)]
    with pytest.raises(InputError, match="best-guess: guesses a sensitive column; name one"):
        ic.attack(release, attacks="best-guess")
    with pytest.raises(InputError, match="knows its original"):
        ic.attack(release, frame)
    with pytest.raises(InputError, match="is not given"):
        ic.attack(release.data)


@pytest.mark.parametrize("secret", [(), "s"])
@pytest.mark.parametrize("star", [False, True])
def test_nothing_hidden_and_nothing_shown(secret, star: bool):
    """Tests that all attacks can be made where there is nothing to try, or nothing to go by."""
    frame, people = drawn(60, 1), drawn(60, 2)
    if secret == ():
        frame, people = frame.drop("s"), people.drop("s")
    names = [name for name in frame.columns if name != "s"]
    release = frame.with_columns(pl.lit("*").alias(n) for n in names) if star else frame
    found = ic.attack(release, frame, people, k=60 if star else 1, sensitive=secret)
    assert {"downcoding", "refinement", "singling-out"} <= {one.name for one in found}
    cells = 60 * len(names) if star else 0
    assert found["downcoding"].outcome.attack.tries == cells
    assert found["refinement"].outcome.attack.tries == cells


def test_too_few_to_hold_out():
    """Tests that a small table is not halved: attacks that need no control are made, as it says."""
    release = ic.anonymize(drawn(15, 1), k=5, sensitive="s")
    for asked in ({"attacks": "best-guess"}, {"require": {"best-guess": 0.5}}):
        with pytest.raises(InputError, match=r"best-guess.*: .*too few to hold half"):
            ic.attack(release, **asked)
    found = ic.attack(release)
    names = {one.name for one in found}
    assert {"marketer", "refinement"} <= names and not names & {"best-guess", "downcoding"}
    assert "Not made are attacks that need people" in found.notes[-1]
    assert "15 rows, too few to hold half" in found.notes[-1]


@pytest.mark.parametrize("rules", [{"k": 5}, {"k": 2, "l": 2}, {"protect": "x:5"}])
def test_a_release_that_broke_its_rules_is_not_taken_for_one_that_keeps_them(rules):
    """Tests that no lawful release of half the table stands in for it: it would seem safe."""
    frame = pl.DataFrame(
        {"x": [str(i // 2) for i in range(60)], "s": [str(i // 4) for i in range(60)]}
    )
    policy = Policy(sensitive="s", **rules)
    for asked in ({"attacks": "homogeneity"}, {"require": {"inference": 0.5}}):
        with pytest.raises(
            InputError, match=r"homogeneity.*: the release has 30 classes that k or"
        ):
            ic.attack(frame, frame, policy=policy, **asked)
    found = ic.attack(frame, frame, policy=policy)
    assert not any(one.held_out for one in found)
    assert "Not made are attacks that need people" in found.notes[-1]
    others = frame.with_columns(x="1" + pl.col("x"), s="1" + pl.col("s"))
    told = ic.attack(frame, frame, others, policy=policy)["homogeneity"]
    assert told.outcome.more["homogeneous_rows"] == 60 and told.outcome.attack.rate == 1


def test_people_of_a_release_with_derived_columns():
    """Tests that other people get the columns that a Release was made with, as its original did."""

    def born(rows: int, seed: int) -> pl.DataFrame:
        years = np.random.default_rng(seed).integers(1950, 1954, rows)
        return pl.DataFrame({"born": [f"{year}-01-05" for year in years]})

    derive = {"age": "years(born, 2020-06-01)"}
    release = ic.anonymize(born(30, 1), k=3, qi="age", id="born", derive=derive)
    assert ic.attack(release, people=born(30, 2), attacks="marketer")["marketer"].outcome


@pytest.mark.parametrize("way", ["deleted", "suppressed", "nobody's"])
def test_the_control_of_a_release_that_lacks_rows(way: str) -> None:
    """Tests that what is made anew, of half of the table or of others, may lack rows, too."""
    who = [None if way == "nobody's" and i % 10 == 0 else str(i) for i in range(60)]
    frame = drawn(60, 1).with_columns(s=pl.Series(list("xxxxxxxyzw" * 6)))
    asked: dict[str, Any] = {
        "deleted": {"id": "who", "delete_rows": "price=1,most=10"},
        "suppressed": {"id": "who", "suppress_rows": 30, "models": ["alpha=1/2,k=2"]},
        "nobody's": {"person": "who", "missing_person": "drop"},
    }[way]
    frame = frame.with_columns(who=pl.Series(who, dtype=pl.String))
    release = ic.anonymize(frame, k=2, sensitive="s", time_limit=5, **asked)
    assert release.rows < 60
    for people in (None, frame.with_columns(who="o" + pl.col("who"))):
        found = ic.attack(release, people=people)
        assert {"best-guess", "downcoding"} <= {one.name for one in found}


def test_nothing_to_attack():
    """Tests the message for a release without rows."""
    with pytest.raises(InputError, match="no rows: there is nothing to attack"):
        ic.attack(drawn(20, 1)[:0], drawn(20, 1), sensitive="s")


def test_too_few_others():
    """Tests that two others, k = 5, are no control for downcoding alone, and that it is said."""
    release, others = ic.anonymize(drawn(40, 1), k=5, sensitive="s"), drawn(2, 2)
    found = ic.attack(release, people=others)
    names = {one.name for one in found}
    assert {"marketer", "best-guess", "singling-out"} <= names and "downcoding" not in names
    told = "downcoding needs a release of the other people (2 rows), of whom the rules allow none"
    assert any(note.startswith(f"Not made: {told}") for note in found.notes)
    for asked in ({"attacks": "downcoding"}, {"require": {"reconstruction": 0.5}}):
        with pytest.raises(InputError, match="downcoding needs a release"):
            ic.attack(release, people=others, **asked)
    with pytest.raises(InputError, match=r"other people \(--people\) has no rows"):
        ic.attack(release, people=others[:0])


def test_a_limit_is_not_kept_by_an_attack_that_is_not_made():
    """Tests limits of attacks that need what is not there: they had passed."""
    release = ic.anonymize(drawn(40, 1).drop("s"), k=5)
    for name in ("homogeneity", "inference", "composition"):
        with pytest.raises(InputError, match=f"{name if name != 'inference' else 'best-guess'}.*:"):
            ic.attack(release, people=drawn(40, 2), require={name: 0.5})
    named = ic.anonymize(
        drawn(40, 1).with_columns(who=pl.int_range(40)), person="who", sensitive="s"
    )
    others = drawn(40, 2).with_columns(who=pl.int_range(40, 80))
    found = ic.attack(named, people=others, require={"inference": 1.0})  # minimality is not served
    assert found["best-guess"].verdict == "met"


def test_the_order_of_rows_does_not_matter():
    """Tests that rows of all three tables can be mixed."""
    frame, people = drawn(70, 1), drawn(70, 2)
    release = ic.anonymize(frame, k=4, sensitive="s").data
    order = pl.Series(range(70)).sample(fraction=1, shuffle=True, seed=1)
    one = ic.attack(release, frame, people, k=4, sensitive="s").record()
    two = ic.attack(
        release[order], frame[order], people[order.reverse()], k=4, sensitive="s"
    ).record()
    for a, b in zip(one["attacks"], two["attacks"], strict=True):
        assert a["tries"] == b["tries"]
        if a["name"] == "downcoding":  # chance takes people by their place
            continue
        assert a["success"] == pytest.approx(b["success"])
        assert a["control"] == pytest.approx(b["control"])


@pytest.mark.parametrize(("rows", "values"), [(24, 3), (60, 3), (300, 5)])
def test_the_same_people(rows: int, values: int):
    """Tests that a table is told from itself where strangers look alike, but not from them."""
    told = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        drawn = rng.integers(0, values, (2 * rows, 3)).astype(str)
        table = pl.DataFrame({name: drawn[:, j] for j, name in enumerate("abc")})
        mine, others = open_table(table[:rows]), open_table(table[rows:])
        roles = Policy(k=2).roles(mine.columns)
        require_others(mine, others, roles)
        try:
            require_others(mine, open_table(table[:rows].sample(fraction=1, seed=seed)), roles)
        except InputError as error:
            assert "in all columns, where chance makes about" in str(error)
            told += 1
    assert told > 40


def test_in_common():
    """Tests mean and spread against all ways to deal the rows."""
    mine, theirs = np.array([2, 0, 1]), np.array([1, 2, 0])
    share, found = 0.5, []
    for dealt in product(*(range(n + 1) for n in mine + theirs)):
        ways = np.prod([comb(n, d) for n, d in zip(mine + theirs, dealt, strict=True)])
        met = np.minimum(dealt, mine + theirs - dealt).sum()
        found.append((ways * share ** (mine + theirs).sum(), met))
    chance, met = np.array(found).T
    mean = chance @ met
    assert in_common(mine, theirs) == (
        1,
        pytest.approx(mean),
        pytest.approx(np.sqrt(chance @ (met - mean) ** 2)),
    )
