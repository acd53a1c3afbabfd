"""How the cells of a workbook look, and what it holds beside its table.

Who has the file tells rows of a class apart by the format of a number, a colour, half of a text in
bold or the height of a row; other sheets, and texts that no cell shows, may be the original's.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, Any
from xml.etree import ElementTree

EXCEL = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/_rels/workbook\.xml\.rels|"
    r"xl/(workbook|styles|sharedStrings)\.xml|xl/theme/theme\d+\.xml|xl/worksheets/sheet\d*\.xml"
)
"""Parts of a workbook of one table."""
OPENDOCUMENT = re.compile(
    r"mimetype|(content|styles|meta|settings)\.xml|manifest\.rdf|META-INF/(manifest\.xml)?|"
    r"(Thumbnails|Configurations2)/.*"
)
SHEET = (
    *("sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "autoFilter"),
    *("sheetProtection", "phoneticPr", "printOptions", "pageMargins", "pageSetup", "ignoredErrors"),
)
"""What a sheet of Excel's has that holds no cell's text: not lists of values that may be chosen."""
NAMED = re.compile(rb"<(?:\w+:)?definedName\b(?![^>]*\bname=\"_xlnm\.)")
CHANGES = (
    "tracked-changes",
    "data-pilot-table",
    "content-validation",
    "filter-condition",
    "shapes",
)
"""What an OpenDocument file may hold of earlier or other cells beside a sheet."""
OF_A_ROW = {
    *("table-row", "table-cell", "covered-table-cell"),
    *("p", "span", "a", "s", "tab", "line-break"),
}
"""What a row of an OpenDocument sheet has that shows in its cells: not comments or pictures."""
HERE = ("r", "spans", "number-columns-repeated", "number-rows-repeated")
"""What says where a cell or row is."""
LETTERS = re.compile("[A-Z]+")
Cells = dict[int, tuple[Any, Any]]


@dataclass
class Looks:
    """What was seen of a workbook.

    Attributes
    ----------
    columns: numbers, from 0, of the columns in which cells that read alike look different.
    rows: whether rows look different.
    beside: what the file holds beside its table, in words; empty for nothing.
    width: how many columns have a name; −1 before the first row.
    """

    columns: set[int] = field(default_factory=set)
    rows: bool = False
    beside: str = ""
    width: int = -1
    _row: Any = None
    _seen: dict[tuple[int, Any], Any] = field(default_factory=dict)

    def see(self, row: Any, cells: Cells) -> None:
        """Look at a row: how it looks, and by column what each cell reads as and looks like.

        The first row names the columns; rows of nothing are none.
        """
        if self.width < 0:
            self.width = 1 + max(cells, default=-1)
        elif any(key is not None for key, _ in cells.values()):
            self.rows |= self._row not in (None, row)
            self._row = row
            for j in range(self.width):
                key, look = cells.get(j, (None, None))
                if self._seen.setdefault((j, key), look) != look:
                    self.columns.add(j)


def looks_of_excel(data: bytes, sheet: str, shared: Sequence[Any]) -> Looks:
    """Look at a sheet of a workbook of Excel's.

    Parameters
    ----------
    sheet: the part that holds it.  shared: the texts that cells share.
    """
    strings = [*map(str, shared)]
    found, used, odd = Looks(), set(), []
    with zipfile.ZipFile(BytesIO(data)) as parts:
        names = parts.namelist()
        if sum(name.startswith("xl/worksheets/sheet") for name in names) > 1:
            odd.append("other sheets")
        odd += [name for name in names if not EXCEL.fullmatch(name)]
        odd += ["names of values"] * (NAMED.search(parts.read("xl/workbook.xml")) is not None)
        with parts.open(sheet) as part:
            for element, depth in _elements(part):
                name = _bare(element.tag)
                if depth == 1 and (name not in SHEET or (name == "autoFilter" and len(element))):
                    odd.append(name)
                if name == "row" and depth == 2:
                    found.see(_own(element), _cells(element, strings, used))
                    element.clear()
    odd += ["texts that no cell shows"] * (len(used) < len(strings))
    found.beside = next(iter(odd), "")
    return found


def looks_of_opendocument(data: bytes) -> Looks:
    """Look at the first sheet of an OpenDocument file."""
    found, sheets, odd = Looks(), 0, []
    with zipfile.ZipFile(BytesIO(data)) as parts, parts.open("content.xml") as part:
        odd += [name for name in parts.namelist() if not OPENDOCUMENT.fullmatch(name)]
        for element, _ in _elements(part):
            name = _bare(element.tag)
            sheets += name == "table"
            if name in CHANGES:
                odd.append(name)
            if name == "table-row" and not sheets:
                odd += [of for part in element.iter() if (of := _bare(part.tag)) not in OF_A_ROW]
                found.see(_own(element), _spread(element, found))
                element.clear()
    found.beside = next(iter(["other sheets"] * (sheets > 1) + odd), "")
    return found


def _elements(part: IO[bytes]) -> Iterator[tuple[ElementTree.Element, int]]:
    """Yield the elements when they end, and in how many others each stands."""
    depth = 0
    for event, element in ElementTree.iterparse(part, ("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "end":
            yield element, depth


def _cells(row: ElementTree.Element, strings: list[str], used: set[int]) -> Cells:
    """Return what the cells of a row of Excel's read as and look like, by column."""
    from openpyxl.utils import column_index_from_string

    cells = {}
    for place, cell in enumerate(row):
        letters = LETTERS.match(cell.get("r", ""))
        j = column_index_from_string(letters[0]) - 1 if letters else place
        cells[j] = _reads(cell, strings, used), _look(cell)
    return cells


def _spread(row: ElementTree.Element, found: Looks) -> Cells:
    """Return the same of a row of an OpenDocument file, in which cells may be repeated."""
    cells: Cells = {}
    for cell in row:
        own = {_bare(name): text for name, text in cell.items()}
        if found.width < 0 and _said(own, cell) is None:
            break
        for _ in range(min(int(own.get("number-columns-repeated", 1)), 1 << 10)):
            cells[len(cells)] = _said(own, cell), _look(cell)
    return cells


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
    kind = own.get("value-type")
    if kind in ("float", "percentage", "currency"):
        return float(own["value"])
    named = (own.get(name) for name in ("date-value", "boolean-value"))
    text = next((text for text in named if text is not None), "".join(cell.itertext()))
    return text if text or kind else None


def _look(cell: ElementTree.Element) -> Any:
    """Return all of a cell but its place."""
    return _own(cell), tuple(ElementTree.tostring(part) for part in cell)


def _own(element: ElementTree.Element) -> tuple[tuple[str, str], ...]:
    """Return an element's attributes but those that say where it is."""
    return tuple(sorted(pair for pair in element.items() if _bare(pair[0]) not in HERE))


def _bare(name: str) -> str:
    """Return a name of XML without its space."""
    return name.rpartition("}")[2]
