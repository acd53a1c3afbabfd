"""Words as a line for a shell."""

import os
import re
import shlex
from collections.abc import Sequence

WINDOWS = os.name == "nt"  # whose shells know no single quotes
BARE = re.compile(r"[\w.:\\/=+-]+")  # of words that they take as they are
JOINERS = "\u200c\u200d"  # characters without a width that some scripts and emoji need


def shell_line(words: Sequence[str]) -> str:
    """Return words as a line for a shell, on which nothing is invisible."""
    return " ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    """Quote a word; one with characters that do not print in the way that shows them (``$'…'``)."""
    if all(character.isprintable() or character in JOINERS for character in word):
        if not WINDOWS:
            return shlex.quote(word)
        return word if BARE.fullmatch(word) else '"' + word.replace('"', '\\"') + '"'
    parts = []
    for character in word:
        if character in "\\'":
            parts.append("\\" + character)
        elif character.isprintable():
            parts.append(character)
        elif ord(character) < 256:
            parts.append("".join(f"\\x{byte:02x}" for byte in character.encode()))
        else:
            parts.append(
                f"\\u{ord(character):04x}" if ord(character) < 65536 else f"\\U{ord(character):08x}"
            )
    return "$'" + "".join(parts) + "'"
