"""Names of tables that are more than names of files: addresses of databases, and sheets."""

import re
from pathlib import Path

ADDRESS = re.compile(r"[a-z][a-z0-9+_.-]+:(//|.*@).*", re.DOTALL | re.IGNORECASE)
SHEET = re.compile(r"(.+\.(?:xlsx|xlsm|ods))#(.+)", re.DOTALL | re.IGNORECASE)


def is_address(path: object) -> bool:
    """Whether a text is the address of a database, such as ``postgresql://host/db``.

    So is what is only like one: as the name of a file a message would show it, password and all.
    """
    return isinstance(path, str) and ADDRESS.fullmatch(path) is not None


def workbook_of(path: str | Path) -> tuple[str, str | None]:
    """Return the file that a name stands for, and the sheet: ``people.xlsx#visits`` names both.

    A file that is called so is itself.
    """
    found = SHEET.fullmatch(str(path))
    if found is None or Path(path).exists():
        return str(path), None
    return found[1], found[2]
