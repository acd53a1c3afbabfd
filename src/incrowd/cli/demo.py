"""``incrowd demo``: the main job, start to end, with nothing to prepare."""

from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from incrowd.cli import options
from incrowd.cli.output import aligned, print_json, release_record
from incrowd.cli.places import require_apart
from incrowd.cli.progress import progress
from incrowd.cli.reporting import FILES, report_options, require_reports, write_reports
from incrowd.cli.sections import Sectioned
from incrowd.cli.summary import summary
from incrowd.policy import Policy
from incrowd.run.silence import standard_output_kept

if TYPE_CHECKING:
    import polars as pl

    from incrowd.release import Release

SHOWN = 8  # rows before and after
GAP = 0.01  # a demo should not keep people waiting for the last cell
REPORTS = (*FILES, "report_frontier", "report_attacks", "group")


@click.command("demo", cls=Sectioned)
@options.policy_options("k")
@click.option("--synthetic", is_flag=True, help="Use a table drawn from a seed instead.")
@options.policy_options(*options.SEARCH, "survey_weight")
@click.option("-o", "--output", metavar="OUT", help="Also write the release.")
@report_options
@options.json_option
@options.quiet_option
def demo(
    k: int, synthetic: bool, output: str | None, as_json: bool, quiet: bool, **given: Any
) -> int:
    """Make the survey answers of 1,566 people safe to publish (NHEFS, from causaldata).

    Two thirds of them are the only one with their sex, age, race, education, income and marital
    status. Prints some rows before and after, and what was done. Searches until at most 1 % of the
    changes could be spared, or until searching stops paying, unless --gap or --time-limit says
    otherwise.
    """
    from incrowd._api import release_of
    from incrowd.tables import samples as data
    from incrowd.tables.native import from_native

    asked = {name: given.pop(name) for name in REPORTS}
    outputs = {"-o": output} | {option: asked[name] for name, option in FILES.items()}
    require_apart(outputs, None, {})
    require_reports(output, asked | {"survey_weight": given["survey_weight"]})
    if given["gap"] is None and given["time_limit"] is None:
        given["gap"] = GAP  # no time limit: a slow machine is to show the same release
    table = data.synthetic() if synthetic else data.nhefs()
    policy = Policy(k=k, qi=data.QI, sensitive=data.SENSITIVE, **given)
    with standard_output_kept(), progress(quiet, given["time_limit"]) as listener:
        release = release_of(from_native(table), policy, listener)
    if output is not None:
        release.write(output)
    write_reports(release, None, output, asked)
    if as_json:
        print_json(release_record(release, output, None))
    elif not quiet:
        click.echo(told(table, release, synthetic))
    return 130 if release.ended == "interrupted" else 0


def told(table: "pl.DataFrame", release: "Release", synthetic: bool) -> str:
    """Return the whole story: before, after, summary, what to do next."""
    source = "drawn from a seed" if synthetic else "NHEFS 1971, complete cases"
    names = list(release.roles.qi)
    alone = int(table.select(names).is_unique().sum())
    rows = list(range(min(SHOWN, table.height)))
    return "\n".join(
        [
            f"{table.height:,} people ({source}); {alone:,} of them are the only one with their "
            f"{', '.join(names[:-1])} and {names[-1]}.",
            "",
            "before",
            lines_of(table[rows]),
            "",
            f"after: everybody shares these {len(names)} answers with at least "
            f"{release.k - 1} others",
            lines_of(release.data[rows]),
            "",
            summary(release),
            "",
            "The same on a table of yours:",
            "    incrowd anonymize people.csv -o release.csv -k 5 --id name --sensitive diagnosis",
        ]
    )


def lines_of(frame: "pl.DataFrame") -> str:
    """Return a small frame as lines of aligned text; a missing value is a dash."""
    cells = ([("–" if v is None else str(v)) for v in row] for row in frame.rows())
    return indent(aligned([frame.columns, *cells], str.ljust), "  ")
