"""Tests ``incrowd hierarchy make|check|show`` as a user runs it."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from incrowd.cli import cli
from incrowd.hierarchy import parse

Run = Callable[..., Result]
TABLE = "age;zip;born;job\n" + "".join(
    f"{20 + i % 9};{10000 + i % 7};20{10 + i % 3}-0{1 + i % 4}-15;{'nurse' if i % 9 else 'spy'}\n"
    for i in range(36)
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TABLE)
    runner = CliRunner()
    return lambda *args, **more: runner.invoke(cli, ["hierarchy", *args], **more)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--column", "age", "--interval", "5,10"), "22;20-24;20-29;*"),
        (("--column", "age", "--quantiles", "4,2"), "22;20-22;20-24;*"),
        (("--column", "zip", "--prefix", "1,2"), "10003;1000*;100**;*"),
        (("--column", "born", "--date"), "2011-02-15;2011-02;2011-Q1;2011;2010s;*"),
        (("--column", "job", "--frequency", "10"), "spy;rare (<10);*"),
        (("--column", "zip", "--rule", "keep:2,4"), "10003;1000*;10*;*"),
        (("--column", "age", "--rule", "bands:20,25,28+"), "22;20-24;*"),
    ],
)
def test_make_then_check(run: Run, options: tuple[str, ...], line: str) -> None:
    """Tests each way, and that what was made passes the check against its own column."""
    made = run("make", "people.csv", *options, "-o", "h.csv")
    assert (made.exit_code, made.stdout) == (0, "")
    assert line in Path("h.csv").read_text().splitlines()
    checked = run("check", "h.csv", "--table", "people.csv", "--column", options[1])
    assert checked.exit_code == 0
    assert checked.stdout.endswith("sound\n")
    assert {p.name for p in Path().iterdir()} == {"people.csv", "h.csv"}


def test_a_table_in_another_encoding(run: Run) -> None:
    """Tests that each command reads it when told how, as the message without that advises."""
    Path("old.csv").write_bytes("job\nbär\nbär\n".encode("latin-1"))
    column = ("--column", "job")
    for words in (
        ("make", "old.csv", *column, "--prefix", "1", "-o", "h.csv"),
        ("check", "prefix:1", "--table", "old.csv", *column),
        ("show", "prefix:1", "--table", "old.csv", *column),
    ):
        refused = run(*words)
        assert (refused.exit_code, "--encoding latin-1" in refused.stderr) == (2, True)
        assert run(*words, "--encoding", "latin-1").exit_code == 0
    assert Path("h.csv").read_text(encoding="utf-8") == "bär;bä*;*\n"


def test_a_line_for_missing_values(run: Run) -> None:
    """Tests that it counts as used, is shown as what it is, and is taken over."""
    Path("gaps.csv").write_text("id,job\n1,spy\n2,\n")
    Path("h.csv").write_text("spy;secret;*\n;unknown;*\n")
    column = ("--column", "job")
    checked = run("check", "h.csv", "--table", "gaps.csv", *column)
    assert (checked.exit_code, "do not occur" in checked.stdout) == (0, False)
    assert "(missing)" in run("show", "h.csv").stdout
    assert run("make", "gaps.csv", *column, "--from", "h.csv", "-o", "new.csv").exit_code == 0
    assert Path("new.csv").read_text() == Path("h.csv").read_text()
    assert run("make", "gaps.csv", *column, "--prefix", "1", "-o", "-").stdout == "spy;sp*;*\n"


def test_make_from_a_file(run: Run) -> None:
    """Tests that another file's lines are taken for the column's values, and straightened out."""
    Path("arx.csv").write_bytes(
        b"\xef\xbb\xbfpilot,travel,*\r\nspy,secret,*\r\nspy,secret,*\r\nnurse,health,*\r\n"
    )
    made = run("make", "people.csv", "--column", "job", "--from", "arx.csv", "-o", "h.csv")
    assert made.exit_code == 0
    assert Path("h.csv").read_text() == "spy;secret;*\nnurse;health;*\n"
    Path("short.csv").write_text("spy;secret;*\n")
    made = run("make", "people.csv", "--column", "job", "--from", "short.csv", "-o", "x.csv")
    assert (made.exit_code, "1 value is not in the hier" in made.stderr) == (2, True)
    Path("job.ahs").write_bytes(b"\xac\xed\x00\x05sr\x00")
    made = run("make", "people.csv", "--column", "job", "--from", "job.ahs", "-o", "x.csv")
    assert (made.exit_code, "export the hierarchy itself" in made.stderr) == (2, True)
    assert not Path("x.csv").exists()


def test_pipes(run: Run) -> None:
    """Tests standard input and output."""
    made = run("make", "-", "--column", "job", "--frequency", "10", "-o", "-", input=TABLE)
    assert made.stdout == "spy;rare (<10);*\nnurse;nurse;*\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "choose one of --interval, --quantiles"),
        (("--rule", "range"), "each class gets an interval of its own"),
        (("--rule", "kept:1"), "neither a rule nor a file"),
        (("--date", "--prefix", "1"), "found --prefix and --date"),
        (("--interval", "5,12"), "multiple of the one before"),
        (("--quantiles", "four"), "--quantiles 'four': expected whole numbers like 4 or 8,4,2"),
        (("--frequency", "1.5"), "--frequency '1.5': expected whole numbers"),
        (("--date",), "column 'age', date: 9 values are not dates"),
    ],
)
def test_make_refuses(run: Run, arguments: tuple[str, ...], message: str) -> None:
    """Tests wrong usage: exit 2, one line, nothing written."""
    made = run("make", "people.csv", "--column", "age", *arguments, "-o", "h.csv")
    assert made.exit_code == 2
    assert message in made.stderr
    assert not Path("h.csv").exists()


@pytest.mark.parametrize("rule", ["none", "prefix:1"])
def test_a_star_is_no_value(run: Run, rule: str) -> None:
    """Tests that no file is made which ``check`` would refuse."""
    Path("stars.csv").write_text("a;b\n*;1\nxx;2\n")
    made = run("make", "stars.csv", "--column", "a", "--rule", rule, "-o", "h.csv")
    assert made.exit_code == 2 and "a value is '*'" in made.stderr
    assert not Path("h.csv").exists()


def test_a_column_that_is_not_there(run: Run) -> None:
    """Tests the hint."""
    made = run("make", "people.csv", "--column", "aeg", "--interval", "5", "-o", "h.csv")
    assert made.exit_code == 2
    assert "people.csv has no column 'aeg'; did you mean 'age'?" in made.stderr


def test_check_says_no(run: Run) -> None:
    """Tests exit 1 with every fault, as text and as JSON."""
    Path("h.csv").write_text("nurse;health;*\nspi;secret;*\n")
    arguments = ("check", "h.csv", "--table", "people.csv", "--column", "job")
    found = run(*arguments)
    assert found.exit_code == 1
    assert (
        "wrong: column 'job': the value 'spy' is not in h.csv; did you mean 'spi'?" in found.stdout
    )
    assert "keep it private" in found.stderr  # it named a value of the table
    answer = json.loads(run(*arguments, "--json").stdout)
    assert (answer["sound"], len(answer["faults"])) == (False, 1)
    itself = run("check", "h.csv")
    assert (itself.exit_code, itself.stderr) == (0, "")
    Path("costs.csv").write_text("health;1\nsecret;2\n*;1.5\n")
    found = run("check", "h.csv", "--cost", "costs.csv")
    assert (found.exit_code, "falls towards the root" in found.stdout) == (1, True)


def test_check_of_a_file_by_itself_speaks_of_no_column(run: Run) -> None:
    """Tests each fault that a cost may have, without ``--column``: nothing is called a column."""
    Path("h.csv").write_text("nurse;health;*\nspy;secret;*\n")
    Path("ragged.csv").write_text("nurse;health;*\nspy;*\n")
    for costs in (
        "health;1\n*;2\n",
        "nurse;2\nhealth;1\nsecret;2\n*;2\n",
        "health;2\nsecret;2\n*;1\n",
    ):
        Path("costs.csv").write_text(costs)
        (fault,) = json.loads(run("check", "h.csv", "--cost", "costs.csv", "--json").stdout)[
            "faults"
        ]
        assert "column" not in fault
        assert "h.csv" in fault
    assert "wrong: ragged.csv: leaves at unequal depth" in run("check", "ragged.csv").stdout


@pytest.mark.parametrize(("text", "fault"), [("", "is empty"), ('"a;b\n', "line 1: not a table")])
def test_check_finds_a_file_without_a_table(run: Run, text: str, fault: str) -> None:
    """Tests that it is a finding like others; only a file that cannot be read is a wrong call."""
    Path("h.csv").write_text(text)
    found = run("check", "h.csv", "--json")
    answer = json.loads(found.stdout)
    assert (found.exit_code, answer["sound"], len(answer["faults"])) == (1, False, 1)
    assert fault in answer["faults"][0]
    assert run("check", "nowhere.csv", "--json").exit_code == 2


def test_rules_need_values(run: Run) -> None:
    """Tests a rule with and without a table, and half of a table's options."""
    assert run("check", "interval:5", "--table", "people.csv", "--column", "age").exit_code == 0
    for arguments in (("check", "interval:5"), ("show", "prefix:1"), ("show", "date")):
        refused = run(*arguments)
        assert refused.exit_code == 2
        assert "give --table and --column" in refused.stderr
    refused = run("show", "date", "--column", "born")
    assert (refused.exit_code, "go together" in refused.stderr) == (2, True)


