"""How the cells of a workbook look, and what it holds beside its table.

Who has the file tells rows of a class apart by the format of a number, a colour, half of a text in
bold or the height of a row; other sheets, and texts that no cell shows, may be the original's.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, Any
from xml.etree import ElementTree

EXCEL = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/_rels/workbook\.xml\.rels|"
    r"xl/(workbook|styles|sharedStrings)\.xml|xl/theme/theme\d+\.xml|xl/worksheets/sheet\d*\.xml"
)
"""Parts of a workbook of one table."""
HERE = ("r", "spans", "number-columns-repeated", "number-rows-repeated")
"""What says where a cell or row is."""
LETTERS = re.compile("[A-Z]+")


@dataclass
class Looks:
    """What was seen of a workbook.

    Attributes
    ----------
    columns: numbers, from 0, of the columns in which cells that read alike look different.
    rows: whether rows look different.
    beside: what the file holds beside its table, in words; empty for nothing.
    """

    columns: set[int] = field(default_factory=set)
    rows: bool = False
    beside: str = ""
    _width: int = -1
    _row: Any = None
    _seen: dict[tuple[int, Any], Any] = field(default_factory=dict)

    def see(self, row: Any, cells: dict[int, tuple[Any, Any]]) -> None:
        """Look at a row: how it looks, and by column what each cell reads as and looks like.

        The first row names the columns; rows of nothing are none.
        """
        if self._width < 0:
            self._width = 1 + max(cells, default=-1)
        elif any(key is not None for key, _ in cells.values()):
            self.rows |= self._row not in (None, row)
            self._row = row
            for j in range(self._width):
                key, look = cells.get(j, (None, None))
                if self._seen.setdefault((j, key), look) != look:
                    self.columns.add(j)


def looks_of_excel(data: bytes, sheet: str, strings: list[str]) -> Looks:
    """Look at a sheet of a workbook of Excel's.

    Parameters
    ----------
    sheet: the part that holds it.  strings: the texts that cells share.
    """
    found, used = Looks(), set()
    with zipfile.ZipFile(BytesIO(data)) as parts:
        more = [name for name in parts.namelist() if not EXCEL.fullmatch(name)]
        sheets = sum(name.startswith("xl/worksheets/sheet") for name in parts.namelist())
        with parts.open(sheet) as part:
            for row in _elements(part, "row"):
                cells = {}
                for place, cell in enumerate(row):
                    letters = LETTERS.match(cell.get("r", ""))
                    j = _number(letters[0]) if letters else place
                    cells[j] = _reads(cell, strings, used), _look(cell)
                found.see(_own(row), cells)
    if sheets > 1:
        found.beside = "other sheets"
    elif more:
        found.beside = more[0]
    elif len(used) < len(strings):
        found.beside = "texts that no cell shows"
    return found


def looks_of_opendocument(data: bytes) -> Looks:
    """Look at the first sheet of an OpenDocument file."""
    found, sheets = Looks(), 0
    with zipfile.ZipFile(BytesIO(data)) as parts, parts.open("content.xml") as part:
        for element in _elements(part, "table-row", "table"):
            if _bare(element.tag) == "table":
                sheets += 1
                continue
            cells: dict[int, tuple[Any, Any]] = {}
            j = 0
            for cell in element:
                own = {_bare(name): text for name, text in cell.items()}
                if own.get("value-type") is None and found._width < 0:
                    break
                for _ in range(min(int(own.get("number-columns-repeated", 1)), 1 << 10)):
                    cells[j] = _said(own, cell), _look(cell)
                    j += 1
            found.see(_own(element), cells)
    found.beside = "other sheets" if sheets > 1 else ""
    return found


def _elements(part: IO[bytes], *names: str) -> Iterator[ElementTree.Element]:
    """Yield the elements of these names when they end, and forget what is in them."""
    for _, element in ElementTree.iterparse(part):
        if _bare(element.tag) in names:
            yield element
            element.clear()


def _reads(cell: ElementTree.Element, strings: list[str], used: set[int]) -> Any:
    """Return what a cell of Excel's reads as; None for nothing."""
    kind = cell.get("t", "n")
    held = next((part.text for part in cell if _bare(part.tag) == "v"), None)
    if kind == "inlineStr":
        return "".join(cell.itertext())
    if held is None:
        return None
    if kind == "s":
        used.add(int(held))
        return strings[int(held)]
    try:
        return float(held) if kind == "n" else held
    except ValueError:
        return held


def _said(own: dict[str, str], cell: ElementTree.Element) -> Any:
    """Return what a cell of an OpenDocument file reads as; None for nothing."""
    if "value-type" not in own:
        return None
    if own["value-type"] in ("float", "percentage", "currency"):
        return float(own["value"])
    named = (own.get(name) for name in ("date-value", "boolean-value"))
    return next((text for text in named if text is not None), "".join(cell.itertext()))


def _look(cell: ElementTree.Element) -> Any:
    """Return all of a cell but its place."""
    return _own(cell), tuple(ElementTree.tostring(part) for part in cell)


def _own(element: ElementTree.Element) -> tuple[tuple[str, str], ...]:
    """Return an element's attributes but those that say where it is."""
    return tuple(sorted(pair for pair in element.items() if _bare(pair[0]) not in HERE))


def _bare(name: str) -> str:
    """Return a name of XML without its space."""
    return name.rpartition("}")[2]


def _number(letters: str) -> int:
    """Return the number of a column, from 0."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1
