"""``incrowd hierarchy make|check|show``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from incrowd.cli.options import file_options, opened, policy_options, split_names
from incrowd.cli.output import print_json, say, warn
from incrowd.cli.places import require_apart, shown
from incrowd.errors import InputError, did_you_mean
from incrowd.tables.atomic import whole

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Ladder, Source

group = click.Group(
    "hierarchy", help="Make, check and show hierarchies: files with lines leaf;level1;…;*."
)

column_option = click.option("--column", metavar="COL", help="Column of the table.")
na_option = click.option(
    "--na", multiple=True, metavar="TEXT,…", help="Texts that stand for a missing value: NA,-99."
)
decimal_option = policy_options("decimal")
table_option = click.option("--table", metavar="IN", help="Table, of any format; - = stdin.")


@group.command("make", short_help="Make a hierarchy file from a column.")
@click.argument("table", metavar="IN")
@click.option("--column", metavar="COL", required=True, help="Column of the table.")
@click.option("--interval", metavar="W,…", help="Numeric widths, each a multiple of the last.")
@click.option("--quantiles", metavar="N,…", help="Numbers of equally full groups: 8,4,2.")
@click.option("--prefix", metavar="N,…", help="How many last characters to mask: 1,2.")
@click.option("--date", is_flag=True, help="ISO dates to month, quarter, year, decade.")
@click.option("--frequency", metavar="N,…", help="Join the values of fewer than N rows.")
@click.option("--from", "given", metavar="FILE", help="Lines of another hierarchy file (ARX's, …).")
@click.option("--rule", metavar="RULE", help="As after --hierarchy: keep:1,3, bands:0,18,65+, …")
@click.option("-o", "--output", metavar="OUT", required=True, help="Hierarchy file; - = stdout.")
@na_option
@decimal_option
@file_options
def make(
    table: str,
    column: str,
    interval: str | None,
    quantiles: str | None,
    prefix: str | None,
    date: bool,
    frequency: str | None,
    given: str | None,
    rule: str | None,
    output: str,
    na: tuple[str, ...],
    decimal: str,
    **reading: str | None,
) -> None:
    """Make a hierarchy file from a column of IN, in one of seven ways.

    --from takes the lines of the column's values out of another file, and straightens them out:
    repeated lines dropped, one delimiter, * on top.
    """
    from incrowd.hierarchy.make import file_text

    ways = {
        "interval": interval,
        "quantiles": quantiles,
        "prefix": prefix,
        "date": "" if date else None,
        "frequency": frequency,
        "from": given,
        "rule": rule,
    }
    chosen = [way for way, given in ways.items() if given is not None]
    if len(chosen) != 1:
        options = ", ".join(f"--{way}" for way in ways)
        found = " and ".join(f"--{way}" for way in chosen) or "none"
        raise click.UsageError(f"choose one of {options}; found {found}")
    require_apart({"-o": output}, table, {"given": given})
    values, counts = _values(table, column, reading, na)
    ladder = _made(chosen[0], ways[chosen[0]] or "", column, values, (counts, decimal))
    with whole(output) as file:
        file.write(file_text(ladder).encode())
    say(
        f"{output}: {sum(leaf is not None for leaf in ladder.leaves)} values of {column!r}, "
        f"height {ladder.levels - 1}"
    )


@group.command("check", short_help="Say all that is wrong; exit 1 if anything is.")
@click.argument("hierarchy")
@table_option
@column_option
@click.option(
    "--cost", default="level", show_default=True, help="level, ncp, stars, or a file label;cost."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@na_option
@decimal_option
@file_options
def check(
    hierarchy: str,
    table: str | None,
    column: str | None,
    cost: str,
    as_json: bool,
    na: tuple[str, ...],
    decimal: str,
    **reading: str | None,
) -> int:
    """Say all that is wrong with HIERARCHY (a file, or a rule with a table); exit 1 if anything.

    With --table and --column the values of that column must stand in it. What is printed then is
    private: it names values that do not.
    """
    from incrowd.hierarchy.check import check as check_hierarchy
    from incrowd.hierarchy.costs import parse_cost

    source, values = _wanted((hierarchy, decimal), table, column, reading, na)
    found = check_hierarchy(source, column or "", values, parse_cost(cost))
    if as_json:
        answer = {"sound": found.sound, "faults": found.faults, "notes": found.notes}
        print_json(answer)
    else:
        for fault in found.faults:
            click.echo(f"wrong: {fault}")
        for note in found.notes:
            click.echo(f"note: {note}")
        click.echo("sound" if found.sound else f"{len(found.faults)} to correct")
    if values is not None and not found.sound:  # on standard error, where JSON has no part
        warn(["this output may name values of the table: keep it private, as the table is"])
    return 0 if found.sound else 1


@group.command("show", short_help="Show a hierarchy as a tree, or draw it as SVG.")
@click.argument("hierarchy")
@table_option
@column_option
@click.option("--svg", metavar="OUT", help="Write a picture instead; - = stdout.")
@click.option("--lines", default=60, show_default=True, help="About how many lines to fill.")
@click.option("--all", "everything", is_flag=True, help="Every value, however many lines.")
@na_option
@decimal_option
@file_options
def show(
    hierarchy: str,
    table: str | None,
    column: str | None,
    svg: str | None,
    lines: int,
    everything: bool,
    na: tuple[str, ...],
    decimal: str,
    **reading: str | None,
) -> None:
    """Show HIERARCHY (a file, or a rule with a table) as a tree, or draw it with --svg."""
    from incrowd.hierarchy.file import HierarchyFile
    from incrowd.hierarchy.show import outline, to_rich, to_svg

    require_apart({"--svg": svg}, table, {"hierarchy": hierarchy})
    source, values = _wanted((hierarchy, decimal), table, column, reading, na)
    if values is None and isinstance(source, HierarchyFile):
        values = [leaf or None for leaf in source.tidy().grid.columns[0]]
    ladder = source.build(column or hierarchy, values or [])
    branch = outline(ladder, None if everything else lines)
    if svg is not None:
        with whole(svg) as file:
            file.write(to_svg(branch, f"Hierarchy {hierarchy}").encode())
        return
    from rich.console import Console

    Console(highlight=False, soft_wrap=True).print(to_rich(branch))


def _values(
    table: str, column: str, reading: Mapping[str, str | None], na: Sequence[str]
) -> tuple[tuple[str | None, ...], list[int]]:
    """Read a column's distinct values, some of them declared missing, and the rows of each."""

    from incrowd.hierarchy.missing import declared

    frame = opened(table, reading)
    if column not in frame.columns:
        near = did_you_mean(column, frame.columns)
        raise InputError(f"{shown(table)} has no column {column!r}{near}")
    encoded = frame.encode(column)
    counts = encoded.counts.tolist()
    marks = [text.removeprefix(f"{column}=") for text in na]  # as --na of other commands has it
    known = [value for value in encoded.values if value is not None]
    return declared(encoded.values, split_names(marks, known)), counts


