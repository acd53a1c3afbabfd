"""Tests of tables in several files: the same files come out, or nothing does."""

import io
import zlib
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result

import incrowd as ic
from incrowd.checker.both import sums_of
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.tables.files import read
from incrowd.tables.folders import files_in, whole_folder

ROWS = [
    ["Ada", "34", "f", "flu"],
    ["Ben", "36", "m", "cold"],
    ["Cleo", "34", "f", "flu"],
    ["Dan", "36", "m", "gout"],
    ["Eva", "51", "f", "flu"],
    ["Finn", "51", "m", "cold"],
    ["Gil", "", "m", "flu"],
    ["Hoa", "52", "f", "gout"],
]
HEADER = ["name", "age", "sex", "illness"]
STARS, EARLIER = b"age,ill\n*,flu\n*,flu\n", b"age,ill\n34,flu\n35,flu\n"
CRC = b"crc\0\0\0\2\0"  # how Hadoop begins such a file, in steps of 512 bytes


def run(*arguments: Any) -> Result:
    """Run incrowd quietly with the roles of these tables."""
    roles = ("--id", "name", "--sensitive", "illness", "-k", "2", "-q")
    return CliRunner().invoke(cli, ["anonymize", *map(str, arguments), *roles])


def csv_parts(folder: Path, names: list[str]) -> None:
    """Deal the rows into files of CSV, the last one empty."""
    for i, name in enumerate(names):
        rows = ROWS[i * 3 : i * 3 + 3]
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(",".join(row) for row in [HEADER, *rows]) + "\n")


def parquet_parts(folder: Path, names: list[str]) -> None:
    """The same as Parquet, ages as whole numbers."""
    for i, name in enumerate(names):
        rows = [[n, int(a) if a else None, s, d] for n, a, s, d in ROWS[i * 3 : i * 3 + 3]]
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        types = {"name": pl.String, "age": pl.Int32, "sex": pl.String, "illness": pl.String}
        pl.DataFrame(rows, schema=types, orient="row").write_parquet(path)


def table_of(path: Path) -> list[tuple[Any, ...]]:
    """The rows of a file, all columns as text."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path).select(pl.all().cast(pl.String)).rows()
    return pl.read_csv(path, infer_schema=False).rows()


@pytest.mark.parametrize(("make", "suffix"), [(csv_parts, ".csv"), (parquet_parts, ".parquet")])
@pytest.mark.parametrize("pattern", ["in", "in/*{}", "in/**/*{}"])
def test_same_files_come_out(
    make: Any, suffix: str, pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests names, rows in place, and that the result is that of the table in one file."""
    monkeypatch.chdir(tmp_path)
    names = [f"part-{i}{suffix}" for i in range(4)]
    make(Path("in"), names)
    Path("in/_SUCCESS").touch()
    Path("in/.hidden.part").write_text("x")
    done = run(pattern.format(suffix), "-o", "out/", "--order", "keep")
    assert done.exit_code == 0, done.output
    assert files_in(Path("out")) == set(names)
    found = [row for name in names for row in table_of(Path("out") / name)]
    together = pl.DataFrame(ROWS, schema=HEADER, orient="row")
    together = together.with_columns(pl.col("age").replace("", None))
    release = ic.anonymize(together, 2, id="name", sensitive="illness")
    assert found == release.data.rows()
    assert [len(table_of(Path("out") / name)) for name in names] == [3, 3, 2, 0]
    assert {p.name for p in Path().iterdir()} == {"in", "out"}


def test_shuffled_rows_stay_in_their_file(tmp_path: Path) -> None:
    """Tests that shuffling, the default, mixes within each file only."""
    csv_parts(tmp_path / "in", ["a.csv", "b.csv", "c.csv"])
    assert run(tmp_path / "in", "-o", tmp_path / "out").exit_code == 0
    for i, name in enumerate(["a.csv", "b.csv", "c.csv"]):
        illness = sorted(row[-1] for row in table_of(tmp_path / "out" / name))
        assert illness == sorted(row[-1] for row in ROWS[i * 3 : i * 3 + 3])


def test_hive_folders_are_columns(tmp_path: Path) -> None:
    """Tests a folder's column that is kept, one that is generalized, one that is left out."""
    names = [f"ward={ward}/year={year}/p.parquet" for ward, year in [("N", 1), ("N", 2), ("S", 3)]]
    parquet_parts(tmp_path / "in", names)
    table = read(tmp_path / "in")
    assert table.columns == ("name", "age", "sex", "illness", "ward", "year")
    assert table.encode("year").values == ("1", "2", "3")
    qi = ("--qi", "age,sex,year")
    assert run(tmp_path / "in", "-o", tmp_path / "kept", "--keep", "ward", *qi).exit_code == 0
    files = files_in(tmp_path / "kept")
    assert files
    assert all(name.startswith(("ward=N/year=", "ward=S/year=")) for name in files)
    rows = [
        (name.split("/")[1], *row[:2])
        for name in files
        for row in table_of(tmp_path / "kept" / name)
    ]
    assert len(rows) == len(ROWS)
    assert min(rows.count(row) for row in rows) >= 2
    done = run(tmp_path / "in", "-o", tmp_path / "left", "--id", "ward,year", "--qi", "age,sex")
    assert done.exit_code == 0
    assert files_in(tmp_path / "left") == {"p.parquet"}
    assert len(table_of(tmp_path / "left" / "p.parquet")) == len(ROWS)


