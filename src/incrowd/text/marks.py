"""Marks in released cells, and what no cell may hold."""

from incrowd.errors import InputError

STAR = "*"
"""What is written for a suppressed cell, where no other mark is asked for."""


def own_star(star: str) -> str:
    """Return what is left open of a mark of one's own: that it reads like a value, perhaps."""
    return f"whether {star!r} in a cell is read as a suppressed one"


def require_characters(text: str, what: str) -> None:
    """Raise InputError for halves of characters, which Python's texts can hold and no file can.

    what: what holds them, for people.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{what} holds half a character (a surrogate), which stands for a byte that could not "
            "be read: read it in the encoding that it is in"
        ) from None
