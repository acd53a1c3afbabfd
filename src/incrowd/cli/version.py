"""``incrowd version``."""

import click

from incrowd.text.version import PROGRAM_VERSION


@click.command("version")
def version() -> None:
    """Say the version."""
    click.echo(f"incrowd {PROGRAM_VERSION}")
