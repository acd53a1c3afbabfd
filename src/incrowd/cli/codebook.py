"""``incrowd codebook make|apply|delta``, and ``incrowd verify --patterns``."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from incrowd import codebooks
from incrowd.cli import options
from incrowd.cli.output import print_json, say, warn
from incrowd.cli.places import require_apart, require_one_output, require_places
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.tables.atomic import alone_in, is_stream, standing, whole
from incrowd.text.marks import STAR, own_star
from incrowd.text.units import counted

if TYPE_CHECKING:
    from incrowd.codebooks.release import CodebookRelease
    from incrowd.tables.base import Source

group = click.Group(
    "codebook",
    help="Release by a list of patterns that was fixed without the table: differential privacy.",
)

HELD = ("patterns", "hierarchies", "delimiter", "encoding")
"""What ``incrowd verify --patterns`` looks at, beside its files."""

sample_option = click.option(
    "--sample", default="0.5", show_default=True, help="Probability with which a row is taken."
)
epsilon_option = click.option(
    "--epsilon", default="1", show_default=True, help="The ε of differential privacy."
)


@group.command("make", short_help="Make a list of patterns of other people.")
@click.argument("others", metavar="IN")
@click.option("-o", "--output", required=True, metavar="FILE", help="The patterns; - for a pipe.")
@click.option(
    "-k", "k", type=int, help="Choose patterns for this -k of apply; without it IN is a release."
)
@click.option("--sample", metavar="P", help="With -k: the --sample of apply.  [default: 0.5]")
@options.policy_options(
    *("qi", "sensitive", "id", "keep", "hierarchies", "star"),
    qi="Columns of the patterns. Default: all that have no other role.",
    hierarchies="With -k: what cells of a column may become, as for anonymize.",
    star="A suppressed cell.",
)
@options.reading_options
@options.quiet_option
def make(others: str, output: str, star: str, quiet: bool, **given: Any) -> None:
    """Make a list of patterns of IN, which must be of other people than the patterns are for.

    With -k, IN is a table, such as last year's, and the patterns are chosen so that a release of as
    many people like these is expected to lose few cells; the command says how many. Without, IN is
    a release, and its rows are the patterns: fewest stars first, then most rows. Patterns that
    depend on the table that they are for protect nobody.
    """
    require_apart({"-o": output}, others, given)
    table = options.opened(others, given)
    names = {
        role: options.split_names(given[role], table.columns)
        for role in ("qi", "sensitive", "id", "keep")
    }
    hierarchies = options.split_pairs("--hierarchy", given["hierarchies"], table.columns)
    if given["k"] is None:
        if hierarchies or given["sample"] is not None:
            raise InputError("--hierarchy and --sample go with -k, which chooses patterns")
        patterns, expected = codebooks.made_of(table, columns_of(table, names), star), ""
    else:
        qi, sample = names.pop("qi") or None, given["sample"]
        patterns, loss, left_out = codebooks.patterns_for(
            table,
            given["k"],
            "0.5" if sample is None else sample,
            qi=qi,
            hierarchies=hierarchies,
            star=star,
            **names,
        )
        expected = (
            f"\nexpected of as many people like these: {loss:.1%} of the cells of rows taken are "
            f"hidden; {left_out:.1%} of these rows are left out, which counts as all their cells"
        )
    with whole(output) as file:
        patterns.frame().write_csv(file)
    columns = counted(len(patterns.columns), "column")
    say(f"{output}: {counted(len(patterns.cells), 'pattern')} of {columns}{expected}", quiet)


def columns_of(table: "Source", roles: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the quasi-identifiers of a release: those named, or all without another role."""
    for role, names in roles.items():
        options.require_columns(f"--{role}", names, table.columns)
    others = {name for role, names in roles.items() if role != "qi" for name in names}
    return roles["qi"] or [name for name in table.columns if name not in others]


