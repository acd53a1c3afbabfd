"""Tests that ``verify`` without a proof says no where equal cells of a release look different."""

import sqlite3
import warnings
from contextlib import closing
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import incrowd as ic
from forged import forged
from incrowd.checker.both import hash_at
from incrowd.policy import Policy
from incrowd.published.verification import verify_release
from incrowd.tables.files import read
from incrowd.tables.looks import PICTURE

ORIGINAL = "name,age,ill\nAda,34,flu\nBen,35,flu\nCy,36,cold\nDi,37,cold\n"
HEAD = "age,ill\n"
ASKED = {"k": 2, "id": "name", "sensitive": "ill"}
FINE = {
    "as it is": HEAD + "*,flu\n*,flu\n*,cold\n*,cold\n",
    "all in quotes": '"age","ill"\n"*","flu"\n"*","flu"\n"*","cold"\n"*","cold"\n',
    "a column in quotes": HEAD + '"*",flu\n"*",flu\n"*",cold\n"*",cold\n',
    "no end of the last line": HEAD + "*,flu\n*,flu\n*,cold\n*,cold",
    "ends of two bytes": (HEAD + "*,flu\n*,flu\n*,cold\n*,cold\n").replace("\n", "\r\n"),
}
APART = {
    "a quasi-identifier in quotes": HEAD + '"*",flu\n*,flu\n"*",cold\n*,cold\n',
    "a sensitive cell in quotes": HEAD + '*,flu\n*,"flu"\n*,cold\n*,cold\n',
    "blank lines at the end": HEAD + "*,flu\n*,flu\n*,cold\n*,cold\n\n\n",
    "two ends of lines": HEAD + "*,flu\r\n*,flu\n*,cold\r\n*,cold\n",
}


@pytest.mark.parametrize("name", [*FINE, *APART])
def test_text(name: str, tmp_path: Path) -> None:
    """Tests text that reads the same, and is written in two ways or one."""
    paths = tmp_path / "release.csv", tmp_path / "original.csv"
    paths[0].write_bytes((FINE | APART)[name].encode())
    paths[1].write_bytes(ORIGINAL.encode())
    answer = ic.verify(*paths, **ASKED)
    assert answer.lawful == (name in FINE), answer.reasons
    assert name in FINE or len(answer.reasons) == 1


@pytest.mark.parametrize("form", ["parquet", "frame"])
@pytest.mark.parametrize("kept", [False, True])
def test_zeros(form: str, kept: bool, tmp_path: Path) -> None:
    """Tests −0.0 and 0.0: two rows of a class, unless they are the original's own and kept."""
    whole = pl.DataFrame({"name": list("abcd"), "age": [1] * 4, "size": [0.0, 0.0, 1.5, 1.5]})
    own = whole.with_columns(size=pl.Series([0.0, -0.0, 1.5, 1.5]))
    asked = {"k": 2, "id": "name", **({"keep": "size"} if kept else {})}
    told = {}
    for name, original in (("other", whole), ("own", own)):
        tables = own.drop("name"), original
        if form == "parquet":
            paths = tmp_path / f"{name}.parquet", tmp_path / f"{name} of.parquet"
            for table, path in zip(tables, paths, strict=True):
                table.write_parquet(path)
            tables = paths
        told[name] = ic.verify(*tables, **asked).lawful
    assert told == {"other": False, "own": kept}


NESTED = {
    "flat": lambda zero: zero,
    "lists": lambda zero: [zero],
    "structs": lambda zero: {"a": [zero]},
}


