"""Tests of what ``incrowd verify`` says to somebody who has not all files, or mistaken ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from incrowd.cli import cli

TABLE = "name,age,ill\nAda,34,flu\nBen,34,flu\nCy,36,cold\nDi,36,cold\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder, with a release, its proof and its statement."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    made("a", 2)


def made(name: str, k: int) -> None:
    """Make a release with its evidence."""
    files = f"-o {name}.csv --proof {name}.proof --statement {name}.json"
    done = run(f"anonymize t.csv {files} --id name --sensitive ill -k {k} -q")
    assert done.exit_code == 0


def run(words: str) -> Any:
    return CliRunner().invoke(cli, words.split())


def test_without_the_original_hashes_are_compared() -> None:
    """Tests the same files, other ones, and that there is never a yes."""
    done = run("verify a.csv")
    assert (done.exit_code, "incrowd measure RELEASE --qi" in done.stderr) == (2, True)
    done = run("verify a.csv --statement a.json")
    assert done.exit_code == 2
    assert "nothing that it says is checked yet" in done.stderr
    assert "incrowd measure a.csv --qi age" in done.stderr
    Path("renamed.csv").write_bytes(Path("a.csv").read_bytes())
    done = run("verify renamed.csv --statement a.json --proof a.proof")
    assert (done.exit_code, "of these files" in done.stderr) == (2, True)
    Path("ends.csv").write_bytes(Path("a.csv").read_bytes().replace(b"\n", b"\r\n"))
    done = run("verify ends.csv --statement a.json")
    assert done.exit_code == 1
    assert "no: the release is not the file whose hash the statement states" in done.stderr
    assert "other line ends" in done.stderr


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"format": "incrowd-proof"})])
def test_what_is_no_statement_is_refused(text: str) -> None:
    """Tests a statement that is none, and one that is not there."""
    Path("b.json").write_text(text)
    Path("d.json").write_text(json.dumps({"format": "incrowd-codebook-statement"}))
    told_of = {"b.json": "is no statement", "c.json": "No such file", "d.json": "its --patterns"}
    for name, told in told_of.items():
        done = run(f"verify a.csv --statement {name}")
        assert (done.exit_code, told in done.stderr) == (2, True)


def test_a_no_says_which_files_to_take() -> None:
    """Tests another run's proof and statement, both tables as others, and what is no proof."""
    made("b", 4)  # other cells, in whatever order
    every = "verify a.csv --original t.csv"
    for words, no, step in (
        ("--proof b.proof", "the release is not the file", "of one run"),
        ("--proof a.proof --statement b.json", "is not the proof's", "in one run with the proof"),
        ("--proof a.json", "damaged", "no proof at all"),
    ):
        done = run(f"{every} {words}")
        told = (done.exit_code, no in done.stderr, done.stderr.splitlines()[-1].count(step))
        assert told == (1, True, 1), done.stderr
    done = run("verify t.csv --original a.csv --proof a.proof")
    assert "the original and the release are not the files whose hash" in done.stderr
    done = run(f"{every} --proof a.proof --statement a.json")
    assert (done.exit_code, "next" in done.stderr) == (0, False)
