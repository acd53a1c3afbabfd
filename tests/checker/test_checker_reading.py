"""Tests that the way in which a table is read is not the proof's to choose."""

import hashlib
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from dial import crossed
from incrowd import anonymize
from incrowd.checker.delimited import Reading
from incrowd.checker.files import form_of, read_table
from incrowd.checker.rejection import RejectedError
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.proof.prove import prove
from incrowd.proof.writing import pack, sha256_of
from incrowd.tables.csv_table import CsvTable
from incrowd.tables.one_file import read_file

RAW = "age,sex,ill\n" + "".join(f"{20 + i},{'fm'[i % 2]},flu {i}\n" for i in range(12))


def empty_proof(folder: Path, raw: bytes, header: list[str], csv: dict[str, str]) -> list[Path]:
    """A raw table as original and release, and a proof that all of it is a header without rows."""
    paths = [folder / name for name in ("release.csv", "original.csv", "x.proof")]
    for path in paths[:2]:
        path.write_bytes(raw)
    numbers = ["original", "class", "price"], ["set", "row", "weight", "modulus"]
    rows, sets = (pl.DataFrame(schema=dict.fromkeys(names, pl.Int64)) for names in numbers)
    text = dict.fromkeys(["column", "leaf", "level", "label", "cost"], pl.String)
    ladders = pl.DataFrame(schema=text | {"level": pl.Int64, "cost": pl.Int64})
    parts = {}
    for name, table in (("rows", rows), ("ladders", ladders), ("sets", sets)):
        out = io.BytesIO()
        table.write_parquet(out)
        parts[f"{name}.parquet"] = out.getvalue()
    facts: dict[str, Any] = {
        "format": "incrowd-proof",
        "version": 2,
        "original": {"sha256": sha256_of(paths[1])},
        "release": {"sha256": sha256_of(paths[0])},
        "csv": csv,
        "roles": {"qi": header, "sensitive": [], "id": [], "keep": []},
        "models": [{"model": "k-anonymity", "k": 1000}],
        "hierarchies": {},
        "parts": {name: hashlib.sha256(part).hexdigest() for name, part in parts.items()},
        **dict.fromkeys(["scale", "quantum", "price_k"], 1),
        **dict.fromkeys(["cost", "bound"], 0),
    }
    pack(paths[2], facts, parts)
    return paths