def test_show(run: Run) -> None:
    """Tests the tree in the terminal, of a file and of a rule."""
    Path("h.csv").write_text("nurse;health;*\ndoctor;health;*\nspy;secret;*\n")
    assert run("show", "h.csv").stdout.splitlines() == [
        "*  3 values",
        "├── health  2 values",
        "│   ├── nurse",
        "│   └── doctor",
        "└── secret  1 value",
        "    └── spy",
    ]
    shown = run("show", "interval:5", "--table", "people.csv", "--column", "age", "--lines", "4")
    assert shown.stdout.splitlines() == [
        "*  9 values",
        "├── 20-24  5 values",
        "└── 25-29  4 values",
    ]
    whole = run("show", "interval:5", "--table", "people.csv", "--column", "age", "--all")
    assert len(whole.stdout.splitlines()) == 12


def test_show_as_svg(run: Run) -> None:
    """Tests the picture as a file."""
    Path("h.csv").write_text("nurse;health & care;*\nspy;secret;*\n")
    shown = run("show", "h.csv", "--svg", "h.svg")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "health & care" in "".join(ElementTree.parse("h.svg").getroot().itertext())


def test_values_of_the_file_keep_its_order(run: Run) -> None:
    """Tests that what is made keeps numbers in order, so that people can edit the file."""
    run("make", "people.csv", "--column", "age", "--interval", "5", "-o", "h.csv")
    assert [int(line.split(";")[0]) for line in Path("h.csv").read_text().splitlines()] == [
        *range(20, 29)
    ]
    assert parse("h.csv").build("age", ["28", "20"]).leaves == ("20", "28")


