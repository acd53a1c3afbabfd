"""Tests of workbooks: Excel's and OpenDocument's."""

import errno
import gc
import io
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.tables import from_native, read, write
from incrowd.tables.base import texts
from incrowd.tables.sheets import read_sheet
from incrowd.tables.sheets_write import as_before, write_sheet

FORMS = ("xlsx", "ods")
PEOPLE = {
    "zip": ["01234", "01235", "01236", "91234", "91235", None],
    "age": [34, 36, 38, None, 51, 58],
    "born": [date(1990, 3, day) for day in range(1, 7)],
    "weight": [70.5, 61.25, 80.0, 77.0, 90.125, 66.0],
    "smokes": [True, False, True, True, False, None],
    "note": ["=1+1", "a  b\nc", "x", " ", "ü", "+3"],
}


def workbook(rows: list[list[Any]], **formats: str) -> bytes:
    """An Excel file with one sheet; ``formats`` are number formats by cell."""
    book, file = openpyxl.Workbook(), io.BytesIO()
    sheet: Any = book.active
    for row in rows:
        sheet.append(row)
    for place, shown in formats.items():
        sheet[place].number_format = shown
    book.save(file)
    return file.getvalue()


def there_and_back(frame: pl.DataFrame, form: str) -> pl.DataFrame:
    file = io.BytesIO()
    write_sheet(frame, form, file)
    return read_sheet(file.getvalue(), "t", form).native()


@pytest.mark.parametrize("form", FORMS)
def test_cells_come_back(form: str) -> None:
    """Tests text with leading zeros or like a formula, numbers, dates, truth values, blanks."""
    frame = pl.DataFrame(PEOPLE)
    assert there_and_back(frame, form).equals(frame)


LETTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
WORDS = st.text(LETTERS, min_size=1, max_size=6)


@settings(max_examples=few(60))
@given(
    st.lists(
        st.tuples(
            WORDS, st.integers(-(2**53) + 1, 2**53 - 1), st.floats(-1e300, 1e300).filter(bool)
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(FORMS),
)
def test_any_cells_come_back(rows: list[tuple[str, int, float]], form: str) -> None:
    """Tests any text and any number."""
    frame = pl.DataFrame(
        rows, schema={"t": pl.String, "i": pl.Int64, "f": pl.Float64}, orient="row"
    )
    back = there_and_back(frame, form)
    assert back["t"].equals(frame["t"]) and back["i"].equals(frame["i"])
    assert back["f"].cast(pl.Float64).equals(frame["f"])


def test_numbers_shown_with_leading_zeros() -> None:
    """Tests that a number is the text that is seen, and that mixed columns are text."""
    data = workbook([["zip", "code"], [1234, "A1"], [98765, 7]], A2="00000", A3="00000")
    found = read_sheet(data, "t", "xlsx").native()
    assert found.to_dict(as_series=False) == {"zip": ["01234", "98765"], "code": ["A1", "7"]}


def test_numbers_of_open_documents_shown_with_leading_zeros() -> None:
    """Tests the same of OpenDocument, which holds what is seen beside the number."""
    pytest.importorskip("odf")
    seen = ('"1234"/>', '"1234"><text:p>01234</text:p></table:table-cell>')
    data = opendocument(pl.DataFrame({"zip": [1234, 98765]}), seen)
    found = read_sheet(data, "t", "ods").native()
    assert found["zip"].to_list() == ["01234", "98765"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["a"], ["=1+1"]], "cell A2 holds a formula"),
        ([["a"], ["#N/A"]], "cell A2 holds an error"),
        ([["a", "a"], [1, 2]], "two columns are called 'a'"),
        ([["a", None, "b"], [1, 2, 3]], "column 2 of the sheet has no name"),
        ([["a title"], ["a", "b"]], "cell B2 stands in a .* name; delete the rows above"),
        ([["a", "b"], [1, 2, 3]], "cell C2 stands in a column without a name$"),
        ([], "the first row of the sheet is empty"),
        ([[], ["a"], [1]], "the first row of the sheet is empty"),
        ([["a", "b"], [1, 2], [], [1, 2]], "row 3 of the sheet is empty, with more rows below"),
    ],
)
def test_sheets_that_are_no_tables(rows: list[list[Any]], words: str) -> None:
    """Tests that the message names the cell."""
    with pytest.raises(InputError, match=words):
        read_sheet(workbook(rows), "t", "xlsx")