LITTLE = RAW.encode("utf-16-le")
WIDE, OTHER = (RAW.encode().decode(name) for name in ("utf-16-le", "cp037"))
WRONG: dict[str, tuple[bytes, list[str], dict[str, str]]] = {
    "control characters": (RAW.encode(), [RAW], {"delimiter": "\x01", "newline": "\x02"}),
    "a delimiter that is not there": (RAW.encode(), [RAW], {"delimiter": "~", "newline": "\r"}),
    "lines that end in a carriage return": (RAW.encode(), RAW.split(","), {"newline": "\r"}),
    "wide characters": (LITTLE, [LITTLE.decode("utf-16-be")], {"encoding": "utf-16-be"}),
    "no wide characters": (RAW.encode(), [WIDE], {"encoding": "utf-16-le"}),
    "another table of characters": (RAW.encode(), [OTHER], {"encoding": "cp037"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_raw_table_is_no_header(name: str, tmp_path: Path) -> None:
    """Tests a proof by whose dialect a raw table has no row, so that every class is lawful."""
    raw, header, form = WRONG[name]
    release, original, proof = empty_proof(tmp_path, raw, header, form)
    verdict = check(release, original, proof)
    assert not verdict.accepted
    assert any(word in str(verdict.reason) for word in ("reads", "cannot be read in the form"))
    assert "flu" not in str(verdict.reason)


def test_an_empty_table_is_one(tmp_path: Path) -> None:
    """Tests that the proof of these forgeries is accepted where there is no row."""
    release, original, proof = empty_proof(tmp_path, b"age,sex\n", ["age", "sex"], {})
    verdict = check(release, original, proof)
    assert verdict.accepted, verdict.reason
    assert (verdict.facts["rows"], verdict.facts["columns"]) == (0, ["age", "sex"])


def test_a_header_that_looks_odd_is_taken_when_asked_for(tmp_path: Path) -> None:
    """Tests a header in two lines above no row: the verifier has to say that there is none."""
    header = ["age\nin years", "sex"]
    release, original, proof = empty_proof(tmp_path, b'"age\nin years",sex\n', header, {})
    assert "no row" in str(check(release, original, proof).reason)
    verdict = check(release, original, proof, reading=Reading(odd_header=True))
    assert verdict.accepted and verdict.facts["columns"] == ["age\nin years", "sex"]


ODD = [
    ("a;b,c;d\n1,2\n3,4\n", {"delimiter": ";"}, "cannot be read"),
    ("a,b\n1,2\n3,4\n", {"delimiter": ";"}, "cut by another delimiter"),
    ("a\tb\n1\t2\n3\t4\n", {"delimiter": "|"}, "cut by another delimiter"),
    ("a\0,b\n1,2\n", {}, "control character"),
    ('"a\x1b",b\n1,2\n', {}, "control character"),
    ("a\rb,c\n1,2\n", {}, "control character"),
    ("a:b\n1:2\n", {"delimiter": ":"}, "--delimiter"),
    ("a,b\r1,2\r", {}, "end otherwise"),
    ("a,b\n1,2\n", {"newline": "\r"}, "end otherwise"),
    ("a,b\n1,2\n", {"newline": ""}, "cannot be read"),
    ("a,b\n1,2\n", {"newline": "b\n"}, "cannot be read"),
    ("a,b\n1,2\n", {"delimiter": "", "newline": "\n"}, "--delimiter"),
    ("a,b\n1,2\n", {"encoding": "rot13"}, "--encoding"),
    ("a,b\n1,2\n", {"encoding": "utf-7"}, "--encoding"),
    ("a,b\n1,\\u002c\n", {"encoding": "unicode_escape"}, "--encoding"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "form", "reason"), ODD)
def test_dialects_that_the_file_does_not_show(text: str, form: dict, reason: str) -> None:
    """Tests ways to read a file that only the proof speaks for."""
    with pytest.raises(RejectedError, match=reason):
        read_table(text.encode(), form)


FINE = [
    ("a,b\n1,2\n", None, {}),
    ("a\n1\n\n3\n", None, {}),
    ("a\n", None, {}),
    ("a", None, {}),
    ("a;b\r\n", None, {"delimiter": ";", "newline": "\r\n"}),
    ("a|b\r1|2\r", None, {"delimiter": "|", "newline": "\r"}),
    ('a|b\r1|"2\n"\r', None, {"delimiter": "|", "newline": "\r"}),
    ("a; b,c\n1,2\n", None, {}),
    ('"a; b",c\n"1\n2",3\n', None, {}),
    ('"a\nb\tc",d\r\n1,2\r\n', None, {"newline": "\r\n"}),
    ("\ufeffa,b\n1,2\n", None, {}),
    ("ä,b\nö,2\n", "latin-1", {"encoding": "latin-1"}),
    ("a€,b\n1,2\n", "cp1252", {"encoding": "latin-1"}),
    ("ä,b\nö,2\n", "utf-16", {"encoding": "utf-16"}),
    ("ä,b\nö,2\n", "utf-16-be", {"encoding": "utf-16-be"}),
    ("名,b\n表,2\n", "gb18030", {"encoding": "gb18030"}),
    ("名,b\n表,2\n", "shift_jis", {"encoding": "shift_jis"}),
]


@pytest.mark.parametrize(("text", "written", "form"), FINE)
def test_dialects_that_the_file_shows(text: str, written: str | None, form: dict) -> None:
    """Tests that honest files need no word of the verifier's."""
    data = text.encode(written or "utf-8")
    own = read_file_of(data, form)
    table = read_table(data, form, released=True)
    assert [name[1:] for name in table.columns] == list(own.columns)
    for name in own.columns:
        column = own.encode(name)
        assert table[f"={name}"].to_list() == [column.values[code] for code in column.codes]


def read_file_of(data: bytes, form: dict[str, str]) -> CsvTable:
    """Read by incrowd's own reader, whose dialect is the one that a proof would state."""
    from incrowd.tables.csv_table import read_csv

    table = read_csv(data, "t", None, form.get("encoding"))
    stated = table.dialect.delimiter, table.dialect.newline
    assert stated == (form.get("delimiter", ","), form.get("newline", "\n"))
    return table


def test_what_the_verifier_says_counts() -> None:
    """Tests delimiter and encoding that no file shows, and a proof that says others."""
    data = b"a:b\n+AHg-:1\n"
    form = {"delimiter": ":", "encoding": "utf-7"}
    table = read_table(data, form, reading=Reading(":", "utf-7"))
    assert (table.columns, table.rows()) == (["=a", "=b"], [("x", "1")])
    assert read_table(b"a\tb\n", {"delimiter": "\t"}, reading=Reading("tab")).width == 2
    for reading, reason in (
        (Reading(";", "utf-7"), "delimiter"),
        (Reading(":", "utf8"), "encoding"),
    ):
        with pytest.raises(RejectedError, match=f"by another {reason} than the one given"):
            read_table(data, form, reading=reading)


@pytest.mark.parametrize(("form", "end"), crossed([":", ";", "\t", "|", ","], ["\n", "\r\n", "\r"]))
def test_honest_proofs_of_odd_tables(form: str, end: str, tmp_path: Path) -> None:
    """Tests proofs of tables in odd forms, all the way; the verifier repeats an odd delimiter."""
    source, out, proof = (str(tmp_path / n) for n in ("in.txt", "out.txt", "x.proof"))
    names = ("q; uasi", "the | rest") if form == "," else ("q", "r")
    lines = [names, ("Ä", "1"), ("Ä", "2"), ("b", "1"), ("b", "2")]
    text = "".join(form.join(line) + end for line in lines)
    Path(source).write_bytes(text.encode("latin-1"))
    given = ["--delimiter", form] if form == ":" else []
    words = ["anonymize", source, "-o", out, "-k", "2", "--proof", proof, "--encoding", "latin-1"]
    done = CliRunner().invoke(cli, [*words, *given])
    assert done.exit_code == 0, done.output
    check = ["verify", out, "--original", source, "--proof", proof]
    for more in ([], ["--encoding", "latin-1"]):
        found = CliRunner().invoke(cli, [*check, *given, *more])
        assert found.exit_code == 0, found.output
        shown = ", ".join(repr(name) if ";" in name else name for name in names)
        told = f"roles    quasi-identifiers: {shown}\ncosts    a suppressed cell 1\n"
        assert told in found.output
        assert "yes: 4 rows" in found.output
    if given:
        refused = CliRunner().invoke(cli, check)
        assert (refused.exit_code, "say --delimiter" in refused.output) == (1, True)


@pytest.mark.parametrize(
    ("header", "width"), [('"a,b"', 1), ('"a\nb",c', 2), ('"a","b,c"', 2), ("a", 1), ("a,b", 2)]
)
def test_blank_lines_at_the_end(header: str, width: int) -> None:
    """Tests that they are rows of a table of one column only, whatever its name holds."""
    body = "x\n\ny\n\n\n" if width == 1 else "x,y\n\n\n"
    table = read_table(f"{header}\n{body}".encode(), {})
    assert (table.width, table.height) == ((1, 5) if width == 1 else (2, 1))


@pytest.mark.parametrize("name", ["out", "in"])
def test_a_table_of_two_forms(name: str, tmp_path: Path) -> None:
    """Tests a Parquet file that is called CSV: whoever goes by its name sees something else."""
    paths = {n: tmp_path / f"{n}.parquet" for n in ("out", "in")} | {"proof": tmp_path / "proof"}
    pl.DataFrame({"a": ["x", "x", "y", "y"], "b": list("1111")}).write_parquet(paths["in"])
    release = anonymize(str(paths["in"]), 2, method="mondrian")
    release.write(paths["out"])
    prove(release, paths["in"], paths["out"], paths["proof"])
    assert check(paths["out"], paths["in"], paths["proof"]).accepted
    paths[name] = paths[name].rename(tmp_path / "twofold.CSV")
    verdict = check(paths["out"], paths["in"], paths["proof"])
    assert "its bytes are Parquet" in str(verdict.reason)
    with pytest.raises(InputError, match="its bytes are Parquet"):
        read_file(paths[name])


FORMS = [
    b"PAR1",
    b"ARROW1",
    b"\xff\xff\xff\xff",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"BZh",
    b"$FL2",
    b"x SPSSPORT",
]


@pytest.mark.parametrize("magic", [*FORMS, b"\x28\xb5\x2f\xfd", b"$FL3", b"<stata_dta>"])
def test_one_form_for_both(magic: bytes, tmp_path: Path) -> None:
    """Tests that what incrowd does not read as delimited text the checker does not either."""
    data = magic + b",b\n1,2\n"
    assert form_of(data) is not None
    with pytest.raises(RejectedError):
        read_table(data, {})
    path = tmp_path / "t"
    path.write_bytes(data)
    with pytest.raises((InputError, ImportError)):
        read_file(path)


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="no device without an end")
@pytest.mark.parametrize("place", range(4))
def test_what_has_no_end_is_not_read(place: int, tmp_path: Path) -> None:
    """Tests links to a device in the place of release, original, proof and statement."""
    paths = [*empty_proof(tmp_path, b"age\n", ["age"], {}), tmp_path / "x.json"]
    paths[3].write_text("{}")
    assert check(paths[0], paths[1], paths[2]).accepted
    paths[place].unlink()
    paths[place].symlink_to("/dev/zero")
    words = ["verify", paths[0], "--original", paths[1], "--proof", paths[2], "--statement"]
    done = CliRunner().invoke(cli, [str(word) for word in (*words, paths[3])])
    assert done.exit_code == 1
    assert f"{paths[place].name} is a pipe or a device, and no file" in done.output
