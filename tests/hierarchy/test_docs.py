"""Tests that the page on hierarchies does what it says: files, commands with output, Python."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "hierarchies.md"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the page from top to bottom in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    kinds = []
    for kind, title, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        kinds.append(kind)
        if kind == "csv":
            Path(title).write_text(body, encoding="utf-8")
        elif kind == "console":
            run_console(body)
        else:
            exec(compile(body, str(PAGE), "exec"), names)
    assert set(kinds) == {"csv", "console", "python"}


def run_console(body: str) -> None:
    for step in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, expected = step.split("\n", 1)
        program, *arguments = shlex.split(command)
        assert program == "incrowd"
        assert CliRunner().invoke(cli, arguments).output == expected, command