def test_formatted_empty_rows_at_the_end_are_no_people() -> None:
    """Tests a sheet with colours below its table, which hold no person."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in (["a", "b"], [1, "x"], [1, "x"]):
        sheet.append(row)
    for row in range(4, 9):
        sheet.cell(row, 1).number_format = "0.00"
    data = io.BytesIO()
    book.save(data)
    assert read_sheet(data.getvalue(), "t", "xlsx").native().rows() == [(1, "x"), (1, "x")]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have sheets read in pieces of a few rows, as long ones are."""
    monkeypatch.setattr("incrowd.tables.hidden.PIECE", 3000)
    monkeypatch.setattr("incrowd.tables.sheets.PIECE", 3000)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("rows", [3, 200])
def test_merged_cells_are_refused(rows: int) -> None:
    """Tests a group written once for two people, in short and long sheets; text may speak of it."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(["a", "b"])
    for _ in range(rows):
        sheet.append(["x", '<mergeCell ref="A1:B2"'])
    data = io.BytesIO()
    book.save(data)
    assert read_sheet(data.getvalue(), "t", "xlsx").rows == rows
    sheet.merge_cells("A2:A3")
    book.save(data)
    with pytest.raises(InputError, match="cells A2:A3 are merged"):
        read_sheet(data.getvalue(), "t", "xlsx")


def test_merged_cells_of_open_documents_are_refused() -> None:
    odf = pytest.importorskip("odf.opendocument")
    from odf.table import TableCell

    data = io.BytesIO()
    write_sheet(pl.DataFrame({"a": ["x", None], "b": [1, 2]}), "ods", data)
    book = odf.load(io.BytesIO(data.getvalue()))
    book.spreadsheet.getElementsByType(TableCell)[2].setAttribute("numberrowsspanned", 2)
    book.write(data := io.BytesIO())
    with pytest.raises(InputError, match="cells from A2 are merged"):
        read_sheet(data.getvalue(), "t", "ods")


def test_several_sheets(tmp_path: Path) -> None:
    """Tests that one is named; damage and other files are told."""
    book = openpyxl.Workbook()
    book.create_sheet("visits").append(["a"])
    book.save(tmp_path / "t.xlsx")
    assert read(tmp_path / "t.xlsx").columns == ("a",)  # the other one is empty
    book["Sheet"]["A3"] = 1
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="several sheets \\('Sheet', 'visits'\\); write"):
        read(tmp_path / "t.xlsx")
    assert read(tmp_path / "t.xlsx", sheet="visits").columns == ("a",)
    named = f"{tmp_path / 't.xlsx'}#visits"
    assert read(named).columns == ("a",)
    with pytest.raises(InputError, match="two sheets are named"):
        read(named, sheet="visits")
    with pytest.raises(InputError, match=r"t\.xlsx: no sheet is called 'visit'; did you"):
        read(named[:-1])
    with pytest.raises(InputError, match="leave out what follows the #"):
        ic.anonymize(pl.DataFrame({"a": ["x"] * 5}), qi="a").write(named)
    (tmp_path / "u.xlsx#visits").write_text("b\n1\n")
    assert read(tmp_path / "u.xlsx#visits").columns == ("b",)  # a file that is called so
    with pytest.raises(InputError, match="no sheet is called 'visit'; did you mean 'visits'"):
        read(tmp_path / "t.xlsx", sheet="visit")
    (tmp_path / "d.xlsx").write_bytes(b"PK\x03\x04rest")
    with pytest.raises(InputError, match="cannot be read as one"):
        read(tmp_path / "d.xlsx")
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="is not a workbook"):
        read(tmp_path / "t.csv", sheet="a")


@pytest.mark.parametrize("form", FORMS)
def test_a_release_of_a_workbook(tmp_path: Path, form: str) -> None:
    """Tests the whole way, into workbooks and text, and that it has no proof."""
    path = tmp_path / f"t.{form}"
    with path.open("wb") as file:
        write_sheet(pl.DataFrame(PEOPLE), form, file)
    release = ic.anonymize(path, 2, qi=["zip", "age"], keep=["born", "weight", "smokes", "note"])
    for name in (f"o.{form}", "o.csv", "o.parquet"):
        release.write(tmp_path / name)
        assert texts(read(tmp_path / name)).equals(texts(release.table))
    assert set(read(tmp_path / f"o.{form}").native()["zip"]) <= {"*", *PEOPLE["zip"]}


@pytest.mark.parametrize("form", FORMS)
def test_a_workbook_by_another_name_is_told(tmp_path: Path, form: str) -> None:
    """Tests one that is called text: its name says how a workbook is read."""
    with (tmp_path / "t.csv").open("wb") as file:
        write_sheet(pl.DataFrame({"a": ["x"]}), form, file)
    with pytest.raises(InputError, match=rf"is a workbook; give it .* ends in \.{form}$"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("form", FORMS)
def test_names_like_patterns_of_names(form: str) -> None:
    """Tests a column whose name polars reads otherwise."""
    frame = pl.DataFrame({"^a$": ["x", "y"], "*": ["1", "2"]})
    assert there_and_back(frame, form).equals(frame)


def test_what_a_sheet_cannot_hold() -> None:
    """Tests control characters, rows without a cell, and cells that are written as text."""
    for form in FORMS:
        with pytest.raises(InputError, match="a row without any cell is no row of a sheet"):
            there_and_back(pl.DataFrame({"a": [1, None], "b": [None, None]}), form)
    with pytest.raises(InputError, match="column 'a' has control characters"):
        there_and_back(pl.DataFrame({"a": ["x\x01"]}), "xlsx")
    empty = pl.DataFrame({"a": ["x", "x"], "b": ["", None]})
    with pytest.raises(InputError, match="column 'b' has empty texts"):
        there_and_back(empty, "xlsx")
    assert there_and_back(empty, "ods").equals(empty)
    frame = pl.DataFrame({"n": [2**60, 1], "d": [date(1850, 1, 1), date(1990, 1, 1)]})
    back = there_and_back(frame, "xlsx")
    assert back["n"].to_list() == [str(2**60), "1"]
    assert back["d"].to_list() == ["1850-01-01", "1990-01-01"]
    moment = pl.DataFrame({"m": [datetime(2020, 1, 2, 3, 4, 5)]})
    assert there_and_back(moment, "xlsx").equals(moment)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("rows", [4, 200])
def test_hidden_rows_and_columns_of_a_table_are_refused(rows: int) -> None:
    """Tests a filtered sheet, and that hidden ones beside the table, or none, are nothing."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(["a", "b", "c"])
    for _ in range(rows):
        sheet.append(["x", '<row r="2" hidden="1">', 1])
    sheet.column_dimensions["E"].hidden = True
    sheet.row_dimensions[rows + 5].hidden = True
    book.save(data := io.BytesIO())
    assert read_sheet(data.getvalue(), "t", "xlsx").rows == rows
    sheet.row_dimensions[rows].hidden = True
    book.save(data := io.BytesIO())
    with pytest.raises(InputError, match=f"row {rows} of the sheet is hidden"):
        read_sheet(data.getvalue(), "t", "xlsx")
    sheet.column_dimensions["B"].hidden = True
    book.save(data := io.BytesIO())
    with pytest.raises(InputError, match="column B of the sheet is hidden") as found:
        read_sheet(data.getvalue(), "t", "xlsx")
    assert "'x'" not in str(found.value)


