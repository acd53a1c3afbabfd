"""``incrowd anonymize``: read, search, re-check, write."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from incrowd.cli import options
from incrowd.cli.earlier import of_all, record_of_all, require_existing, require_plain, with_earlier
from incrowd.cli.options import options_of
from incrowd.cli.output import print_json, proof_bound, release_record, say, say_proof_bound, warn
from incrowd.cli.places import (
    require_apart,
    require_file,
    require_one_output,
    require_places,
    require_proof_of,
    shown,
)
from incrowd.cli.progress import progress
from incrowd.cli.reporting import (
    FILES,
    also_written,
    report_options,
    require_reports,
    write_reports,
)
from incrowd.cli.sections import Sectioned
from incrowd.cli.summary import summary
from incrowd.cli.ways import way_options
from incrowd.errors import InputError, StoppedError
from incrowd.policy import Policy
from incrowd.policy.served import require_served
from incrowd.run.events import READING, WRITING, Event, Listener
from incrowd.run.silence import standard_output_kept
from incrowd.run.stop import Stop
from incrowd.tables.addresses import is_address
from incrowd.tables.atomic import alone_in, is_stream, require_place, stamp_of, standing

if TYPE_CHECKING:
    from incrowd.existing.of_table import ExtendedRelease
    from incrowd.release import Release
    from incrowd.tables.base import Source


WRITTEN = {f"--{name}": name for name in ("proof", "derived", "joined", "statement")}
WRITTEN |= {"--pseudonym-table": "pseudonym_table", "--held-back": "held_back"}
WRITTEN |= {option: name for name, option in FILES.items()}


@click.command("anonymize", cls=Sectioned)
@click.argument("table", metavar="IN")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    help="The release: a file, - for a pipe, or a new table, such as postgresql://host/db/NAME.",
)
@click.option("--replace", is_flag=True, help="Write over the table where OUT is a database's.")
@options.policy_options()
@options.policy_option
@options.reading_options
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put ' before cells that a spreadsheet would run as a formula.",
)
@click.option(
    "--codebook",
    is_flag=True,
    help="Of SPSS, Stata and SAS files: keep the label, and labels of codes that only hidden "
    "cells have.",
)
@click.option("--proof", metavar="FILE", help="Also write the proof (private: it can undo all).")
@click.option(
    "--statement",
    metavar="FILE",
    help="With --proof: also write what may be made public of it (no cell, no seed).",
)
@click.option(
    "--derived",
    metavar="FILE",
    help="With --derive: also write IN with what is derived (private): what a proof is of.",
)
@click.option(
    "--pseudonym-table",
    metavar="FILE",
    help="With --pseudonym: also write which value has which pseudonym (private: it undoes them).",
)
@way_options
@report_options
@options.json_option
@options.quiet_option
def anonymize(table: str, output: str, as_json: bool, quiet: bool, **given: Any) -> int:
    """Write a release of IN (CSV, Parquet, Arrow, Excel, SPSS, Stata, SAS; - for a pipe) to OUT.

    IN and OUT may also be tables of databases, see --table.

    Every row of OUT agrees with at least k − 1 others on all quasi-identifiers. As few cells as
    can be are changed, and a bound says how far from the fewest possible the release may be.
    """
    outputs = {"-o": output} | {option: given[name] for option, name in WRITTEN.items()}
    require_apart(outputs, table, given)
    if given["engine"] == "spark":
        from incrowd.cli.spark import run

        return run(table, output, as_json, quiet, given)
    require_servable(table, output, as_json, given)
    with ExitStack() as turn:
        release, told, facts, met = published(table, output, quiet, given, turn)
        with standing(shown(output)):
            write_reports(told, given["joined"] or table, output, given)
    tell(release, told, facts, met, shown(output), as_json, quiet, given)
    return 130 if release.ended == "interrupted" else 0


def published(
    table: str, output: str, quiet: bool, given: dict[str, Any], turn: ExitStack
) -> tuple["Release", "Release", dict[str, Any], list[str]]:
    """Make the release and write it, with all but its reports; see ``tell`` for what is returned.

    From the first name on that it gives, ``turn`` lets no other run name files beside the release.
    """
    from incrowd.tables.files import write_around

    stop = Stop()
    with progress(quiet, lambda: stop.time_limit) as listener:
        listener(Event(READING))
        seen = stamp_of(table)
        read = options.as_it_is(table, given)
        source = options.with_derived(read, given)
        require_derived(source is not read, given)
        require_form(output, source, given)
        for name in ("group", "survey_weight", "survey_stratum"):
            asked = [given[name]] if given[name] else []
            options.require_columns(options.spelled(name), asked, source.columns)
        policy = Policy(**options.policy_arguments(source.columns, given))
        require_writable(source, policy, output, given)
        require_untold(policy, given)
        require_sweep(policy, given)
        require_table_of(policy, given)
        stop.time_limit, stop.gap, stop.spend, stop.threads = policy.limits
        try:
            with standard_output_kept():
                release = made(source, policy, listener, stop, given)
        except StoppedError:
            if stop.interrupted:
                raise KeyboardInterrupt from None
            raise
        if given["spreadsheet_safe"]:
            release = spreadsheet_safe(release, quiet)
        listener(Event(WRITING))
        if given["proof"] is not None or given["report_internal"] is not None:
            from incrowd.proof.proven import require_unchanged

            require_unchanged(release, table, seen)
        told, met = with_earlier(release, given)

        def first() -> None:
            if not is_stream(output) and not is_address(output):
                turn.enter_context(alone_in(Path(output).resolve().parent))
            if given["pseudonym_table"] is not None:  # without it nobody could make it any more
                release.write_pseudonyms(given["pseudonym_table"])
            if given["held_back"] is not None:
                cast("ExtendedRelease", release).write_held(given["held_back"])

        facts: dict[str, Any] = {}

        def publish_of(originals: Sequence[Path]) -> None:
            original = originals[0] if originals else table
            facts.update(publish(told, original, output, given, first, listener))

        beside = [(source, given["derived"]), (told.source, given["joined"])]
        write_around([one for one in beside if one[1] is not None], publish_of)
        return release, told, facts, met


def tell(
    release: "Release",
    told: "Release",
    facts: dict[str, Any],
    met: list[str],
    where: str,
    as_json: bool,
    quiet: bool,
    given: dict[str, Any],
) -> None:
    """Print what was made; ``told``: the release, with the earlier rows where they are proven too.

    ``facts``: what the proof states; ``met``: more to warn of; ``where``: the file written.
    """
    warnings = [*release.warnings, *met]
    if as_json:
        more = proof_bound(release, facts) if told is release else record_of_all(told)
        more |= {"warnings": warnings} if warnings else {}
        print_json(release_record(release, where, given["proof"]) | more)
    say(f"{summary(release)}\nwritten  {where}{also_written(given)}", quiet)
    if told is release:
        say_proof_bound(release, facts, quiet)
    else:
        say(of_all(told), quiet)
    warn(warnings)


def require_servable(table: str, output: str, as_json: bool, given: dict[str, Any]) -> None:
    """Raise InputError for options that do not go together on one machine."""
    for name in ("block_rows", "scratch"):
        if given[name] is not None:
            raise InputError(f"{options.spelled(name)} goes with --engine spark")
    others = (given[name] for name in ("proof", "statement", "existing", "metadata"))
    require_outputs(table, output, as_json, *others)
    if given["derived"] is not None:
        require_file("--derived", given["derived"])
    require_existing(given)
    require_table_place(output, given["replace"])
    require_reports(output, given)


def require_table_place(output: str, replace: bool) -> None:
    """Raise InputError when a release cannot be a new table of a database, if it is to be one."""
    if is_address(output):
        from incrowd.tables.database import require_free

        require_free(output, replace)
    elif replace:
        raise InputError("--replace goes with a table of a database; files are written over as is")


def require_untold(policy: Policy, given: dict[str, Any]) -> None:
    """Raise InputError for what would tell the public more than the veil allows."""
    asked = [f"--{name}" for name in ("report", "metadata") if given[name] is not None]
    if policy.veil is not None and asked:
        raise InputError(
            f"{', '.join(asked)}: not with a veil: the bound in there depends on hidden cells, "
            "which the veil keeps; --statement says what may be said"
        )


def require_sweep(policy: Policy, given: dict[str, Any]) -> None:
    """Raise InputError, before the search, where the frontier of a report cannot be made."""
    if given["report_frontier"] is None:
        return
    from incrowd.averages.of_table import rules_of

    require_served(policy, "by frontier")
    if averaged := rules_of(policy):
        raise InputError(
            "--report-frontier: not served where a column shows averages, as "
            f"{next(iter(averaged))!r} does"
        )


def require_table_of(policy: Policy, given: dict[str, Any]) -> None:
    """Raise InputError for a table of pseudonyms that are not asked for, or what shows none."""
    table = given["pseudonym_table"]
    if given["held_back"] is not None and not policy.hold_back:
        raise InputError("--held-back goes with --hold-back")
    if table is not None and not policy.pseudonym:
        raise InputError("--pseudonym-table goes with --pseudonym")
    require_places(given["held_back"], table)
    if policy.protect and given["group"]:
        raise InputError("--group: not served with --protect, whose rows have no classes")


def made(
    source: "Source", policy: Policy, listener: Listener, stop: Stop, given: dict[str, Any]
) -> "Release":
    """Return the release of a table, or of an earlier release with the table's rows added."""
    from incrowd._api import release_of

    existing = None
    if given["existing"] is not None:
        require_plain(given)
        existing = options.opened_beside(given["existing"], given)
    return release_of(source, policy, listener, stop, existing)


