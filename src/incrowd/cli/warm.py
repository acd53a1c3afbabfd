"""``incrowd warm``: compile all kernels now, so that no later run has to."""

from typing import Any

import click

from incrowd.cli import options
from incrowd.cli.output import say
from incrowd.errors import InputError

ROWS = 300
LIMIT = 20.0
"""Seconds of search for each kind of run; what is compiled counts in no limit."""
TREES = {"age": "interval:5,10,20"}
KINDS: dict[str, dict[str, Any]] = {
    "pairs": {"k": 2},
    "k": {"k": 5},
    "hierarchies": {"k": 5, "hierarchies": TREES},
    "diversity": {"k": 3, "l": 2, "sensitive": "asthma"},
    "closeness": {"k": 3, "t": "0.4", "sensitive": "asthma"},
}


@click.command("warm")
@click.option(
    "--kind",
    multiple=True,
    type=click.Choice(list(KINDS)),
    help="What to compile for; may be given several times. Default: all.",
)
@options.quiet_option
def warm(kind: tuple[str, ...], quiet: bool) -> None:
    """Compile what runs need, once, as when an image of a container is built.

    The first run after an installation compiles for half a minute or more. This does it before, by
    small releases of made-up tables; what is compiled is kept beside the package, or in the folder
    that NUMBA_CACHE_DIR names.
    """
    from incrowd._api import anonymize
    from incrowd.kernels.jit import CacheFile
    from incrowd.run.clock import left_out
    from incrowd.run.silence import standard_output_kept
    from incrowd.tables.samples import synthetic

    table = synthetic(ROWS)
    for name in kind or KINDS:
        before = left_out()
        given = {"qi": [c for c in table.columns if c != "asthma"], **KINDS[name]}
        frame = table if "sensitive" in given else table.drop("asthma")
        with standard_output_kept():
            anonymize(frame, **given, time_limit=LIMIT)
        say(f"{name:<12}compiled in {left_out() - before:.0f} s", quiet)
    if CacheFile.lost:
        raise InputError(
            "what was compiled could not be kept: the folder for it has no room or cannot be "
            "written, so that every run will compile again; NUMBA_CACHE_DIR names another folder"
        )
