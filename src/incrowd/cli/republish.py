"""``incrowd republish``: the next release of a table whose people come, go and change."""

from typing import TYPE_CHECKING, Any

import click

from incrowd.cli import options
from incrowd.cli.output import print_json, say, warn
from incrowd.cli.places import require_apart, require_places
from incrowd.cli.sections import Sectioned
from incrowd.errors import InputError
from incrowd.policy.table import LEVELS
from incrowd.run.silence import standard_output_kept
from incrowd.tables.atomic import is_stream
from incrowd.text.units import counted, shown, shown_gap

if TYPE_CHECKING:
    from incrowd.series.release import Republished

SERVED = ("qi", "sensitive", "id", "person", *options.COSTS, "time_limit", "seed")


@click.command("republish", cls=Sectioned)
@click.argument("table", metavar="NEW")
@click.option("-o", "--output", required=True, metavar="OUT", help="The next release.")
@click.option(
    "--history",
    required=True,
    metavar="FILE",
    help="What was published so far (private); made at the first release, then kept up to date.",
)
@click.option(
    "-m", "m", type=int, default=3, show_default=True, help="Least number of values of a class."
)
@click.option(
    "-k",
    "k",
    type=int,
    default=1,
    show_default=True,
    help="People who stand in all classes of a person, at least; who has fewer is withheld.",
)
@click.option(
    "--counterfeit-weight",
    "weight",
    type=float,
    metavar="W",
    help="What a counterfeit counts, in suppressed cells; without it as few as can be.",
)
@click.option("--all-new", is_flag=True, help="Nobody of an earlier release need be in NEW.")
@click.option(
    "--expect-history",
    "expected",
    metavar="HASH",
    help="Refuse a history of another hash than the one that the release before told.",
)
@options.policy_options(*SERVED, hierarchies=LEVELS.help)
@options.policy_option
@options.reading_options
@options.json_option
@options.quiet_option
def republish(
    table: str,
    output: str,
    history: str,
    m: int,
    k: int,
    weight: float | None,
    all_new: bool,
    expected: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Write the next release of NEW, the table as it is today, to OUT.

    m-invariance (Xiao, Tao 2007): each class holds m different sensitive values, and the set of a
    person's values is the same in all releases, so that who intersects them is left with m. Rows of
    nobody stand in for those who left; OUT says how many in each class.
    """
    from incrowd.series import of_table

    if is_stream(history) or is_stream(output):
        raise InputError("OUT and --history are files: both are written, or neither")
    require_apart({"-o": output, "--history": history}, table, given)
    require_places(output, history)
    source, policy = options.asked(table, given)
    with standard_output_kept():
        asked = of_table.Invariance(m, k, weight, all_new)
        spoken = options.spoken(given)
        release = of_table.republished(source, policy, asked, history, expected, spoken)
    release.write(output, history)
    if as_json:
        print_json(record(release, output, history))
    say(in_words(release, output, history), quiet)
    warn(release.warnings)
    return 0


def record(release: "Republished", output: str, history: str) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "release": len(release.history.releases),
        "rows": release.rows,
        "counterfeits": release.counterfeits,
        "fewest_counterfeits": release.fewest,
        "withheld": dict(release.withheld),
        "classes": len(release.classes),
        "m": release.asked.m,
        "k": release.asked.k,
        "cost": release.cost,
        "lower_bound": release.lower_bound,
        "gap": release.gap,
        "output": output,
        "history": history,
        "history_sha256": release.history.seal,
        **({"warnings": list(release.warnings)} if release.warnings else {}),
    }


def in_words(release: "Republished", output: str, history: str) -> str:
    """Return the closing summary."""
    m, k, why = release.asked.m, release.asked.k, release.withheld
    lines = [
        (
            "rows",
            f"{counted(release.rows, 'person', 'people')} and "
            f"{counted(release.counterfeits, 'counterfeit')} (the fewest for "
            f"everybody: {release.fewest:,}) in {len(release.classes):,} classes, {m} values or "
            "more in each",
        ),
        ("cost", shown(release.cost)),
        (
            "bound",
            f"{shown(release.lower_bound)}: with these signatures and at most as many counterfeits "
            f"no release of these people costs less (gap at most {shown_gap(release.gap)})",
        ),
    ]
    reasons = (
        ("changed", "person", "people", "whose sensitive value is another than was published"),
        ("company", "person", "people", f"who stood in all classes with fewer than {k - 1} others"),
        ("newcomers", "newcomer", "", f"who would stand with fewer than {k - 1} others"),
    )
    for name, one, several, words in reasons:
        if why[name]:
            lines.append(("withheld", f"{counted(why[name], one, several)} {words}"))
    number, new = len(release.history.releases), "the first of a new series: no history was there"
    lines.append(("release", f"number {number} of its series" if release.before.releases else new))
    lines.append(("written", f"{output}, {history} (keep it private)"))
    lines.append(("hash", f"of the history: {release.history.seal} (--expect-history, next time)"))
    return "\n".join(f"{name:<9}{fact}" for name, fact in lines)
