"""Tests what a release in a file of a statistics package says beside its cells."""

import struct
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat as library
import pytest

import incrowd as ic
from incrowd.published.spelled import NOTES
from incrowd.tables.files import read

files_of: Any = library
JOBS = {1: "nurse", 2: "doctor", 3: "teacher", 5: "judge", 9: "unknown"}
PEOPLE = {
    "age": [34.0, 36, 51, 52, 99, 57, 34, 36],
    "job": [1.0, 2, 3, 3, 3, 9, 1, 2],
    "ill": [1.0, 2, 1, 1, 2, 1, 2, 2],
}
ASKED: dict[str, Any] = {"k": 2, "qi": ["age", "job"], "sensitive": "ill"}


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """Return a survey."""
    path = tmp_path / "in.sav"
    files_of.write_sav(
        pl.DataFrame(PEOPLE),
        path,
        file_label="A survey",
        note="raw",
        column_labels={"age": "Age in years"},
        variable_value_labels={"age": {98: "not asked", 99: "refused"}, "job": JOBS},
        missing_ranges={"age": [98, 99], "job": [9]},
    )
    return path


def written(path: Path, original: Path, **told: Any) -> Path:
    """Write a release again with what is told in place of its own."""
    ic.anonymize(original, **ASKED, seed=1, order="keep").write(path)
    frame, meta = files_of.read_sav(path, user_missing=True, output_format="polars")
    labels, missing = meta.variable_value_labels, meta.missing_ranges
    own = {
        "variable_value_labels": labels | told.pop("labels", {}),
        "missing_ranges": missing | told.pop("missing", {}),
        "column_labels": {"age": meta.column_names_to_labels["age"]},
    }
    files_of.write_sav(frame, path, **(own | told))
    return path


TOLD = {
    "nothing": ({}, ""),
    "a hidden value": ({"labels": {"ill": {7: "row 5 is 99"}}}, "column 'ill': the file labels"),
    "some hidden values": ({"labels": {"age": {98: "not asked"}}}, "column 'age': the file labels"),
    "a shown value": ({"labels": {"ill": {1: "flu, and 99"}}}, "column 'ill': the file labels"),
    "a missing value": ({"missing": {"ill": [99]}}, "column 'ill': the file declares"),
    "the variable": ({"column_labels": {"age": "Is 99"}}, "column 'age': the label"),
    "the file": ({"file_label": "Of 99"}, "the label of the file"),
    "notes": ({"note": "row 5 is 99"}, "the file holds notes"),
}


@pytest.mark.parametrize("kind", TOLD)
def test_what_is_said_beside_the_cells(kind: str, original: Path, tmp_path: Path) -> None:
    """Tests labels, missing values and notes that are not the original's, or of hidden cells."""
    told, words = TOLD[kind]
    answer = ic.verify(written(tmp_path / "out.sav", original, **told), original, **ASKED)
    assert answer.lawful == (not words), answer.reasons
    assert not words or answer.reasons[0].startswith(words)


@pytest.mark.parametrize("codebook", [False, True])
@pytest.mark.parametrize("rules", [False, True])
@pytest.mark.parametrize("form", ["sav", "dta", "xpt"])
def test_what_is_kept_is_no_matter(form: str, rules: bool, codebook: bool, tmp_path: Path) -> None:
    """Tests releases as they are written, with all of the original's labels and without."""
    path, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    frame, titles = pl.DataFrame(PEOPLE), {"age": "Age in years"}
    if form == "xpt":
        files_of.write_xport(frame, path, column_labels=titles)
    else:
        write = files_of.write_sav if form == "sav" else files_of.write_dta
        write(frame, path, column_labels=titles, variable_value_labels={"job": JOBS})
    rows = "".join(f"{code};{'health' if code < 3 else 'other'};*\n" for code in JOBS)
    (tmp_path / "jobs.csv").write_text(rows)
    kinds: Any = {"age": "interval:10", "job": tmp_path / "jobs.csv"} if rules else {}
    release = ic.anonymize(path, **ASKED, hierarchies=kinds, seed=1)
    release.write(out, codebook=codebook)
    for found in (out, release.data):
        answer = ic.verify(found, path, **ASKED, hierarchies=kinds)
        assert answer, answer.reasons