@pytest.mark.parametrize("kind", NESTED)
def test_zeros_of_kept_columns_stay_with_their_rows(kind: str, tmp_path: Path) -> None:
    """Tests both zeros in a kept column: rows may move, signs may not."""
    of = NESTED[kind]
    numbers = {"age": [1] * 8, "row": [0, 1] * 4}
    signs = [0.0, -0.0] * 4
    whole = pl.DataFrame(numbers | {"size": [of(zero) for zero in signs]})
    whole.write_parquet(tmp_path / "in.parquet")
    asked = {"k": 2, "keep": ["row", "size"]}
    turned = whole[[3, 0, 5, 2, 1, 4, 7, 6]]
    dealt = turned.with_columns(size=pl.Series([of(zero) for zero in signs]))
    for name, table, fine in (("turned", turned, True), ("dealt", dealt, False)):
        table.write_parquet(tmp_path / f"{name}.parquet")
        answer = ic.verify(tmp_path / f"{name}.parquet", tmp_path / "in.parquet", **asked)
        assert answer.lawful == fine, name
    plain = whole.with_columns(size=pl.Series([of(0.0)] * 8))
    plain.write_parquet(tmp_path / "in.parquet")
    assert not ic.verify(tmp_path / "turned.parquet", tmp_path / "in.parquet", **asked)


@pytest.mark.parametrize("form", ["xlsx", "sqlite"])
def test_a_number_and_a_text_that_read_alike(form: str, tmp_path: Path) -> None:
    """Tests files whose cells are of any kind: by a number among texts a row is told apart."""

    def written(name: str, cells: list[Any]) -> Any:
        path = tmp_path / f"{name}.{form}"
        rows = list(zip(cells, "abcd", strict=True))
        if form == "sqlite":
            with closing(sqlite3.connect(path)) as base, base:
                base.execute("create table t (age, ill)")
                base.executemany("insert into t values (?, ?)", rows)
            return read(f"sqlite:///{path}", table="t")
        book = pytest.importorskip("openpyxl").Workbook()
        for row in (("age", "ill"), *rows):
            book.active.append(row)
        for (cell,) in book.active.iter_rows(min_row=2, max_col=1):
            cell.number_format = "00" if cell.value == 7 else "General"
        book.save(path)
        return read(path)

    pytest.importorskip("sqlalchemy" if form == "sqlite" else "openpyxl")
    policy = Policy(k=4, sensitive=("ill",))
    for number, text in ((34, "34"), (7, "07" if form == "xlsx" else "7")):
        original = written(f"original {number}", [text] * 4)
        for name, cells in {"texts": [text] * 4, "numbers": [number] * 4}.items():
            assert verify_release(original, written(f"{name} {number}", cells), policy).lawful
        mixed = verify_release(original, written(f"mixed {number}", [text, number] * 2), policy)
        assert len(mixed.reasons) == 1
        assert "two ways" in mixed.reasons[0]


@pytest.mark.parametrize("form", ["sav", "dta"])
def test_zeros_of_statistics_packages(form: str, tmp_path: Path) -> None:
    library = pytest.importorskip("pyreadstat")
    write = {"sav": library.write_sav, "dta": library.write_dta}[form]
    paths = [tmp_path / f"{name}.{form}" for name in ("original", "plain", "signs")]
    for path, zeros in zip(paths, ([0.0] * 4, [0.0] * 4, [0.0, -0.0, 0.0, 0.0]), strict=True):
        write(pd.DataFrame({"age": zeros, "ill": list("abcd")}), str(path))
    asked = {"k": 4, "sensitive": "ill"}
    assert ic.verify(paths[1], paths[0], **asked)
    assert not ic.verify(paths[2], paths[0], **asked)


@pytest.mark.parametrize(
    ("cells", "fine"), [("'=a '=a '=a '=a", True), ("'=a =a '=a =a", False), ("=a =a =a =a", False)]
)
@pytest.mark.parametrize("column", ["age", "ill"])
def test_apostrophes_of_some_rows_alone(
    cells: str, fine: bool, column: str, tmp_path: Path
) -> None:
    """Tests that a spreadsheet-safe release has its apostrophes in all rows alike."""
    other = next(name for name in ("age", "ill") if name != column)
    for name, column_cells in (("original", ["=a"] * 4), ("release", cells.split())):
        frame = pl.DataFrame({column: column_cells, other: ["x"] * 4}).select("age", "ill")
        frame.write_csv(tmp_path / f"{name}.csv")
    asked = {"k": 4, "sensitive": "ill", "spreadsheet_safe": True}
    answer = ic.verify(tmp_path / "release.csv", tmp_path / "original.csv", **asked)
    assert answer.lawful == fine
    assert fine or "apostrophe" in answer.reasons[0]


