"""Tests what a release in a file of a statistics package says beside its cells."""

import struct
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat as library
import pytest

import incrowd as ic
from incrowd.published.spelled import NOTES

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
