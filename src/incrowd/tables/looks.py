"""How the cells of a workbook look, and what it holds beside its table.

Who has the file tells rows of a class apart by the format of a number, a colour, half of a text in
bold or the height of a row; other sheets, and texts that no cell shows, may be the original's.
"""

import codecs
import re
import struct
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
    r"Thumbnails/(thumbnail\.png)?|Configurations2/.*"
)
SHEET = (
    *("sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "autoFilter"),
    *("sheetProtection", "phoneticPr", "printOptions", "pageMargins", "pageSetup", "ignoredErrors"),
)
"""What a sheet of Excel's has that holds no cell's text: not lists of values that may be chosen."""
CELLS = rb"""(?:'[^<>"{}]*'|[\w.]+|#REF)!(?:\$?[A-Z0-9]+:?)*"""
NAMED = re.compile(
    rb"<(?:\w+:)?definedName\b(?![^>]*\bname=\"_xlnm\.[^>]*>%b(?:,%b)*</)" % (CELLS, CELLS)
)
"""A name of Excel's own stands for cells, any other perhaps for values."""
READING = re.compile(rb"<(?:\w+:)?rPh\b")
"""How a text is pronounced, which programs leave as it was where a text is written over."""
PROPERTIES = {"title", "subject", "description", "keyword", "keywords", "category", "user-defined"}
PLAIN = re.compile(rb"\s*(<[^\0]*)?")
CONDITION = re.compile("cell-content|is-true-formula")
CHANGES = (
    "tracked-changes",
    "data-pilot-table",
    "content-validation",
    "filter-condition",
    "shapes",
    *("conditional-format", "named-expression", "scenario", "consolidation", "label-range"),
    *("dde-link", "form", "title", "desc"),
)
"""What an OpenDocument file may hold of earlier or other cells beside a sheet."""
OF_A_ROW = {
    *("table-row", "table-cell", "covered-table-cell"),
    *("p", "span", "a", "s", "tab", "line-break"),
}
"""What a row of an OpenDocument sheet has that shows in its cells: not comments or pictures."""
HERE = ("r", "spans", "number-columns-repeated", "number-rows-repeated")
"""What says where a cell or row is."""
ALOUD = "how texts are read aloud"
BETWEEN = "bytes that are of none of its parts"
LETTERS = re.compile("[A-Z]+")
XML = re.compile(r"\.(xml|rels|rdf)$")
UNREAD = re.compile(rb"<!--|<!DOCTYPE|<\?(?!xml\b)")
"""What XML holds that is of no element."""
REMARK = "remarks in its XML"
PICTURE = "what the picture of the sheet shows, which the workbook holds (Thumbnails)"
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
        odd += [*_beside_parts(parts, data), *_properties(parts, "docProps/core.xml")]
        if sum(name.startswith("xl/worksheets/sheet") for name in names) > 1:
            odd.append("other sheets")
        odd += [name for name in names if not EXCEL.fullmatch(name)]
        odd += ["names of values"] * (NAMED.search(parts.read("xl/workbook.xml")) is not None)
        if shared and READING.search(parts.read("xl/sharedStrings.xml")):
            odd.append(ALOUD)
        with parts.open(sheet) as part:
            for element, depth in _elements(part):
                name = _bare(element.tag)
                if depth == 1 and (name not in SHEET or (name == "autoFilter" and len(element))):
                    odd.append(name)
                if name == "row" and depth == 2:
                    odd += _beside_values(element)
                    found.see(_own(element), _cells(element, strings, used))
                    element.clear()
    odd += ["texts that no cell shows"] * (len(used) < len(strings))
    found.beside = next(iter(odd), "")
    return found


def looks_of_opendocument(data: bytes) -> Looks:
    """Look at the first sheet of an OpenDocument file."""
    found, sheets, odd = Looks(), 0, []
    with zipfile.ZipFile(BytesIO(data)) as parts, parts.open("content.xml") as part:
        odd += [*_beside_parts(parts, data), *_properties(parts, "meta.xml")]
        odd += [name for name in parts.namelist() if not OPENDOCUMENT.fullmatch(name)]
        odd += [
            part.filename
            for part in parts.infolist()
            if part.filename.startswith("Configurations2/") and part.file_size
        ]
        for element, _ in _elements(part):
            name = _bare(element.tag)
            sheets += name == "table"
            if name in CHANGES or any(map(CONDITION.search, element.attrib.values())):
                odd.append(name)
            if name == "table-row" and not sheets:
                odd += [of for part in element.iter() if (of := _bare(part.tag)) not in OF_A_ROW]
                found.see(_own(element), _spread(element, found))
                element.clear()
    found.beside = next(iter(["other sheets"] * (sheets > 1) + odd), "")
    return found


def has_picture(data: bytes) -> bool:
    """Whether a workbook holds a picture of its sheet, as file managers show."""
    with zipfile.ZipFile(BytesIO(data)) as parts:
        return any(name.lower().endswith("thumbnail.png") for name in parts.namelist())


def _has_remarks(part: IO[bytes]) -> bool:
    seen = b""
    while piece := part.read(1 << 20):
        seen = seen[-len("<!DOCTYPE") :] + piece
        if UNREAD.search(seen):
            return True
    return False


def _beside_parts(parts: zipfile.ZipFile, data: bytes) -> Iterator[str]:
    """Yield what an archive holds beside its parts: programs that write at its end leave the rest.

    Behind a part its size may stand, in up to 24 bytes.
    """
    held, at = parts.infolist(), 0
    usual = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if any(part.flag_bits & 1 or part.compress_type not in usual for part in held):
        yield "a part that is encrypted, or packed as workbooks are not"
        return
    if len({part.filename for part in held}) < len(held):
        yield "a part that is there twice"
    if parts.comment or any(part.comment for part in held):
        yield "a comment"
    for part in sorted(held, key=lambda part: part.header_offset):
        begin = part.header_offset
        if any(data[at:begin]):
            yield BETWEEN
        name, more = struct.unpack_from("<HH", data, begin + 26)
        at = begin + 30 + name + more + part.compress_size
        sized = part.flag_bits & 8 and data[at : at + 4] == b"PK\7\x08"
        at += (16 if sized else 12) if part.flag_bits & 8 else 0
    if any(data[at : parts.start_dir]) or data.rfind(b"PK\5\6") + 22 < len(data):
        yield BETWEEN
    starts = (parts.open(part).read(3) for part in held if part.filename.endswith(".xml"))
    if not all(start == codecs.BOM_UTF8 or PLAIN.fullmatch(start) for start in starts):
        yield "XML that is not in UTF-8"  # which is looked at as it stands
    if any(map(_has_remarks, (parts.open(part) for part in held if XML.search(part.filename)))):
        yield REMARK


def _properties(parts: zipfile.ZipFile, name: str) -> Iterator[str]:
    """Yield what a document says of itself, such as its title; not who made it, and when."""
    if name in parts.namelist():
        with parts.open(name) as part:
            for element, _ in _elements(part):
                if _bare(element.tag) in PROPERTIES and "".join(element.itertext()).strip():
                    yield f"its {_bare(element.tag)}"


def _elements(part: IO[bytes]) -> Iterator[tuple[ElementTree.Element, int]]:
    """Yield the elements when they end, and in how many others each stands."""
    depth = 0
    for event, element in ElementTree.iterparse(part, ("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "end":
            yield element, depth


def _beside_values(row: ElementTree.Element) -> Iterator[str]:
    """Yield what cells of Excel's hold beside one value each."""
    for cell in row:
        if len(cell) > 1:
            yield _bare(cell[1].tag)
        if cell.get("t") == "inlineStr" and any(_bare(part.tag) == "rPh" for part in cell.iter()):
            yield ALOUD


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
