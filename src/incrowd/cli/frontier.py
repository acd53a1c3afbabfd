"""``incrowd frontier``: what each k costs, and what it costs at the least."""

from typing import Any

import click

from incrowd.cli import options
from incrowd.cli.output import aligned, print_json, say, warn
from incrowd.cli.places import is_picture, require_apart, require_one_output, require_places
from incrowd.cli.progress import progress
from incrowd.cli.sections import Sectioned
from incrowd.errors import InputError
from incrowd.policy.table import LEVELS
from incrowd.run.silence import standard_output_kept
from incrowd.run.stop import Stop
from incrowd.tables.atomic import whole
from incrowd.text.units import shown, shown_gap

MOST = 10_000  # values of k in one sweep


@click.command("frontier", cls=Sectioned)
@click.argument("table", metavar="IN")
@click.option(
    "-k",
    "--k",
    "ks",
    default="2:20",
    show_default=True,
    metavar="A:B[:STEP],…",
    help="The values of k, e.g. 2:50 or 2,3,5,10:50:5.",
)
@options.policy_options(
    *(*options.ROLES, *options.MODELS[1:], *options.COSTS, *options.SEARCH), hierarchies=LEVELS.help
)
@options.policy_option
@options.reading_options
@click.option("-o", "--output", metavar="FILE", help="Write the points as CSV; - for a pipe.")
@click.option("--svg", metavar="FILE", help="Also draw them.")
@options.json_option
@options.quiet_option
def frontier(table: str, ks: str, as_json: bool, quiet: bool, **given: Any) -> int:
    """Say what k costs: for each k the cost of a release of IN, and a bound on all of them.

    One sweep, in which each k starts from what its neighbours have found. --time-limit is for the
    whole sweep. No release is written; publish one of them at most (incrowd anonymize -k K).
    A k that no release can obey is left out, and named in a warning.
    """
    wanted = numbers(ks)
    require_apart({"-o": given["output"], "--svg": given["svg"]}, table, given)
    require_outputs(as_json, given["output"], given["svg"])
    from incrowd.frontiers.of_table import frontier_of

    stop = Stop()
    source, policy = options.asked(table, given)
    stop.time_limit, stop.gap, stop.spend, stop.threads = policy.limits
    with standard_output_kept(), progress(quiet, policy.time_limit) as listener:
        found = frontier_of(source, wanted, policy, listener, stop)
    if given["output"] is not None:
        with whole(given["output"]) as file:
            file.write(found.csv().encode())
    if given["svg"] is not None:
        from incrowd.report.svg import svg_text

        with whole(given["svg"]) as file:
            file.write(svg_text(found.plot(), "frontier").encode())
    if as_json:
        points = [point.record() for point in found.points]
        none = {"impossible": list(found.impossible), "warnings": list(found.warnings)}
        print_json(
            {
                "rows": found.rows,
                "columns": found.columns,
                "models": list(found.models),
                "points": points,
                **(none if found.impossible else {}),
                "ended": found.ended,
                "seconds": round(found.seconds, 3),
                "seed": policy.search_seed,
                "output": given["output"],
            }
        )
    elif given["output"] is None:
        click.echo(as_lines(found))
    warn(found.warnings)
    how = "" if found.ended == "finished" else f"; ended: {found.ended}"
    say(f"{found!r}, {found.seconds:.1f} s{how}".strip("<>").replace(">,", ","), quiet)
    return 130 if found.ended == "interrupted" else 0


def require_outputs(as_json: bool, output: str | None, svg: str | None) -> None:
    """Raise InputError when an output cannot be made."""
    if output is not None and is_picture(output):
        raise InputError(f"{output}: -o writes the points as CSV; --svg FILE.svg draws them")
    require_places(output, svg)
    require_one_output(output, as_json, "points")
    if svg is not None:
        if svg == "-":
            raise InputError("--svg needs a file of its own")
        if is_picture(svg) and not svg.lower().endswith(".svg"):
            raise InputError(f"{svg}: --svg draws SVG; name the file with .svg")
        from incrowd.report.plots import require_matplotlib

        require_matplotlib()


def numbers(text: str, option: str = "--k") -> list[int]:
    """Return the values of a text such as ``2:50``, ``2:50:4`` or ``2,3,5:9``.

    Raises
    ------
    InputError: not of that form, or nothing in it.
    """
    found: set[int] = set()
    for part in text.split(","):
        ends = part.strip().split(":")
        try:
            values = [int(end) for end in ends]
        except ValueError:
            values = []
        if not 1 <= len(values) <= 3 or (len(values) == 3 and values[2] < 1):
            raise InputError(f"{option} {text!r}: expected e.g. 2:50, 2:50:4 or 2,3,5:9")
        last, step = values[1] if len(values) > 1 else values[0], (*values, 1, 1)[2]
        span = range(values[0], last + 1, step)
        if len(span) + len(found) > MOST:
            raise InputError(f"{option} {text!r}: more than {MOST:,} values")
        found.update(span)
    if not found:
        raise InputError(f"{option} {text!r}: there is no number from the first to the last")
    return sorted(found)


def as_lines(found: Any) -> str:
    """Return the points as aligned text."""
    rows = [["k", "cost", "bound", "gap", "share of the most"]]
    told = ((p, shown(p.cost), shown(p.lower_bound), shown_gap(p.gap)) for p in found.points)
    return aligned(
        rows + [[f"{p.k:,}", *figures, f"{p.cost_fraction:.2%}"] for p, *figures in told]
    )
