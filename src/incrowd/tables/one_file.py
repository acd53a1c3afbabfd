"""One file or pipe as a table; the format by its first bytes."""

import os
import stat
import sys
from pathlib import Path

from incrowd.errors import InputError
from incrowd.tables.base import Source
from incrowd.tables.formats import CSV, Form, format_of

PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2"}


def read_file(
    path: str | Path,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Source:
    """Read CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS; ``-`` is standard input.

    Raises
    ------
    InputError: the file cannot be read; says why and, for CSV, at which line or byte.
    """
    name = "standard input" if str(path) == "-" else str(path)
    data = _bytes(path, name)
    suffix = Path(name).suffix.lower()
    found = format_of(data, suffix)
    if sheet is not None and not found.has_sheets:
        raise InputError(f"{name}: is not a workbook, so it has no sheet {sheet!r}")
    for magic, packer in PACKED.items():
        if data.startswith(magic) and found is CSV:
            raise InputError(f"{name}: packed with {packer}; unpack it first")
    if not found.may_be_called_text and suffix in CSV.suffixes:
        # whoever goes by the name sees another table
        raise InputError(f"{name}: named like text, but its bytes are {found.name}; rename it")
    return found.read(data, name, Form(delimiter, encoding, sheet))


def _bytes(path: str | Path, name: str) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    if not name:
        raise InputError("the name of the input is empty; name a file, or . for this folder")
    try:
        return steady_bytes(Path(path), name)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file{_nearby(Path(path))}") from None
    except IsADirectoryError:
        raise InputError(f"{name}: is a folder; expected a file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None


def steady_bytes(path: Path, name: str) -> bytes:
    """Return a file's bytes, all of one moment.

    Raises
    ------
    InputError: size, time or the file itself changed while it was read.
    """
    before = path.stat()
    data = path.read_bytes()
    if state(before) != state(path.stat()) or (
        stat.S_ISREG(before.st_mode) and len(data) != before.st_size
    ):
        raise InputError(
            f"{name}: changed while it was read; wait until whoever writes it has finished, and "
            "run again"
        )
    return data


def state(found: os.stat_result) -> tuple[int, ...]:
    """What changes when a file is written or replaced; nothing for pipes and devices."""
    if not stat.S_ISREG(found.st_mode):
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _nearby(path: Path) -> str:
    """Offer a file of the same folder with nearly that name."""
    from difflib import get_close_matches

    try:
        near = get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1)
    except OSError:
        return ""
    return f"; did you mean {str(path.parent / near[0])!r}?" if near else ""
