"""Tests that hierarchy files are read as people write them, and broken ones are refused."""

from pathlib import Path

import pytest

from incrowd.errors import HierarchyError, LackingError
from incrowd.hierarchy import HierarchyFile, HierarchyRows, Ladder, build_trees
from incrowd.hierarchy.file import nearest
from incrowd.hierarchy.text import sniff

COUNTRIES = "Chile;South;*\nPeru;South;*\nFrance;North;*\n"


def ladder(tmp_path: Path, content: str | bytes, values: list[str | None]) -> Ladder:
    path = tmp_path / "h.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return HierarchyFile(path).build("q", values)


def paths(found: Ladder) -> list[tuple[str | None, ...]]:
    return [found.path(leaf) for leaf in range(len(found.leaves))]


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_marks_and_line_ends(
    tmp_path: Path, delimiter: str, mark: bytes, newline: str
) -> None:
    """Tests every delimiter, with and without byte-order mark, with both line ends."""
    content = COUNTRIES.replace(";", delimiter).replace("\n", newline)
    found = ladder(tmp_path, mark + content.encode(), ["France", "Chile"])
    assert paths(found) == [("Chile", "South", "*"), ("France", "North", "*")]
    assert found.below.tolist() == [[1, 1], [2, 1], [3, 3]]


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("1;[0, 10[;[0, 100[;*\n11;[10, 20[;[0, 100[;*\n", ";"),  # commas inside labels
        ("a,b;c,*\nd,e;f,*\n", ","),  # semicolons inside labels
        ("a|b\nc|d\n", "|"),  # no root written
        ("alone\n", ";"),  # nothing to sniff
    ],
)
def test_the_delimiter_is_sniffed_by_the_roots(content: str, delimiter: str) -> None:
    """Tests that a delimiter that leaves ``*`` alone at the end wins."""
    assert sniff(content) == delimiter


def test_quotes_blank_lines_and_repeated_lines(tmp_path: Path) -> None:
    """Tests what spreadsheets write: quotes, blank lines, lines of delimiters, repeats."""
    content = '"a;1";"x ""y""";*\n\n;;\nb;"x ""y""";*\nb;"x ""y""";*\n'
    found = ladder(tmp_path, content, ["b", "a;1"])
    assert paths(found) == [("a;1", 'x "y"', "*"), ("b", 'x "y"', "*")]
    assert found.domain == 2


def test_a_root_is_added(tmp_path: Path) -> None:
    """Tests files without ``*``: with groups, and with values alone."""
    assert paths(ladder(tmp_path, "a;A\nb;A\nc;C\n", ["a"])) == [("a", "A", "*")]
    assert paths(ladder(tmp_path, "a\nb\n", ["b"])) == [("b", "*")]


def test_early_stars_mean_no_further_group(tmp_path: Path) -> None:
    """Tests that levels stay as written when a line reaches ``*`` early."""
    content = "a;A;X;*\nb;A;X;*\nc;C;*;*\nd;*;*;*\n"
    found = ladder(tmp_path, content, ["a", "c", "d"])
    assert set(paths(found)) == {
        ("a", "A", "X", "*"),
        ("c", "C", "C", "*"),
        ("d", "d", "d", "*"),
    }
    assert found.uneven is None
    by_leaf = dict(zip(found.leaves, found.level.T.tolist(), strict=True))
    assert by_leaf == {"a": [0, 1, 2, 3], "c": [0, 1, 1, 3], "d": [0, 0, 0, 3]}


@pytest.mark.parametrize(
    "content",
    [
        "a;A;X;*\nb;X;*\nc;*\n",  # lines of unequal length
        "a;A;X;*\nb;X;*;;\nc;*;;\n",  # filled up by a spreadsheet
        "a;A;X\nb;X\nc\n",  # the root left out
        "a;A;X;*\nb;X;X;*\nc;c;c;*\n",  # padded by hand, so that X stands on two levels
    ],
)
def test_leaves_at_unequal_depth(tmp_path: Path, content: str) -> None:
    """Tests that shallow leaves are padded, and that only the level cost refuses them."""
    found = ladder(tmp_path, content, ["a", "b", "c"])
    assert set(paths(found)) == {
        ("a", "A", "X", "*"),
        ("b", "b", "X", "*"),
        ("c", "c", "c", "*"),
    }
    source = {"q": HierarchyFile(tmp_path / "h.csv")}
    (tree,), _ = build_trees({"q": ["a", "b", "c"]}, source, "ncp")
    assert tree.cost[:, tree.leaves.index("b")].tolist() == [0, 0, 500000, 1000000]
    with pytest.raises(HierarchyError, match=r"unequal depth.*line [12].*line [12].*'ncp'"):
        build_trees({"q": ["a", "b", "c"]}, source, "level")


def test_missing_values(tmp_path: Path) -> None:
    """Tests that None becomes ``*`` only, unless the file has an empty leaf for it."""
    found = ladder(tmp_path, COUNTRIES, [None, "Peru"])
    assert paths(found) == [("Peru", "South", "*"), (None, None, "*")]
    assert found.domain == 4
    assert found.below.tolist() == [[1, 1], [2, 1], [4, 4]]
    known = COUNTRIES + ";South;*\n"
    assert paths(ladder(tmp_path, known, ["Peru", None])) == [
        ("Peru", "South", "*"),
        (None, "South", "*"),
    ]
    both = ladder(tmp_path, known, ["Peru", None, ""])
    assert paths(both) == [("Peru", "South", "*"), ("", "South", "*"), (None, None, "*")]