@group.command("apply", short_help="Release a table by patterns; rows are lost by design.")
@click.argument("table", metavar="IN")
@click.option("-o", "--output", required=True, metavar="OUT", help="The release; - for a pipe.")
@click.option(
    "--patterns",
    required=True,
    metavar="FILE",
    help="A table whose columns are the quasi-identifiers, one line a pattern; the first that a "
    "row matches counts.",
)
@click.option("-k", "k", type=int, default=20, show_default=True, help="Least rows alike.")
@sample_option
@epsilon_option
@options.policy_options(
    *("sensitive", "id", "keep", "hierarchies", "star"),
    hierarchies="What the labels of a column's patterns stand for, as for anonymize.",
)
@click.option("--statement", metavar="FILE", help="Also write what may be said in public.")
@options.reading_options
@options.json_option
@options.quiet_option
def apply(table: str, output: str, as_json: bool, quiet: bool, **given: Any) -> int:
    """Write a release of IN to OUT that is (ε, δ)-differentially private.

    Each row is taken by a coin and becomes the first pattern that it matches. Rows that match none,
    and those that fewer than k taken rows agree with in all published columns, are left out. So
    rows are lost, by design, and how many must not be told in public. δ follows from k, the
    sample and ε. Make one release of a table: each further one adds its own ε and δ.
    """
    require_apart({"-o": output, "--statement": given["statement"]}, table, given)
    if given["statement"] is not None and is_stream(output):
        raise InputError("--statement needs a file for OUT: it states its hash")
    require_one_output(output, as_json, "release")
    require_places(output, given["statement"])
    source = options.opened(table, given)
    roles = ("sensitive", "id", "keep")
    release = codebooks.codebook(
        source,
        options.opened(given["patterns"], given),
        given["k"],
        given["sample"],
        epsilon=given["epsilon"],
        hierarchies=options.split_pairs("--hierarchy", given["hierarchies"], source.columns),
        star=given["star"],
        **{role: options.split_names(given[role], source.columns) for role in roles},
    )
    with ExitStack() as turn:
        if given["statement"] is not None:  # of two runs, release and statement of one
            turn.enter_context(alone_in(Path(output).resolve().parent))
        release.write(output)
        if given["statement"] is not None:
            told = release.statement(output, given["patterns"])
            with standing(output), whole(given["statement"]) as file:
                file.write((json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode())
    if as_json:
        print_json(record(release, output))
    say(f"{summary(release)}\nwritten  {output}", quiet)
    warn((lost(release), *release.warnings))
    return 0


def summary(release: "CodebookRelease") -> str:
    """Return the closing summary."""
    cells = release.rows * len(release.patterns.columns)
    changed = sum(release.changed.values())
    return "\n".join(
        (
            f"rows     {release.rows:,} in "
            f"{counted(release.classes, 'class', 'classes')}, the smallest of "
            f"{release.smallest_class:,}",
            f"left out {release.source.rows - release.rows:,} of {release.source.rows:,} rows: "
            f"{release.source.rows - release.taken:,} by coins, {release.unmatched:,} match no "
            f"pattern, {release.few:,} are fewer than {release.k:,} alike",
            f"changed  {changed:,} of the {cells:,} cells of published rows"
            + (f" ({changed / cells:.2%})" if cells else ""),
            f"privacy  ({float(release.epsilon):g}, {release.delta:g})-differentially private: one "
            "row more or less in the table",
        )
    )


def lost(release: "CodebookRelease") -> str:
    """What the publisher must know of lost rows."""
    return (
        "rows are left out by design: each was taken with probability "
        f"{float(release.sample):g}, and counts in the release are that much smaller. Do not "
        "publish how many were left out, nor make the release again to choose one; the patterns "
        "must come from elsewhere than this table"
    )


def record(release: "CodebookRelease", output: str) -> dict[str, Any]:
    """Return what ``--json`` prints: for the publisher alone."""
    return {
        "warnings": [lost(release), *release.warnings],
        "rows": release.rows,
        "rows_of_the_table": release.source.rows,
        "left_out": {
            "by_coins": release.source.rows - release.taken,
            "no_pattern": release.unmatched,
            "fewer_than_k": release.few,
        },
        "k": release.k,
        "sample": float(release.sample),
        "epsilon": float(release.epsilon),
        "delta": release.delta,
        "classes": release.classes,
        "smallest_class": release.smallest_class,
        "changed": dict(release.changed),
        "stars": release.stars,
        "output": output,
    }


@group.command("delta", short_help="Say which δ follows from k, or which k gives a δ.")
@click.option("-k", "k", type=int, help="Least rows alike.")
@click.option("--delta", metavar="X", help="Say the least k with which δ is at most this.")
@sample_option
@epsilon_option
@options.json_option
def delta(k: int | None, delta: str | None, sample: str, epsilon: str, as_json: bool) -> None:
    """Say the δ of a release by patterns, without any table."""
    if (k is None) == (delta is None):
        raise InputError("give either -k or --delta")
    found = codebooks.least_k(sample, epsilon, delta) if k is None else k
    known = codebooks.delta_of(found, sample, epsilon)
    asked = codebooks.Asked.of(found, sample, epsilon)
    warnings = codebooks.of_delta(asked, known)
    if as_json:
        facts = {"sample": float(asked.sample), "epsilon": float(asked.epsilon)}
        more = {"warnings": warnings} if warnings else {}
        print_json({"k": found, **facts, "delta": known} | more)
    else:
        click.echo(known if delta is None else found)
    warn(warnings)


def verified(
    release: str,
    original: str | None,
    statement: str | None,
    as_json: bool,
    quiet: bool,
    given: Mapping[str, Any],
) -> int:
    """Hold a release by patterns against its statement: ``incrowd verify --patterns``."""
    from incrowd.codebooks.verified import OPEN, read_statement, reasons

    if statement is None:
        raise InputError("--patterns goes with --statement, which says k, sample, ε and δ")
    typed = [name for name in given if name not in HELD and options.is_typed(name)]
    if typed:
        raise InputError(f"{options.spelled(typed[0])} does not go with --patterns")
    if "-" in (release, original, given["patterns"]):
        raise InputError("--patterns needs files, not pipes: the statement names their hashes")
    said = read_statement(statement)
    known = codebooks.Patterns.of(
        options.opened(given["patterns"], given), str(said.get("star", "*"))
    )
    table = None if original is None else options.opened(original, given)
    columns = known.columns if table is None else table.columns
    labels = options.split_pairs("--hierarchy", given["hierarchies"], columns)
    paths = (Path(release), Path(given["patterns"]))
    opened = options.opened(release, given)
    sources = Policy(hierarchies=labels).sources()
    found = list(reasons(said, paths, opened, known, table, sources))
    left = [*OPEN, *([] if known.star == STAR else [own_star(known.star)])]
    if as_json:
        names = () if found else ("sample", "epsilon", "delta")  # what is wrong may be no number
        facts = {name: float(Fraction(said[name])) for name in names}
        facts |= {} if found else {"k": said["k"]}
        print_json({"lawful": not found, "reasons": found, **facts, "not_checked": left})
    for reason in found:
        say(f"incrowd: no: {reason}")
    if not found:
        say(
            f"yes: {opened.rows:,} rows, each a pattern that at least {said['k']:,} rows have; "
            f"with sample {said['sample']} and ε {said['epsilon']} δ is at most {said['delta']!r}\n"
            f"open     {'; '.join(left)}",
            quiet,
        )
    return 1 if found else 0
