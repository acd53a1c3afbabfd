"""``incrowd attack``: what somebody can do to a release."""

from collections.abc import Sequence
from typing import Any

import click

from incrowd.cli import options
from incrowd.cli.output import print_json, print_tables, say
from incrowd.cli.sections import Sectioned
from incrowd.errors import InputError
from incrowd.policy.table import LEVELS

MADE = (  # beside roles, models and costs what a release is made with, or one like it
    *("constant_alike", "linked_rows", "pseudonym", "strict", "protect", "delete_rows"),
    *("suppress_rows", "veil", "method", "time_limit", "seed"),
)


@click.command("attack", cls=Sectioned)
@click.argument("release")
@click.option("--original", required=True, metavar="IN", help="The table it was made from.")
@click.option(
    "--people",
    metavar="FILE",
    help="People who are not in the table, for the control. Without any, half of the table is "
    "held out and a release of the other half is made anew.",
)
@click.option(
    "--register",
    metavar="FILE",
    help="People of whom an attacker has some of the quasi-identifiers, such as a list of voters, "
    "a row for each; those of the table may be among them.",
)
@click.option("--other", metavar="FILE", help="Another release about the same people.")
@click.option(
    "--other-policy",
    metavar="FILE",
    help="Policy file that the other release was made with. Default: as the first.",
)
@click.option("--proof", metavar="FILE", help="Its proof, which says which row is whose.")
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="A,B,…",
    help="Make these attacks or families of them; may be repeated. Default: all.",
)
@click.option(
    "--require",
    multiple=True,
    metavar="NAME=RISK",
    help="Exit with 1 unless the upper limit of this attack's risk is at most RISK.",
)
@options.policy_options(
    *(*options.ROLES, *options.MODELS, *options.COSTS, *options.CONSTRAINTS, *MADE),
    hierarchies=LEVELS.help,
    method="Of releases made anew.",
    time_limit="Wall seconds for each of them.",
)
@options.policy_option
@options.reading_options
@options.json_option
@options.no_figures_option
def attack(
    release: str,
    original: str,
    people: str | None,
    register: str | None,
    other: str | None,
    other_policy: str | None,
    proof: str | None,
    attacks: Sequence[str],
    require: Sequence[str],
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Attack RELEASE as its readers could, and count what succeeds.

    You hold the original, so you can count. Give the roles, hierarchies and models of the release.
    Each attack is held against a control, mostly the same guess about people who are not in the
    table; its risk is (right − control)/(1 − control), with a 95 % interval.
    """
    from incrowd.attacks.catalog import chosen
    from incrowd.attacks.front import attacked, tables_of

    if [release, original, people, register, other].count("-") > 1:
        raise InputError("only one table can come from standard input")
    wanted = chosen(name.strip() for text in attacks for name in text.split(","))
    limits = limits_of(require)
    before, policy = options.asked(original, given)
    tables = tables_of(
        options.opened_beside(release, given),
        before,
        None if people is None else options.opened_beside(people, given),
        policy,
        proof,
        None if other is None else options.opened_beside(other, given),
        other_policy,
        None if register is None else options.opened_beside(register, given),
    )
    found = attacked(tables, wanted, limits, policy.search_seed, bool(attacks))
    if as_json:
        print_json(found.record())
    elif not quiet:
        print_tables(found)
    for one in found.failed:
        column = "" if one.column is None else f" ({one.column})"
        upper = "has no upper limit" if one.high is None else f"may be as high as {one.high:.3f}"
        how = "more than the limit" if one.verdict == "broken" else "inconclusive against the limit"
        say(f"incrowd: {one.name}{column}: the risk {upper}, {how} {one.required:g}")
    return 1 if found.failed else 0


def limits_of(given: Sequence[str]) -> dict[str, float]:
    """Return attack → limit of ``NAME=RISK`` options.

    Raises
    ------
    InputError: not of that form, or an attack named twice.
    """
    limits: dict[str, float] = {}
    for text in given:
        name, equals, number = text.partition("=")
        if name in limits:
            raise InputError(f"--require: {name!r} is named twice")
        try:
            limits[name] = float(number if equals else "")
        except ValueError:
            raise InputError(
                f"--require {text!r}: expected an attack and a risk, such as marketer=0.1"
            ) from None
    return limits
