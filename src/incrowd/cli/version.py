"""``incrowd version``."""

import click

from incrowd.text.version import __version__


@click.command("version")
def version() -> None:
    """Say the version."""
    click.echo(f"incrowd {__version__}")
