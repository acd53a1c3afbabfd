"""Tests that the pages do what they say: files, commands with output, Python; and that links lead.

A page is run from top to bottom in an empty folder.  A block with a title is a file, ``console``
blocks are commands with their output, ``python`` blocks share their names; ``sh`` blocks are
commands that work, where their table is on the page.  All others (``text``, blocks without a
language) are for readers, but what stands right below Python is what it prints.
"""

import re
import shlex
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("**/*.md"))
    if {"console", "python", "sh"} & {kind for kind, *_ in BLOCK.findall(path.read_text("utf-8"))}
)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support")  # pandera imports it
@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a page."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    text, printed, end = (ROOT / page).read_text(encoding="utf-8"), "", 0
    for block in BLOCK.finditer(text):
        kind, title, body = block.groups()
        if kind == "text" and printed and not text[end : block.start()].strip():
            assert printed.rstrip() == body.rstrip(), f"{page}: what Python prints"
        printed, end = "", block.end()
        if title:
            Path(title).write_text(body, encoding="utf-8")
        elif kind == "console":
            run_console(body)
        elif kind == "sh":
            run_shell(body)
        elif kind == "python":
            with redirect_stdout(StringIO()) as out:
                exec(compile(body, page, "exec"), names)
            printed = out.getvalue()


def test_the_pages_that_teach_are_run() -> None:
    """Tests that no page slips out of the list by the way its blocks are written."""
    topics = "hierarchies weights diversity-and-closeness pipelines statistics-files"
    expected = {f"docs/how-to/{topic}.md" for topic in (*topics.split(), "reading-the-proof")}
    assert {"README.md", "docs/tutorial.md"} | expected <= set(PAGES)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/**/*.md"])
def test_tables_are_whole(page: str) -> None:
    """Tests that every table has a head: below a blank line its rows would show as text."""
    for path in ROOT.glob(page):
        for block in re.split(r"\n{2,}", path.read_text(encoding="utf-8")):
            lines = block.split("\n")
            if lines[0].startswith("|"):
                assert set(lines[1]) <= set("|-: "), f"{path.name}: {lines[0]}"


def run_console(body: str) -> None:
    for step in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, expected = step.split("\n", 1)
        words = shlex.split(command)
        found, told = without_seconds(output_of(*words)), without_seconds(expected)
        if words[0] in ("cat", "head"):  # of a table, whose rows have another order in each run
            (name, *rows), (wanted, *lines) = found.splitlines(), told.splitlines()
            assert (name, Counter(lines) - Counter(rows)) == (wanted, Counter()), command
            assert len(rows) == len(lines) or words[0] == "head", command
        else:
            assert found == told, command


def run_shell(body: str) -> None:
    """Run what a page advises where its table is there."""
    for line in re.sub(r"\\\n", " ", body).splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] != ["incrowd"] or words[1] == "desk":
            continue
        if Path(words[2]).is_file():
            done = CliRunner().invoke(cli, words[1:])
            assert done.exit_code == ("--require" in words), f"{line}\n{done.output}"


def output_of(program: str, *arguments: str) -> str:
    """Run what the pages use: incrowd, and two ways to look at a file."""
    if program == "incrowd":
        return CliRunner().invoke(cli, arguments).output
    text = Path(arguments[-1]).read_text(encoding="utf-8")
    if program == "cat":
        return text
    assert (program, arguments[0]) == ("head", "-4")
    return text


def without_seconds(output: str) -> str:
    return re.sub(r"[\d.]+ s\)", "… s)", output)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "benchmarks/*.md", "docs/**/*.md"]
)
def test_links_lead_somewhere(page: str) -> None:
    """Tests that every link within the project names a file that is there."""
    for path in ROOT.glob(page):
        for target in LINK.findall(path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_what_is_checked_is_what_the_readme_says() -> None:
    """Tests that .ci/run calls the README's test command."""
    command = "python -m pytest -n 3"
    assert f"&& {command}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"step {command}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
