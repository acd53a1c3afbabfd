"""Which files there are to choose from: folders and tables, nothing of what is in them."""

from pathlib import Path
from typing import Any

from incrowd.errors import InputError, no_folder
from incrowd.tables.formats import FORMATS

TABLES = {suffix for each in FORMATS for suffix in each.suffixes}
MOST = 500  # names that a page lists


def listed(folder: str) -> dict[str, Any]:
    """Return the folders and tables of a folder, by name; hidden ones are left out.

    Raises
    ------
    InputError: there is no such folder, or it cannot be read.
    """
    path = Path(folder).expanduser().resolve()
    try:
        inside = sorted(path.iterdir(), key=lambda each: each.name.lower())
    except FileNotFoundError:
        raise InputError(f"{folder}: no such folder") from None
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    folders, tables = [], []
    for each in inside:
        if each.name.startswith("."):
            continue
        if each.is_dir():
            folders.append(each.name)
        elif each.suffix.lower() in TABLES:
            tables.append(each.name)
    above = None if path.parent == path else str(path.parent)
    return {
        "folder": str(path), "above": above, "folders": folders[:MOST], "tables": tables[:MOST],
    }  # fmt: skip


def made(folder: str | Path) -> None:
    """Make a folder unless it is there.

    Raises
    ------
    InputError: it cannot be made, is a file, or the folder that it is to be in is not there.
    """
    if Path(folder).is_file():
        raise InputError(f"{folder}: is a file; name a folder")
    if not Path(folder).parent.is_dir():
        raise no_folder(folder, Path(folder).parent)
    try:
        Path(folder).mkdir(exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{folder}: the folder cannot be made: {reason}") from None
