"""Tests that an answer names what it leaves open: a star that reads like a value, and a veil."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from forged import forged
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.proof.coins import shown_too_often
from incrowd.tables.files import open_table

TABLE = "name,age,ill\nAda,34,flu\nBen,35,flu\nCy,36,cold\nDi,37,cold\n"
ROLES = "--id name --sensitive ill -k 2"
PROOF = "--proof o.proof --statement o.json"
VERIFY = f"verify o.csv --original t.csv {PROOF}"
VEIL = 'k = 2\nid = ["name"]\nsensitive = ["ill"]\nveil = 0.5\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder, with the table and a policy of a veil."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    Path("veil.toml").write_text(VEIL)


def run(words: str) -> Any:
    return CliRunner().invoke(cli, words.split())


def test_a_star_of_ones_own_is_named() -> None:
    """Tests 38 for everybody: the answer and the statement say what it means."""
    assert run(f"anonymize t.csv -o o.csv {ROLES} {PROOF} --star 38 -q").exit_code == 0
    assert "\n38,flu" in Path("o.csv").read_text()
    told = "whether '38' in a cell is read as a suppressed one (--star)"
    assert told in run(VERIFY).stderr
    assert told not in run(f"{VERIFY} --star 38").stderr
    said = json.loads(Path("o.json").read_text())
    assert said["star"] == "38"
    for other in ({**said, "star": "*"}, {n: x for n, x in said.items() if n != "star"}):
        Path("o.json").write_text(json.dumps(other))
        done = run(VERIFY)
        assert (done.exit_code, "the statement's star" in done.stderr) == (1, True)


def test_the_usual_star_is_not_told() -> None:
    """Tests that a star that everybody knows stands nowhere."""
    assert run(f"anonymize t.csv -o o.csv {ROLES} {PROOF} -q").exit_code == 0
    assert "star" not in json.loads(Path("o.json").read_text())
    assert "--star" not in run(VERIFY).stderr


def test_what_is_derived_is_left_open() -> None:
    """Tests a policy file and Python's argument with a rule that the proof knows nothing of."""
    assert run(f"anonymize t.csv -o o.csv {ROLES} {PROOF} -q").exit_code == 0
    Path("derive.toml").write_text('[derive]\nage = "years(birth, 2024-12-31)"\n')
    told = "whether 'age' is made of other columns as --derive says"
    assert told in run(f"{VERIFY} --policy derive.toml").stderr
    answer = ic.verify("o.csv", "t.csv", "o.proof", derive={"age": "years(birth, 2024-12-31)"})
    assert told in answer.facts["not_checked"]
    assert told not in run(VERIFY).stderr


@pytest.mark.parametrize(("chance", "code"), [("0.5", 0), ("0.9", 0), ("0.25", 1), ("age=0.5", 0)])
def test_a_veil_is_held_against_the_statement(chance: str, code: int) -> None:
    """Tests factors as asked for, smaller ones, and larger ones."""
    asked = f"anonymize t.csv -o o.csv {ROLES} {PROOF} --veil {chance} -q"
    assert run(asked).exit_code == 0
    done = run(f"{VERIFY} --policy veil.toml")
    assert done.exit_code == code, done.stderr
    assert ("larger factor for 'age'" in done.stderr) == bool(code)


def test_a_veil_that_nothing_tells_is_left_open() -> None:
    """Tests a proof without a statement of a veil, and no proof."""
    assert run(f"anonymize t.csv -o o.csv {ROLES} {PROOF} -q").exit_code == 0
    told = "whether coins hid cells as the veil that is asked for says"
    for words in (VERIFY, "verify o.csv --original t.csv"):
        assert told in run(f"{words} --policy veil.toml").stderr
        found = run(f"{words} --policy veil.toml --json")
        assert told in json.loads(found.stdout)["not_checked"]
    assert told not in run(VERIFY).stderr
    answer = ic.verify("o.csv", "t.csv", policy="veil.toml")
    assert answer.facts["not_checked"] == [told]


@pytest.mark.parametrize("word", ["range:round=5", "mean:digits=0", "median", "centroid:digits=1"])
def test_a_ladder_is_not_called_a_range_or_an_average(word: str) -> None:
    """Tests a proof whose public statement would speak of averages that are not there."""
    given = f"anonymize t.csv -o o.csv {ROLES} {PROOF} -q --hierarchy age=interval:5"
    assert run(given).exit_code == 0

    def renamed(facts: dict[str, Any], rows: Any) -> Any:
        facts["hierarchies"]["age"]["origin"] = word
        return rows

    verdict = check("o.csv", "t.csv", forged(Path("o.proof"), renamed))
    assert not verdict.accepted
    assert "is called" in str(verdict.reason)