def bold(sheet: Any) -> None:
    """Make some cells of a column bold that read alike."""
    font = pytest.importorskip("openpyxl").styles.Font(bold=True)
    sheet["A2"].font = sheet["A3"].font = font


def in_part_bold(sheet: Any) -> None:
    """Make a part of a text bold."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    sheet["A2"].value = CellRichText("3", TextBlock(InlineFont(b=True), "0-39"))


LOOKS = {
    "plain": (lambda sheet: None, ""),
    "bold": (bold, "'age': equal cells"),
    "in part bold": (in_part_bold, "'age': equal cells"),
    "format": (lambda sheet: setattr(sheet["B2"], "number_format", "0.00"), "'size': equal cells"),
    "nothing": (lambda sheet: setattr(sheet["C3"], "number_format", "0.00"), "'none': equal cells"),
    "below": (lambda sheet: setattr(sheet["C9"], "number_format", "0.00"), ""),
    "height": (lambda sheet: setattr(sheet.row_dimensions[3], "height", 30), "rows of the sheet"),
    "remark": (lambda sheet: setattr(sheet["A2"], "comment", remark()), "more than its table: xl/"),
    "choices": (lambda sheet: sheet.add_data_validation(choices()), "its table: dataValidations"),
    "title": (lambda sheet: setattr(sheet.parent.properties, "title", "Ada"), "table: its title"),
    "words": (
        lambda sheet: setattr(sheet.parent.properties, "keywords", "34"),
        "table: its keywords",
    ),
    "maker": (lambda sheet: setattr(sheet.parent.properties, "creator", "Ada"), ""),
    "filter": (lambda sheet: setattr(sheet.auto_filter, "ref", "A1:D5"), ""),
    "print": (lambda sheet: setattr(sheet, "print_title_rows", "1:1"), ""),
    "names": (lambda sheet: sheet.parent.defined_names.add(defined()), "its table: names of"),
    "sheets": (lambda sheet: sheet.parent.create_sheet("raw"), "more than its table: other sheets"),
}


def remark() -> Any:
    """A comment."""
    return pytest.importorskip("openpyxl").comments.Comment("it is Ada", "me")


def choices() -> Any:
    """What may be chosen in some cells."""
    from openpyxl.worksheet.datavalidation import DataValidation

    return DataValidation("list", formula1='"34,36,38"')


def defined() -> Any:
    """A name that stands for values."""
    from openpyxl.workbook.defined_name import DefinedName

    return DefinedName("ages", attr_text="{34,36,38}")


@pytest.mark.parametrize("kind", LOOKS)
def test_rows_of_a_workbook_look_alike(kind: str, tmp_path: Path) -> None:
    """Tests formats, colours and heights of some rows alone, and what stands beside the table."""
    library = pytest.importorskip("openpyxl")
    book = library.Workbook()
    for row in (("age", "size", "none", "ill"), *(("30-39", 1.5, None, ill) for ill in "abab")):
        book.active.append(row)
    book.save(tmp_path / "original.xlsx")
    change, words = LOOKS[kind]
    change(book.active)
    if kind == "sheets":
        book.worksheets[1].sheet_state = "hidden"
    book.save(tmp_path / "release.xlsx")
    asked = {"k": 4, "sensitive": "ill"}
    answer = ic.verify(tmp_path / "release.xlsx", tmp_path / "original.xlsx", **asked)
    assert answer.lawful == (not words)
    assert words in " ".join(answer.reasons)


READ = '<t>30-39</t><rPh sb="0" eb="1"><t>34</t></rPh>'


def appended(data: bytes, name: str) -> bytes:
    """Return an archive at whose end a part was written again, as programs do in place."""
    out = BytesIO(data)
    with ZipFile(out, "a") as parts, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts.writestr(name, parts.read(name))
    return out.getvalue()


def forgotten(data: bytes, name: str) -> bytes:
    """Return the same with the earlier of both no longer named at its end."""
    out = BytesIO(appended(data, name))
    with ZipFile(out, "a") as parts:
        earlier = next(part for part in parts.filelist if part.filename == name)
        parts.filelist.remove(earlier)
        parts._didModify = True  # type: ignore[attr-defined]
    return out.getvalue()


def commented(data: bytes, name: str) -> bytes:
    """Return the archive with a comment."""
    out = BytesIO(data)
    with ZipFile(out, "a") as parts:
        parts.comment = b"Ada is 34"
    return out.getvalue()


def encrypted(data: bytes, name: str) -> bytes:
    """Return an archive in which a part more is said to be encrypted."""
    out = BytesIO(data)
    with ZipFile(out, "a") as parts:
        parts.writestr("docProps/more.xml", "34")
    packed = out.getvalue()
    at = packed.rindex(b"PK\1\2") + 8
    return packed[:at] + bytes([packed[at] | 1]) + packed[at + 1 :]


def changed(old: str, new: str, part: str, encoding: str = "utf-8") -> Any:
    """Return what replaces a text in a part of an archive."""

    def change(data: bytes, name: str) -> bytes:
        out = BytesIO()
        with ZipFile(BytesIO(data)) as parts, ZipFile(out, "w") as others:
            for one in parts.namelist():
                held = parts.read(one)
                if one == part:
                    assert old in held.decode()
                    held = held.decode().replace(old, new).encode(encoding)
                others.writestr(one, held)
        return out.getvalue()

    return change


def streamed(data: bytes, name: str) -> bytes:
    """Return an archive as it is written into a pipe: sizes stand behind the parts."""
    out = BytesIO()
    pipe = SimpleNamespace(write=out.write, flush=out.flush)
    with ZipFile(BytesIO(data)) as parts, ZipFile(pipe, "w", ZIP_DEFLATED) as others:  # type: ignore[call-overload]
        for one in parts.namelist():
            others.writestr(one, parts.read(one))
    return out.getvalue()


BOOK, SHEET = "xl/workbook.xml", "xl/worksheets/sheet1.xml"
CORE = "docProps/core.xml"
PACKED = {
    "nothing": (lambda data, name: data, ""),
    "streamed": (streamed, ""),
    "a part twice": (appended, "a part that is there twice"),
    "an earlier part": (forgotten, "bytes that are of none of its parts"),
    "encrypted": (encrypted, "a part that is encrypted, or packed as workbooks are not"),
    "a comment": (commented, "a comment"),
    "bytes behind": (lambda data, name: data + b"Ada is 34", "bytes that are of none of its parts"),
    "bytes before": (lambda data, name: b"PK\3\4 34" + data, "bytes that are of none of its parts"),
    "another encoding": (changed("30-39", "30-39", SHEET, "utf-16"), "XML that is not in UTF-8"),
    "its other half": (changed("30-39", "30-39", SHEET, "utf-16-le"), "XML that is not in UTF-8"),
    "a title as it stands": (
        changed(
            "</cp:coreProperties>", "<dc:title><![CDATA[34]]></dc:title></cp:coreProperties>", CORE
        ),
        "its title",
    ),
    "values of Excel's names": (
        changed(
            "</sheets>",
            '</sheets><definedNames><definedName name="_xlnm.Print_Area">{34,36}</definedName>'
            "</definedNames>",
            BOOK,
        ),
        "names of values",
    ),
    "a remark": (changed("</sheets>", "</sheets><!-- Ada is 34 -->", BOOK), "remarks in its XML"),
    "an instruction": (changed("</sheets>", "</sheets><?old 34?>", BOOK), "remarks in its XML"),
    "two values of a cell": (changed("</is>", "</is><v>34</v>", SHEET), "v"),
}


@pytest.mark.parametrize("kind", PACKED)
def test_what_an_archive_holds_beside_its_parts(kind: str, tmp_path: Path) -> None:
    """Tests parts that a program left in a workbook: no reader shows them."""
    change, words = PACKED[kind]
    pl.DataFrame({"age": ["30-39"] * 4, "ill": list("abab")}).write_csv(tmp_path / "in.csv")
    asked = {"k": 4, "sensitive": "ill"}
    path = tmp_path / "release.xlsx"
    ic.anonymize(read(tmp_path / "in.csv"), **asked).write(path)
    path.write_bytes(change(path.read_bytes(), SHEET))
    answer = ic.verify(path, tmp_path / "in.csv", **asked)
    told = [f"the workbook holds more than its table: {words}"] if words else []
    assert [*answer.reasons] == told


@pytest.mark.parametrize("shared", [False, True])
def test_how_the_texts_of_a_workbook_are_read(shared: bool, tmp_path: Path) -> None:
    """Tests a text that was written over: how it is pronounced is that of the one before."""
    pl.DataFrame({"age": ["30-39"] * 4, "ill": list("abab")}).write_csv(tmp_path / "in.csv")
    asked, path = {"k": 4, "sensitive": "ill"}, tmp_path / "release.xlsx"
    ic.anonymize(read(tmp_path / "in.csv"), **asked).write(path)
    own = "<is><t>30-39</t></is>"
    if shared:
        shown = changed(f't="inlineStr">{own}', 't="s"><v>0</v>', SHEET)(path.read_bytes(), "")
        path.write_bytes(with_shared(shown, f"<si>{READ}</si>"))
    else:
        path.write_bytes(changed(own, f"<is>{READ}</is>", SHEET)(path.read_bytes(), ""))
    answer = ic.verify(path, tmp_path / "in.csv", **asked)
    assert answer.reasons == ("the workbook holds more than its table: how texts are read aloud",)


def with_shared(data: bytes, texts: str) -> bytes:
    """Return a workbook with texts that cells share."""
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    part = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
    out = BytesIO(changed("</Types>", part, "[Content_Types].xml")(data, ""))
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with ZipFile(out, "a") as parts:
        parts.writestr("xl/sharedStrings.xml", f'<sst xmlns="{space}">{texts}</sst>')
    return out.getvalue()


def test_texts_that_no_cell_of_a_workbook_shows(tmp_path: Path) -> None:
    """Tests texts that a program left in the file: they may be the original's."""
    pl.DataFrame({"age": ["30-39"] * 4, "ill": list("abab")}).write_csv(tmp_path / "in.csv")
    asked = {"k": 4, "sensitive": "ill"}
    ic.anonymize(read(tmp_path / "in.csv"), **asked).write(tmp_path / "release.xlsx")
    assert ic.verify(tmp_path / "release.xlsx", tmp_path / "in.csv", **asked)
    path = tmp_path / "release.xlsx"
    path.write_bytes(with_shared(path.read_bytes(), "<si><t>34</t></si>"))
    answer = ic.verify(tmp_path / "release.xlsx", tmp_path / "in.csv", **asked)
    assert answer.reasons == ("the workbook holds more than its table: texts that no cell shows",)