def _wanted(
    named: tuple[str, str],
    table: str | None,
    column: str | None,
    reading: Mapping[str, str | None],
    na: Sequence[str],
) -> tuple["Source", Sequence[str | None] | None]:
    """Return what a text names, and the values that it is to serve, when a table is given.

    ``named``: the text, and the mark of decimals.
    """
    from incrowd.hierarchy.file import HierarchyFile
    from incrowd.hierarchy.spec import source_of

    hierarchy, decimal = named
    source = source_of(hierarchy, (), decimal)
    if (table is None) != (column is None):
        raise click.UsageError("--table and --column go together")
    if table is None and not isinstance(source, HierarchyFile):
        raise click.UsageError(f"the rule {source} needs values: give --table and --column")
    if table is None or column is None:
        return source, None
    return source, _values(table, column, reading, na)[0]


def _made(
    way: str, given: str, column: str, values: tuple[str | None, ...], read: tuple[list[int], str]
) -> "Ladder":
    """Make a ladder in one way; ``read``: the rows of each value, and the mark of decimals."""
    from incrowd.hierarchy.file import HierarchyFile
    from incrowd.hierarchy.make import frequency_ladder, integers, quantile_ladder
    from incrowd.hierarchy.spec import source_of

    counts, decimal = read
    if way == "quantiles":
        groups = integers(given, "--quantiles", "4 or 8,4,2")
        return quantile_ladder(column, values, counts, groups, decimal)
    if way == "frequency":
        thresholds = integers(given, "--frequency", "10 or 10,100")
        return frequency_ladder(column, values, counts, thresholds)
    if way == "from":
        return HierarchyFile(given).build(column, values)
    if way == "rule":
        return source_of(given, (), decimal).build(column, values)
    rule = way if way == "date" else f"{way}:{given}"
    return source_of(rule, (), decimal).build(column, values)
