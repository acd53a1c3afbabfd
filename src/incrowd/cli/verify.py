"""``incrowd verify``: a release against its original."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from incrowd.cli import options
from incrowd.cli.output import print_json, say
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.text.units import shown_gap

if TYPE_CHECKING:
    from incrowd.checker.delimited import Reading


@click.command("verify")
@click.argument("release")
@click.option("--original", required=True, metavar="IN", help="The table it was made from.")
@click.option("--proof", metavar="FILE", help="Its proof; then the bound is checked too.")
@click.option("--statement", metavar="FILE", help="Its public statement, held against the proof.")
@options.policy_options(
    *(*options.ROLES, *options.MODELS, *options.COSTS, *options.CONSTRAINTS, "suppress_rows")
)
@options.policy_option
@options.reading_options
@click.option("--spreadsheet-safe", is_flag=True, help="It was made with --spreadsheet-safe.")
@click.option(
    "--odd-header",
    is_flag=True,
    help="With --proof: take a table whose header looks as if it had swallowed rows.",
)
@options.json_option
@options.quiet_option
def verify(
    release: str,
    original: str,
    proof: str | None,
    statement: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Check that RELEASE is a lawful release of the original table.

    Every class has k rows; every original row has a released row of its own, in any order, whose
    cells are the original ones or ancestors of them; other columns are unchanged. Give the same
    roles and hierarchies as for incrowd anonymize. Ends with 0 for yes and 1 for no.

    With --proof, everything is taken from the proof; a hierarchy file and a k that are given all
    the same are held against those in the proof. How delimited files are read is told by
    --delimiter and --encoding or, without them, by the files. With --json as well, "cost" and
    "bound" are whole numbers in units of 1/"scale", as the checker adds them up.
    """
    if release == "-" and original == "-":
        raise InputError("only one of RELEASE and --original can be standard input")
    if proof is not None:
        files = hierarchy_files(given["hierarchies"])
        k = given["k"] if options.is_typed("k") else 1
        from incrowd.checker.delimited import Reading

        reading = Reading(given["delimiter"], given["encoding"], given["odd_header"])
        return with_proof(release, original, proof, statement, files, reading, k, as_json, quiet)
    if statement is not None:
        raise InputError("--statement goes with --proof: it is held against it")
    if given["odd_header"]:
        raise InputError("--odd-header goes with --proof")
    from incrowd.published.verification import verify_release

    table = options.opened(original, given)
    published = options.opened(release, given)
    policy = Policy(**options.policy_arguments(table.columns, given))
    verdict = verify_release(table, published, policy, given["spreadsheet_safe"])
    if as_json:
        print_json(
            {
                "lawful": verdict.lawful,
                "reasons": list(verdict.reasons),
                "rows": verdict.rows,
                "k": policy.k,
                "classes": verdict.classes,
                "smallest_class": verdict.smallest_class,
            }
        )
    for reason in verdict.reasons:
        say(f"incrowd: no: {reason}")
    if verdict.lawful:
        say(
            f"yes: {verdict.rows:,} rows in {verdict.classes:,} classes, the smallest of "
            f"{verdict.smallest_class:,}; every cell is the original one or an ancestor",
            quiet,
        )
    return 0 if verdict.lawful else 1


def hierarchy_files(given: Sequence[str]) -> dict[str, str]:
    """Return the hierarchies (COL=SPEC) that are files, by column; rules are in the proof."""
    pairs = [text.rpartition("=") for text in given]
    return {column: spec for column, _, spec in pairs if column and Path(spec).is_file()}


def with_proof(
    release: str,
    original: str,
    proof: str,
    statement: str | None,
    hierarchies: Mapping[str, str],
    reading: "Reading",
    k: int,
    as_json: bool,
    quiet: bool,
) -> int:
    """Hand over to the independent checker, which takes everything else from the proof."""
    if "-" in (release, original, proof):
        raise InputError("--proof needs files, not pipes: it states their hashes")
    from incrowd.checker.verify import check

    verdict = check(release, original, proof, hierarchies, statement, reading)
    proven = max([model.get("k", 1) for model in verdict.facts.get("models", ())], default=1)
    if verdict.accepted and k > proven:  # "yes" would be read as yes to this k
        verdict = replace(verdict, accepted=False, reason=f"the proof is of k = {proven}, not {k}")
    if as_json:
        print_json(
            {
                "lawful": verdict.accepted,
                "reasons": [] if verdict.accepted else [verdict.reason],
                **verdict.facts,
            }
        )
    if not verdict.accepted:
        say(f"incrowd: no: {verdict.reason}")
        return 1
    facts = verdict.facts
    gap = f"the gap is {shown_gap(facts['gap'])}"
    state = "optimal: it equals the bound" if facts["optimal"] else gap
    cost = hundredths(facts["cost"], facts["scale"])
    bound = hundredths(facts["bound"], facts["scale"])
    dropped = facts["suppressed_rows"]
    left_out = f" ({dropped:,} more are left out, each counted as all stars)" if dropped else ""
    which = "lawful release of these rows" if dropped else "lawful release"
    say(
        f"yes: {facts['rows']:,} rows{left_out}, every class lawful, every cell the original one "
        f"or an ancestor; the cost is {cost}, and no {which} costs less than {bound} ({state})\n"
        f"columns  {', '.join(map(printable, facts['columns']))}\n"
        f"costs    {prices(facts['costs'])}"
        + "".join(
            f"\nunproven {printable(name)}: the checker does not know this model, and nothing here "
            "says that a class obeys it"
            for name in facts["unchecked"]
        ),
        quiet,
    )
    return 0


def printable(name: str) -> str:
    """Return a column's name without line ends and what else moves a cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def prices(costs: Mapping[str, Mapping[str, str]]) -> str:
    """Say what a suppressed cell costs, and by which rules generalized ones do."""
    stars: dict[str, list[str]] = {}
    for column, known in costs.items():
        stars.setdefault(known["suppressed"], []).append(printable(column))
    told = [f"{cost} ({', '.join(names)})" for cost, names in stars.items()]
    parts = [f"a suppressed cell {', '.join(stars if len(told) == 1 else told) or 'nothing'}"]
    ways = {"levels": "that times its level over the height", "listed": "what the proof lists"}
    for rule, way in ways.items():
        names = [printable(column) for column, known in costs.items() if known["rule"] == rule]
        parts += [f"a generalized one {way} ({', '.join(names)})"] if names else []
    return "; ".join(parts)


def hundredths(cost: int, scale: int) -> str:
    """Return an integer cost in the user's units, cut to two decimals, or whole, or a fraction."""
    if cost % scale == 0:
        return f"{cost // scale:,}"
    if 0 < cost * 100 < scale:
        return f"{cost}/{scale}"
    return f"{cost // scale:,}.{cost * 100 // scale % 100:02}"