@pytest.mark.parametrize(
    ("old", "new", "fine"),
    [
        ("", "", True),
        ("<table:table-cell ", '<table:table-cell table:style-name="odd" ', False),
        ("<table:table-row>", '<table:table-row table:style-name="odd">', False),
        (
            "</table:table>",
            '</table:table><table:tracked-changes xmlns:table="'
            'urn:oasis:names:tc:opendocument:xmlns:table:1.0"/>',
            False,
        ),
        ("</table:table>", '</table:table><table:table table:name="raw"></table:table>', False),
        (
            "</table:table>",
            '<calcext:conditional-formats xmlns:calcext="urn:x"><calcext:conditional-format/>'
            "</calcext:conditional-formats></table:table>",
            False,
        ),
        ("</table:table>", "<table:title>34</table:title></table:table>", False),
        ("</table:table>", "<table:named-expressions/></table:table>", True),
        (
            "</table:table>",
            '</table:table><table:named-expressions><table:named-expression table:name="a" '
            'table:expression="{34;36}"/></table:named-expressions>',
            False,
        ),
        (
            "<table:table ",
            "<style:map xmlns:style=\"urn:y\" style:condition='cell-content()=34'/><table:table ",
            False,
        ),
        ("</table:table>", "</table:table><!-- Ada is 34 -->", False),
        (
            "<text:p>a<",
            "<office:annotation><text:p>Ada</text:p></office:annotation><text:p>a<",
            False,
        ),
    ],
)
def test_rows_of_an_opendocument_look_alike(old: str, new: str, fine: bool, tmp_path: Path) -> None:
    """Tests the style of one cell or row, and a second sheet."""
    pytest.importorskip("odf")
    rows = [{"age": "30-39", "size": 1.5, "none": None, "ill": ill} for ill in "abab"]
    pl.DataFrame(rows, schema_overrides={"none": pl.String}).write_csv(tmp_path / "in.csv")
    asked = {"k": 4, "sensitive": "ill"}
    ic.anonymize(read(tmp_path / "in.csv"), **asked).write(tmp_path / "release.ods")
    with ZipFile(tmp_path / "release.ods") as parts:
        held = {name: parts.read(name) for name in parts.namelist()}
    head, mark, tail = held["content.xml"].decode().rpartition(old or "\0")
    held["content.xml"] = (head + (new if mark else "") + tail).encode()
    assert fine or mark
    with ZipFile(tmp_path / "release.ods", "w") as parts:
        for name, data in held.items():
            parts.writestr(name, data)
    found = read(tmp_path / "release.ods", sheet="release")
    assert ic.verify(found, tmp_path / "in.csv", **asked).lawful == fine