@pytest.mark.parametrize("how", ["collapse", "filter"])
def test_hidden_rows_and_columns_of_open_documents_are_refused(how: str) -> None:
    odf = pytest.importorskip("odf.opendocument")
    from odf.table import TableColumn, TableRow

    write_sheet(pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "ods", data := io.BytesIO())
    book = odf.load(io.BytesIO(data.getvalue()))
    table = book.spreadsheet.childNodes[0]
    shown, hidden = (TableColumn(visibility=how) if n else TableColumn() for n in range(2))
    table.insertBefore(hidden, table.childNodes[0])
    table.insertBefore(shown, hidden)
    book.write(data := io.BytesIO())
    with pytest.raises(InputError, match="column B of the sheet is hidden"):
        read_sheet(data.getvalue(), "t", "ods")
    hidden.setAttribute("visibility", "visible")
    book.spreadsheet.getElementsByType(TableRow)[2].setAttribute("visibility", how)
    book.write(data := io.BytesIO())
    with pytest.raises(InputError, match="row 3 of the sheet is hidden"):
        read_sheet(data.getvalue(), "t", "ods")


def opendocument(frame: pl.DataFrame, *changes: tuple[str, str]) -> bytes:
    """A frame as an OpenDocument file, of which words are replaced by others."""
    write_sheet(frame, "ods", made := io.BytesIO())
    with ZipFile(made) as parts:
        held = {name: parts.read(name) for name in parts.namelist()}
    text = held["content.xml"].decode()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    held["content.xml"] = text.encode()
    with ZipFile(data := io.BytesIO(), "w") as parts:
        for name, part in held.items():
            parts.writestr(name, part)
    return data.getvalue()


