"""Files that say how values are ordered or how far apart they are."""

import csv
from collections.abc import Iterator
from pathlib import Path

from incrowd.errors import InputError
from incrowd.privacy.numbers import exact


def read_order(path: str | Path) -> list[str]:
    """Return the values of a file, one a line from least to greatest; an empty line is missing."""
    return _text(path).splitlines()


class Listed(dict[tuple[str, str], str]):
    """The distances of a file, by pair of values; ``lines``: on which each stands."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[tuple[str, str], int] = {}


def read_metric(path: str | Path) -> Listed:
    """Return the distances of a file with lines ``value;other value;distance``.

    Every pair stands there once, either way round; an empty value is the missing one.  The
    delimiter is a semicolon, a tab or a comma, whichever the first line holds.

    Raises
    ------
    InputError: a line has not three fields, a distance is no number of 0 or more, a value is apart
        from itself, or a pair has two distances; names the line.
    """
    found = Listed()
    for line, fields in _records(path):
        if len(fields) != 3:
            raise InputError(f"{path}, line {line}: expected value;other value;distance")
        one, other, distance = fields[0], fields[1], fields[2].strip()
        try:
            apart = exact(distance, "a distance", least=0)
        except InputError:
            raise InputError(
                f"{path}, line {line}: the distance is not a number of 0 or more, such as 2 or 0.2"
            ) from None
        if one == other and apart:
            raise InputError(f"{path}, line {line}: a value is at distance 0 from itself")
        if found.get((other, one), found.get((one, other), distance)) != distance:
            raise InputError(f"{path}, line {line}: this pair has another distance further up")
        found[one, other] = distance
        found.lines[one, other] = line
    return found


def _records(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    lines = _text(path).splitlines()
    first = lines[0] if lines else ""
    delimiter = next((d for d in ";\t," if first.count(d) >= 2), ";")
    for line, fields in enumerate(csv.reader(lines, delimiter=delimiter), 1):
        if fields:
            yield line, fields


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