@pytest.mark.parametrize(
    ("rule", "word", "fine"),
    [
        ("interval:5", "interval:5", True),
        ("interval:5", "interval:2", False),
        ("interval:5", "bands:0,35+", False),
        ("interval:5", "date", False),  # the values are none
        ("interval:5", "interval:x", True),  # a text that is no rule: left open
        ("bands:0,36+", "bands:0,35+", False),
        ("codes:36+", "codes:<36", False),
    ],
)
def test_a_ladder_is_what_the_rule_makes_that_it_is_called(
    rule: str, word: str, fine: bool
) -> None:
    """Tests a proof whose public statement would speak of finer groups; nobody types a rule."""
    given = f"anonymize t.csv -o o.csv {ROLES} {PROOF} -q --hierarchy age={rule}"
    assert run(given).exit_code == 0

    def renamed(facts: dict[str, Any], rows: Any) -> Any:
        facts["hierarchies"]["age"]["origin"] = word
        return rows

    answer = ic.verify("o.csv", "t.csv", forged(Path("o.proof"), renamed))
    assert answer.lawful == fine
    assert fine or answer.reasons[0].startswith("column 'age': its hierarchy is not")


@pytest.mark.parametrize("word", ["interval:5", "mean:digits=0", "range", "ages.csv"])
def test_a_file_is_not_called_like_a_rule(word: str) -> None:
    """Tests a proof that calls a file by a rule, and an honest one of a file with such a name."""
    Path("date").write_text("34;x;*\n35;x;*\n36;y;*\n37;y;*\n")
    given = f"anonymize t.csv -o o.csv {ROLES} {PROOF} -q --hierarchy age=./date"
    assert run(given).exit_code == 0
    assert json.loads(Path("o.json").read_text())["hierarchies"]["age"]["origin"] == "./date"
    assert run(VERIFY).exit_code == 0

    def renamed(facts: dict[str, Any], rows: Any) -> Any:
        facts["hierarchies"]["age"]["origin"] = word
        return rows

    answer = ic.verify("o.csv", "t.csv", forged(Path("o.proof"), renamed))
    assert answer.lawful == (word == "ages.csv")
    assert answer.lawful or "as the proof calls it" in answer.reasons[0]