@pytest.mark.parametrize("form", ["sav", "dta", "xpt"])
def test_a_variable_as_wide_as_a_hidden_text(form: str, tmp_path: Path) -> None:
    """Tests a text that was written over in the file: its length is still told."""
    long = "carpenter and dean"
    jobs = pl.DataFrame({"job": ["baker", "baker", long, "*"], "ill": list("abab")})
    write = {"sav": "write_sav", "dta": "write_dta", "xpt": "write_xport"}[form]
    release, original = tmp_path / f"out.{form}", tmp_path / f"in.{form}"
    getattr(files_of, write)(jobs, release)
    getattr(files_of, write)(jobs.with_columns(job=pl.Series([*jobs["job"][:3], "x"])), original)
    asked: dict[str, Any] = {"k": 2, "qi": "job", "sensitive": "ill"}
    own = tmp_path / f"own.{form}"
    ic.anonymize(original, **asked).write(own)
    assert ic.verify(own, original, **asked)
    pad = b"\0" if form == "dta" else b" "
    release.write_bytes(release.read_bytes().replace(long.encode(), b"*".ljust(len(long), pad)))
    assert "wider" in ic.verify(release, original, **asked).reasons[0]


def further(kind: int, text: bytes) -> bytes:
    """Return a record of SPSS's beside those that a file has anyway."""
    return struct.pack("<4i", 7, kind, 1, len(text)) + text


def with_characteristic(data: bytes, text: bytes) -> bytes:
    """Return a file of Stata's with a characteristic, its map set right."""
    body = b"age".ljust(129, b"\0") + b"asked".ljust(129, b"\0") + text + b"\0"
    part = b"<ch>" + struct.pack("<I", len(body)) + body + b"</ch>"
    head, mark, tail = data.partition(b"</characteristics>")
    at = head.index(b"<map>") + 5
    places = [
        place + len(part) * (place >= len(head)) for place in struct.unpack_from("<14Q", head, at)
    ]
    return head[:at] + struct.pack("<14Q", *places) + head[at + 112 :] + part + mark + tail


def unlabelled(data: bytes) -> bytes:
    """Return a file of Stata's in which the first variable has its labels no more."""
    head, mark, tail = data.partition(b"<value_label_names>")
    return head + mark + bytes(129) + tail[129:]


BESIDE = {
    "nothing": ("sav", lambda data: b"", True),
    "a role": ("sav", lambda data: further(18, b"age:$@Role('0'\n)/ill:$@Role('1'\n)"), True),
    "an attribute": ("sav", lambda data: further(18, b"age:asked('Ada is 34'\n)"), False),
    "one called like SPSS's": ("sav", lambda data: further(18, b"age:$@Role('Ada is'\n)"), False),
    "one of the file": ("sav", lambda data: further(17, b"asked('Ada is 34'\n)"), False),
    "an unknown record": ("sav", lambda data: further(99, b"Ada is 34"), False),
    "no characteristic": ("dta", lambda data: data, True),
    "a characteristic": ("dta", lambda data: with_characteristic(data, b"Ada is 34"), False),
    "labels of nothing": ("dta", unlabelled, False),
    "a tail": ("dta", lambda data: data + b"Ada is 34", False),
}


@pytest.mark.parametrize("kind", BESIDE)
def test_what_no_reader_shows(kind: str, tmp_path: Path) -> None:
    """Tests attributes, characteristics and labels of no variable, as programs leave them."""
    form, change, fine = BESIDE[kind]
    path, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    write = files_of.write_sav if form == "sav" else files_of.write_dta
    people = pl.DataFrame({"age": [34.0, 34, 35, 35], "ill": [1.0, 2, 1, 2]})
    write(people, path, variable_value_labels={"age": {34: "young", 35: "old"}})
    data = path.read_bytes()
    if form == "sav":
        head, mark, tail = data.partition(struct.pack("<2i", 999, 0))
        data = head + change(data) + mark + tail
    else:
        data = change(data)
    out.write_bytes(data)
    answer = ic.verify(out, path, k=2, qi="age", sensitive="ill")
    assert answer.lawful == fine
    assert fine or answer.reasons == (NOTES,)


