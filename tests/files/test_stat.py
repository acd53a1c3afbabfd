"""SPSS, Stata and SAS files: labels and missing values in and out, unchanged cells unchanged."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyreadstat
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.tables import Edit, Replacement, read, texts, write
from incrowd.tables.stat import FAMILY, StatTable, read_stat
from incrowd.tables.stat_column import Label, StatColumn, Tag, epoch_of
from incrowd.tables.stat_write import physical, write_stat

JOBS = {1: "nurse", 2: "doctor", 3: "teacher"}
COLUMNS = {
    "id": [101.0, 102.0, 103.0, 104.0, 105.0, 106.0],
    "age": [34.0, 35.5, 99.0, None, 34.0, 36.0],
    "job": [1.0, 2.0, 3.0, 1.0, None, 9.0],
    "town": ["Ulm", "", "Bonn", "Ulm", "Köln", "Bonn"],
}


@pytest.fixture
def sav(tmp_path: Path) -> Path:
    """A small survey in SPSS's form."""
    path = tmp_path / "survey.sav"
    dates = [12e9, 12e9 + 86400, None, 12e9, 12e9 + 43200, 12e9]
    pyreadstat.write_sav(
        pl.DataFrame(
            {**COLUMNS, "born": [None if d is None else d // 86400 * 86400 for d in dates]}
        ),
        path,
        file_label="A survey",
        column_labels={"age": "Age in years", "job": "Job"},
        variable_value_labels={"age": {99: "refused"}, "job": {**JOBS, 9: "unknown"}},
        missing_ranges={"age": [97, 98, 99], "job": [9]},
        variable_format={"born": "DATE11", "job": "F1.0"},
        variable_measure={"job": "nominal"},
    )
    return path


@pytest.fixture
def dta(tmp_path: Path) -> Path:
    """The same in Stata's."""
    path = tmp_path / "survey.dta"
    objects = {name: pl.Series(values, dtype=pl.Object) for name, values in whole(COLUMNS).items()}
    pyreadstat.write_dta(
        pl.DataFrame({**objects, "town": COLUMNS["town"], "born": [20000, 1, 2, 3, 4, 5]}),
        path,
        column_labels={"age": "Age in years"},
        variable_value_labels={"age": {"a": "refused"}, "job": {**JOBS, "b": "unknown"}},
        missing_user_values={"age": ["a"], "job": ["b"]},
        variable_format={"born": "%td"},
    )
    return path


def whole(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The numbers as Stata would hold them: letters for missing ones."""
    return {
        "id": [int(x) for x in columns["id"]],
        "age": [34.0, 35.5, "a", None, 34.0, 36.0],
        "job": [1, 2, 3, 1, None, "b"],
    }


def raw(path: Path) -> tuple[dict[str, list[Any]], Any]:
    """What a file holds, as the library reads it."""
    reader = {".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}.get(
        path.suffix, pyreadstat.read_sav
    )
    more = {} if path.suffix == ".xpt" else {"user_missing": True}
    return reader(path, disable_datetime_conversion=True, output_format="dict", **more)


def test_how_values_read(sav: Path, dta: Path) -> None:
    """Tests numbers, dates, strings, plain and declared missing values as text."""
    for path, refused, unknown in (
        (sav, "missing 99 (refused)", "missing 9 (unknown)"),
        (dta, "missing .a (refused)", "missing .b (unknown)"),
    ):
        table = texts(read(path))
        assert table["age"].to_list() == ["34", "35.5", refused, None, "34", "36"]
        assert table["job"].to_list() == ["1", "2", "3", "1", None, unknown]
        assert table["town"].to_list() == ["Ulm", None, "Bonn", "Ulm", "Köln", "Bonn"]
    assert texts(read(sav))["born"].to_list()[1:3] == ["1963-01-19", None]
    assert texts(read(dta))["born"].to_list()[:2] == ["2014-10-04", "1960-01-02"]


@pytest.mark.parametrize("out", ["o.sav", "o.zsav", "o.dta"])
def test_nothing_changed_is_nothing_lost(sav: Path, dta: Path, out: str) -> None:
    """Tests values, labels, missing values, formats of a table written as it was read."""
    path = dta if out.endswith("dta") else sav
    table = read(path)
    write(table.edited(Edit(table.columns)), path.parent / out, codebook=True)
    (before, old), (after, new) = raw(path), raw(path.parent / out)
    assert after == before
    for fact in (
        *("column_names_to_labels", "variable_value_labels", "missing_ranges", "file_label"),
        *("missing_user_values", "variable_measure", "original_variable_types"),
    ):
        assert getattr(new, fact) == getattr(old, fact), fact


def edited(
    path: Path, out: str, column: str, *cells: str | None, codebook: bool = False
) -> tuple[Any, Any]:
    """Change a column's first cells, write, read back as the library reads."""
    table = read(path)
    ids = np.array([*range(len(cells))] + [-1] * (table.rows - len(cells)), np.int32)
    released = table.edited(Edit(table.columns, {column: Replacement(tuple(cells), ids)}))
    write(released, path.parent / out, codebook=codebook)
    assert texts(read(path.parent / out)).equals(texts(released))
    assert texts(released)[column].to_list()[: len(cells)] == list(cells)
    return raw(path.parent / out)


def test_stars_in_numbers(sav: Path, dta: Path) -> None:
    """Tests that suppressed cells are missing values of their own, all else as it was."""
    values, meta = edited(sav, "o.sav", "age", "*", "*", codebook=True)
    assert values["age"] == [-9, -9, 99, None, 34, 36]
    assert meta.missing_ranges["age"] == [{"lo": 97, "hi": 99}, {"lo": -9, "hi": -9}]
    assert meta.variable_value_labels["age"] == {99: "refused", -9: "suppressed"}
    _, meta = edited(sav, "o.sav", "age", "*", "*")
    assert meta.missing_ranges["age"] == [{"lo": code, "hi": code} for code in (99, -9)]
    values, meta = edited(dta, "o.dta", "age", "*", "*")
    assert values["age"] == ["s", "s", "a", None, 34, 36]
    assert meta.variable_value_labels["age"] == {"a": "refused", "s": "suppressed"}
    assert meta.column_names_to_labels["age"] == "Age in years"


def test_groups_in_labelled_numbers(sav: Path, dta: Path) -> None:
    """Tests that generalized codes become codes with labels where all values have labels."""
    for path, unknown in ((sav, 9), (dta, "b")):
        told = {"codebook": True}
        values, meta = edited(path, f"o{path.suffix}", "job", "health", "*", "school", **told)
        suppressed = -9 if path is sav else "s"
        assert values["job"] == [11, suppressed, 12, 1, None, unknown]
        labels = meta.variable_value_labels["job"]
        assert labels == {
            **JOBS,
            unknown: "unknown",
            11: "group: health",
            12: "group: school",
            suppressed: "suppressed",
        }
        if path is sav:
            assert meta.original_variable_types["job"] == "F2.0"


def test_what_tells_of_hidden_codes_is_left_out(sav: Path, dta: Path) -> None:
    """Tests the file's label, and labels of codes that hidden cells and rows left out alone have.

    A release must be the same whichever of them a hidden cell had.
    """
    for path, unknown in ((sav, 9), (dta, "b")):
        out = path.parent / f"o{path.suffix}"
        for codebook in (False, True):
            cells = ("health", "*", "school")
            _, meta = edited(path, out.name, "job", *cells, codebook=codebook)
            labels = meta.variable_value_labels["job"].values()
            assert {JOBS[1], "unknown", "group: health", "suppressed"} <= set(labels)
            assert ({JOBS[2], JOBS[3]} <= set(labels)) == codebook
            assert meta.column_names_to_labels["age"] == "Age in years"
            assert (meta.file_label or "") == ("A survey" if codebook and path is sav else "")
        table = read(path)
        rows = np.array([0, 3, 4, 5])
        write(table.edited(Edit(("job", "age"), {}, rows, fewer=True)), out)
        _, meta = raw(out)
        assert meta.variable_value_labels["job"] == {1: JOBS[1], unknown: "unknown"}
        assert "age" not in meta.variable_value_labels  # the refusal is in a row left out
        write(table.edited(Edit(("job",))), out)
        assert len(raw(out)[1].variable_value_labels["job"]) == 4  # nothing of it is hidden


def test_what_becomes_of_a_variable_does_not_tell_of_hidden_codes(sav: Path, dta: Path) -> None:
    """Tests labelled codes of which a hidden one has a label, or none: the releases are alike."""
    for path, family in ((sav, "spss"), (dta, "stata")):
        variable = read(path).variables["job"]  # type: ignore[attr-defined]
        found = []
        for labels in (variable.labels, {v: t for v, t in variable.labels.items() if v != 2}):
            column = StatColumn(**{**vars(variable), "labels": labels})
            new = column.replaced(Replacement(("health",), np.array([-1, 0, -1, -1, -1, -1])))
            found.append(physical(new, family))
        one, other = ({**vars(each), "codes": each.codes.tolist()} for each in found)
        assert one == other
        assert "group: health" in found[0].labels.values()


def test_groups_in_plain_numbers(sav: Path, dta: Path) -> None:
    """Tests that other variables become text, and missing values keep their labels in it."""
    values, meta = edited(sav, "o.sav", "age", "30-39", "*")
    assert values["age"] == ["30-39", "*", "missing 99 (refused)", "", "34", "36"]
    assert meta.column_names_to_labels["age"] == "Age in years"
    values, _ = edited(dta, "o.dta", "age", "30-39", "*")
    assert values["age"] == ["30-39", "*", "missing .a (refused)", "", "34", "36"]


def test_half_labelled_numbers(sav: Path, dta: Path) -> None:
    """Tests that text keeps value labels in SPSS, and that Stata, which cannot, refuses."""
    for path in (sav, dta):
        table = read(path)
        variable = table.variables["age"]  # type: ignore[attr-defined]
        half = StatColumn(**{**vars(variable), "labels": {**variable.labels, 34.0: "thirty-four"}})
        new = half.replaced(Replacement(("30-39",), np.array([-1, 0, -1, -1, -1, -1], np.int32)))
        if path is sav:
            assert physical(new, "spss").labels == {"34": "thirty-four"}
        else:
            with pytest.raises(ic.InputError, match="Stata labels no text"):
                physical(new, "stata")


def test_text_columns(sav: Path, dta: Path) -> None:
    """Tests that strings take longer labels."""
    for path in (sav, dta):
        values, _ = edited(path, f"o{path.suffix}", "town", "somewhere in the south", "*")
        assert values["town"][:3] == ["somewhere in the south", "*", "Bonn"]


@pytest.mark.parametrize(("form", "width"), [("sav", "A64"), ("dta", "%64s")])
def test_widths_do_not_tell_of_rows_left_out(form: str, width: str, tmp_path: Path) -> None:
    """Tests that a text which is left out leaves no room for itself behind."""
    source, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    frame = pl.DataFrame({"w": ["a", "a" * 64, "b"]})
    getattr(pyreadstat, f"write_{form}")(frame, source, variable_format={"w": width})
    write(read(source).edited(Edit(("w",), {}, np.array([0, 2]), fewer=True)), out)
    read_back = getattr(pyreadstat, f"read_{form}")
    assert "64" in read_back(source)[1].original_variable_types["w"]
    assert "64" not in read_back(out)[1].original_variable_types["w"]


def test_sas_transport(tmp_path: Path) -> None:
    """Tests .xpt: dates read, changed numbers become text, .sas7bdat cannot be written."""
    frame = pl.DataFrame(
        {"age": [34.0, None, 36.0], "born": [0.0, 1.0, 2.0], "sex": ["f", "", "m"]}
    )
    path = tmp_path / "survey.xpt"
    pyreadstat.write_xport(
        frame, path, column_labels={"age": "Age"}, table_name="T", variable_format={"born": "DATE9"}
    )
    assert texts(read(path))["born"].to_list() == ["1960-01-01", "1960-01-02", "1960-01-03"]
    values, meta = edited(path, "o.xpt", "age", "*")
    assert values == {"age": ["*", "", "36"], "born": [0, 1, 2], "sex": ["f", "", "m"]}
    assert (meta.table_name, meta.column_labels[0]) == ("T", "Age")
    assert meta.original_variable_types["born"] == "DATE9"
    table = read(path)
    with pytest.raises(ic.InputError, match=r"\.sas7bdat files can be read, not written.*\.xpt"):
        write(table.edited(Edit(table.columns)), tmp_path / "o.sas7bdat")
    lettered = StatColumn("age", (Tag("A"), 1.0), np.array([0, 1], np.int32), False)
    with pytest.raises(ic.InputError, match="lettered missing values"):
        physical(lettered, "sas")


@pytest.mark.parametrize(("version", "mark"), [(5, b"LIBRARY HEADER"), (8, b"LIBV8")])
def test_sas_versions_stay(tmp_path: Path, version: int, mark: bytes) -> None:
    """Tests that a transport file of version 5, which some receivers ask for, stays one."""
    path = tmp_path / "t.xpt"
    pyreadstat.write_xport(pl.DataFrame({"A": [1.0, 1.0]}), path, file_format_version=version)
    edited(path, "o.xpt", "A", "*", "*")
    assert mark in (tmp_path / "o.xpt").read_bytes()[:48]


def test_another_reader_agrees(dta: Path, tmp_path: Path) -> None:
    """Tests released files with pandas' own readers of Stata and SAS files."""
    edited(dta, "o.dta", "job", "health", "*", "school")
    with pd.read_stata(dta.parent / "o.dta", iterator=True, convert_missing=True) as reader:
        found = reader.read(convert_categoricals=False)
        labels = {
            code: text for each in reader.value_labels().values() for code, text in each.items()
        }
        assert reader.variable_labels()["age"] == "Age in years"
    assert [str(value) for value in found["job"]] == ["11", ".s", "12", "1", ".", ".b"]
    assert {11: "group: health", 12: "group: school"}.items() <= labels.items()
    path = tmp_path / "t.xpt"
    pyreadstat.write_xport(pl.DataFrame({"A": [1.0, 2.0], "B": [3.0, 4.0]}), path, table_name="T",
                           file_format_version=5)  # fmt: skip
    edited(path, "o.xpt", "A", "*")
    released = pd.read_sas(tmp_path / "o.xpt", encoding="utf-8")
    assert released.to_dict("list") == {"A": ["*", "2"], "B": [3.0, 4.0]}


def test_portable_files(tmp_path: Path) -> None:
    """Tests that .por is read."""
    pyreadstat.write_por(pl.DataFrame({"A": [1.0, 2.0], "S": ["x", "y"]}), tmp_path / "t.por")
    assert texts(read(tmp_path / "t.por")).rows() == [("1", "x"), ("2", "y")]


def test_old_stata(tmp_path: Path) -> None:
    """Tests that files of Stata 8 and 12 are known by their first bytes."""
    for version in (8, 12):
        pyreadstat.write_dta(pl.DataFrame({"a": [1, 2]}), tmp_path / "t", version=version)
        assert texts(read(tmp_path / "t")).rows() == [("1",), ("2",)]


def test_old_text(tmp_path: Path) -> None:
    """Tests a Stata file whose text is not UTF-8, with the encoding named and without."""
    path = tmp_path / "old.dta"
    pyreadstat.write_dta(pl.DataFrame({"town": ["Kxln", "Ulm"]}), path, version=8)
    path.write_bytes(path.read_bytes().replace(b"Kxln", "Köln".encode("latin-1")))
    for encoding in ("latin-1", "cp1252", None):
        assert texts(read(path, encoding=encoding)).rows() == [("Köln",), ("Ulm",)]
    with pytest.raises(ic.InputError, match="no such encoding"):
        read(path, encoding="latin-one")
    with pytest.raises(ic.InputError, match="--encoding latin-1"):
        read(path, encoding="utf-8")


@pytest.mark.parametrize("data", [b"$FL2 SECRET", b"<stata_dta>SECRET", b"HEADER RECORD*******LIB"])
def test_refuses_broken_files(tmp_path: Path, data: bytes) -> None:
    """Tests that a broken file is refused without quoting it."""
    (tmp_path / "t").write_bytes(data)
    with pytest.raises(ic.InputError, match="cannot be read") as caught:
        read(tmp_path / "t")
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "values", "expected"),
    [
        ((), (1.0, 2.0), (-9.0, ((-9.0, -9.0),))),
        (((-9.0, -9.0),), (1.0, -9.0), (-99.0, ((-9.0, -9.0), (-99.0, -99.0)))),
        (((90.0, 95.0),), (1.0, 90.0), (-9.0, ((90.0, 95.0), (-9.0, -9.0)))),
        (((90.0, 95.0), (-1.0, -1.0)), (1.0, 90.0), (91.0, None)),
        (((7.0, 7.0), (8.0, 8.0), (9.0, 9.0)), (1.0, 9.0), (-9.0, ((7.0, 9.0), (-9.0, -9.0)))),
        (((1.0, 1.0), (5.0, 5.0), (9.0, 9.0)), (3.0, 9.0), None),
        (((-np.inf, 0.0),), (3.0, -5.0), (-9.0, None)),
    ],
)
def test_room_for_one_more_missing_value(missing: Any, values: Any, expected: Any) -> None:
    """Tests which code stands for a suppressed cell in SPSS; None: the ranges stay."""
    column = StatColumn("x", (*values, Label("*")), np.arange(3, dtype=np.int32), False)
    column = StatColumn(**{**vars(column), "missing": missing})
    if expected is None:
        with pytest.raises(ic.InputError, match="no room for one more missing value"):
            physical(column, "spss")
        return
    found = physical(column, "spss")
    code, ranges = expected
    assert found.values[-1] == code
    assert found.missing == (missing if ranges is None else ranges)
    assert found.is_missing(code)


CELLS = {
    "spss": st.sampled_from([1.0, 2.0, 3.5, -9.0, 98.0, None]),
    "stata": st.sampled_from([1, 2, 3, None, Tag("a"), Tag("s")]),
    "sas": st.sampled_from([1.0, 2.0, 3.5, None]),
}


@given(st.data())
@settings(max_examples=few(60))
def test_any_release_reads_back(data: st.DataObject) -> None:
    """Tests tables of all kinds of cells with cells replaced: what is written reads as promised."""
    form = data.draw(st.sampled_from(["sav", "zsav", "dta", "xpt"]))
    family = FAMILY[form]
    rows = data.draw(st.integers(1, 6))
    cells = data.draw(st.lists(CELLS[family], min_size=rows, max_size=rows))
    known = sorted({c for c in cells if isinstance(c, int | float)})
    labelled = data.draw(st.sampled_from([0, len(known)])) if family != "sas" else 0
    place = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    column = StatColumn(
        "x",
        tuple(place),
        np.array([place[c] for c in cells], np.int32),
        False,
        title=data.draw(st.sampled_from([None, "A title"])),
        labels={c: f"label {c}" for c in known[:labelled]},
        missing=((98.0, 98.0),) if family == "spss" and data.draw(st.booleans()) else (),
    )
    table = StatTable({"x": column}, rows, family, version=8)
    new = data.draw(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=rows, max_size=rows))
    changes = {"x": Replacement(("*", "1-2", "3 or more"), np.array(new, np.int32))}
    released = table.edited(Edit(("x",), changes))
    spool = io.BytesIO()
    try:
        write_stat(released, form, spool)
    except ic.InputError:
        assert family == "sas" and any(isinstance(c, Tag) for c in cells)
        return
    again = read_stat(spool.getvalue(), "again", form.removeprefix("z"))
    assert texts(again).equals(texts(released))
    assert again.variables["x"].title == column.title
    if all(i < 0 for i in new):
        assert dict(again.variables["x"].labels) == column.labels
        assert again.variables["x"].missing == column.missing


