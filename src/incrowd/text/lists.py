"""Names on one line, parted by commas: a name with a comma stands in double quotes."""

import re
from collections.abc import Container, Iterable

PART = re.compile(r'\s*"((?:[^"]|"")*)"([^,]*)|([^,]*)')


def parts_of(text: str) -> list[tuple[str | None, str]]:
    """Return what stands between commas: the name in quotes (or None), and the rest of the part.

    Nothing stands in an empty text, which a script may give for no names.
    """
    found: list[tuple[str | None, str]] = []
    at = 0 if text else 1
    while at <= len(text):
        part = PART.match(text, at)
        assert part is not None  # it matches the empty text
        name, behind, bare = part.groups()
        found.append((None, bare) if name is None else (name.replace('""', '"'), behind))
        at = part.end() + 1
    return found


def names_of(text: str, known: Container[str] = ()) -> tuple[str, ...]:
    """Return the names on a line.

    Parameters
    ----------
    known: names that there are. Blanks around a name count inside quotes, and where only the name
        with them is known.
    """
    return tuple(
        _bare(rest, known) if name is None else name + rest.rstrip()
        for name, rest in parts_of(text)
    )


def _bare(name: str, known: Container[str]) -> str:
    plain = name.strip()
    return name if name in known and plain not in known else plain


def joined(names: Iterable[str]) -> str:
    """Return names on one line, as ``names_of`` reads them."""
    return ",".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    bare = name == name.strip() and not set(name) & set(',"\r\n') and name
    return name if bare else '"' + name.replace('"', '""') + '"'
