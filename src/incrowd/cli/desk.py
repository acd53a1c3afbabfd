"""``incrowd desk``: the release officer's page, in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from incrowd.cli import options
from incrowd.cli.output import say
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.desk.session import Session

IDLE = 60.0  # minutes


@click.command("desk")
@click.argument("table", metavar="[TABLE]", required=False)
@options.policy_option
@click.option("--work", metavar="FOLDER", help="Open the work that was saved in a folder.")
@click.option(
    "--analysis",
    "analyses",
    multiple=True,
    metavar="FILE",
    help="A Python file or notebook with a function analyse(frame), for both tables.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option(
    "--idle",
    type=click.FloatRange(min=0, min_open=True),
    default=IDLE,
    show_default=True,
    metavar="MINUTES",
    help="End when nobody has done anything for so long.",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@options.quiet_option
def desk(
    table: str | None,
    policy: str | None,
    work: str | None,
    analyses: tuple[str, ...],
    port: int,
    idle: float,
    no_browser: bool,
    quiet: bool,
) -> None:
    """Open TABLE on a page in the browser: choose, search, look, compare, publish.

    The page is served to this machine and this user alone, and loads nothing from elsewhere.
    Prints its address; the page is opened by the file that is named beside it, once. Ctrl-C ends
    it. What was made is written only where the page is told to.
    """
    from incrowd.desk.saved import load
    from incrowd.desk.session import Session

    if policy is not None and table is None:
        raise InputError("--policy goes with a TABLE: it says what is asked of that")
    if work is not None and table is not None:
        raise InputError("--work opens the table that it was saved with; leave TABLE out")
    for file in analyses:
        if not Path(file).is_file():
            raise InputError(f"--analysis {file}: no such file")
    session = Session(table, policy)
    session.analyses = tuple(str(Path(file).resolve()) for file in analyses)
    if work is not None:
        load(session, work)
    serve(session, port, idle, no_browser, quiet)


def serve(session: "Session", port: int, idle: float, no_browser: bool, quiet: bool) -> None:
    """Serve the page until it ends."""
    import webbrowser

    from incrowd.desk.serve import Desk

    try:
        found = Desk(session, port, 60 * idle)
    except OSError as error:
        if error.filename is not None:  # of the launch file, not of the port
            raise
        raise InputError(f"--port {port}: {error.strerror}; leave it out for a free one") from None
    try:
        click.echo(found.address)
        say(f"open     {found.launch}", quiet)
        say("end      Ctrl-C", quiet)
        if not no_browser:
            webbrowser.open(found.launch.as_uri())
        found.run()
    except KeyboardInterrupt:
        found.why = "interrupted"
    finally:
        found.close()
    say(f"ended    {found.why}", quiet)
