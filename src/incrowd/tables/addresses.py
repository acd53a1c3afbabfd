"""Names of tables that are addresses of databases, told from names of files."""

import re

ADDRESS = re.compile(r"[a-z][a-z0-9+_.-]+:(//|.*@).*", re.DOTALL | re.IGNORECASE)


def is_address(path: object) -> bool:
    """Whether a text is the address of a database, such as ``postgresql://host/db``.

    So is what is only like one: as the name of a file a message would show it, password and all.
    """
    return isinstance(path, str) and ADDRESS.fullmatch(path) is not None
