"""Turns this project's docstrings into what Sphinx reads.

Sections are underlined as in numpydoc; below ``Parameters``, ``Attributes``, ``Returns`` and
``Raises`` an entry is ``name: what it is``, or ``a, b: …``, continued by indented lines.
"""

import inspect
import re
from typing import Any

LITERAL = re.compile(
    r"(``.+?``|`[^`\s][^`]*`|\*\*\w[^*\n]*\*\*|(?<!\w)\*\w[^*\n]*\w[.:,]?\*(?!\w))", re.DOTALL
)
ENTRY = re.compile(r"^([\w.*`\"\\]+(?:, [\w.*`\"\\]+)*): (.*)$")
NEXT = re.compile(r"; (?=(\w+(?:, \w+)*): )")
RESULTS = ("Release", "Measure", "Event", "Source")
LISTS = ("Parameters", "Attributes", "Raises")


def converted(lines: list[str], known: set[str]) -> list[str]:
    """Return the lines as reStructuredText.

    Parameters
    ----------
    known: names of parameters or attributes; ``a: …; b: …`` in one line becomes two entries if b
        is one of them.
    """
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
            for part in _parts(line, section, known):
                out += _line(part, section)
    return out


def _parts(line: str, section: str, known: set[str]) -> list[str]:
    """Split a line at each ``; name: `` of a known name."""
    if section not in LISTS:
        return [line]
    cuts = [m for m in NEXT.finditer(line) if set(m[1].split(", ")) <= known]
    starts = [0, *(m.end() for m in cuts)]
    ends = [*(m.start() for m in cuts), len(line)]
    return [line[a:b] for a, b in zip(starts, ends, strict=True)]


def _line(line: str, section: str) -> list[str]:
    entry = ENTRY.match(line) if section in LISTS else None
    if entry is None:
        return [line]
    names = ", ".join(f"``{name.strip('`')}``" for name in entry[1].split(", "))
    return [names, f"    {entry[2]}"]


def names_of(obj: Any) -> set[str]:
    """Return the names of a function's parameters, or of a class's fields."""
    try:
        return {*inspect.signature(obj).parameters, *getattr(obj, "__annotations__", {})}
    except (TypeError, ValueError):
        return set()


def escaped(text: str) -> str:
    """Keep stars, bars and underscores that mean themselves."""
    pieces = LITERAL.split(text)
    for i in range(0, len(pieces), 2):
        pieces[i] = re.sub(r"([*|])|(?<=\w)(_)(?!\w)", r"\\\1\2", pieces[i])
        if i and pieces[i][:1].isalnum():  # a word goes on after a literal
            pieces[i] = "\\ " + pieces[i]
    return "".join(pieces)


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Convert one docstring."""
    lines[:] = escaped("\n".join(converted(lines, names_of(obj)))).split("\n")


def signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str, result: str
) -> tuple[str, str] | None:
    """Leave out how values are made that nobody but incrowd makes."""
    return ("", "") if name.rpartition(".")[2] in RESULTS else None


def setup(app: Any) -> dict[str, bool]:
    """Join autodoc."""
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
