"""Random tables, files made of them by a plain writer, and a plain solver."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Outcome, Scope

Row = list[str | None]

NASTY = [
    "",
    " ",
    "a",
    "01234",
    '"',
    '""',
    "a,b",
    ";",
    "\n",
    "\r\n",
    "x\ty",
    "=1+2",
    "é",
    "🙂",
    "'",
    "**",
]
cells = st.one_of(
    st.none(),
    st.sampled_from(NASTY),
    st.text(st.characters(codec="utf-8", exclude_characters="\0*"), max_size=4),
)
names = st.one_of(
    st.sampled_from(["k", "", "*", "^.*$", "a,b", "line\nbreak", "🙂", "--qi", "a=b", "id", " "]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 8) -> tuple[list[str], list[Row]]:
    """A header of different names, and rows from few different cells."""
    header = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    pool = draw(st.lists(cells, min_size=1, max_size=4))
    row = st.lists(st.sampled_from(pool), min_size=len(header), max_size=len(header))
    return header, draw(st.lists(row, min_size=1, max_size=max_rows))


def field(text: str | None, delimiter: str = ",") -> str:
    """A cell as a careful person writes it: missing is empty, empty text is quoted."""
    if text is None:
        return ""
    plain = text != "" and not set(text) & {delimiter, '"', "\n", "\r"}
    return text if plain else '"' + text.replace('"', '""') + '"'


def csv_bytes(
    header: Sequence[str], rows: Sequence[Row], delimiter: str = ",", newline: str = "\n"
) -> bytes:
    """A table as a delimited file."""
    lines = [list(header), *rows]
    return "".join(
        delimiter.join(field(text, delimiter) for text in line) + newline for line in lines
    ).encode()


def parsed(data: bytes, delimiter: str = ",") -> list[list[str]]:
    """A delimited file as Python's own reader sees it (missing and empty alike)."""
    lines = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))
    return [line or [""] for line in lines]  # it takes a blank line for no fields


def smallest_class(rows: Sequence[Sequence[Any]]) -> int:
    """Size of the smallest group of equal rows."""
    return min(Counter(map(tuple, rows)).values(), default=0)


class Sorter:
    """Puts each k neighbours in text order into one class: lawful, quick, and poor."""

    id = "sorter"
    guarantee = "none"
    scope = Scope()
    source = "a test"

    def refuse(self, problem: Problem) -> str | None:
        """Serve everything."""
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Cut the sorted copies into pieces."""
        rows, k = problem.instance.rows, problem.smallest_class
        pieces = np.minimum(np.arange(rows) // k, max(0, rows // k - 1))
        return Outcome(Solution.of(problem.instance, pieces))