def require_outputs(
    table: str,
    output: str,
    as_json: bool,
    proof: str | None,
    statement: str | None,
    existing: str | None = None,
    metadata: str | None = None,
) -> None:
    """Raise InputError when an output cannot be made."""
    require_proof_of(statement, proof)
    outputs = [name for name in (output, proof, statement) if name is not None]
    named = (table, *outputs)
    if proof is not None and any(is_stream(name) or is_address(name) for name in named):
        raise InputError("--proof needs files for IN, OUT and itself: it states their hashes")
    from incrowd.tables.parts import are_parts
    from incrowd.tables.parts_write import is_folder, require_folder_place

    folder = are_parts(table) and is_folder(output)
    if folder:
        require_folder_place(output, table)
    if folder and existing:
        raise InputError("with --existing OUT is one file; name it with .csv, .parquet or .arrow")
    if folder and metadata:
        raise InputError("--metadata describes one file; name OUT with .csv, .parquet or .arrow")
    if proof is not None and are_parts(table):
        raise InputError("--proof needs one file for IN and one for OUT: it states their hashes")
    for name in outputs[folder:]:
        if not is_address(name):
            require_place(name)
    require_one_output(output, as_json, "release")


def require_derived(is_derived: bool, given: dict[str, Any]) -> None:
    """Raise InputError where a derived table is to be written and there is none, or the reverse."""
    if given["derived"] is not None and not is_derived:
        raise InputError("--derived goes with --derive: it is the table with what is derived")
    if is_derived and given["proof"] is not None and given["derived"] is None:
        raise InputError(
            "--proof with --derive: the proof is of the table with what is derived, which a "
            "verifier needs; name a file for it with --derived"
        )