@pytest.mark.parametrize(
    ("chance", "fine"), [("0.5", True), ("0.6", True), ("0.95", False), ("1", False)]
)
def test_coins_that_cannot_have_been(chance: str, fine: bool) -> None:
    """Tests 100 equal rows, half of them hidden by coins, that are said to be hidden more often."""
    Path("t.csv").write_text("name,age,ill\n" + "".join(f"n{i},34,flu\n" for i in range(100)))
    asked = f"anonymize t.csv -o o.csv {ROLES} {PROOF} --veil 0.5 -q"
    assert run(asked).exit_code == 0
    shown = Path("o.csv").read_text().count("34,")
    assert 20 < shown < 80  # but for one in 10^9
    said = json.loads(Path("o.json").read_text())
    said["veil"] = {"age": 1 / float(chance)}
    Path("o.json").write_text(json.dumps(said))
    done = run(VERIFY)
    assert (done.exit_code, "than such coins leave" in done.stderr) == (int(not fine), not fine)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("--hierarchy age=range", "ranges"),
        ("--hierarchy age=interval:2", "hierarchies by rule"),
        ("--hierarchy age=ages.csv", ""),
        ("--hierarchy age=uneven.csv --weight age=0.3", ""),
        ("--hierarchy age=ages.csv --cost stars", "hierarchies but with the cost level"),
        ("--hierarchy age=uneven.csv --cost ncp", "hierarchies but with the cost level"),
        ("--l 2", ""),
        ("--t 1/2", "other models"),
        ("--l 2 --l-kind entropy", "other models"),
        ("--delete-rows most=1", "rows that are left out"),
    ],
)
def test_factors_of_a_veil_that_no_theorem_has(more: str, what: str) -> None:
    """Tests statements whose factors nobody proved, since --veil refuses such releases."""
    cells = [(34 + i % 8, "flu" if i // 2 % 2 else "cold") for i in range(16)]
    Path("t.csv").write_text(
        "name,age,ill\n" + "".join(f"n{i},{a},{b}\n" for i, (a, b) in enumerate(cells))
    )
    Path("ages.csv").write_text("".join(f"{a};{a // 4};*\n" for a in range(34, 42)))
    paths = [f"{a};{a if a == 41 else a // 2};{a // 4};*\n" for a in range(34, 42)]
    Path("uneven.csv").write_text("".join(paths))
    more += "" if what else " --veil 0.000001"
    assert run(f"anonymize t.csv -o o.csv {ROLES} {PROOF} {more} -q").exit_code == 0
    if what:
        says_veil(1.25)
    done = run(VERIFY)
    assert done.exit_code == bool(what), done.stderr
    assert f"proven for no release with {what}" in done.stderr or not what


def says_veil(factor: float) -> None:
    """Let the statement speak of a veil of ages."""
    said = json.loads(Path("o.json").read_text())
    said = {n: x for n, x in said.items() if n not in ("bound", "gap", "optimal")}
    Path("o.json").write_text(json.dumps(said | {"veil": {"age": factor}}))


@pytest.mark.parametrize("more", ["", "--spreadsheet-safe --star -"])
def test_a_veil_hides_some_rows_completely(more: str) -> None:
    """Tests a release without a veil, whose statement speaks of one that hardly hides anything."""
    Path("t.csv").write_text("name,age,ill\n" + "".join(f"n{i},34,flu\n" for i in range(9)))
    assert run(f"anonymize t.csv -o o.csv {ROLES} {PROOF} {more} -q").exit_code == 0
    says_veil(1e6)
    done = run(VERIFY)
    assert done.exit_code == 1
    assert "2 rows or more are hidden completely, and here 0 are" in done.stderr
    veil = f"anonymize t.csv -o o.csv {ROLES} {PROOF} {more} --veil 0.000001 -q"
    assert run(veil).exit_code == 0
    assert run(VERIFY).exit_code == 0


@pytest.mark.parametrize(
    ("factor", "told"),
    [(10, ""), (7, ""), (3, "more are shown"), (2, "more are shown"), (1.5, "adds up to more")],
)
def test_each_level_has_its_coin(factor: float, told: str) -> None:
    """Tests 200 equal rows of two levels, of which coins of a tenth raise a fifth of the cells."""
    Path("t.csv").write_text("name,age,ill\n" + "".join(f"n{i},34,flu\n" for i in range(200)))
    Path("ages.csv").write_text("34;30s;*\n")
    made = f"anonymize t.csv -o o.csv {ROLES} {PROOF} --hierarchy age=ages.csv --veil 0.1 -q"
    assert run(made).exit_code == 0
    says_veil(factor)
    done = run(VERIFY)
    assert (done.exit_code, told in done.stderr) == (int(bool(told)), True), done.stderr


def test_groups_may_be_shown_too_often() -> None:
    """Tests cells of which none is shown as it was, and next to all in their group."""
    Path("t.csv").write_text("name,age,ill\n" + "".join(f"n{i},34,flu\n" for i in range(200)))
    Path("ages.csv").write_text("34;30s;*\n")
    made = f"anonymize t.csv -o o.csv {ROLES} {PROOF} --hierarchy age=ages.csv --veil 0.1 -q"
    assert run(made).exit_code == 0
    proof = check("o.csv", "t.csv", "o.proof").proof
    assert proof is not None
    shown = open_table(pl.DataFrame({"age": ["30s"] * 198 + ["*"] * 2}))
    found = {x: [*shown_too_often(proof, {"age": x}, shown)] for x in (2.0, 2.5, 1e3)}
    assert [len(found[x]) for x in found] == [1, 1, 0]


def test_a_label_that_repeats_the_one_below_has_its_level() -> None:
    """Tests costs that are asked for without the hierarchy's file: the proof has all its levels."""
    Path("t.csv").write_text("age\n" + "".join(f"{34 + i % 4}\n" for i in range(8)))
    Path("ages.csv").write_text("34;17;x;*\n35;17;x;*\n36;18;y;*\n37;37;y;*\n")
    assert run(f"anonymize t.csv -o o.csv -k 4 {PROOF} --hierarchy age=ages.csv -q").exit_code == 0
    for more in ("", "--hierarchy age=ages.csv"):
        assert run(f"{VERIFY} --cost level {more}").exit_code == 0
    assert run(f"{VERIFY} --cost stars").exit_code == 1


def test_a_star_of_ones_own_is_the_root() -> None:
    """Tests costs that are asked for without the hierarchy's file, and a veil, beside a star."""
    Path("t.csv").write_text("name,age,ill\n" + "".join(f"n{i},{34 + i % 4},x\n" for i in range(8)))
    Path("ages.csv").write_text("34;17;x;*\n35;17;x;*\n36;18;y;*\n37;18;y;*\n")
    made = f"anonymize t.csv -o o.csv {ROLES} {PROOF} --hierarchy age=ages.csv --star ? -q"
    for veil in ("", "--veil 0.1"):
        assert run(f"{made} {veil}").exit_code == 0
        for more in ("", "--cost level", "--cost level --hierarchy age=ages.csv"):
            done = run(f"{VERIFY} {more}")
            assert done.exit_code == 0, done.stderr
    assert run(f"{VERIFY} --cost stars").exit_code == 1


def test_names_that_read_like_words_of_the_answer() -> None:
    """Tests a kept column whose name would say that it is left out."""
    name = "note; columns left out: zip"
    Path("t.csv").write_text(f"age,{name},zip\n34,x,1\n35,y,2\n")
    words = f"anonymize t.csv -o o.csv -k 2 {PROOF} -q --qi age,zip".split()
    assert CliRunner().invoke(cli, [*words, "--keep", name]).exit_code == 0
    assert f"'{name}'" in run(VERIFY).stderr
