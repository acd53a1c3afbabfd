"""``incrowd measure``: how private any table is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from incrowd.cli import options
from incrowd.cli.output import print_json, print_tables, say
from incrowd.errors import InputError
from incrowd.policy.file import read_keys
from incrowd.text.numerals import POINT
from incrowd.text.units import counted

if TYPE_CHECKING:
    from incrowd.tables.base import Source


@click.command("measure")
@click.argument("table", metavar="IN")
@options.policy_options(
    *("qi", "sensitive"),
    qi="Quasi-identifiers: what others may know about a person. Default: every column that is "
    "neither sensitive nor ignored.",
    sensitive="Sensitive columns.",
)
@click.option("--ignore", multiple=True, metavar="C,…", help="Columns that do not count.")
@click.option("--original", metavar="FILE", help="The table before; gives the entropy lost.")
@click.option(
    "--population",
    metavar="FILE",
    help="Everyone whom the rows may be taken from; gives journalist risk. Each row is a person, "
    "unless there are columns of --person.",
)
@click.option(
    "--subsets",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Count unique rows on every subset of at most N quasi-identifiers.",
)
@click.option(
    "--l",
    "recursive",
    default="2,3,4,5",
    show_default=True,
    metavar="L,…",
    help="Measure recursive (c, l)-diversity at these l.",
)
@click.option(
    "--order",
    "orders",
    multiple=True,
    metavar="COL=FILE",
    help="A sensitive column's values from least to greatest, one a line.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="COL=FILE",
    help="Distances of a sensitive column's values: lines value;other value;distance.",
)
@click.option(
    "--require-k",
    type=click.IntRange(1),
    metavar="K",
    help="Exit with 1 unless the table is K-anonymous, as one without rows is.",
)
@click.option(
    "--group",
    metavar="COLUMN",
    help="Households: a column that names them; one's risk is that of its riskiest member.",
)
@options.policy_options(
    *("protect", "id", "keep", "person", "hierarchies", "star", "na", "decimal", "derive"),
    hierarchies="Hierarchy of a column, as for `anonymize`.",
    star="A suppressed cell.",
)
@options.policy_option
@options.reading_options
@options.json_option
@options.no_figures_option
def measure(table: str, as_json: bool, quiet: bool, require_k: int | None, **given: Any) -> int:
    """Say how private IN (any table that anonymize takes) is: k, l, t, α, β, δ and risks.

    Rows agree when all quasi-identifiers are equal as text; a missing value equals a missing value
    and nothing else, and so does *. Printed figures are rounded to the safe side.
    """
    from incrowd.measures.of_table import measure as measured

    found = measured(**arguments(table, given))
    if as_json:
        print_json(found.record())
    elif not quiet:
        print_tables(found)
    if require_k is not None and found.rows and found.k < require_k:
        people = (
            counted(found.k, "row")
            if found.people is None
            else counted(found.k, "person", "people")
        )
        say(f"incrowd: not {require_k}-anonymous: the smallest class has {people}")
        return 1
    return 0


def arguments(table: str, given: dict[str, Any]) -> dict[str, Any]:
    """Turn the options into the arguments of ``incrowd.measure``."""
    from incrowd.measures.metric_file import read_metric, read_order

    def other(role: str) -> "Source | None":
        return None if given[role] is None else options.opened_beside(given[role], given)

    if [table, given["original"], given["population"]].count("-") > 1:
        raise InputError("only one table can come from standard input")
    source = options.opened(table, given)
    columns = source.columns
    said = asked_of(columns, given)
    orders = options.split_pairs("--order", given["orders"], columns)
    metrics = options.split_pairs("--metric", given["metrics"], columns)
    recursive = whole_numbers("--l", given["recursive"])
    if options.is_typed("recursive") and not said["sensitive"]:
        raise InputError("--l looks at sensitive columns; name them with --sensitive")
    return said | {
        "frame": source,
        "original": other("original"),
        "population": other("population"),
        "subsets": given["subsets"],
        "recursive": recursive,
        "orders": {column: read_order(path) for column, path in orders.items()},
        "metrics": {column: read_metric(path) for column, path in metrics.items()},
    }


def asked_of(columns: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return roles, hierarchies, star and marks of missing values: as typed, or by the policy.

    Columns that the policy leaves out need not be there: a release lacks them.
    """
    said = {} if given["policy"] is None else read_keys(given["policy"])
    roles: dict[str, list[str]] = {}
    for role in ("qi", "sensitive", "ignore", "id", "keep", "person"):
        if given[role]:
            roles[role] = options.split_names(given[role], columns)
            options.require_columns(f"--{role}", roles[role], columns)
    typed = [name for names in roles.values() for name in names]
    measured = {*roles.get("qi", ()), *roles.get("sensitive", ())}
    group = given["group"]
    options.require_columns("--group", [] if group is None else [group], columns)
    left_out = [n for role in ("ignore", "id", "keep", "person") for n in roles.get(role, ())]
    both = [n for n in left_out if n in measured]
    if both:
        raise InputError(f"column {both[0]!r} is to be measured and ignored; give it one role")
    for role in ("sensitive", "keep", "id", "person", "qi"):
        names = said.get(role) or []
        names = [names] if isinstance(names, str) else names
        if role not in ("id", "person"):
            options.require_columns(f"--policy: {role}", names, columns)
        left = [name for name in names if name in columns and name not in typed]
        roles.setdefault(role, left)
    unwanted = [name for role, names in roles.items() if role != "qi" for name in names]
    unwanted += [] if group is None else [group]
    qi = roles["qi"] or [name for name in columns if name not in unwanted]
    measured = {*qi, *roles["sensitive"]}
    rules = {c: spec for c, spec in said.get("hierarchies", {}).items() if c in measured}
    return {
        "qi": qi,
        "sensitive": roles["sensitive"],
        "hierarchies": rules | options.split_pairs("--hierarchy", given["hierarchies"], columns),
        "star": given["star"] if options.is_typed("star") else said.get("star", given["star"]),
        "person": roles["person"] or None,
        "group": group,
        "protect": [*(given["protect"] or said.get("protect", ()))],
        "na": options.marked(said.get("na"), given["na"], columns),
        "decimal": given["decimal"] if options.is_typed("decimal") else said.get("decimal", POINT),
    }


def whole_numbers(option: str, text: str) -> list[int]:
    """Return the numbers of a text such as ``2,3``."""
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise InputError(f"{option}: expected whole numbers such as 2,3, not {text!r}") from None
