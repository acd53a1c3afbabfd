"""The command line: ``incrowd COMMAND …``.  Each command imports what it needs when it runs."""

from incrowd.cli.group import cli, main

__all__ = ["cli", "main"]
