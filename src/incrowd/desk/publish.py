"""What leaves the desk: files in the folder that was named, each whole or not at all."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.desk.ask import Ask
from incrowd.errors import InputError, did_you_mean
from incrowd.hierarchy.file import HierarchyRows
from incrowd.hierarchy.make import file_text
from incrowd.proof.prove import prove, write_statement
from incrowd.proof.writing import sha256_of
from incrowd.release import Release
from incrowd.report.make import write_report
from incrowd.report.plots import require_matplotlib
from incrowd.report.view import Inside
from incrowd.tables.addresses import workbook_of
from incrowd.tables.atomic import standing, whole
from incrowd.tables.files import write_as_it_is
from incrowd.tables.parts import are_parts

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Output:
    """One file.

    Attributes
    ----------
    option: of the command line; public: whether it may leave the house.
    """

    name: str
    option: str
    what: str
    public: bool


RELEASE = "release"
OUTPUTS = {
    RELEASE: Output("release", "-o", "the release", True),
    "report": Output("report.html", "--report", "for its users: tells nothing it hides", True),
    "statement": Output("statement.json", "--statement", "models, cost, bound; no cell", True),
    "proof": Output("release.proof", "--proof", "for an auditor: it can undo all", False),
    "internal": Output(
        "internal-report.html", "--report-internal", "for colleagues: figures of the table", False
    ),
    "policy": Output("policy.toml", "", "what was asked, to do it again", False),
}
DERIVED = Output("derived", "--derived", "with what is derived: what the proof is of", False)
FIRST = (RELEASE, "report", "policy")


def chosen(names: Sequence[str], before: Sequence[str] = FIRST) -> list[str]:
    """Return the outputs asked for, the release always among them.

    A statement states the hash of its proof: who asks for it gets both, and who gives the proof up
    (it was among those ``before``) gives up both.

    Raises
    ------
    InputError: an unknown name.
    """
    for name in names:
        if name not in OUTPUTS:
            raise InputError(
                f"publish: {name!r} is not an output{did_you_mean(str(name), OUTPUTS)}"
            )
    asked = {RELEASE, *names}
    if "statement" in asked and "proof" not in asked:
        asked = asked - {"statement"} if "proof" in before else asked | {"proof"}
    return [name for name in OUTPUTS if name in asked]


def places(folder: str, names: Sequence[str], table: str, derives: bool) -> dict[str, str]:
    """Return where each output goes; the release in the form of its table.

    ``derives``: whether columns are derived; then a proof is of a table of its own.
    """
    suffix = Path(workbook_of(table)[0]).suffix or ".csv"
    found = {name: str(Path(folder) / OUTPUTS[name].name) for name in names}
    if derives and "proof" in names:
        found["derived"] = str(Path(folder) / f"{DERIVED.name}{suffix}")
    return found | {RELEASE: str(Path(folder) / f"release{suffix}")}


def hierarchy_places(ask: Ask, folder: str) -> dict[str, str]:
    """Return the files of the hierarchies that were made on the page, by column."""
    return {column: str(Path(folder) / ask.own_file(column)) for column in ask.own}


def options(where: Mapping[str, str]) -> list[str]:
    """Return the words of the command line for the outputs beside the release."""
    found = []
    for name, path in where.items():
        output = OUTPUTS.get(name, DERIVED)
        if name != RELEASE and output.option:
            found += [output.option, path]
    return found


def require_free(paths: Sequence[str], replace: bool) -> None:
    """Raise InputError for a file that is there already, unless it may be replaced."""
    there = [Path(path).name for path in paths if Path(path).exists()]
    if there and not replace:
        raise InputError(f"{', '.join(there)}: already in the folder; say that it may be replaced")


def hierarchy_text(column: str, rows: Rows) -> bytes:
    """Return the file of a hierarchy."""
    return file_text(
        HierarchyRows(tuple(map(tuple, rows))).build(column, [row[0] for row in rows])
    ).encode()


def order_text(column: str, rows: Rows) -> bytes:
    """Return the file of an order, a value a line."""
    text = io.StringIO()
    csv.writer(text, delimiter="\x1f", lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def write_hierarchies(ask: Ask, where: Mapping[str, str]) -> None:
    """Write the hierarchies made on the page.

    For their owner alone: they list the table's values, those too that a release hides.
    """
    for column, place in where.items():
        rows = ask.own[column]
        with whole(place, private=True) as file:
            file.write((order_text if column in ask.rules else hierarchy_text)(column, rows))


def publish(
    release: Release,
    ask: Ask,
    table: str,
    folder: str,
    names: Sequence[str],
    more: Mapping[str, Any],
) -> list[str]:
    """Write the outputs and return their paths.

    Parameters
    ----------
    table: path of the original.
    more: what the internal report tells besides: ``command``, ``guesses``, ``frontier``.

    Raises
    ------
    InputError: the folder cannot be written; MissingExtraError: matplotlib is not installed.
    """
    where = places(folder, names, table, bool(release.policy.derive))
    hierarchies = hierarchy_places(ask, folder)
    if "proof" in where and are_parts(table):
        raise InputError(
            "release.proof states the hash of the table, which is in several files: leave the "
            "proof out, or open one file"
        )
    if "report" in where or "internal" in where:
        require_matplotlib()
    facts: dict[str, Any] = {}

    def prove_it(released: Path) -> None:
        with whole(where["proof"], private=True) as file:
            facts.update(prove(release, where.get("derived", table), released, file))

    if "derived" in where:
        write_as_it_is(release.source, where["derived"])
    release.write(where[RELEASE], prove_it if "proof" in where else None)
    with standing(where[RELEASE]):
        write_hierarchies(ask, hierarchies)
        if "statement" in where:
            with whole(where["statement"]) as file:
                write_statement(facts, where["proof"], file)
        write_reports(release, table, where, more)
        if "policy" in where:
            policy = ask.policy(ask.own_file)
            with whole(where["policy"]) as file:
                file.write(policy.toml(more["guesses"]).encode())
    return [*where.values(), *hierarchies.values()]


def write_reports(
    release: Release, table: str, where: Mapping[str, str], more: Mapping[str, Any]
) -> None:
    """Write the reports that were asked for."""
    name = Path(where[RELEASE]).name
    if "report" in where:
        write_report(release, where["report"], name=name)
    if "internal" in where:
        inside = Inside(
            release=release,
            command=tuple(more["command"]),
            input=(table, sha256_of(table)),
            frontier=more["frontier"],
        )
        write_report(release, where["internal"], True, name=name, inside=inside)
