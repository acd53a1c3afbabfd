"""Files that a command would write over: its own inputs, or another of its outputs."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from incrowd.errors import InputError
from incrowd.policy.file import read_keys
from incrowd.tables.addresses import is_address, workbook_of
from incrowd.tables.atomic import is_stream, same_file

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

    if table is not None and given.get("of_table") and is_address(table):
        table = with_table(table, given["of_table"])
    read = list(files_read(table, given))
    wanted = [(option, path) for option, path in outputs.items() if path is not None]
    for i, (option, path) in enumerate(wanted):
        for what, other in read:
            if not is_stream(path) and same_place(path, other):
                raise InputError(f"{shown(path)}: is {what}; choose another name for {option}")
        if table is not None and not is_stream(path) and _parts().would_join(path, table):
            raise InputError(
                f"{path}: lies in the input, and would be read as a part of it from then on; "
                f"choose another folder for {option}"
            )
        for before, other in wanted[:i]:
            if same_place(path, other):
                raise InputError(f"{before} and {option} name the same file; give each its own")


def with_table(address: str, name: str) -> str:
    """Return the address of a table of a database."""
    base, mark, options = address.partition("?")
    return f"{base.rstrip('/')}/{name}{mark}{options}"


def files_read(table: str | None, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a file is to a command that reads it, and its name.

    Texts that name a rule, not a file, are among them; no such file is there, as a rule.
    """
    if table is not None:
        yield from (("the input itself", path) for path in parts_of(table))
    for name, option in READ.items():
        for text in texts_in(given.get(name)):
            yield from ((f"read for {option}", path) for path in parts_of(text))
    if given.get("policy") is not None:
        said = read_keys(given["policy"])
        for name in READ:
            yield from (("read for --policy", text) for text in texts_in(said.get(name)))


def parts_of(path: str) -> Iterator[str]:
    """Yield a file's name; and those of the files that a folder or a pattern stands for.

    Of an address of a database also the file that holds it, if one does.
    """
    parts = _parts()
    yield path
    yield from file_of(path)
    if parts.are_parts(path):
        with suppress(InputError):  # who reads it says what is wrong
            root, names = parts.find(path)
            yield from (str(root / name) for name in names)


def _parts() -> Any:
    """Import what reads folders and patterns, where there may be one."""
    from incrowd.tables import parts

    return parts


def _place() -> Any:
    """Import what takes addresses apart, where there is one."""
    from incrowd.tables.place import Place

    return Place


def shown(path: str) -> str:
    """Return the name of a table for people: of an address neither user nor options."""
    if not is_address(path):
        return path
    place = _place()
    return place.of_table(path).words


def file_of(path: str) -> Iterator[str]:
    """Yield the file that holds a database, or a sheet."""
    book, sheet = workbook_of(path)
    if sheet is not None:
        yield book
    if is_address(path):
        place = _place()
        with suppress(InputError):
            places = place.of(path), place.of_table(path)
            yield from (str(one.file) for one in places if one.file is not None)


def same_place(path: str, other: str) -> bool:
    """Whether two names mean one file, or one table of a database."""
    if not is_address(path) or not is_address(other):
        return not is_address(path) and not is_address(other) and same_file(path, other)
    place = _place()
    try:
        return place.of_table(path).key == place.of_table(other).key
    except InputError:  # who opens it says what is wrong
        return False


def texts_in(given: Any) -> Iterator[str]:
    """Yield each text of an option that may name a file: ``COL=FILE``, ``t=X,distance=FILE``."""
    if isinstance(given, str):
        yield given
        for i, letter in enumerate(given):
            if letter == "=":
                yield given[i + 1 :]
                yield given[i + 1 :].partition(",")[0]
    elif isinstance(given, Mapping):
        for each in given.values():
            yield from texts_in(each)
    elif isinstance(given, list | tuple):
        for each in given:
            yield from texts_in(each)
    elif hasattr(given, "distance"):  # a model
        yield from texts_in(given.distance)


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
