"""The directive ``command-line``: the help of every command, as the program prints it."""

from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive

WIDTH = 84
"""Characters that a block of the site shows without scrolling."""


def commands(command: click.Command, path: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return (name, help) of a command and all below it."""
    context = click.Context(command, info_name=" ".join(path), max_content_width=WIDTH)
    context.terminal_width = WIDTH
    found = [(" ".join(path), command.get_help(context))]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                found += commands(below, (*path, name))
    return found


class CommandLine(Directive):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        from incrowd.cli import cli

        made: list[nodes.Node] = []
        for name, text in commands(cli, ("incrowd",)):
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += nodes.title(text=name)
            block = nodes.literal_block(text, text)
            block["language"] = "text"
            section += block
            made.append(section)
        return made


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