def test_what_is_left_open(tmp_path: Path) -> None:
    """Tests a picture of a sheet, and a database that may hold more: the answer says so."""
    pytest.importorskip("odf")
    pytest.importorskip("sqlalchemy")
    pl.DataFrame({"age": ["30-39"] * 4, "ill": list("abab")}).write_csv(tmp_path / "in.csv")
    asked: dict[str, Any] = {"k": 4, "sensitive": "ill"}
    made = ic.anonymize(read(tmp_path / "in.csv"), **asked)
    places = f"sqlite:///{tmp_path / 'a.db'}/release", str(tmp_path / "release.ods")
    told = []
    for place in places:
        made.write(place)
        told.append(ic.verify(place, tmp_path / "in.csv", **asked).facts.get("not_checked"))
    with ZipFile(places[1], "a") as parts:
        parts.writestr("Thumbnails/thumbnail.png", b"a picture of the first rows")
    told.append(ic.verify(places[1], tmp_path / "in.csv", **asked).facts["not_checked"])
    beside = "what the database's file holds beside this table"
    assert told == [[beside], None, [PICTURE]]


def categories(frame: pd.DataFrame, words: list[str]) -> pd.DataFrame:
    """Return the frame with ages of categories."""
    return frame.assign(age=pd.Categorical(frame["age"], categories=words))


