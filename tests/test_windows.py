"""What Windows does otherwise, imitated: files in use, signs that pipes lack, quotes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from incrowd.cli import cli
from incrowd.tables import atomic
from incrowd.text import shell
from programs import command

OPEN = Path("/proc/self/fd")


def in_use(path: Any) -> bool:
    """Whether this process has a file open, or mapped into its memory."""
    there = os.path.realpath(path)
    if any(os.path.realpath(each) == there for each in OPEN.iterdir()):
        return True
    return any(
        line.endswith(f" {there}") for line in Path("/proc/self/maps").read_text().split("\n")
    )


@pytest.fixture
def like_windows(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let no open file be moved or removed, and no folder be opened or locked; what was tried."""
    tried: list[str] = []

    def guarded(name: str) -> None:
        do = getattr(os, name)

        def instead(*paths: Any, **more: Any) -> Any:
            own = sys._getframe(1).f_code.co_filename.endswith("tempfile.py")  # it knows the system
            for path in paths if not own else ():
                if isinstance(path, str | Path) and in_use(path):
                    tried.append(f"{name} {path}")
                    raise PermissionError(13, "the file is being used", str(path))
            return do(*paths, **more)

        monkeypatch.setattr(os, name, instead)

    for name in ("unlink", "remove", "replace", "rename"):
        guarded(name)
    opened = os.open

    def no_folder(path: Any, *rest: Any, **more: Any) -> int:
        if isinstance(path, str | Path) and Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **more)

    monkeypatch.setattr(os, "open", no_folder)
    monkeypatch.setattr(atomic, "fcntl", None)
    return tried


@pytest.mark.skipif(not OPEN.is_dir(), reason="no list of open files")
def test_no_open_file_is_moved_or_removed(like_windows: list[str], tmp_path: Path) -> None:
    """Tests releases, proofs, keys and histories in files that are closed before they are moved."""
    rows = [(f"P{i}", f"{30 + i % 4}", "fm"[i % 2], "xyz"[i % 3]) for i in range(12)]
    table = pl.DataFrame(rows, schema=["who", "age", "sex", "ill"], orient="row")
    table.write_csv(tmp_path / "in.csv")
    table.write_parquet(tmp_path / "in.parquet")
    at = {name: str(tmp_path / name) for name in ("in.csv", "out.csv", "proof", "key", "history")}
    roles = ["--id", "who", "--sensitive", "ill"]
    proven = ["--proof", at["proof"], "--statement", str(tmp_path / "s.json")]
    people = ["--person", "who", "--sensitive", "ill"]
    twice = [
        ["anonymize", at["in.csv"], "-o", at["out.csv"], "-k", "2", *roles, *proven],
        ["anonymize", str(tmp_path / "in.parquet"), "-o", str(tmp_path / "out.arrow"), *roles],
        ["republish", at["in.csv"], "-o", at["out.csv"], "--history", at["history"], *people],
        ["init", at["in.csv"], "-o", str(tmp_path / "policy.toml"), "--force"],
    ]
    once = ["anonymize", at["in.csv"], "-o", at["out.csv"], "-k", "2", *people]
    for words in (*twice, *twice, [*once, "--pseudonym", f"who={at['key']}"]):
        done = CliRunner().invoke(cli, words)
        assert (done.exit_code, like_windows) == (0, []), (words, done.stderr)
    names = {each.name for each in tmp_path.iterdir()}
    assert names == {
        *("in.csv", "in.parquet", "out.csv", "out.arrow", "proof", "s.json", "history", "key"),
        "policy.toml",
    }


def test_a_pipe_that_lacks_signs(tmp_path: Path) -> None:
    """Tests plain signs for those that a pipe's encoding lacks, and JSON that all read alike."""
    (tmp_path / "in.csv").write_text("größe,sex\n1,f\n1,f\n", encoding="utf-8")
    ways = {**os.environ, "PYTHONIOENCODING": "cp1252"}

    def said(*words: Any) -> str:
        done = subprocess.run(command(*words), capture_output=True, timeout=120, env=ways)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode("cp1252")

    figures = said("measure", tmp_path / "in.csv")
    assert "größe" in figures and "----" in figures and "\\u" not in figures
    asked = said("measure", tmp_path / "in.csv", "--json")
    assert asked.isascii() and "größe" in json.loads(asked)["qi"]


def test_words_for_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests double quotes where shells know no single ones."""
    monkeypatch.setattr(shell, "WINDOWS", True)
    words = ["incrowd", "measure", r"C:\my data\in.csv", r"C:\in.csv", "--qi", "a,b", 'x"y']
    told = r'incrowd measure "C:\my data\in.csv" C:\in.csv --qi "a,b" "x\"y"'
    assert shell.shell_line(words) == told
