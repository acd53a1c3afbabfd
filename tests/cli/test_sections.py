"""Tests of the help by topic: each option stands there once, those that are needed first on top."""

import click
import pytest

from incrowd.cli import cli
from incrowd.cli.sections import FIRST, PLACE, Sectioned

SECTIONED = [
    name
    for name in cli.list_commands(click.Context(cli))
    if isinstance(cli.get_command(click.Context(cli), name), Sectioned)
]


def words(line: str) -> list[str]:
    """The words of a line where an option stands, without commas."""
    return line.replace(",", " ").split()[:2] if line.startswith("  -") else []


@pytest.mark.parametrize("name", SECTIONED)
def test_every_option_once(name: str) -> None:
    """Tests that the help tells each option in one place, and few of them at the top."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    context = click.Context(command)
    lines = command.get_help(context).splitlines()
    lines = lines[lines.index(f"{FIRST}:") + 1 :]
    flags = [part.opts[0] for part in command.params if isinstance(part, click.Option)]
    for flag in flags:
        assert sum(flag in words(line) for line in lines) == 1, flag
    needed = [line for line in lines[: lines.index("")] if words(line)]
    assert 1 < len(needed) < 13


def test_anonymize_has_a_topic_for_each_option() -> None:
    """Tests that no option of the main command is left to the end, but how it talks."""
    command = cli.get_command(click.Context(cli), "anonymize")
    assert command is not None
    options = [part for part in command.params if isinstance(part, click.Option)]
    left = {part.opts[-1] for part in options if not any(flag in PLACE for flag in part.opts)}
    assert left == {"--json", "-q"}
