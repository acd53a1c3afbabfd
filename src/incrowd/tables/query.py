"""Which texts of SQL are one query that selects; nothing else is sent to a database to be read.

What changes a table is undone when the reading ends, but its answer, such as a count of rows, would
be taken for the table; and what writes a file is not undone.
"""

import re

from incrowd.errors import InputError

PARTS = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|\$(\w*)\$.*?\$\1\$"
    r"|[^\W\d]\w*|\S",
    re.DOTALL,
)
"""Comments, texts and names in quotes, words, and single letters."""
COMMENTS = ("--", "/*")
SELECTS = ("with", "select", "values", "table", "from")
"""Words that a query begins with: ``TABLE visits`` is PostgreSQL's, ``FROM visits`` DuckDB's."""
CHANGES = ("insert", "update", "delete", "merge")
"""What may stand behind the names that ``WITH`` gives, in place of ``SELECT``."""
WANTED = "give one query that selects, such as SELECT age, sex FROM visits"


def require_query(query: str) -> None:
    """Raise InputError for SQL that is not one query that selects."""
    found = (part[0] for part in PARTS.finditer(query))
    parts = [part.lower() for part in found if not part.startswith(COMMENTS)]
    while parts and parts[-1] == ";":
        parts.pop()
    if not parts:
        raise InputError(f"the query is empty; {WANTED}")
    if ";" in parts:
        raise InputError(f"the query has several statements, of which none was run; {WANTED}")
    first = next((part for part in parts if part != "("), "(")
    if first == "with":
        known = (*SELECTS[1:], *CHANGES)
        first = next((word for word in outermost(parts)[1:] if word in known), first)
    if first not in SELECTS:
        raise InputError(f"the query was not run, for {first.upper()} does not select; {WANTED}")


def outermost(parts: list[str]) -> list[str]:
    """Return the parts that stand in no parentheses."""
    found, depth = [], 0
    for part in parts:
        depth += (part == "(") - (part == ")")
        if depth == 0:
            found.append(part)
    return found
