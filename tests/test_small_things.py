"""Tests of what a new user trips over: marks of encodings, twins of values, numbers of one."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import did_you_mean
from incrowd.tables.dialect import marked_encoding
from incrowd.text.models import models_in_words
from incrowd.text.units import counted

TEXT = "a,b\n1,é\n1,é\n2,ü\n2,ü\n"


def run(*words: str) -> Any:
    """Run the program."""
    return CliRunner().invoke(cli, list(words))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_wide_text_is_known_by_its_mark(encoding: str, tmp_path: Path) -> None:
    """Tests that nobody has to say an encoding that the file says, and the release has it too."""
    original, release, proof = (tmp_path / name for name in ("i.csv", "o.csv", "p"))
    original.write_bytes(TEXT.encode(encoding))
    words = ["-k", "2", "--order", "keep", "--proof", str(proof), "-q"]
    done = run("anonymize", str(original), "-o", str(release), *words)
    assert done.exit_code == 0, done.output
    assert release.read_bytes().decode(encoding) == TEXT
    assert run("verify", str(release), "--original", str(original), "-k", "2").exit_code == 0
    words = ["verify", str(release), "--original", str(original), "--proof", str(proof)]
    assert run(*words).exit_code == 0


def test_marks_of_encodings() -> None:
    """Tests both orders of bytes, and that UTF-32 is not taken for UTF-16."""
    assert marked_encoding("x".encode("utf-16")) == "utf-16"
    assert marked_encoding(b"\xfe\xff\0x") == "utf-16"
    assert marked_encoding("x".encode("utf-32")) == "utf-32"
    assert marked_encoding(b"x") is None and marked_encoding(b"\xef\xbb\xbfx") is None


@pytest.mark.parametrize(
    ("data", "encoding", "place"),
    [
        (b"a,b\n1,x\n1,\xe9x\n", None, "line 3, character 3 (byte 10"),
        ("a,b\r\n1,éé\r\n".encode() + b"\xff", None, "line 3, character 1 (byte 13"),
        (b"a,b\n1,x\n1,\x81x\n", "cp1252", "line 3, character 3 (byte 10"),
        (b"\xe9", None, "line 1, character 1 (byte 0"),
        (b"a\n" * 3_000_000 + b"\xff\n", None, "line 3000001, character 1 (byte 6000000"),
    ],
)
def test_decode_errors_by_line(
    data: bytes, encoding: str | None, place: str, tmp_path: Path
) -> None:
    """Tests that a byte that does not belong there is told by line and character."""
    (tmp_path / "i.csv").write_bytes(data)
    words = ["anonymize", str(tmp_path / "i.csv"), "-o", str(tmp_path / "o.csv")]
    done = run(*words, *(["--encoding", encoding] if encoding else []))
    assert done.exit_code == 2 and place in done.output, done.output
    assert "xe9" not in done.output and "é" not in done.output


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1", " 1", "2", "2"], "1 value differs"),
        (["secret\0", "secret", "2", "2"], "1 value differs"),
        (["e\u0301", "\u00e9", "2 ", " 2"], "2 values differ"),
        (["secret\0", "other", "2", "2"], "NUL bytes"),
    ],
)
def test_twins_are_noted(values: list[str], words: str) -> None:
    """Tests values that read as one, without a word of them."""
    data = pl.DataFrame({"a": values, "b": ["x"] * 4})
    told = " ".join(ic.anonymize(data, 2).warnings)
    assert words in told and "secret" not in told and "\u00e9" not in told
    assert words in " ".join(ic.measure(data).warnings)
    told = " ".join(ic.anonymize(data, 2, qi="b", sensitive="a").warnings)
    assert words in told


def test_plain_values_are_no_twins() -> None:
    """Tests that cases, accents and inner spaces differ in earnest."""
    data = pl.DataFrame({"a": ["x y", "xy", "X Y", "é", "e", None], "b": ["x"] * 6})
    assert not any("differ" in warning for warning in ic.anonymize(data, 2).warnings)


def test_an_index_that_may_name_rows() -> None:
    """Tests that an index of texts or with a name is pointed out; numbers alone are not."""
    pd = pytest.importorskip("pandas")
    data = pd.DataFrame({"a": [1, 1, 2, 2]})

    def told(frame: Any, **more: Any) -> bool:
        return any("index" in text for text in ic.anonymize(frame, 2, **more).warnings)

    texts = data.set_axis(["Ann", "Bob", "Cy", "Di"])
    assert told(texts) and not told(texts, order="shuffle")
    assert told(data.rename_axis("patient"))
    assert not told(data) and not told(data.iloc[[3, 0, 1, 2]])
    assert not any("Ann" in text for text in ic.anonymize(texts, 2).warnings)


def test_nearest_names() -> None:
    """Tests that case does not matter, and that far names are listed rather than guessed."""
    assert did_you_mean("AGE", ["age", "sex"]) == "; did you mean 'age'?"
    assert did_you_mean("zipcode", ["ZipCode", "age"]) == "; did you mean 'ZipCode'?"
    assert did_you_mean("height", ["age", "sex"]) == "; known: 'age', 'sex'"


def test_numbers_of_one(tmp_path: Path) -> None:
    """Tests that one row is not called rows."""
    assert counted(1, "row") == "1 row" and counted(1234, "row") == "1,234 rows"
    assert counted(1, "class", "classes") == "1 class" and counted(0, "row") == "0 rows"
    (tmp_path / "i.csv").write_text("a\n1\n")
    words = ["anonymize", str(tmp_path / "i.csv"), "-o", str(tmp_path / "o.csv"), "-k", "1"]
    assert "1 in 1 class," in run(*words).output
    words = ["verify", str(tmp_path / "o.csv"), "--original", str(tmp_path / "i.csv"), "-k", "1"]
    assert "yes: 1 row in 1 class," in run(*words).output
    assert "1 row, 1 class" in run("measure", str(tmp_path / "i.csv")).output


def test_proc_is_there(tmp_path: Path) -> None:
    """Tests that a folder that takes no files is not called missing."""
    if not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    (tmp_path / "i.csv").write_text(TEXT)
    done = run("anonymize", str(tmp_path / "i.csv"), "-o", "/proc/o.csv", "-k", "2")
    assert done.exit_code == 2 and "no file can be made in '/proc'" in done.output
    done = run("anonymize", str(tmp_path / "i.csv"), "-o", str(tmp_path / "no" / "o.csv"))
    assert "does not exist" in done.output


def test_linked_columns_with_ranges(tmp_path: Path) -> None:
    """Tests that a linked column with a range is refused by name, with the way out."""
    (tmp_path / "i.csv").write_text(TEXT)
    words = ["anonymize", str(tmp_path / "i.csv"), "-o", str(tmp_path / "o.csv"), "-k", "2"]
    words += ["--linked", "a,b", "--hierarchy", "a=range"]
    done = run(*words)
    assert done.exit_code == 2 and "'a' has a range" in done.output
    assert run(*words, "--hierarchy", "a=none").exit_code == 2  # named twice
    assert run(*words[:-2]).exit_code == 0


def test_existing_names_what_it_does_not_serve(tmp_path: Path) -> None:
    """Tests that proof and report beside an earlier release are refused by name."""
    (tmp_path / "i.csv").write_text(TEXT)
    words = ["anonymize", str(tmp_path / "i.csv"), "-o", str(tmp_path / "o.csv"), "-k", "2"]
    words += ["--existing", str(tmp_path / "i.csv")]
    for option in ("--proof", "--report"):
        done = run(*words, option, str(tmp_path / "more"))
        assert done.exit_code == 2 and option in done.output


def test_frontier_prints_its_table(tmp_path: Path) -> None:
    """Tests that the points are on standard output unless they go to a file or are JSON."""
    (tmp_path / "i.csv").write_text(TEXT)
    done = run("frontier", str(tmp_path / "i.csv"), "-k", "1:2", "-q")
    assert done.exit_code == 0 and len(done.output.strip().splitlines()) >= 3, done.output
    done = run("frontier", str(tmp_path / "i.csv"), "-k", "1:2", "-q", "--json")
    assert [point["k"] for point in json.loads(done.output)["points"]] == [1, 2]


def test_one_version() -> None:
    """Tests that the package, its metadata and its citation name the same version."""
    root = Path(__file__).parent.parent
    said = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    cited = re.search(r"(?m)^version: (.*)$", (root / "CITATION.cff").read_text("utf-8"))
    assert cited and ic.__version__ == said == cited[1]


def test_models_of_many_columns_are_named_once() -> None:
    """Tests that closeness of each of two columns is one model; a joint one is of its columns."""
    names = ["2-anonymity", "0.3-closeness of 'a'", "disjoint 2-diversity of 'a', 'b'"]
    assert models_in_words(names) == " and ".join(names)
    names += ["0.3-closeness of \"it's of 'c'\"", "disjoint 2-diversity of 'c', 'd'"]
    assert models_in_words(names) == (
        "2-anonymity and 0.3-closeness of each of 'a', \"it's of 'c'\" and "
        "disjoint 2-diversity of 'a', 'b' and disjoint 2-diversity of 'c', 'd'"
    )