def words(cells: list[str], named: list[str]) -> Any:
    """Return cells as a dictionary of pyarrow with these words."""
    return pa.DictionaryArray.from_arrays([named.index(cell) for cell in cells], named)


NOTED = {b"raw": b"Ada,34", b"pandas": b"{}"}
BESIDE = {
    "texts": (lambda frame: pa.Table.from_pandas(frame), ""),
    "categories": (lambda frame: pa.Table.from_pandas(categories(frame, ["*"])), ""),
    "more of them": (
        lambda frame: pa.Table.from_pandas(categories(frame, ["*", "34"])),
        "column 'age': the file holds more values than its cells show",
    ),
    "more of those of a dictionary": (
        lambda frame: pa.table(
            {
                "age": words(["*"] * len(frame), ["*"]),
                "ill": words([*frame["ill"]], [*dict.fromkeys([*frame["ill"], "34"])]),
            }
        ),
        "column 'ill': the file holds more values than its cells show",
    ),
    "a note": (
        lambda frame: pa.Table.from_pandas(frame).replace_schema_metadata(NOTED),
        "the file holds more than its table: 'raw'",
    ),
    "a column's note": (
        lambda frame: pa.Table.from_pandas(frame).cast(
            pa.schema([pa.field("age", pa.string(), True, {"raw": "34"}), ("ill", pa.string())])
        ),
        "the file holds more than its table: 'raw'",
    ),
}


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream"])
@pytest.mark.parametrize("kind", BESIDE)
def test_what_a_file_holds_beside_its_cells(kind: str, form: str, tmp_path: Path) -> None:
    """Tests categories of before that a release has no cell of, and notes beside the schema.

    With a proof as well, its hash set right: then the checker says so.
    """
    make, words = BESIDE[kind]
    path, original = tmp_path / "release.parquet", tmp_path / "in.csv"
    original.write_text(ORIGINAL)
    made = ic.anonymize(original, k=2, id="name", sensitive="ill", seed=1)
    made.write_proven(path, tmp_path / "o.proof", original=original)
    table = make(pl.read_parquet(path).to_pandas())
    if form == "parquet":
        pq.write_table(table, path)
    else:
        opened = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as file, opened(file, table.schema) as writer:
            writer.write_table(table)

    for answer in both_answers(path, original, tmp_path / "o.proof"):
        assert answer.lawful == (not words), answer.reasons
        assert not words or answer.reasons[0] in words


