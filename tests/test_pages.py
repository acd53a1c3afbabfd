"""Tests that the README and the tutorial do what they say: files, commands with output, Python."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/tutorial.md")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a page from top to bottom in an empty folder; ``sh`` and ``text`` are for readers."""
    monkeypatch.chdir(tmp_path)
    kinds = []
    for kind, title, body in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        kinds.append(kind)
        if kind == "csv":
            Path(title).write_text(body, encoding="utf-8")
        elif kind == "console":
            run_console(body)
        elif kind == "python":
            exec(compile(body, page, "exec"), {})
    assert {"csv", "console", "python"} <= set(kinds)


def run_console(body: str) -> None:
    for step in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, expected = step.split("\n", 1)
        assert without_seconds(output_of(*shlex.split(command))) == without_seconds(expected)


def output_of(program: str, *arguments: str) -> str:
    """Run what the pages use: incrowd, and two ways to look at a file."""
    if program == "incrowd":
        return CliRunner().invoke(cli, arguments).output
    text = Path(arguments[-1]).read_text(encoding="utf-8")
    if program == "cat":
        return text
    assert (program, arguments[0]) == ("head", "-4")
    return "".join(text.splitlines(keepends=True)[:4])


def without_seconds(output: str) -> str:
    return re.sub(r"[\d.]+ s\)", "… s)", output)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/**/*.md"])
def test_links_lead_somewhere(page: str) -> None:
    """Tests that every link within the project names a file that is there."""
    for path in ROOT.glob(page):
        for target in LINK.findall(path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_what_is_checked_is_what_the_readme_says() -> None:
    """Tests that .ci/run calls the README's test command."""
    command = "python -m pytest -n 2"
    assert f"&& {command}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"step {command}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