def test_a_name_does_not_tell_a_hidden_folder(tmp_path: Path) -> None:
    """Tests files of names of their own whose folders are generalized, left out, or kept."""
    names = [f"year={i}/part-{i}.csv" for i in (1, 2, 3)]
    csv_parts(tmp_path / "in", names)
    qi = ("--qi", "age,sex,year", "--weight", "year=0.01")
    for _ in range(2):  # the second release takes the place of the first
        assert run(tmp_path / "in", "-o", tmp_path / "out", *qi).exit_code == 0
    found = files_in(tmp_path / "out")
    assert "year=%2A/moved.csv" in found
    assert found <= {"year=%2A/moved.csv", *names}
    asked = ("--id", "year", "--qi", "age,sex")
    assert run(tmp_path / "in", "-o", tmp_path / "left", *asked).exit_code == 0
    assert files_in(tmp_path / "left") == {"moved.csv"}
    assert len(table_of(tmp_path / "left" / "moved.csv")) == len(ROWS)
    assert run(tmp_path / "in", "-o", tmp_path / "kept", "--keep", "year").exit_code == 0
    assert files_in(tmp_path / "kept") == set(names)


def test_types_agree_across_files(tmp_path: Path) -> None:
    """Tests that a column changed in one file only is text in all of them."""
    folder = tmp_path / "in"
    folder.mkdir()
    pl.DataFrame({"a": [1, 1], "b": [5, 5]}).write_parquet(folder / "x.parquet")
    pl.DataFrame({"a": [2, 3], "b": [6, 6]}).write_parquet(folder / "y.parquet")
    done = CliRunner().invoke(
        cli, ["anonymize", str(folder), "-o", str(tmp_path / "out"), "-k", "2", "-q"]
    )
    assert done.exit_code == 0
    schemas = [pl.read_parquet(p).schema for p in sorted((tmp_path / "out").iterdir())]
    assert schemas[0] == schemas[1]
    assert schemas[0]["b"].is_integer()


def test_one_file_from_many(tmp_path: Path) -> None:
    """Tests that an output with a table's name is one file, folders' columns in it."""
    csv_parts(tmp_path / "in", ["year=1/a.csv", "year=2/b.csv", "year=3/c.csv"])
    done = run(tmp_path / "in", "-o", tmp_path / "out.csv", "--keep", "year")
    assert done.exit_code == 0, done.output
    frame = pl.read_csv(tmp_path / "out.csv")
    assert frame.columns == ["age", "sex", "illness", "year"]
    assert frame.height == len(ROWS)
    done = run(tmp_path / "in", "-o", tmp_path / "out.xlsx", "--keep", "year")
    assert done.exit_code == 0, done.output
    years = read(tmp_path / "out.xlsx").encode("year")
    assert (years.values, len(years.codes)) == (("1", "2", "3"), len(ROWS))


@pytest.mark.parametrize(
    "names", [["1.csv", "2.csv"], ["y=1/1.csv", "y=2/1.csv"]], ids=["", "hive"]
)
def test_one_table_keeps_the_delimiter(names: list[str], tmp_path: Path) -> None:
    """Tests that a folder of CSV goes into a file or a pipe as CSV with the files' delimiter."""
    csv_parts(tmp_path / "in", names)
    for name in names:
        path = tmp_path / "in" / name
        path.write_text(path.read_text().replace(",", ";").replace("flu", '"f;u"'))
    assert run(tmp_path / "in", "-o", tmp_path / "out.csv").exit_code == 0
    text = (tmp_path / "out.csv").read_text()
    assert text.startswith("age;sex;illness")
    assert sorted(run(tmp_path / "in", "-o", "-").stdout.splitlines()) == sorted(text.splitlines())
    found = pl.read_csv(tmp_path / "out.csv", separator=";")["illness"]
    assert sorted(found.to_list()) == sorted(["cold", "f;u", "gout", "f;u", "f;u", "cold"])