def test_values_that_read_alike_are_refused(sav: Path) -> None:
    """Tests that two codes of one text, which a release could not tell apart, are an error."""
    column = StatColumn("x", (1.0, 2.0), np.array([0, 1], np.int32), False)
    twice = StatColumn(**{**vars(column), "labels": {1.0: "group: a", 2.0: "group: a"}})
    with pytest.raises(ic.InputError, match="two values read alike"):
        twice.encode()


def test_formats_of_time() -> None:
    """Tests which formats count days, seconds or milliseconds."""
    day, hour = 86400, 3600
    for family, form, number, text in (
        ("spss", "DATETIME20", 12e9 + hour, None),
        ("spss", "ADATE10", 141428 * day, "1970-01-01"),
        ("stata", "%tcDDmonCCYY", 1000.0, "1960-01-01 00:00:01"),
        ("stata", "%d", 1, "1960-01-02"),
        ("sas", "DATETIME22.3", 60.0, "1960-01-01 00:01:00"),
        ("sas", "YYMMDD10", 31, "1960-02-01"),
    ):
        epoch = epoch_of(family, form)
        column = StatColumn("x", (number,), np.zeros(1, np.int32), False, epoch)
        assert epoch is not None
        assert text is None or column.texts() == [text]
    for family, form in (("spss", "F8.2"), ("stata", "%9.0g"), ("sas", "BEST12"), ("sas", None)):
        assert epoch_of(family, form) is None
    with pytest.raises(ic.InputError, match="outside the years"):
        StatColumn("x", (1e15,), np.zeros(1, np.int32), False, epoch_of("sas", "DATE9")).texts()