BROKEN = [
    ("", "is empty"),
    ("\n \n", "is empty"),
    ("a;A;*\n*;A;*\n", r"h\.csv, line 2: '\*' is the root and cannot be a value"),
    ("a;A;*\n\nb;*;B;*\n", r"line 3: a label stands above '\*', the root"),
    ("a;A;*\nb;;*\n", r"line 2: an empty label at level 1"),
    ("a;A;*\nb;B;*\na;B;*\n", r"line 3: its value has other groups here than in .*line 1"),
    ("a;A;X;*\nb;A;Y;*\n", r"line 2: 'A' has two parents, 'Y' here and 'X' in .*line 1"),
    ("a;A;X;*\nb;B;A;*\n", r"line 2: 'A' has two parents, '\*' here and 'X' in .*line 1"),
    ("a;A;B;*\nb;B;A;*\n", r"line [12]: '[AB]' is its own ancestor"),
    ("a;A;B;A;*\n", r"line 1: 'A' is its own ancestor.*level 1.*level 3"),
    ("a;A;a;*\n", r"line 1: the value of the form 'a' is its own ancestor"),
    ("35;35;*\n36;35;*\n", r"line 2: the label at level 1 is also a value \(.*line 1\)"),
    ("35;30s;*\n40;35;*\n", r"line 2: the label at level 1 .*line 1.*'99'.*rename"),
    ('a;"A;*\nb;B;*\n', r"line \d: not a table with ';'"),
]


@pytest.mark.parametrize(("content", "message"), BROKEN)
def test_broken_files(tmp_path: Path, content: str, message: str) -> None:
    """Tests that each broken file names file and line, and quotes no value of 35 or 36."""
    with pytest.raises(HierarchyError, match=message) as error:
        ladder(tmp_path, content, ["a"])
    assert not any(f"'{value}'" in str(error.value) for value in (35, 36, 40))


def test_a_value_that_the_file_lacks(tmp_path: Path) -> None:
    """Tests that the message names column, how many, and who names them; and no value."""
    message = r"column 'q': 1 value is not in the hierarchy .*h\.csv; incrowd hierarchy check.* it$"
    with pytest.raises(LackingError, match=message) as error:
        ladder(tmp_path, COUNTRIES, ["Chile", "Pero"])
    assert "Per" not in str(error.value)
    message = r"2 values are not in the hierarchy .*h\.csv; .* names them$"
    with pytest.raises(LackingError, match=message) as error:
        ladder(tmp_path, COUNTRIES, ["zz", "Ghana"])
    assert (error.value.column, error.value.absent) == ("q", ("Ghana", "zz"))


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("9132", "did you mean '09132'"),  # a spreadsheet ate the zero
        (" 10001", "did you mean '10001'"),
        ("99999999", "nearest: '99998'"),
    ],
)
def test_the_nearest_leaf_of_a_code(value: str, hint: str) -> None:
    """Tests hints among many codes."""
    assert hint in nearest(value, [f"{code:05}" for code in (*range(0, 99999, 2), 10001)])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Tests a wrong name, a folder and a wrong encoding."""
    (tmp_path / "zip_codes.csv").write_text("a;*\n")
    with pytest.raises(HierarchyError, match=r"did you mean 'zip_codes\.csv'"):
        HierarchyFile(tmp_path / "zip_code.csv").build("q", ["a"])
    with pytest.raises(HierarchyError, match="there is no folder"):
        HierarchyFile(tmp_path / "nowhere" / "x.csv").build("q", ["a"])
    with pytest.raises(HierarchyError, match="is a folder"):
        HierarchyFile(tmp_path).build("q", ["a"])
    with pytest.raises(HierarchyError, match="line 2: not UTF-8"):
        ladder(tmp_path, "a;*\né;*\n".encode("latin-1"), ["a"])


def test_rows_in_memory() -> None:
    """Tests that rows given in Python are checked like a file, and named by row."""
    rows = (("a", "A", "*"), ("b", "A", "*"))
    assert HierarchyRows(rows).build("q", ["b"]).path(0) == ("b", "A", "*")
    with pytest.raises(HierarchyError, match="countries, row 3: its value has other groups here"):
        HierarchyRows((*rows, ("a", "B", "*")), "countries").build("q", ["b"])
    with pytest.raises(HierarchyError, match="is empty"):
        HierarchyRows(()).build("q", ["b"])


def test_line_numbers_count_quoted_line_breaks(tmp_path: Path) -> None:
    """Tests that a line number is the one an editor shows."""
    content = '"two\nlines";A;*\n\nb;B;*\nb;A;*\n'
    with pytest.raises(HierarchyError, match=r"line 5: its value .*line 4"):
        ladder(tmp_path, content, ["b"])


def test_distinct_values_are_demanded(tmp_path: Path) -> None:
    """Tests that a caller who passes a value twice is told so."""
    with pytest.raises(ValueError, match="occurs twice"):
        ladder(tmp_path, COUNTRIES, ["Peru", "Peru"])
    with pytest.raises(ValueError, match="occurs twice"):
        build_trees({"q": [None, "a", None]})
    with pytest.raises(ValueError, match="occurs twice"):
        build_trees({"q": ["a", "b", "a"]})
