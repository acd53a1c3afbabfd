"""``incrowd init``: a first policy file, with a guess for every column."""

from pathlib import Path
from typing import Any

import click

from incrowd.cli import options
from incrowd.cli.output import print_json, say, warn
from incrowd.cli.places import require_apart
from incrowd.errors import InputError
from incrowd.tables.atomic import require_place, whole
from incrowd.text.units import counted


@click.command("init")
@click.argument("table", metavar="IN")
@click.option("-o", "--output", default="-", metavar="FILE", help="The policy. Default: printed.")
@click.option("--force", is_flag=True, help="Write over a policy that is there.")
@options.policy_options("k", "na", "decimal", "derive")
@options.reading_options
@options.json_option
@options.quiet_option
def init(
    table: str, output: str, force: bool, k: int, as_json: bool, quiet: bool, **given: Any
) -> None:
    """Write a first policy for IN: each column's role and hierarchy, guessed and explained.

    The policy can be used at once (incrowd anonymize --policy), but the guesses are made from
    names, types and how many values differ: check each one. No cell of IN is quoted in it.
    """
    from incrowd.policy.guess import free_star, guess, totals
    from incrowd.policy.write import policy_text

    require_apart({"-o": output}, table, {})
    if output != "-" and Path(output).exists() and not force:
        raise InputError(f"{output}: is there already; --force writes over it")
    if as_json and output == "-":
        raise InputError("--json wants standard output; write the policy to a file with -o")
    require_place(output)
    source = options.opened(table, given)
    guesses = guess(source, options.marked(None, given["na"], source.columns), given["decimal"])
    roles = [each.role for each in guesses]
    if "qi" not in roles:
        raise InputError(
            "every column looks like an identifier or a sensitive one; write the policy by hand "
            "and name the quasi-identifiers with qi"
        )
    text = policy_text(guesses, k, free_star(source, guesses), given["decimal"])
    with whole(output) as file:
        file.write(text.encode())
    if as_json:
        columns = [vars(each) for each in guesses]
        print_json({"columns": columns, "k": k, "output": output})
    named = ("qi", "sensitive", "id", *(role for role in ("person", "keep") if role in roles))
    found = ", ".join(f"{roles.count(role)} {role}" for role in named)
    say(f"{counted(len(guesses), 'column')}: {found}; check each guess", quiet)
    if output != "-":
        say(f"written  {output}", quiet)
    warn(totals(source))
