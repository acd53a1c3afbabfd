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
    for title, body in parts():
        body = body.split("\n| key of")[0]
        rows = re.findall(r"^\| (`.*?) \| .*? \| (.*?) \|", body, re.MULTILINE)
        keys: dict[str, str] = {}
        for names, when in rows:
            keys |= {name: when for name in re.findall(r"`(\w+)`", names) if name not in keys}
        found |= dict.fromkeys(title.split(", "), keys)
    return found


def parts() -> list[tuple[str, str]]:
    """The parts of the page about commands: titles and texts."""
    split = PAGE.read_text(encoding="utf-8").split("\n## ")[2:]
    return [(title, body) for title, _, body in (part.partition("\n") for part in split)]


def types(name: str) -> dict[str, set[str]]:
    """By key: the types that the page says of a command."""
    found: dict[str, set[str]] = {}
    body = next(body for title, body in parts() if name in title.split(", "))
    for names, kinds in re.findall(r"^\| (`.*?) \| (.*?) \|", body, re.MULTILINE):
        keys = re.findall(r"`(\w+)`", names)
        each = kinds.split(", ") if ", " in kinds else [kinds] * len(keys)
        for key, kind in zip(keys, each, strict=False):
            found.setdefault(key, set()).add(kind)
    return found


def nested() -> dict[str, set[str]]:
    """Keys of the objects that the page lists: key → keys in it."""
    found: dict[str, set[str]] = {}
    for _, body in parts():
        for name, rows in re.findall(
            r"^\| key of `(\w+)` .*\n\|.*\n((?:\|.*\n)+)", body, re.MULTILINE
        ):
            first = re.findall(r"^\| (.*?) \|", rows, re.MULTILINE)
            found[name] = {key for cell in first for key in re.findall(r"`(\w+)`", cell)}
    return found


KINDS: dict[str, Any] = {
    "integer": int,
    "number": (int, float),
    "text": str,
    "boolean": bool,
    "object": dict,
    "list": list,
    "null": type(None),
}


def is_of(value: Any, kinds: str) -> bool:
    """Whether a value is of one of the types of a cell such as ``integer or null``."""
    for kind in kinds.split(" or "):
        name, _, of = kind.partition(" of ")
        inner = of.removesuffix("s")
        if isinstance(value, KINDS[name]) and isinstance(value, bool) == (name == "boolean"):
            return all(is_of(one, inner) for one in value) if inner else True
    return False


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
    "codebook delta -k 20",
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
    require_types(name, found)


def require_types(name: str, found: dict[str, Any]) -> None:
    """Hold values against the types of the page, and objects against the keys listed there."""
    known = types(name)
    for key, value in found.items():
        said = [kinds for kinds in known.get(key, ()) if kinds.split(" ")[0] in KINDS]
        assert not said or any(is_of(value, kinds) for kinds in said), (key, value)
        for inside in value if isinstance(value, list) else [value]:
            if key in nested() and isinstance(inside, dict):
                assert set(inside) == nested()[key]
                require_types(name, inside)


def test_figures_of_people(folder: Path) -> None:
    """Tests keys that are null elsewhere, by the types of the page."""
    done = run("measure t.csv --person pid --group age --sensitive ill --population t.csv --json")
    found = json.loads(done.stdout)
    assert (found["people"], found["groups"]["groups"]) == (24, 7)
    assert found["risk"]["journalist_highest"] is not None
    require_types("measure", found)


def test_changed_cells_and_rows_that_joined(folder: Path) -> None:
    """Tests the figures that the summary has, for programs."""
    words = f"anonymize t.csv -o o.csv -k 2 {ROLES} --existing r.csv --json"
    found = json.loads(run(words).stdout)
    assert 0 <= found["joined"] <= found["rows"] == 24
    assert set(found["changed"]) == {"age", "sex"}
    done = run(f"anonymize t.csv -o o.csv -k 2 {ROLES} --json")
    assert sum(json.loads(done.stdout)["changed"].values()) == json.loads(done.stdout)["cost"]
    assert "joined" not in json.loads(done.stdout)


def test_rows_left_out_are_counted_without_a_proof(folder: Path) -> None:
    """Tests that programs are told what the answer says."""
    asked = f"-k 2 {ROLES} --delete-rows price=.5,most=3"
    assert run(f"anonymize t.csv -o o.csv {asked}").exit_code == 0
    done = run(f"verify o.csv --original t.csv {asked} --json")
    assert json.loads(done.stdout)["rows_left_out"] == 24 - json.loads(done.stdout)["rows"] > 0
    done = run(f"verify r.csv --original t.csv -k 2 {ROLES} --json")
    assert "rows_left_out" not in json.loads(done.stdout)


def test_patterns_are_verified_in_numbers(folder: Path) -> None:
    """Tests that programs get numbers, and each thing left open by itself; a "no" has none."""
    asked = "-k 2 --sample 0.9 --epsilon 1 --id pid --keep ill --statement s.json"
    assert run(f"codebook apply t.csv -o c.csv --patterns p.csv {asked}").exit_code == 0
    found = json.loads(run("verify c.csv --patterns p.csv --statement s.json --json").stdout)
    assert (found["k"], found["sample"], found["epsilon"]) == (2, 0.9, 1)
    assert len(found["not_checked"]) == 3
    require_types("verify", found)
    done = run("verify r.csv --patterns p.csv --statement s.json --json")
    assert (done.exit_code, "sample" in json.loads(done.stdout)) == (1, False)


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


def test_summary_without_a_bound(tmp_path: Path) -> None:
    table, out = tmp_path / "a.csv", tmp_path / "b.csv"
    table.write_text("a,b\n1,1\n1,2\n2,3\n2,4\n")
    asked = ["anonymize", str(table), "-o", str(out), "-k", "2", "--method", "mondrian"]
    run = CliRunner().invoke(cli, asked)
    assert "none was found, so a better release may exist" in run.stderr
    assert "costs less" not in run.stderr
