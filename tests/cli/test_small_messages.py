"""Tests of messages that newcomers meet first."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli

TABLE = "name,age,sex\nAda,34,f\nBen,34,f\nCleo,35,m\nDan,35,m\n"


@pytest.mark.parametrize(
    ("words", "said", "unsaid"),
    [
        ("anonymize in.csv --oder keep", "did you mean '--order'? (see", "--t'"),
        ("anonymize in.csv --out r.csv", "did you mean '--output'? (see", "--cost"),
        ("hierarchy show in.csv --json", "No such option '--json' (see", "--na"),
        ("anonymize in.csv -o r.csv --hierarchy age=interval", "widths are missing", "::"),
        ("attack in.csv --original full.csv", "lacks the column 'age' (columns left", ": lacks"),
        ("frontier in.csv -o f.png", "--svg FILE.svg draws them", "k,cost"),
        ("frontier in.csv --svg f.png", "name the file with .svg", "k,cost"),
        ("anonymize in.csv -o f.png -k 2", "as a table, not as a picture", "written"),
    ],
)
def test_a_message_names_the_fix(
    words: str, said: str, unsaid: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that a wrong command ends with 2, and with the nearest fix and no other."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text(TABLE if "attack" not in words else "name,sex\nAda,f\n")
    Path("full.csv").write_text(TABLE)
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code == 2
    assert said in done.output and unsaid not in done.output
    assert not Path("f.png").exists()


def test_quiet_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that measure and attack print no figures with -q, and keep their exit codes."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text(TABLE)
    Path("out.csv").write_text("age,sex\n34,f\n34,f\n35,m\n35,m\n")
    measured = ["measure", "in.csv", "--ignore", "name", "-q", "--require-k"]
    fine = CliRunner().invoke(cli, [*measured, "2"])
    assert (fine.exit_code, fine.output) == (0, "")
    broken = CliRunner().invoke(cli, [*measured, "3"])
    assert broken.exit_code == 1 and broken.output.startswith("incrowd: not 3-anonymous")
    asked = ["attack", "out.csv", "--original", "in.csv", "--id", "name", "-k", "2"]
    done = CliRunner().invoke(cli, [*asked, "--attack", "linkage", "-q"])
    assert (done.exit_code, done.output) == (0, "")


def test_one_row_is_told_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the number of rows that a fixed column leaves alone."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("age,sex\n34,f\n34,f\n35,m\n")
    done = CliRunner().invoke(
        cli, ["anonymize", "in.csv", "-o", "r.csv", "-k", "2", "--fixed", "age"]
    )
    assert done.exit_code == 1
    assert "1 row lies in 1 group of equal values (of 2) that cannot obey" in done.output
