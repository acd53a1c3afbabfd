"""What a run reads, and what is written over it or into it."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from incrowd.errors import InputError
from incrowd.tables.addresses import is_address, workbook_of
from incrowd.tables.atomic import is_stream, same_file
from incrowd.tables.parts import are_parts, find, would_join
from incrowd.tables.place import Place

ITSELF = "the input itself"


def require_kept(
    path: str | Path, output: str, table: str | None, others: Iterable[tuple[str, str]]
) -> None:
    """Raise InputError where writing at ``path`` would replace what was read, or join it.

    Parameters
    ----------
    output: what is written there, for people.
    table: the file, folder, pattern or address of the original.
    others: what else is read, in words, and its name.  A text that names a rule, not a file, may be
        among them: no such file is there, as a rule.
    """
    if is_stream(path):
        return
    named = [*others] if table is None else [(ITSELF, table), *others]
    for what, name in named:
        if any(same_place(str(path), one) for one in files_of(name)):
            raise InputError(f"{shown(path)}: is {what}; choose another name for {output}")
    if table is not None and would_join(path, table):
        raise InputError(
            f"{path}: lies in the input, and would be read as a part of it from then on; "
            f"choose another folder for {output}"
        )


def require_apart(
    outputs: Mapping[str, str | Path | None], table: str | None, others: Iterable[tuple[str, str]]
) -> None:
    """Raise InputError where two outputs, or an output and what was read, are one file.

    outputs: what is written, for people, and where; those at None are not.  table, others: as for
        ``require_kept``.
    """
    others = [*others]
    wanted = [(what, str(path)) for what, path in outputs.items() if path is not None]
    for i, (what, path) in enumerate(wanted):
        require_kept(path, what, table, others)
        for before, other in wanted[:i]:
            if same_place(path, other):
                raise InputError(f"{before} and {what} name the same file; give each its own")


def files_of(name: str) -> Iterator[str]:
    """Yield a table's name; and those of the files that a folder or a pattern stands for.

    Of an address of a database also the file that holds it, if one does.
    """
    yield name
    book, sheet = workbook_of(name)
    if sheet is not None:
        yield book
    if is_address(name):
        with suppress(InputError):
            places = Place.of(name), Place.of_table(name)
            yield from (str(one.file) for one in places if one.file is not None)
    if are_parts(name):
        with suppress(InputError):  # who reads it says what is wrong
            root, names = find(name)
            yield from (str(root / each) for each in names)


def same_place(path: str, other: str) -> bool:
    """Whether two names mean one file, or one table of a database."""
    if not is_address(path) or not is_address(other):
        return not is_address(path) and not is_address(other) and same_file(path, other)
    try:
        return Place.of_table(path).key == Place.of_table(other).key
    except InputError:  # who opens it says what is wrong
        return False


def shown(path: str | Path) -> str:
    """Return the name of a table for people: of an address neither user nor options."""
    return Place.of_table(str(path)).words if is_address(path) else str(path)


def with_table(address: str, name: str) -> str:
    """Return the address of a table of a database."""
    base, mark, options = address.partition("?")
    return f"{base.rstrip('/')}/{name}{mark}{options}"


def texts_in(given: Any) -> Iterator[str]:
    """Yield each text of an option that may name a file: ``COL=FILE``, ``t=X,distance=FILE``."""
    if isinstance(given, str | Path):
        text = str(given)
        yield text
        for i, letter in enumerate(text):
            if letter == "=":
                yield text[i + 1 :]
                yield text[i + 1 :].partition(",")[0]
    elif isinstance(given, Mapping):
        for each in given.values():
            yield from texts_in(each)
    elif isinstance(given, list | tuple):
        for each in given:
            yield from texts_in(each)
    elif hasattr(given, "distance"):  # a model
        yield from texts_in(given.distance)
