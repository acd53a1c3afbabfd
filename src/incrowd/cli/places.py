"""Files that a command would write over: its own inputs, or another of its outputs."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from incrowd.errors import InputError
from incrowd.policy.base import OPTIONS
from incrowd.policy.file import read_keys
from incrowd.tables.atomic import is_stream, same_file

READ = {
    "existing": "--existing",
    "policy": "--policy",
    "hierarchies": "--hierarchy",
    "models": "--model",
    "distance": "--distance",
    "cost": "--cost",
    "hierarchy": "HIERARCHY",
    "given": "--from",
    "pseudonym": "--pseudonym",
}


def require_apart(
    outputs: Mapping[str, str | None], table: str | None, given: Mapping[str, Any]
) -> None:
    """Raise InputError when two outputs, or an output and an input, are one file.

    Parameters
    ----------
    outputs: option → file, in the order in which they are named.
    given: the options, among them those of ``READ``.
    """

    read = list(files_read(table, given))
    wanted = [(option, path) for option, path in outputs.items() if path is not None]
    for i, (option, path) in enumerate(wanted):
        for what, other in read:
            if not is_stream(path) and same_file(path, other):
                raise InputError(f"{path}: is {what}; choose another name for {option}")
        for before, other in wanted[:i]:
            if same_file(path, other):
                raise InputError(f"{before} and {option} name the same file; give each its own")


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
        said = read_keys(given["policy"], OPTIONS)
        for name in READ:
            yield from (("read for --policy", text) for text in texts_in(said.get(name)))


def parts_of(path: str) -> Iterator[str]:
    """Yield a file's name; and those of the files that a folder or a pattern stands for."""
    from incrowd.tables.parts import are_parts, find

    yield path
    if are_parts(path):
        with suppress(InputError):  # who reads it says what is wrong
            root, names = find(path)
            yield from (str(root / name) for name in names)


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