COMMENT = "<office:annotation><text:p>this is Ada</text:p></office:annotation>"


@pytest.mark.parametrize(
    "cell",
    [f"{COMMENT}<text:p>flu</text:p>", f"<text:p>f{COMMENT}<text:span>lu</text:span></text:p>"],
)
def test_comments_of_open_documents_are_no_cells(cell: str) -> None:
    """Tests that a comment reaches no table, and that a release which has one is told."""
    pytest.importorskip("odf")
    frame = pl.DataFrame({"a": ["x", "y"], "ill": ["flu", "gout"]})
    found = read_sheet(opendocument(frame, ("<text:p>flu</text:p>", cell)), "t", "ods")
    assert found.native().equals(frame)
    assert found.looks().beside == "annotation"


def test_texts_of_open_documents_without_a_kind() -> None:
    """Tests cells of programs that do not say which are texts, and their looks."""
    pytest.importorskip("odf")
    frame = pl.DataFrame({"a": ["x", "x"], "b": ["u", "v"]})
    plain = (' office:value-type="string"', "")
    found = read_sheet(opendocument(frame, plain), "t", "ods")
    assert found.native().equals(frame)
    assert not found.looks().columns
    data = opendocument(
        frame, plain, ("<text:p>u", '<text:p text:style-name="b">x'), ("<text:p>v", "<text:p>x")
    )
    assert read_sheet(data, "t", "ods").looks().columns == {1}


@pytest.mark.parametrize("form", ["xlsx", "ods"])
def test_a_full_disk_leaves_nothing_open(form):
    """Tests that no half archive complains when it goes, which warnings as errors would show."""

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_sheet(pl.DataFrame({"a": ["x"] * 200}), form, Full())
    gc.collect()


def test_a_workbook_for_a_column_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that it is refused before the search, and that a column left out needs no name."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a,,c\n1,2,3\n1,2,3\n", encoding="utf-8")
    asked = ["anonymize", "in.csv", "-o", "out.xlsx", "-k", "2", "-q"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 2
    assert "out.xlsx: columns of a workbook need names, and one here has none" in done.stderr
    assert CliRunner().invoke(cli, [*asked, "--id", ""]).exit_code == 0


ODD = {
    "zoned": pl.Series([datetime(2024, 1, 2, 3, 4)]).dt.replace_time_zone("Europe/Berlin"),
    "fine": pl.Series([datetime(2024, 1, 2, 3, 4, 5, 6)]),
    "finer": pl.Series([1_704_103_200_000_000_001]).cast(pl.Datetime("ns")),
    "early": pl.Series([datetime(1850, 1, 2, 3, 4)]),
    "span": pl.Series([timedelta(hours=30)]),
    "back": pl.Series([timedelta(hours=-30)]),
    "clock": pl.Series([time(8, 30)]),
    "fee": pl.Series([Decimal("12.50")]),
    "long": pl.Series([Decimal("1234567890123456789.5")]),
    "nan": pl.Series([float("nan")]),
    "inf": pl.Series([float("-inf")]),
    "wide": pl.Series([2**70], dtype=pl.Int128),
}


@pytest.mark.parametrize("form", FORMS)
def test_types_that_sheets_lack_are_texts(tmp_path: Path, form: str) -> None:
    """Tests that a release of each is written, and says what one in CSV says."""
    frame = pl.DataFrame({"q": ["x", "x"], **{name: [*cells] * 2 for name, cells in ODD.items()}})
    frame = frame.with_columns(pl.col(name).cast(cells.dtype) for name, cells in ODD.items())
    frame.write_parquet(tmp_path / "t.parquet")
    for data in (frame, tmp_path / "t.parquet"):
        release = ic.anonymize(data, 2, qi=["q"], keep=[*ODD])
        release.write(tmp_path / f"o.{form}")
        found = texts(read(tmp_path / f"o.{form}")).drop("fee")
        assert found.equals(texts(release.table).drop("fee"))
    assert read(tmp_path / f"o.{form}").native()["fee"].to_list() == [12.5] * 2


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (b"x", "column 'a' is of type Binary"),
        ([1], "column 'a' is of type List"),
        ("x\r\ny", "column 'a' has control characters, or line ends with a carriage return"),
        ("x" * 32_768, "column 'a' has a text of more than 32,767 characters"),
        ("", "column 'a' has empty texts"),
    ],
)
def test_what_a_sheet_cannot_hold_is_said_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: Any, words: str
) -> None:
    """Tests cells without a form in a workbook of Excel's."""
    pl.DataFrame({"q": ["x", "x"], "a": [cell] * 2}).write_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("incrowd._api.release_of", None)
    asked = ["anonymize", str(tmp_path / "t.parquet"), "-k", "2", "--qi", "q", "--keep", "a"]
    done = CliRunner().invoke(cli, [*asked, "-o", str(tmp_path / "o.xlsx")])
    assert done.exit_code == 2 and f"o.xlsx: {words}" in done.stderr


