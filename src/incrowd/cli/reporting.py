"""Options for what goes with a release: reports for people, metadata for programs."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from incrowd.cli.frontier import numbers
from incrowd.cli.options import options_of, together
from incrowd.cli.output import say, warn
from incrowd.errors import InputError
from incrowd.tables.addresses import is_address
from incrowd.tables.atomic import require_place
from incrowd.text.paths import readable

if TYPE_CHECKING:
    from incrowd.attacks.findings import Findings
    from incrowd.frontiers.points import Frontier
    from incrowd.release import Release

FILES = {"report": "--report", "report_internal": "--report-internal", "metadata": "--metadata"}

report_options = together(
    click.option(
        "--report",
        metavar="FILE",
        help="Also write a report for the data's users (HTML; no seed, no risk, no hidden cell).",
    ),
    click.option(
        "--report-internal",
        metavar="FILE",
        help="Also write a report for colleagues (private: the original's figures, the seed).",
    ),
    click.option(
        "--report-frontier",
        metavar="A:B[:STEP],…",
        help="With --report-internal: show there what each of these k would cost, e.g. 2:20.",
    ),
    click.option(
        "--report-attacks",
        is_flag=True,
        help="With --report-internal: attack the release, and show there what succeeds.",
    ),
    click.option(
        "--group",
        metavar="COLUMN",
        help="With --report-internal: households, by this column of IN; one's risk is that of its "
        "riskiest member.",
    ),
    click.option(
        "--metadata",
        metavar="FILE",
        help="Also write a data package descriptor (Frictionless, JSON); needs -o FILE.",
    ),
)


def require_reports(output: str | None, given: Mapping[str, Any]) -> None:
    """Raise InputError when a report cannot be made."""
    if given.get("report_frontier") is not None:
        if given["report_internal"] is None:
            raise InputError("--report-frontier goes with --report-internal: it is part of that")
        numbers(given["report_frontier"], "--report-frontier")
    parts = options_of(("group", "report_attacks", "survey_weight", "survey_stratum"), given)
    if parts and given["report_internal"] is None:
        raise InputError(f"{parts[0]} goes with --report-internal: it is part of that")
    wanted = {option: given[name] for name, option in FILES.items() if given[name] is not None}
    if wanted.get("--report") or wanted.get("--report-internal"):
        from incrowd.report.make import require_matplotlib, require_name

        require_matplotlib()
        for option in ("--report", "--report-internal"):
            require_name(wanted.get(option, "report.html"))
    for option, path in wanted.items():
        if path == "-" or is_address(path):
            raise InputError(f"{option} needs a file, not standard output or a database")
        require_place(path)
    if "--metadata" in wanted and (output in (None, "-") or is_address(output)):
        raise InputError("--metadata describes the file of the release: it needs -o FILE")


def write_reports(
    release: "Release", table: str | None, output: str | None, given: Mapping[str, Any]
) -> None:
    """Write what was asked for, once the release is written."""
    name = readable(Path(output).name) if output not in (None, "-") else "release"
    if given["report"] is not None:
        from incrowd.report.make import write_report

        write_report(release, given["report"], name=name)
    if given["report_internal"] is not None:
        from incrowd.report.make import write_report
        from incrowd.report.view import Inside, require_group

        if given.get("group") is not None:
            require_group(release, given["group"])
        inside = Inside(
            release=release,
            command=("incrowd", *map(readable, sys.argv[1:])),
            input=input_of(table),
            policy_file=read_text(given.get("policy")),
            frontier=frontier_for(release, given.get("report_frontier")),
            attacks=attacks_on(release) if given.get("report_attacks") else None,
            group=given.get("group"),
        )
        write_report(release, given["report_internal"], True, name=name, inside=inside)
    if given["metadata"] is not None and output is not None:
        from incrowd.report.metadata import write_metadata

        write_metadata(release, output, given["metadata"])


def input_of(table: str | None) -> tuple[str, str] | None:
    """Return the name of the original's file and its SHA-256; None where it is no file."""
    if table is None or table == "-" or is_address(table):
        return None
    from incrowd.proof.writing import sha256_of

    return readable(table), sha256_of(table)


def frontier_for(release: "Release", ks: str | None) -> "Frontier | None":
    """Return what each k would cost the table of this release, or None when that is not asked."""
    if ks is None:
        return None
    from incrowd.frontiers.of_table import frontier_of

    found = frontier_of(release.source, numbers(ks), release.policy)
    warn(found.warnings)
    return found


def attacks_on(release: "Release") -> "Findings | None":
    """Return what attacks on this release find, or None where they cannot be made."""
    from incrowd.attacks.front import attack

    try:
        return attack(release, seed=release.seed)
    except InputError as error:
        say(f"--report-attacks: left out: {error}")
        return None


def also_written(given: Mapping[str, Any]) -> str:
    """Return the lines that name the reports written, the proof and its statement."""
    names = {"report": "report", "report_internal": "internal", "metadata": "metadata"}
    lines = [f"\n{word:<9}{given[key]}" for key, word in names.items() if given[key]]
    if given["proof"]:
        lines.append(f"\nproof    {given['proof']}: keep it private, it leads back to the original")
    if given["statement"]:
        lines.append(f"\nstated   {given['statement']}")
    return "".join(lines)


def read_text(path: str | None) -> str | None:
    """Return the text of a policy file."""
    return None if path is None else Path(path).read_text(encoding="utf-8", errors="replace")
