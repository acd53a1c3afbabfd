"""Texts that may name a file, or else a rule."""

import errno
import os
from pathlib import Path


def readable(name: str | Path) -> str:
    """Return a file's name for readers: its bytes as UTF-8, whatever a bare locale made of them."""
    return os.fsencode(name).decode("utf-8", "replace")


def could_be_name(text: str | Path) -> bool:
    """Whether a text is short enough for the system to name a file; some rules are longer."""
    try:
        Path(text).exists()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False
    return True


def names_file(text: str | Path) -> bool:
    """Whether a text is the name of a file that is there."""
    return could_be_name(text) and Path(text).is_file()
