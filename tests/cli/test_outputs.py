"""No output takes the place of an input or of another output."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli

TABLE = b"a,z\n34,1\n34,1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a table, a hierarchy, an order, a policy and a part of a table."""
    files = {
        "in.csv": TABLE,
        "h.csv": b"34;30;*\n",
        "order": b"1\n2\n",
        "p.toml": b'k = 2\n[hierarchies]\na = "h.csv"\n',
        "parts/one.csv": TABLE,
    }
    (tmp_path / "parts").mkdir()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """What every file holds."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


CLASHES = [
    "anonymize in.csv -o in.csv",
    "anonymize parts -o parts/one.csv",
    "anonymize in.csv -o n.csv --proof pr --statement n.csv",
    "anonymize in.csv -o n.csv --proof pr --statement pr",
    "anonymize in.csv -o n.csv --proof ./n.csv",
    "anonymize in.csv -o n.csv --report ./n.csv",
    "anonymize in.csv -o n.csv --report-internal parts/../n.csv",
    "anonymize in.csv -o n.csv --metadata link/n.csv",
    "anonymize in.csv -o n.csv --proof q --report ./q",
    "anonymize in.csv -o order --existing order",
    "anonymize in.csv -o h.csv --hierarchy a=h.csv",
    "anonymize in.csv -o p.toml --policy p.toml",
    "anonymize in.csv -o h.csv --policy p.toml",
    "anonymize in.csv -o order --sensitive z --t .5 --distance order",
    "anonymize in.csv -o order --sensitive z --model t=.5,distance=order,on=z",
    "anonymize in.csv -o hard.csv --existing parts/one.csv",
    "anonymize in.csv -o in.csv --engine spark",
    "demo -o x.csv --report ./x.csv",
    "frontier in.csv -o f --svg ./f",
    "frontier in.csv -o p.toml --policy p.toml",
    "hierarchy make in.csv --column a --interval 10 -o in.csv",
    "hierarchy make in.csv --column a --from h.csv -o h.csv",
    "hierarchy show h.csv --svg h.csv",
    "init in.csv -o in.csv --force",
    "instance clique -o x.json --about ./x.json",
]


@pytest.mark.parametrize("words", CLASHES)
def test_no_file_takes_the_place_of_another(words: str, folder: Path) -> None:
    """Tests names of files that are there and that are not, by detours, links and policies."""
    (folder / "hard.csv").hardlink_to(folder / "parts/one.csv")
    said = refused(words, folder)
    assert "choose another name for" in said or "name the same file" in said


def refused(words: str, folder: Path) -> str:
    """Return why a command is refused, which changes nothing in a folder that links to itself."""
    (folder / "link").symlink_to(folder)
    before = contents(folder)
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code == 2, done.output
    assert contents(folder) == before
    return done.stderr


JOINING = [
    "anonymize parts -o parts/two.csv",
    "anonymize parts -o parts/year=2020/two.csv",
    "anonymize parts -o n.csv --metadata parts/n.json",
    "anonymize parts/*.csv -o parts/two.csv",
    "anonymize part* -o parts/deeper/two.csv",
    "anonymize ./**/*.csv -o parts/deeper/two.csv",
    "anonymize . -o two.csv",
    "frontier parts -o parts/two.csv",
    "init parts -o link/parts/policy.toml",
]
ASIDE = [
    "frontier parts -k 1 -o two.csv",
    "frontier parts -k 1 -o parts/_two.csv",
    "frontier parts/*.csv -k 1 -o parts/two.txt",
    "frontier parts/*.csv -k 1 -o two.csv",
    "frontier */one.csv -k 1 -o parts/two.csv",
    "frontier parts/*.csv -k 1 -o -",
]


@pytest.mark.parametrize("words", JOINING)
def test_no_output_joins_the_input(words: str, folder: Path) -> None:
    """Tests that a second run cannot read a release beside the rows that it was made of."""
    assert "lies in the input" in refused(words, folder)


@pytest.mark.parametrize("words", ASIDE)
def test_outputs_beside_the_parts_are_written(words: str, folder: Path) -> None:
    """Tests outputs that no later run reads as parts."""
    done = CliRunner().invoke(cli, [*words.split(), "-q"])
    assert done.exit_code == 0, done.output


def test_rules_are_no_files(folder: Path) -> None:
    """Tests that an output may be called like a rule."""
    words = "hierarchy make in.csv --column a --interval 10 -o interval"
    assert CliRunner().invoke(cli, words.split()).exit_code == 0
    assert (folder / "interval").exists()


def test_files_that_undo_a_release_are_private(folder: Path) -> None:
    """Tests proof and internal report where all other files are made for everybody."""
    before = os.umask(0)
    try:
        words = "anonymize in.csv -o o.csv -k 2 -q --proof o.proof --statement o.json"
        words += " --report-internal in.html --report out.html"
        assert CliRunner().invoke(cli, words.split()).exit_code == 0
    finally:
        os.umask(before)
    made = ["o.csv", "o.json", "out.html", "o.proof", "in.html"]
    modes = {name: (folder / name).stat().st_mode & 0o777 for name in made}
    assert modes == dict.fromkeys(made[:3], 0o666) | dict.fromkeys(made[3:], 0o600)