@pytest.mark.parametrize(
    "way",
    [
        ("--interval", "5,10"),
        ("--quantiles", "4,2"),
        ("--rule", "bands:20,25,28+"),
        ("--frequency", "9"),
    ],
)
def test_texts_for_missing_values(run: Run, way: tuple[str, str]) -> None:
    """Tests that --na, of which messages speak, is there, and that such a text has no group."""
    Path("gaps.csv").write_text(TABLE + "NA;1;;spy\n-99;1;;spy\n89+;1;;x\n")
    column = ("--column", "age")
    marks = ("--na", "NA,-99", "--na", "age=89+")
    if way[0] != "--frequency":
        refused = run("make", "gaps.csv", *column, *way, "-o", "h.csv")
        assert (refused.exit_code, "--na" in refused.stderr) == (2, True)
    made = run("make", "gaps.csv", *column, *way, "-o", "h.csv", *marks)
    assert made.exit_code == 0, made.stderr
    lines = [line.split(";") for line in Path("h.csv").read_text().splitlines()]
    groups = {leaf: set(labels[:-1]) for leaf, *labels in lines}
    assert all(groups[mark] == {mark} for mark in ("NA", "-99", "89+"))
    assert run("check", "h.csv", "--table", "gaps.csv", *column).exit_code == 0
    if way[0] == "--interval":
        words = ("interval:5,10", "--table", "gaps.csv", *column)
        assert run("check", *words).exit_code == 1
        assert run("check", *words, *marks).exit_code == 0
        assert "89+" in run("show", *words, *marks).stdout