def test_decimals_and_times_of_which_one_file_has_no_fraction(tmp_path: Path) -> None:
    """Tests that how a column reads in one file is not held against how it reads in all."""
    (tmp_path / "in").mkdir()
    for i, (x, hour) in enumerate([(2.0, 0), (1.5, 7)]):
        times = [datetime(2020, 1, 1), datetime(2020, 1, 1, hour)]
        rows = {"name": ["A", "B"], "age": ["1", "1"], "illness": ["flu", "flu"]}
        frame = pl.DataFrame({**rows, "x": [1.0, x], "t": times, "sex": [2.0, x]})
        frame.write_parquet(tmp_path / "in" / f"{i}.parquet")
    done = run(tmp_path / "in", "-o", tmp_path / "out", "--keep", "x,t", "--order", "keep")
    assert done.exit_code == 0, done.output
    assert pl.read_parquet(tmp_path / "out" / "0.parquet")["x"].to_list() == [1.0, 2.0]


def test_arrow_through_a_pipe_is_arrow(tmp_path: Path) -> None:
    """Tests that a pipe carries the input's format, of one file and of several."""
    parquet_parts(tmp_path / "parquet", ["1.parquet", "2.parquet"])
    (tmp_path / "arrow").mkdir()
    for path in (tmp_path / "parquet").iterdir():
        pl.read_parquet(path).write_ipc(tmp_path / "arrow" / f"{path.stem}.arrow")
    for name in ("arrow", "arrow/1.arrow"):
        assert pl.read_ipc(run(tmp_path / name, "-o", "-").stdout_bytes).width == 3
    for name in ("parquet", "parquet/1.parquet"):
        assert pl.read_parquet(run(tmp_path / name, "-o", "-").stdout_bytes).width == 3


def test_python(tmp_path: Path) -> None:
    """Tests a folder as data, and write."""
    csv_parts(tmp_path / "in", ["a.csv", "b.csv", "c.csv"])
    release = ic.anonymize(tmp_path / "in", 2, id="name", sensitive="illness")
    assert release.verify()
    release.write(tmp_path / "out")
    assert files_in(tmp_path / "out") == {"a.csv", "b.csv", "c.csv"}


def spoil(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("d.csv", "name,age,sex\nA,1,f\n", "other columns"),
        ("d.csv", "name;age;sex;illness\n", "other columns"),
        ("d.csv", "name,age,sex,illness\r\nA,1,f,flu\r\n", "written in another way"),
        ("notes.md", "hello", "not CSV, Parquet or Arrow"),
        ("year=1/d.csv", "name,age,sex,illness\nA,1,f,flu\n", "other folders"),
    ],
)
def test_parts_that_do_not_fit(name: str, text: str, message: str, tmp_path: Path) -> None:
    """Tests that a file unlike the others is named."""
    csv_parts(tmp_path / "in", ["a.csv", "b.csv"])
    spoil(tmp_path / "in", name, text)
    done = run(tmp_path / "in", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert message in done.output
    assert Path(name).name in done.output
    assert not (tmp_path / "out").exists()


def test_places_that_do_not_fit(tmp_path: Path) -> None:
    """Tests outputs within the input, around it, or where something else stands."""
    csv_parts(tmp_path / "in", ["a.csv", "b.csv"])
    other = tmp_path / "other"
    spoil(other, "precious.txt", "x")
    for place in (tmp_path / "in" / "out", tmp_path / "in", tmp_path, other):
        assert run(tmp_path / "in", "-o", place).exit_code == 2
    assert (other / "precious.txt").read_text() == "x"
    assert "no file there" in run(tmp_path / "in/*.pq", "-o", tmp_path / "out").output
    proof = run(tmp_path / "in", "-o", tmp_path / "out", "--proof", tmp_path / "p")
    assert "one file" in proof.output
    metadata = run(tmp_path / "in", "-o", tmp_path / "out", "--metadata", tmp_path / "m.json")
    assert "one file" in metadata.output


def test_earlier_output_is_replaced_whole(tmp_path: Path) -> None:
    """Tests that a second run replaces the first, and a failing third changes nothing."""
    csv_parts(tmp_path / "in", ["a.csv", "b.csv"])
    assert run(tmp_path / "in", "-o", tmp_path / "out").exit_code == 0
    spoil(tmp_path / "out", "a.csv", "older")
    assert run(tmp_path / "in", "-o", tmp_path / "out").exit_code == 0
    before = (tmp_path / "out" / "a.csv").read_bytes()
    assert before != b"older"
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "out") as folder:
        (folder / "a.csv").write_text("half")
        raise ZeroDivisionError
    assert (tmp_path / "out" / "a.csv").read_bytes() == before
    assert {p.name for p in tmp_path.iterdir()} == {"in", "out"}


