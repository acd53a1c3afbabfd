"""Tests of docs/reference/json.md: every command's keys and exit codes are those of the page."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

import incrowd
from incrowd.cli import cli
from incrowd.cli.summary import _status_in_words

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
ROWS = "".join(
    f"P{i},{20 + i % 7},{'mf'[i % 2]},{('flu', 'gout', 'gout')[i % 3]}\n" for i in range(24)
)
ROLES = "--id pid --sensitive ill"


def run(words: str) -> Result:
    return CliRunner().invoke(cli, words.split())


def sections() -> dict[str, dict[str, str]]:
    """By command: key → when it is there."""
    found: dict[str, dict[str, str]] = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[2:]:
        title, _, body = part.partition("\n")
        rows = re.findall(r"^\| (`.*?) \| .*? \| (.*?) \|", body, re.MULTILINE)
        keys: dict[str, str] = {}
        for names, when in rows:
            keys |= {name: when for name in re.findall(r"`(\w+)`", names) if name not in keys}
        found |= dict.fromkeys(title.split(", "), keys)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("pid,age,sex,ill\n" + ROWS)
    (tmp_path / "h.csv").write_text("20;young;*\n20;old;*\n")
    made = run(f"anonymize t.csv -o r.csv -k 2 {ROLES} --proof r.proof")
    assert made.exit_code == 0
    assert run("codebook make r.csv -o p.csv --qi age,sex").exit_code == 0
    return tmp_path


ANSWERS = [
    f"anonymize t.csv -o o.csv -k 2 {ROLES}",
    "anonymize t.csv -o o.csv -k 2 --person pid --sensitive ill",
    f"anonymize t.csv -o o.csv -k 2 {ROLES} --delete-rows price=2,most=2",
    f"anonymize t.csv -o o.csv -k 2 {ROLES} --protect age:3",
    f"anonymize t.csv -o o.csv -k 2 {ROLES} --veil 0.2",
    f"anonymize t.csv -o o.csv -k 3 {ROLES} --existing r.csv -k 2 --hold-back",
    "demo --synthetic --time-limit 1",
    f"bound t.csv -k 2 {ROLES}",
    f"frontier t.csv --k 2:3 {ROLES}",
    f"frontier t.csv --k 2,99 {ROLES}",
    "measure r.csv --sensitive ill",
    f"attack r.csv --original t.csv -k 2 {ROLES} --attack linkage",
    f"verify r.csv --original t.csv -k 2 {ROLES}",
    "verify r.csv --original t.csv --proof r.proof",
    "init t.csv -o p.toml",
    "republish t.csv -o s.csv --history h --person pid --sensitive ill -m 2",
    "codebook apply t.csv -o c.csv --patterns p.csv -k 2 --sample 0.9 --epsilon 1"
    " --id pid --keep ill",
    "methods",
    "hierarchy check h.csv",
]


@pytest.mark.parametrize("words", ANSWERS)
def test_keys(folder: Path, words: str) -> None:
    """Tests that a command prints the keys that are always there, and none beside the page."""
    name = max((each for each in sections() if words.startswith(each)), key=len)
    keys = sections()[name]
    done = run(f"{words} --json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.keys() <= keys.keys()
    assert {key for key, when in keys.items() if when == "always"} <= found.keys()


CODES = [
    (0, f"anonymize t.csv -o o.csv -k 2 {ROLES}"),
    (1, f"anonymize t.csv -o o.csv -k 99 {ROLES}"),
    (3, f"anonymize t.csv -o o.csv -k 2 {ROLES} --l 2 --cap age=0.7 --cap sex=m:0.1"),
    (1, "demo --synthetic -k 9999"),
    (1, "republish t.csv -o s.csv --history h --person pid --sensitive ill -m 9"),
    (0, f"bound t.csv -k 2 {ROLES}"),
    (1, f"bound t.csv -k 99 {ROLES}"),
    (1, f"frontier t.csv --k 99 {ROLES}"),
    (0, "measure r.csv --sensitive ill --require-k 2"),
    (1, "measure r.csv --sensitive ill --require-k 23"),
    (0, f"verify r.csv --original t.csv -k 2 {ROLES}"),
    (1, f"verify r.csv --original t.csv -k 23 {ROLES}"),
    (0, "verify r.csv --original t.csv --proof r.proof"),
    (1, "verify t.csv --original t.csv --proof r.proof"),
    (0, f"attack r.csv --original t.csv -k 2 {ROLES} --attack linkage"),
    (1, f"attack r.csv --original t.csv -k 2 {ROLES} --attack linkage --require marketer=0.01"),
    (1, "hierarchy check h.csv"),
    (0, "hierarchy check interval:5 --table t.csv --column age"),
    *((2, f"{command} absent.csv") for command in ("init", "measure", "attack", "bound")),
    (2, "anonymize absent.csv -o o.csv"),
    (2, "verify absent.csv --original t.csv"),
    (2, "republish absent.csv -o o.csv --history h --person a --sensitive b"),
    (2, "codebook apply absent.csv -o o.csv --patterns p.csv"),
    (2, "methods --nothing"),
]


@pytest.mark.parametrize(("code", "words"), CODES)
def test_exit_codes(folder: Path, code: int, words: str) -> None:
    """Tests the code of each command, and that an error leaves standard output to nobody."""
    done = run(words)
    assert done.exit_code == code, done.output
    if code in (2, 3):
        assert not done.stdout
        assert done.stderr.startswith("incrowd: ")


def test_summary_of_a_part_of_the_limit() -> None:
    """Tests that attempts which share a time limit are not said to have used all of it."""
    facts = {"status": "feasible", "ended": "time limit", "method": "engine"}
    policy = SimpleNamespace(time_limit=60)
    for seconds, said in (
        (9.0, "its part of the time limit was over"),
        (61.0, "at the time limit"),
    ):
        release: Any = SimpleNamespace(**facts, policy=policy, seconds=seconds)
        assert said in _status_in_words(release)


def test_every_command_is_on_the_page() -> None:
    """Tests that the tables of exit codes name every command."""
    codes = PAGE.read_text(encoding="utf-8").split("\n## ")[1]
    for name in cli.list_commands(None):  # type: ignore[arg-type]
        assert re.search(rf"`{name}\b", codes), name
    assert incrowd.errors.StoppedError.exit_code == 3