def test_command_line(sav: Path) -> None:
    """Tests a release of an SPSS file from end to end, and that verify accepts it."""
    out = sav.parent / "release.sav"
    roles = ("--id", "id", "--keep", "born", "-k", "2")
    rules = ("--hierarchy", "age=interval:10", "--hierarchy", "town=prefix:1")
    run = CliRunner().invoke(cli, ["anonymize", str(sav), "-o", str(out), *roles, *rules, "-q"])
    assert run.exit_code == 0, run.output
    checked = CliRunner().invoke(cli, ["verify", str(out), "--original", str(sav), *roles, *rules])
    assert checked.exit_code == 0, checked.output
    assert "90-99" not in str(raw(out)[0])  # 99 is a refusal, not an age
    for name, message in (
        ("o.dta", "Stata files are written from Stata files only"),
        ("o.por", "can be read, not written"),
    ):
        run = CliRunner().invoke(cli, ["anonymize", str(sav), "-o", str(sav.parent / name), *roles])
        assert (run.exit_code, message in run.output) == (2, True)
    proof = ("--proof", str(sav.parent / "p"))
    run = CliRunner().invoke(cli, ["anonymize", str(sav), "-o", str(out), *roles, *proof])
    assert (run.exit_code, "reads CSV, Parquet and Arrow only" in run.output) == (2, True)


def test_from_python(sav: Path) -> None:
    """Tests the release as a frame, and in other formats."""
    release = ic.anonymize(sav, k=2, id="id", keep="born")
    assert release.verify()
    assert release.data.schema["town"] == pl.String
    for name in ("o.csv", "o.parquet", "o.sav"):
        release.write(sav.parent / name)
        assert texts(read(sav.parent / name), ["job"]).equals(texts(release.table, ["job"]))


def test_csv_into_a_stat_file(tmp_path: Path) -> None:
    """Tests that text cannot be written as .sav, rather than as CSV under that name."""
    (tmp_path / "t.csv").write_text("a\n1\n1\n")
    release = ic.anonymize(tmp_path / "t.csv", k=2)
    with pytest.raises(ic.InputError, match="SPSS files are written from SPSS files only"):
        release.write(tmp_path / "o.sav")
    assert not (tmp_path / "o.sav").exists()