def test_an_excel_file_keeps_formats_and_kinds(tmp_path: Path) -> None:
    """Tests numbers and dates beside stars; no format that one cell of a column alone has."""
    rows = [["age", "born", "ok", "part", "mixed", "odd"]]
    day = datetime(1990, 3, 1)
    rows += [[30 + i // 2, day, i < 2, 0.5, 1, 2] for i in range(4)]
    rows += [[50, datetime(1950, 1, 1), None, 0.25, 1, 2], [51, day, None, 0.25, 1, 2]]
    shown = {f"{c}{r}": f for c, f in (("B", "dd/mm/yyyy"), ("D", "0%")) for r in range(2, 8)}
    odd = {f"F{r}": '[=2]"Ada Lovelace";0' for r in range(2, 8)}
    path = tmp_path / "t.xlsx"
    path.write_bytes(workbook(rows, E3="0.00", **shown, **odd))
    release = ic.anonymize(path, 2, qi=["age", "born", "ok"], keep=["part", "mixed", "odd"])
    release.write(tmp_path / "o.xlsx")
    sheet: Any = openpyxl.load_workbook(tmp_path / "o.xlsx").active
    cells = [[cell for cell in row if cell.value not in (None, "*")] for row in sheet["A2:F7"]]
    kinds = {(c.column_letter, type(c.value), c.number_format) for row in cells for c in row}
    assert kinds == {
        ("A", int, "General"),
        ("B", datetime, "dd/mm/yyyy"),
        ("C", bool, "General"),
        ("D", float, "0%"),
        ("E", int, "General"),
        ("F", int, "General"),
    }
    assert sheet.column_dimensions["B"].width > len("1990-03-01")
    assert texts(read(tmp_path / "o.xlsx")).equals(texts(release.table))


def test_texts_become_what_their_column_held() -> None:
    """Tests that only a text written as the value is becomes it: others read otherwise."""
    assert as_before(["34", "034", "3*", "3.5", "1e3", "*", None, str(2**60)], pl.Int64()) == [
        *(34, "034", "3*", 3.5, "1e3", "*", None, str(2**60))
    ]
    assert as_before(["34", "34.0", "nan"], pl.Float64()) == [34, "34.0", "nan"]
    day, moment = "2024-01-02", "2024-01-02 03:04:05"
    assert as_before([day, "2024", "20240102"], pl.Date()) == [date(2024, 1, 2), "2024", "20240102"]
    found = as_before([moment, day], pl.Datetime("us"))
    assert found == [datetime(2024, 1, 2, 3, 4, 5), datetime(2024, 1, 2)]
    assert as_before(["08:30:00", "08:30"], pl.Time()) == [time(8, 30), "08:30"]
    assert as_before(["True", "TRUE"], pl.Boolean()) == [True, "TRUE"]


def test_a_table_of_a_database_becomes_a_workbook(tmp_path: Path) -> None:
    """Tests names of columns that are no plain texts."""
    pytest.importorskip("sqlalchemy")
    address = f"sqlite:///{tmp_path}/t.db/people"
    write(from_native(pl.DataFrame({"q": [1, 1, 2, 2], "s": ["u", "v"] * 2})), address)
    asked = ["anonymize", address, "-k", "2", "--qi", "q", "--sensitive", "s", "-q"]
    done = CliRunner().invoke(cli, [*asked, "-o", str(tmp_path / "o.xlsx")])
    assert done.exit_code == 0, done.output
    assert sorted(read(tmp_path / "o.xlsx").native()["q"]) == [1, 1, 2, 2]