def test_replacing_without_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests systems that cannot let two names change places."""
    monkeypatch.setattr("incrowd.tables.folders._exchanged", lambda a, b: False)
    for text in ("one", "two"):
        with whole_folder(tmp_path / "out") as folder:
            (folder / "x").write_text(text)
    assert (tmp_path / "out" / "x").read_text() == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_files_that_come_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a part that appears in mid-reading is an error."""
    csv_parts(tmp_path / "in", ["a.csv", "b.csv"])
    from incrowd.tables import parts

    one = parts._one

    def late(path: Path, *rest: Any) -> Any:
        csv_parts(tmp_path / "in", ["a.csv", "b.csv", "c.csv"])
        return one(path, *rest)

    monkeypatch.setattr(parts, "_one", late)
    with pytest.raises(InputError, match="came or went"):
        read(tmp_path / "in")


@pytest.mark.parametrize(
    ("name", "data", "fine"),
    [
        ("_SUCCESS", b"", True),
        (".a.csv.crc", CRC + zlib.crc32(STARS).to_bytes(4), True),
        (".a.csv.crc", CRC + zlib.crc32(EARLIER).to_bytes(4), False),
        (".a.csv.crc", sums_of(io.BytesIO(STARS), 1), False),  # which say each byte
        ("._SUCCESS.crc", CRC, False),  # of no file
        ("_SUCCESS", b"Ada,34", False),
        ("_raw.csv", b"name,age\nAda,34\n", False),
        (".a.csv.crc", b"crc\0Ada is 34, and Ben is 35", False),
        (".b.csv.crc", CRC + zlib.crc32(STARS).to_bytes(4), False),
        (".old/a.csv", b"name,age\nAda,34\n", False),
        ("year=2020/.part-0", b"Ada,34", False),
        ("age=34", None, False),  # a partition whose rows went elsewhere
        (".raw", None, False),
    ],
)
def test_hidden_files_of_a_release(
    name: str, data: bytes | None, fine: bool, tmp_path: Path
) -> None:
    """Tests what a folder holds beside its table: no reader shows it, and it goes along.

    ``data``: of a file; None for a folder without any.
    """
    original, release = tmp_path / "in.csv", tmp_path / "out"
    original.write_text("name,age,ill\nAda,34,flu\nBen,35,flu\n")
    (release / name).parent.mkdir(parents=True)
    (release / "a.csv").write_bytes(STARS)
    if data is None:
        (release / name).mkdir()
    else:
        (release / name).write_bytes(data)
    asked = {"k": 2, "id": "name", "sensitive": "ill"}
    answer = ic.verify(release, original, **asked)
    assert answer.lawful == fine
    assert fine or repr(name) in answer.reasons[0]
    assert ic.verify(f"{release}/*.csv", original, **asked)  # that is another table


@pytest.mark.parametrize("order", ["keep", "shuffle"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_left_out_of_files(form: str, order: str, tmp_path: Path) -> None:
    """Tests a release in a folder that lacks rows of both of its files."""
    data = pl.DataFrame({"age": [*"112233"] * 2, "ill": [*"fffffg"] * 2})
    for name, part in (("a", data[:6]), ("b", data[6:])):
        path = tmp_path / "in" / f"{name}.{form}"
        path.parent.mkdir(exist_ok=True)
        part.write_csv(path) if form == "csv" else part.write_parquet(path)
    asked = {"k": 2, "sensitive": "ill", "l": 2, "l_kind": "frequency", "suppress_rows": 8}
    release = ic.anonymize(tmp_path / "in", **asked, order=order)
    assert release.suppressed_rows == 8
    release.write(tmp_path / "out")
    assert ic.verify(tmp_path / "out", tmp_path / "in", **asked)
    assert read(tmp_path / "out").rows == 4


@pytest.mark.parametrize(
    ("names", "ends", "words"),
    [
        (("zip=1/a", "zip=1/b"), ("", ""), ""),
        (("zip=1/a", "zip=1/b"), ("\n\n", ""), "'zip=1/a.csv': blank lines"),
        (("zip=1/a", "zip=1/b"), ("", "\n"), "blank lines"),
        (("zip=1/a", "zip=%31/a"), ("", ""), "column 'zip': equal cells are written in two ways"),
    ],
)
def test_equal_cells_of_several_files_look_alike(
    names: tuple[str, str], ends: tuple[str, str], words: str, tmp_path: Path
) -> None:
    """Tests blank lines at the end of any file, and one value in two folders."""
    original, release = tmp_path / "in.csv", tmp_path / "out"
    original.write_text("age,ill,zip\n34,flu,1\n34,flu,1\n34,flu,1\n34,flu,1\n")
    for name, end in zip(names, ends, strict=True):
        path = release / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"age,ill\n34,flu\n34,flu\n{end}")
    asked = {"k": 2, "sensitive": "ill"}
    answer = ic.verify(release, original, **asked)
    assert answer.lawful == (not words)
    assert not words or words in answer.reasons[0]
