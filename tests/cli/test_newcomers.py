"""What newcomers get wrong, each with the words that tell them what to do."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli

FILES = {
    "t.csv": "age,job,ill\n34,nurse,flu\n36,nurse,flu\n38,pilot,gout\n51,pilot,flu\n",
    "bare.csv": "34,nurse,flu\n36,nurse,flu\n38,pilot,gout\n51,pilot,flu\n",
    "title.csv": "Export 2024\nage,job,ill\n34,nurse,flu\n",
    "blanks.txt": "age job ill\n34 nurse flu\n36 nurse flu\n",
    "head.csv": "job;group;all\nnurse;health;*\npilot;air;*\n",
    "book.csv": "PK\x03\x04\x8e",
}
MISTAKES = [
    # table, what goes with it, part of the message
    ("t.csv", ["--qi", "age;job"], "write commas between names: age,job"),
    ("t.csv", ["--qi", "age job"], "write commas between names: age,job"),
    ("t.csv", ["--qi", "age", "job"], "with commas and no blanks: --qi age,sex"),
    ("title.csv", [], "if line 1 is a title and names no columns, delete it"),
    ("blanks.txt", ["--qi", "age"], "if more stand in it, say what parts them (--delimiter"),
    ("bare.csv", ["--qi", "age"], "if the table lacks its header, add a line of names"),
    ("~/t.csv", [], "no such file; ~ is not read as your home folder here"),
    ("t.csv", ["-o", "~/o.csv"], "does not exist; ~ is not read as your home folder here"),
    ("t.csv", ["--policy", "~/p.toml"], "no such file; ~ is not read as your home folder here"),
    ("t.csv", ["--hierarchy", "job=~/h"], "a file; ~ is not read as your home folder here"),
    ("t.csv", ["--hierarchy", "job=head.csv"], "delete line 1 if it only names columns"),
    ("t.csv", ["--hierarchy", "job=book.csv"], "is a workbook or a zip file; save its table"),
    ("t.csv", ["--hierarchy", "job=prefix"], "'prefix:': prefix takes rising"),
    ("t.csv", ["--gap", "1%"], "'1%' is not a number like 60 or 0.01"),
    ("http://h/t.csv?key=secret", [], "http://… is the address of a file elsewhere, not of a"),
    ("t.csv", ["-o", "s3://h/key/o.csv"], "s3://… is the address of a file elsewhere, not of a"),
    ("file:///t.csv", [], "give the name of the file alone"),
]


@pytest.mark.parametrize(("table", "more", "part"), MISTAKES)
def test_mistakes(
    tmp_path: Path, table: str, more: list[str], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests the message, that it is one line and holds no cell, and that nothing is written."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "latin-1")
    before = sorted(tmp_path.iterdir())
    done = CliRunner().invoke(cli, ["anonymize", table, "-o", "o.csv", "-k", "2", *more])
    assert part in done.stderr
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert not any(cell in done.stderr for cell in ("nurse", "gout", "'34'", "key", "secret"))
    assert sorted(tmp_path.iterdir()) == before


def test_commas_are_spoken_of_only_where_columns_are_named() -> None:
    """Tests a table typed behind a hierarchy, whose command takes no columns."""
    done = CliRunner().invoke(cli, ["hierarchy", "check", "head.csv", "t.csv"])
    assert done.exit_code == 2 and "unexpected extra argument" in done.output
    assert "commas" not in done.output


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("verify t.csv o.csv", "--original IN"),
        ("anonymize t.csv --internal-report r.html", "did you mean '--report-internal'?"),
        ("anonymize t.csv --delete-row most=1", "did you mean '--delete-rows'?"),
    ],
)
def test_what_was_meant(line: str, part: str) -> None:
    """Tests a table too many, and names of options turned round or misspelt."""
    done = CliRunner().invoke(cli, line.split())
    assert done.exit_code == 2 and part in done.output