def behind(data: bytes) -> bytes:
    """Return a file with bytes at its end, as where a shorter table was written over it."""
    return data + b"Ada is 34"


def under(data: bytes) -> bytes:
    """Return a file with the last letters of a town behind the end of a shorter one."""
    assert b"qqqqqqqq" in data
    return data.replace(b"qqqqqqqq", b"q\0ld Ada", 1)


def unnamed_text(data: bytes) -> bytes:
    """Return a file of Stata's in which no cell names its first long text."""
    head, mark, tail = data.partition(b"<data>")
    return head + mark + tail.replace(struct.pack("<HHI", 2, 1, 0), bytes(8))


def in_two(data: bytes) -> bytes:
    """Return a file of SPSS's of rows packed twice, with bytes between the rows and their index."""
    at = data.index(struct.pack("<2i", 999, 0)) + 8
    head, index, size = struct.unpack_from("<3q", data, at)
    moved = struct.pack("<3q", head, index + 8, size)
    return data[:at] + moved + data[at + 24 : index] + b"Ada, 34;" + data[index:]


def packed_once(data: bytes) -> bytes:
    """Return a file of SPSS's with one more cell behind those of the last row."""
    return data + b"\x86" * 8


REST: dict[str, tuple[str, dict[str, Any], Any]] = {
    "behind plain rows": ("sav", {}, behind),
    "behind packed rows": ("sav", {"row_compress": True}, packed_once),
    "behind the index": ("zsav", {"compress": True}, behind),
    "before the index": ("zsav", {"compress": True}, in_two),
    "behind a line": ("xpt", {}, lambda data: data[:-9] + b"Ada is 34"),
    "another table": ("xpt", {"file_format_version": 8}, lambda data: data + data[80:]),
    "under a text of SAS": ("xpt", {}, under),
    "under a text of Stata": ("dta", {}, under),
    "under one of 2012": ("dta", {"version": 12}, under),
    "a long text": ("dta", {"version": 14}, unnamed_text),
}


@pytest.mark.parametrize("kind", REST)
def test_what_stands_behind_rows_and_texts(kind: str, tmp_path: Path) -> None:
    """Tests bytes that readers leave out; the file without them passes."""
    form, how, change = REST[kind]
    path, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    town = ["qqqqqqqq", "q"] * 2 if kind != "a long text" else ["q" * 3000, "q"] * 2
    people = pl.DataFrame({"age": [34.0, 34, 35, 35], "town": town, "ill": [1.5, 2, 1, 2]})
    write = {"xpt": files_of.write_xport, "dta": files_of.write_dta}.get(form, files_of.write_sav)
    write(people, path, **how)
    asked: dict[str, Any] = {"k": 2, "qi": "age", "keep": "town", "sensitive": "ill"}
    assert ic.verify(path, path, **asked).lawful
    out.write_bytes(change(path.read_bytes()))
    assert NOTES in ic.verify(out, path, **asked).reasons


def test_rows_packed_in_blocks_end_anywhere(tmp_path: Path) -> None:
    """Tests tables of which the cells do not fill the last block, and of no row: they pass."""
    path = tmp_path / "in.sav"
    for rows in (0, 1, 7, 8, 9):
        cells = {"age": [34.0] * rows, "ill": [1.5] * rows, "town": ["Ulm"] * rows}
        people = pl.DataFrame(cells, schema={"age": float, "ill": float, "town": str})
        files_of.write_sav(people, path, row_compress=True)
        found: Any = read(path)
        assert not found.notes


def test_forms_that_nobody_walks(tmp_path: Path) -> None:
    """Tests that the answer leaves open what a file of .por holds beside its rows."""
    path = tmp_path / "in.por"
    files_of.write_por(pl.DataFrame({"AGE": [34.0, 34], "ILL": [1.0, 2]}), path)
    asked: dict[str, Any] = {"k": 2, "qi": "AGE", "sensitive": "ILL"}
    answer = ic.verify(path, path, **asked)
    assert answer.lawful and "(.por)" in answer.facts["not_checked"][0]