def require_form(output: str, source: "Source", given: dict[str, Any]) -> None:
    """Raise InputError where the table cannot be written in the form of the output."""
    from incrowd.tables.stat import require_place_of

    if is_address(output) and given["codebook"]:
        raise InputError("--codebook goes with SPSS, Stata and SAS files, not with databases")
    if not is_address(output):
        require_place_of(output, source, given["proof"] is not None, given["codebook"])


def require_writable(source: "Source", policy: Policy, output: str, given: dict[str, Any]) -> None:
    """Raise InputError for columns that the outputs cannot hold, such as lists in CSV."""
    from incrowd.tables.files import (
        require_cells,
        require_names,
        require_readable_names,
        require_short,
        require_texts,
    )

    roles = policy.roles(source.columns)
    require_names(source, roles.published(source.columns), output)
    require_cells(source, roles.published(source.columns), output)
    names = ("spreadsheet_safe", "report", "report_internal", "metadata")
    require_texts(source, (*roles.sensitive, *roles.keep), output, options_of(names, given))
    require_texts(source, roles.sensitive, output, options_of(("proof",), given))
    if given["proof"] is not None:
        require_readable_names(source)
        require_short(source, roles.qi, roles.sensitive)


def spreadsheet_safe(release: "Release", quiet: bool) -> "Release":
    """Return the release with an apostrophe before each cell that a spreadsheet would run."""
    from incrowd.tables.spreadsheet import made_safe

    edit, cells = made_safe(release.source, release.edit)
    say(f"{cells:,} cells that a spreadsheet would run got a ' in front", quiet)
    return replace(release, written=edit)


def publish(
    release: "Release",
    table: str | Path,
    output: str,
    given: dict[str, Any],
    first: Callable[[], None],
    listener: Listener,
) -> dict[str, Any]:
    """Write the release and, where asked for, its proof: both or neither; then the statement.

    ``first``: what is to be done before a file gets its name.
    Returns the proof's JSON part, empty without a proof.
    """
    proof, statement = given["proof"], given["statement"]
    if proof is None:
        first()
        release.write(output, codebook=given["codebook"], replace=given["replace"])
        return {}
    from incrowd.proof.proven import written_with_proof

    return written_with_proof(release, output, proof, table, statement, listener, first)
