"""Turns this project's docstrings into what Sphinx reads.

Sections are underlined as in numpydoc; below ``Parameters``, ``Attributes``, ``Returns`` and
``Raises`` an entry is ``name: what it is``, or ``a, b: …``, continued by indented lines.
"""

import re
from typing import Any

LITERAL = re.compile(r"(``.+?``|`[^`\s][^`]*`)", re.DOTALL)
ENTRY = re.compile(r"^([\w.*`\"\\]+(?:, [\w.*`\"\\]+)*): (.*)$")
LISTS = ("Parameters", "Attributes", "Raises")
UNTITLED = {"Notes": "", "Typical use": ""}


def converted(lines: list[str]) -> list[str]:
    """Return the lines as reStructuredText."""
    out: list[str] = []
    section = ""
    for i, line in enumerate(lines):
        below = lines[i + 1] if i + 1 < len(lines) else ""
        if line.strip() and set(below.strip()) == {"-"} and len(below.strip()) >= 3:
            section = line.strip()
            out += ["", f".. rubric:: {section}", ""]
        elif line.strip() and set(line.strip()) == {"-"} and len(line.strip()) >= 3:
            continue
        else:
            out += _line(line, section)
    return out


def _line(line: str, section: str) -> list[str]:
    entry = ENTRY.match(line) if section in LISTS else None
    if entry is None:
        return [_indent(line, section)]
    names = ", ".join(f"``{name.strip('`')}``" for name in entry[1].split(", "))
    return [names, f"    {entry[2]}"]


def _indent(line: str, section: str) -> str:
    return line


def escaped(text: str) -> str:
    """Keep stars, bars and underscores that mean themselves."""
    pieces = LITERAL.split(text)
    for i in range(0, len(pieces), 2):
        pieces[i] = re.sub(r"([*|])|(?<=\w)(_)(?!\w)", r"\\\1\2", pieces[i])
    return "".join(pieces)


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Convert one docstring."""
    lines[:] = escaped("\n".join(converted(lines))).split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Join autodoc."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
