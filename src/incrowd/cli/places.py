"""Files that a command would write over: its own inputs, or another of its outputs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from incrowd.errors import InputError
from incrowd.policy.file import read_keys
from incrowd.tables.addresses import is_address
from incrowd.tables.atomic import is_stream, require_place

READ = {
    "existing": "--existing",
    "existing_original": "--existing-original",
    "existing_proof": "--existing-proof",
    "policy": "--policy",
    "hierarchies": "--hierarchy",
    "models": "--model",
    "distance": "--distance",
    "cost": "--cost",
    "hierarchy": "HIERARCHY",
    "given": "--from",
    "pseudonym": "--pseudonym",
    "patterns": "--patterns",
}

PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".gif", ".webp")


def require_apart(
    outputs: Mapping[str, str | None], table: str | None, given: Mapping[str, Any]
) -> None:
    """Raise InputError when two outputs, or an output and an input, are one file.

    Parameters
    ----------
    outputs: option → file, in the order in which they are named.
    given: the options, among them those of ``READ``.
    """
    inputs = _inputs()
    if table is not None and given.get("of_table") and is_address(table):
        table = inputs.with_table(table, given["of_table"])
    inputs.require_apart(outputs, table, files_read(given))


def files_read(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a file is to a command that reads it beside its table, and its name."""
    texts_in = _inputs().texts_in
    for name, option in READ.items():
        yield from ((f"read for {option}", text) for text in texts_in(given.get(name)))
    if given.get("policy") is not None:
        said = read_keys(given["policy"])
        for name in READ:
            yield from (("read for --policy", text) for text in texts_in(said.get(name)))


def shown(path: str) -> str:
    """Return the name of a table for people: of an address neither user nor options."""
    return _inputs().shown(path) if is_address(path) else path


def _inputs() -> Any:
    """Import what looks at files, folders and databases, which help texts do without."""
    from incrowd.tables import inputs

    return inputs


def require_file(option: str, path: str) -> None:
    """Raise InputError where something is no place for a file."""
    if is_stream(path) or is_address(path):
        raise InputError(f"{option} needs a file, not a pipe or a database")
    require_place(path)


def require_places(*paths: str | None) -> None:
    """Raise InputError where one of some outputs cannot be written; None is none."""
    for path in paths:
        if path is not None:
            require_place(path)


def require_proof_of(statement: str | None, proof: str | None) -> None:
    """Raise InputError for a statement without a proof."""
    if statement is not None and proof is None:
        raise InputError("--statement goes with --proof: it states the proof's hash")


def is_picture(path: str) -> bool:
    """Whether a file is named like a picture, which no table is."""
    return not is_address(path) and Path(path).suffix.lower() in PICTURES


def require_one_output(output: str | None, as_json: bool, what: str) -> None:
    """Raise InputError where ``-o`` cannot take ``what``.

    It is named like a picture, or standard output is to hold ``what`` and ``--json``.
    """
    if output is not None and is_picture(output):
        raise InputError(f"{output}: -o writes the {what} as a table, not as a picture")
    if as_json and output == "-":
        raise InputError(f"-o - and --json both want standard output; write the {what} to a file")
