"""``incrowd verify``: a release against its original."""

from typing import TYPE_CHECKING, Any

import click

from incrowd.cli import options
from incrowd.cli.output import print_json, say
from incrowd.cli.sections import Sectioned
from incrowd.errors import InputError
from incrowd.text.units import counted

if TYPE_CHECKING:
    from incrowd.published.verification import Verdict


@click.command("verify", cls=Sectioned)
@click.argument("release")
@click.option("--original", metavar="IN", help="The table it was made from.")
@click.option("--proof", metavar="FILE", help="Its proof; then the bound is checked too.")
@click.option("--statement", metavar="FILE", help="Its public statement, held against the proof.")
@click.option(
    "--patterns",
    metavar="FILE",
    help="Of a release by incrowd codebook: its patterns; held against --statement.",
)
@options.policy_options(
    *(
        *options.ROLES,
        *options.MODELS,
        *options.COSTS,
        *options.CONSTRAINTS,
        "suppress_rows",
        "delete_rows",
        "pseudonym",
        "constant_alike",
        "linked_rows",
        "protect",
    )
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
    original: str | None,
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

    With --proof, everything is taken from the proof, and what is said all the same is held against
    it: roles, models (a stricter one will do), hierarchies, costs, constraints. The answer names
    what is proved and what is left open. How delimited files are read is told by --delimiter and
    --encoding or, without them, by the files. With --json as well, "cost" and "bound" are whole
    numbers in units of 1/"scale".

    Without --original only hashes can be compared, with those of the --statement: ends with 1
    where a file is another one, else with 2, since nothing is checked of what the statement says.

    With --patterns, a release by incrowd codebook is held against its --statement, with or without
    the original: its δ is computed again from k, sample and ε.
    """
    if given["patterns"] is not None:
        from incrowd.cli.codebook import verified

        if proof is not None:
            raise InputError("a release by patterns has no proof; leave --proof out")
        return verified(release, original, statement, as_json, quiet, given)
    if release == "-" and original == "-":
        raise InputError("only one of RELEASE and --original can be standard input")
    if original is None or proof is not None:
        from incrowd.cli.proven import with_proof, without_original

        if original is None or proof is None:
            return without_original(release, proof, statement)
        return with_proof(release, original, proof, statement, as_json, quiet, given)
    if statement is not None:
        raise InputError("--statement goes with --proof: it is held against it")
    if given["odd_header"]:
        raise InputError("--odd-header goes with --proof")
    from incrowd.published.verification import verify_release

    table, policy = options.asked(original, given)
    published = options.opened_beside(release, given)
    verdict = verify_release(table, published, policy, given["spreadsheet_safe"])
    tell(verdict, table.rows - verdict.rows, policy.k, as_json, quiet)
    return 0 if verdict.lawful else 1


def tell(verdict: "Verdict", lacking: int, k: int, as_json: bool, quiet: bool) -> None:
    """Print the answer; ``lacking``: rows of the original that the release has not."""
    if as_json:
        print_json(
            {
                "lawful": verdict.lawful,
                "reasons": list(verdict.reasons),
                "rows": verdict.rows,
                "k": k,
                "classes": verdict.classes,
                "smallest_class": verdict.smallest_class,
                **({"rows_left_out": lacking} if verdict.lawful and lacking else {}),
                **({"not_checked": [*verdict.not_checked]} if verdict.not_checked else {}),
            }
        )
    for reason in verdict.reasons:
        say(f"incrowd: no: {reason}")
    if verdict.lawful:
        classes = counted(verdict.classes, "class", "classes")
        left_out = f" ({lacking:,} more are left out)" if lacking else ""
        say(
            f"yes: {counted(verdict.rows, 'row')}{left_out} in {classes}, the smallest of "
            f"{verdict.smallest_class:,}; every cell is the original one or an ancestor"
            + "".join(f"\nopen     {left}" for left in verdict.not_checked),
            quiet,
        )
