"""Delimited text: what is read, what is refused, what comes back byte for byte."""

import io
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import InputError
from incrowd.kernels import interpreted
from incrowd.tables import Edit, Replacement, csv_table, texts
from incrowd.tables.csv_table import CsvTable, read_csv
from tables import csv_bytes, parsed, tables


@pytest.fixture(
    scope="module", params=[csv_table.FEW, 0], ids=["interpreted", "compiled"], autouse=True
)
def kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """All tests here, as small files are read and as large ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_table, "FEW", request.param)
        patch.setattr(interpreted, "ENOUGH", math.inf)
        yield


def values(table: CsvTable) -> dict[str, list[str | None]]:
    """All cells by column."""
    frame = texts(table)
    return {name: frame[name].to_list() for name in table.columns}


def written(table: CsvTable, edit: Edit | None = None) -> bytes:
    """The bytes of a release."""
    return b"".join(table.edited(edit or Edit(table.columns)).pieces())


READ = [
    # bytes, columns, why
    (b"a,b\n1,2\n", {"a": ["1"], "b": ["2"]}, "plain"),
    (b"a,b\n1,2", {"a": ["1"], "b": ["2"]}, "no line break at the end"),
    (b"a,b\r\n1,2\r\n", {"a": ["1"], "b": ["2"]}, "CRLF"),
    (b"a,b\r1,2\r", {"a": ["1"], "b": ["2"]}, "lone CR"),
    (b"a,b\n01234,1.0\n", {"a": ["01234"], "b": ["1.0"]}, "text stays text"),
    (b'a,b\n"x,y","p""q"\n', {"a": ["x,y"], "b": ['p"q']}, "quotes"),
    (b'a,b\n"x\ny",2\n', {"a": ["x\ny"], "b": ["2"]}, "line break in a cell"),
    (b'a,b\n5" pipe,x"y\n', {"a": ['5" pipe'], "b": ['x"y']}, "quote inside plain text"),
    (b'a,b\n"1",1\n1,"1"\n', {"a": ["1", "1"], "b": ["1", "1"]}, "quoted and plain are one value"),
    (b'a,b\n,""\n', {"a": [None], "b": [""]}, "missing and empty text differ"),
    (b"a,b\n1,\n2,", {"a": ["1", "2"], "b": [None, None]}, "delimiter as the last byte"),
    (b"a\n\nx\n\n", {"a": [None, "x", None]}, "one column: a blank line is a missing cell"),
    (b"a,b\n1,2\n\n\n", {"a": ["1"], "b": ["2"]}, "blank lines at the end"),
    (b"\xef\xbb\xbfa,b\n1,2\n", {"a": ["1"], "b": ["2"]}, "byte order mark"),
    (b'\xef\xbb\xbf"a",b\n1,2\n', {"a": ["1"], "b": ["2"]}, "byte order mark before a quote"),
    (b"a;b\n1,5;2\n", {"a": ["1,5"], "b": ["2"]}, "semicolon, decimal commas"),
    (b"a\tb\n1\t2\n", {"a": ["1"], "b": ["2"]}, "tab"),
    (b"a|b\n1|2\n", {"a": ["1"], "b": ["2"]}, "bar"),
    (b"a b\nx y\n", {"a b": ["x y"]}, "one column"),
    (b"a,b\n", {"a": [], "b": []}, "a header alone"),
    (b"a,b\n1,2\r\n", {"a": ["1"], "b": ["2"]}, "mixed line endings"),
    (b'"",k\n1,2\n', {"": ["1"], "k": ["2"]}, "an empty name"),
    (b",k\n1,2\n", {"": ["1"], "k": ["2"]}, "an empty name without quotes"),
    ('"a,b","c\nd",🙂\n1,2,3\n'.encode(), {"a,b": ["1"], "c\nd": ["2"], "🙂": ["3"]}, "names"),
]


@pytest.mark.parametrize(("data", "expected", "why"), READ, ids=[case[2] for case in READ])
def test_reads(data, expected, why):
    """Tests that cells come out as a person would read them."""
    assert values(read_csv(data, "t.csv")) == expected, why


REFUSED = [
    # bytes, part of the message, why
    (b"", "empty", "an empty file"),
    (b"\xef\xbb\xbf", "empty", "a byte order mark alone"),
    (b"\na,b\n", "line 1 is blank", "a blank first line"),
    (b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, the header has 2", "too many fields"),
    (b"a,b\n1,2\n1\n", "line 3 has 1 field", "too few fields"),
    (b'a,b\n"x\ny",2\n1\n', "line 4 has 1 field", "lines counted inside cells"),
    (b"a,b\n1,2\n\n3,4\n", "line 3 is blank", "a blank line between"),
    (b'a,b\n1,2\n"x,2\n3,4\n', "line 3 opens a quoted field that never ends", "open quote"),
    (b'a,b\n"x"y,2\n', "line 2 has text behind the closing quote", "text behind a quote"),
    (b"a,b,a\n1,2,3\n", "'a' more than once", "a name twice"),
    (b"a,b\nx,\xe9\n", "line 2, character 3 (byte 6, counted from 0)", "latin-1"),
    (b"a,b\nx,\xc3", "line 2, character 3 (byte 6", "cut inside a character"),
]


@pytest.mark.parametrize(("data", "part", "why"), REFUSED, ids=[case[2] for case in REFUSED])
def test_refuses(data, part, why):
    """Tests that a broken file is refused with the place of the trouble."""
    with pytest.raises(InputError) as caught:
        read_csv(data, "t.csv")
    assert part in str(caught.value), why
    assert str(caught.value).startswith("t.csv: ")


def test_names_the_byte_far_into_a_file():
    """Tests that the position is right when the file is decoded piece by piece."""
    data = b"a\n" + "é".encode() * ((1 << 21) + 5) + b"\xff\n"
    with pytest.raises(InputError, match=f"byte {len(data) - 2}, "):
        read_csv(data, "t.csv")


def test_offers_an_encoding_and_takes_it():
    """Tests that --encoding latin-1 reads such a file and writes it back alike."""
    data = "naam;plaats\nAndré;Škocjan\n".encode("cp1250")
    with pytest.raises(InputError, match="--encoding latin-1"):
        read_csv(data, "t.csv")
    table = read_csv(data, "t.csv", encoding="cp1250")
    assert values(table) == {"naam": ["André"], "plaats": ["Škocjan"]}
    assert written(table) == data


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "utf-8"])
def test_encodings_round_trip(encoding):
    """Tests that a release is in the encoding of its original, with one byte order mark."""
    text = "a,b\né,1\n" + "x,2\n" * 5
    table = read_csv(text.encode(encoding), "t.csv", encoding=encoding)
    assert written(table).decode(encoding) == text


def test_refuses_an_unknown_encoding():
    """Tests that a codec nobody knows is named."""
    with pytest.raises(InputError, match="unknown encoding 'latin-l'"):
        read_csv(b"a\n1\n", "t.csv", encoding="latin-l")


@pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n", "é"])
def test_refuses_a_delimiter(delimiter):
    """Tests that a delimiter is one ASCII character."""
    with pytest.raises(InputError, match="a delimiter is one ASCII character"):
        read_csv(b"a\n1\n", "t.csv", delimiter)


@pytest.mark.parametrize("delimiter", ["\t", "tab", "\\t"])
def test_takes_a_tab_by_name(delimiter):
    """Tests that a tab can be typed."""
    assert read_csv(b"a\tb\n1\t2\n", "t.csv", delimiter).columns == ("a", "b")


@given(tables(), st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["\n", "\r\n"]))
def test_reads_what_was_written(table, delimiter, newline):
    """Tests that every table survives, missing cells and empty texts told apart."""
    header, rows = table
    data = csv_bytes(header, rows, delimiter, newline)
    read = read_csv(data, "t.csv", delimiter)
    assert read.columns == tuple(header)
    found = values(read)
    assert [[found[name][i] for name in header] for i in range(read.rows)] == rows
    assert written(read) == data


@given(tables(), st.data())
def test_an_edit_changes_what_it_names_alone(table, data):
    """Tests that replaced cells show the label and all others their old bytes."""
    header, rows = table
    read = read_csv(csv_bytes(header, rows), "t.csv", ",")
    kept = data.draw(st.lists(st.sampled_from(header), min_size=1, unique=True))
    kept = [name for name in header if name in kept]
    order = data.draw(st.permutations(range(len(rows))))
    ids = data.draw(st.lists(st.integers(-1, 1), min_size=len(rows), max_size=len(rows)))
    labels = ("*", 'a "b",\n')
    edit = Edit(
        tuple(kept), {kept[0]: Replacement(labels, np.array(ids, np.int32))}, np.array(order)
    )
    expected = [list(kept)]
    for i in order:
        line = [rows[i][header.index(name)] or "" for name in kept]
        line[0] = labels[ids[i]] if ids[i] >= 0 else line[0]
        expected.append(line)
    out = written(read, edit)
    assert parsed(out) == expected
    again = texts(read_csv(out, "out.csv", ","))
    assert again.equals(texts(read.edited(edit)))


def test_quotes_stay_where_they_were():
    """Tests that an unchanged cell keeps its bytes, quoted or not, and the mark its place."""
    data = b'\xef\xbb\xbf"a";b\r\n"1";x\r\n2;"y"\r\n'
    read = read_csv(data, "t.csv")
    assert written(read) == data
    star = Replacement(("*",), np.array([0, -1], np.int32))
    assert written(read, Edit(("a", "b"), {"b": star})) == data.replace(b"x", b"*")


def test_codes_do_not_depend_on_the_order_of_rows():
    """Tests that values are numbered in text order, missing first."""
    column = read_csv(b'a\nb\n\n"a"\n""\nb\n', "t.csv").encode("a")
    assert column.values == (None, "", "a", "b")
    assert column.codes.tolist() == [3, 0, 2, 1, 3]


def test_many_values():
    """Tests that the hash table grows and every value keeps its code."""
    wanted = [f"v{i % 70_000}" for i in range(90_000)]
    column = read_csv(("a\n" + "\n".join(wanted) + "\n").encode(), "t.csv").encode("a")
    assert len(column.values) == 70_000
    assert [column.values[code] for code in column.codes] == wanted


def test_sniffs_by_the_cells_not_by_the_header_alone():
    """Tests that the delimiter that cuts all records alike wins over one that cuts the header."""
    assert read_csv(b"a,x;b,y;c\n1;2;3\n4;5;6\n", "t.csv").columns == ("a,x", "b,y", "c")
    text = 'name;text\n"a";"one, two, three"\n"b";"four, five"\n'
    assert read_csv(text.encode(), "t.csv").columns == ("name", "text")


def test_sniffs_large_files():
    """Tests that a sample that ends inside a record does not mislead."""
    buffer = io.StringIO()
    buffer.write("a;b;c\n")
    for i in range(20_000):
        buffer.write(f"{i};x,y,{i};é\n")
    table = read_csv(buffer.getvalue().encode(), "t.csv")
    assert (table.columns, table.rows) == (("a", "b", "c"), 20_000)


def test_long_records():
    """Tests a record too long for the narrow count of its bytes."""
    long = "x" * 70_000
    data = f"a,b\n1,2\n{long},3\n4,{long}\n".encode()
    table = read_csv(data, "t.csv")
    assert values(table) == {"a": ["1", long, "4"], "b": ["2", "3", long]}
    assert written(table) == data


SPELLED = [
    # bytes, as released, why
    (b'a,b\n1,2\n"1",2\n1,"2"\n"1","2"\n', b"a,b\n" + b'"1","2"\n' * 4, "a tie"),
    (b'a\n1\n"1"\n1\n', b"a\n1\n1\n1\n", "the most frequent"),
    (b'a\n"1"\n"1"\n2\n', None, "one way for each value"),
    (b'a,b\n"x,y",p\nx,"p"\n', b'a,b\n"x,y","p"\nx,"p"\n', "one column of two"),
    (b'a,b\n5" x,1\n"5"" x",1\n', b'a,b\n"5"" x",1\n"5"" x",1\n', "a quote inside"),
    (b'a,b\n,1\n"",1\n', None, "missing and empty text differ"),
    (b'a,b\n"1",\n"2",""\n', None, "all in quotes"),
    (b"a,b\n1,x\ry\n2,z\n", b'a,b\n1,"x\ry"\n2,z\n', "a line end for others inside"),
    (b'a,b\rx,"1\n"\rz,2\r', None, "a line feed within quotes, where lines end otherwise"),
    (b"a,b\r\nx\ry,1\r\nz,2\r\n", b'a,b\r\n"x\ry",1\r\nz,2\r\n', "beside line ends of two bytes"),
]


@pytest.mark.parametrize(("data", "expected", "why"), SPELLED, ids=[case[2] for case in SPELLED])
def test_one_spelling_for_a_value(data, expected, why):
    """Tests that quotes around some cells of a value do not tell rows apart."""
    assert written(read_csv(data, "t.csv")) == (data if expected is None else expected), why


def test_a_label_is_spelled_like_the_value_it_equals():
    """Tests a label that stands in other rows as a value, in quotes there; and rows left out."""
    table = read_csv(b'a\n"1"\n"2"\n"3"\n', "t.csv")
    new = Replacement(("1", "*"), np.array([-1, 0, 1], np.int8))
    assert written(table, Edit(("a",), {"a": new})) == b'a\n"1"\n"1"\n*\n'
    moved = Edit(("a",), {"a": new}, np.array([1, 0]))
    assert written(table, moved) == b'a\n"1"\n"1"\n'


def test_hidden_cells_have_no_say_in_how_a_value_is_spelled():
    """Tests a value whose other spelling stands in cells that are replaced, or in rows left out."""
    for hidden in ("1", '"1"', "2"):
        table = read_csv(f'a,b\n"1",1\n{hidden},1\n{hidden},1\n"2",1\n'.encode(), "t.csv")
        new = Replacement(("*",), np.array([-1, 0, 0, -1], np.int8))
        expected = b'a,b\n"1",1\n*,1\n*,1\n"2",1\n'
        assert written(table, Edit(("a", "b"), {"a": new})) == expected
        assert written(table, Edit(("a",), {}, np.array([0, 3]))) == b'a\n"1"\n"2"\n'


@given(st.lists(st.sampled_from(["1", '"1"', "", '""', "x", '"x"', '5"', '"5"""']), max_size=9))
def test_equal_cells_are_equal_bytes(cells):
    """Tests that bytes are equal exactly where values are, and values stay."""
    table = read_csv(("a,b\n" + "".join(f"{cell},\n" for cell in cells)).encode(), "t.csv")
    lines = written(table).splitlines()[1:]
    assert values(read_csv(written(table), "r.csv")) == values(table)
    assert len(set(lines)) == len(set(values(table)["a"]))


@pytest.mark.parametrize("note", ["sep=;\n", "\ufeffsep=;\r\n", '"sep=;"\n'])
def test_a_note_to_excel_is_no_header(note: str) -> None:
    """Tests a first line that names the delimiter: with two columns it was taken for the names."""
    with pytest.raises(InputError, match="tells Excel the delimiter"):
        read_csv(f"{note}zip;ill\n01067;flu\n".encode(), "t.csv")
    assert read_csv(b"sep=1;b\n1;2\n", "t.csv").columns == ("sep=1", "b")