def both_answers(path: Path, original: Path, proof: Path) -> list[Any]:
    """Ask without a proof, and with it, its hash of the release set right."""

    def hashed(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
        facts["release"] = {"sha256": hash_at(path)}
        return rows

    found = ic.verify(path, original, forged(proof, hashed))
    return [ic.verify(path, original, **ASKED), found]


HELD = {"age": ["*"] * 4, "ill": ["flu", "flu", "cold", "cold"]}
ILLS = words(["flu"] * 2, ["flu", "34"]), words(["cold"] * 2, ["cold"])


def unnamed(path: Path) -> None:
    """Write categories to Parquet whose schema does not say that they are any."""
    table = pa.table({"age": words(HELD["age"], ["*", "34"]), "ill": HELD["ill"]})
    pq.write_table(table, path, store_schema=False)


def in_groups(path: Path) -> None:
    """Write Parquet in two groups of rows, the first with a word that no cell shows."""
    pieces = [pa.table({"age": HELD["age"][:2], "ill": part}) for part in ILLS]
    with pq.ParquetWriter(path, pieces[0].schema) as writer:
        for piece in pieces:
            writer.write_table(piece)


def in_place(path: Path) -> None:
    """Write an Arrow stream in which one dictionary stands in the place of another."""
    pieces = [pa.record_batch({"age": HELD["age"][:2], "ill": part}) for part in ILLS]
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_stream(file, pieces[0].schema) as writer,
    ):
        for piece in pieces:
            writer.write_batch(piece)


@pytest.mark.parametrize("write", [unnamed, in_groups, in_place])
def test_words_that_no_cell_shows(write: Any, tmp_path: Path) -> None:
    """Tests words of dictionaries of columns that are read as text, and those of some rows alone.

    The cells are those of the release, which passes where no word is idle.
    """
    path, original = tmp_path / "release.parquet", tmp_path / "in.csv"
    original.write_text(ORIGINAL)
    made = ic.anonymize(original, k=2, id="name", sensitive="ill", seed=1, order="keep")
    made.write_proven(path, tmp_path / "o.proof", original=original)
    assert pl.read_parquet(path).to_dict(as_series=False) == HELD
    assert all(both_answers(path, original, tmp_path / "o.proof"))
    write(path)
    for answer in both_answers(path, original, tmp_path / "o.proof"):
        assert "the file holds more values than its cells show" in answer.reasons[0]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize(("words", "fine"), [("*", True), ("*,90", True), ("*,34", False)])
def test_categories_that_a_type_lists(words: str, fine: bool, form: str, tmp_path: Path) -> None:
    """Tests fixed categories: those that the original has no cell of tell nothing.

    With a proof as well.
    """
    frame = pl.DataFrame({"age": ["*"] * 4, "ill": ["flu", "flu", "cold", "cold"]})
    frame = frame.with_columns(pl.col("age").cast(pl.Enum(words.split(","))))
    path, original = tmp_path / f"release.{form}", tmp_path / "in.csv"
    original.write_text(ORIGINAL)
    made = ic.anonymize(original, k=2, id="name", sensitive="ill", seed=1, order="keep")
    made.write_proven(path, tmp_path / "o.proof", original=original)
    (frame.write_parquet if form == "parquet" else frame.write_ipc)(path)
    for answer in both_answers(path, original, tmp_path / "o.proof"):
        assert answer.lawful == fine
        assert fine or "more values than" in answer.reasons[0]
