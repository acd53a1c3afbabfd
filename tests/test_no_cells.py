"""Messages quote no cell: they stand on screens and in logs that more people read than the table.

Every cell of these tables, and every label that a rule makes of one, holds a letter or digit that
no message, option or name holds otherwise.
"""

from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli
from incrowd.codebooks import codebook
from incrowd.errors import LackingError

TABLE = """\
who,code,size,day,ill
Qa,Ж71,717,7177-07-17,Юx
Qb,Ж72,727,7177-07-17,Юy
Qc,Ж73,737,7177-07-17,Юz
Qd,Ж7717,747,7177-07-17,Юx
"""
SECRET = ("Ж", "Ю", "Q", "7")
ROLES = "--id who --sensitive ill -k 2"
FILES = {
    "t.csv": TABLE,
    "some.csv": "Ж71;A;*\nЖ72;A;*\n",
    "twice.csv": "Ж71;A;*\nЖ71;B;*\n",
    "empty.csv": "Ж71;A;*\nЖ72;;*\n",
    "above.csv": "Ж71;*;Ж71;*\n",
    "own.csv": "Ж71;A;Ж71;*\n",
    "group.csv": "Ж71;Ж72;*\nЖ72;A;*\n",
    "parents.csv": "Ж71;A;X;*\nЖ72;A;Y;*\n",
    "uneven.csv": "Ж71;A;B;*\nЖ72;B;*\nЖ73;B;*\nЖ7717;B;*\n",
    "quote.csv": 'Ж71;"A;*\n',
    "free.csv": "Ж71;1\n*;1\n",
    "swapped.csv": "1;Ж71\n",
    "falls.csv": "Ж***;1\nЖ7**;2\n*;1\n",
    "lacks.csv": "*;1\n",
    "two.csv": "Ж71;1\nЖ71;2\n",
    "metric.csv": "Юx;Юy;1\nЮx;Юz;9\nЮy;Юz;1\n",
    "pairs.csv": "Юx;Юy;1\n",
    "far.csv": "Юx;Юy;Ю\n",
    "order.csv": "Юx\nЮy\n",
    "again.csv": "Юx\nЮx\n",
    "ragged.csv": TABLE + "Qe,Ж71,717\n",
    "open.csv": TABLE + 'Qe,"Ж71,717\n',
    "mask.csv": TABLE.replace("Ж72", "Ж7*"),
    "star.csv": TABLE.replace("Ж72", "*"),
    "float.csv": TABLE.replace("727", "727e99999999"),
    "hole.csv": TABLE.replace("Qb", ""),
    "release.csv": TABLE.replace("who,", "").replace("Qa,", ""),
    "odd.csv": "code,size,day,ill\nЖ71,717,*,Юx\nЖ9,717,*,Юx\n" + "*,*,*,Юy\n*,*,*,Юz\n",
}
CASES = [
    *(f"anonymize t.csv -o o.csv {ROLES} --hierarchy code={name}.csv" for name in
      ("some", "twice", "empty", "above", "own", "group", "parents", "uneven", "quote")),
    *(f"anonymize t.csv -o o.csv {ROLES} --hierarchy {rule}" for rule in
      ("code=interval:5", "code=date", "size=date", "day=interval:5", "code=prefix:8")),
    *(f"anonymize t.csv -o o.csv {ROLES} --hierarchy code=prefix:1,2 --cost {name}.csv" for name in
      ("free", "swapped", "falls", "lacks", "two")),
    *(f"anonymize t.csv -o o.csv {ROLES} --t .5 --distance {name}" for name in
      ("metric.csv", "pairs.csv", "far.csv", "order.csv", "again.csv", "ordered", "hierarchy")),
    *(f"anonymize {name}.csv -o o.csv {ROLES} --hierarchy {rule}" for name, rule in
      (("ragged", "code=date"), ("open", "code=date"), ("mask", "code=prefix:1"),
       ("star", "code=none"), ("float", "size=interval:5"))),
    f"anonymize t.csv -o o.csv {ROLES} --t .5 --distance hierarchy --hierarchy ill=some.csv",
    "anonymize hole.csv -o o.csv --person who --sensitive ill -k 2",
    "anonymize t.csv -o o.csv --id who --sensitive ill -k 2 --l 4",
    "anonymize t.csv -o o.csv --id who --sensitive ill -k 2 --existing odd.csv",
    "bound t.csv --id who --sensitive ill -k 2 --hierarchy code=some.csv",
    "verify release.csv --original t.csv --id who --sensitive ill -k 2",
    "verify odd.csv --original t.csv --id who --sensitive ill -k 2",
    "measure t.csv --qi code --sensitive ill --ignore who,size,day --distance ill=metric.csv",
    "attack odd.csv --original t.csv --id who --sensitive ill -k 2",
    "hierarchy make t.csv --column code --interval 5 -o h.csv",
    "hierarchy make mask.csv --column code --prefix 1 -o h.csv",
    "hierarchy make t.csv --column code --from some.csv -o h.csv",
    "hierarchy show some.csv --table t.csv --column code",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder, with all files."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", CASES)
def test_messages_quote_no_cell(words: str) -> None:
    """Tests what ends with an error, or with no: it says so, and tells no cell."""
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code in (1, 2), done.output
    assert done.stderr.startswith("incrowd: ")
    assert "unexpected error" not in done.stderr
    assert not any(mark in done.stderr for mark in SECRET), done.stderr


@pytest.mark.usefixtures("folder")
def test_a_value_that_a_hierarchy_lacks_is_named_by_its_row() -> None:
    """Tests row, column and number of values, that the tool named there names them, and Python."""
    asked = f"anonymize t.csv -o o.csv {ROLES} --hierarchy code=some.csv"
    told = CliRunner().invoke(cli, asked.split()).stderr
    assert "column 'code': 2 values are not in the hierarchy some.csv (the first in row 3)" in told
    shown = CliRunner().invoke(
        cli, ["hierarchy", "check", "some.csv", "--table", "t.csv", "--column", "code"]
    )
    assert shown.exit_code == 1
    assert "keep it private" in shown.stderr
    assert not any(mark in shown.stderr for mark in SECRET)
    assert "the value 'Ж73' is not in some.csv" in shown.stdout
    with pytest.raises(LackingError, match="in row 3") as caught:
        ic.anonymize("t.csv", 2, id="who", sensitive="ill", hierarchies={"code": "some.csv"})
    assert caught.value.absent == ("Ж73", "Ж7717")


def test_the_text_of_a_table_is_no_name(tmp_path: Path) -> None:
    """Tests text where a path is asked for, which messages would quote as the file's name."""
    (tmp_path / "t.csv").write_text(TABLE, "utf-8")
    (tmp_path / "proof").write_text("{}", "utf-8")
    there, frame = tmp_path / "t.csv", pl.read_csv(tmp_path / "t.csv")
    asked = {"id": "who", "sensitive": "ill"}
    tried = (
        lambda: ic.anonymize(TABLE, 2),
        lambda: ic.anonymize(TABLE * 99, 2),
        lambda: ic.measure(TABLE),
        lambda: ic.verify(there, TABLE, k=2, **asked),
        lambda: ic.verify(there, TABLE, proof=tmp_path / "proof"),
        lambda: ic.attack(there, TABLE, k=2, **asked),
        lambda: ic.anonymize(frame, 2, hierarchies={"code": FILES["some.csv"]}, **asked),
        lambda: ic.anonymize(frame, 2, hierarchies={"code": TABLE * 99}, **asked),
        lambda: ic.anonymize(frame, 2, cost=TABLE * 99, **asked),
        lambda: ic.anonymize(frame, 2, t=0.5, distance=TABLE * 99, **asked),
        lambda: ic.anonymize(frame, 2, policy=TABLE),
        lambda: ic.anonymize(frame, 2, order=TABLE, **asked),
        lambda: ic.republish(frame, TABLE, person="who", sensitive="ill"),
        lambda: ic.attack(frame, frame, proof=TABLE, **asked),
    )
    for ask in tried:
        with pytest.raises(ic.IncrowdError, match="several lines") as raised:
            ask()
        assert not any(secret in str(raised.value) for secret in SECRET)


def test_columns_of_several_lines_are_named() -> None:
    """Tests names as workbooks have them, in every role, and beside a name that is not there."""
    one, two, three, four = ("income\nin EUR\na year", "ill\nor\nwell", "who\nis\nit", "a\nb\nc")
    frame = pl.DataFrame({one: ["1", "2"] * 4, two: ["x"] * 8, three: ["y"] * 8, four: ["z"] * 8})
    asked = {"qi": [one, four], "sensitive": two, "id": three, "fixed": four, "caps": {one: 1}}
    assert set(ic.anonymize(frame, 2, **asked).data.columns) == {one, two, four}
    with pytest.raises(ic.InputError, match="no column is called"):
        ic.anonymize(frame, 2, **asked | {"id": "who\nis\nthere"})


@pytest.mark.parametrize("name", [each.name for each in fields(ic.Policy)])
def test_a_frame_is_no_option(name: str) -> None:
    """Tests a frame, alone or in a list or mapping, in place of each option."""
    frame = pl.DataFrame({"code": ["Ж71", "Ж72"] * 2, "ill": ["Юx", "Юy"] * 2})
    for wrong in (frame, frame.to_arrow(), {"code": frame}, [frame]):
        with pytest.raises(ic.InputError, match=f"^{name} takes no data frame$"):
            ic.anonymize(frame, **{"k": 2, "sensitive": "ill", name: wrong})


def test_frames_quote_no_cell() -> None:
    """Tests data frames with cells that cannot be read."""
    import pandas as pd

    mixed = pd.DataFrame({"a": ["Ж1", 7, "Ж2", 7], "b": ["x"] * 4})
    nested = pl.DataFrame({"a": [["Ж"], ["Ж"]], "b": ["x"] * 2})
    for frame in (mixed, nested):
        with pytest.raises(ic.InputError) as caught:
            ic.anonymize(frame, k=2)
        assert not any(mark in str(caught.value) for mark in SECRET)


def held_by(frame: Any) -> bytes:
    """All that Arrow hands on of a polars frame."""
    table = pa.table(frame)
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    return b"".join(b.to_pybytes() for chunk in chunks for b in chunk.buffers() if b is not None)


LONG = "long enough to be shared"


def hidden_in(frame: Any, table: pl.DataFrame) -> set[str]:
    """The cells of a table that a frame holds and does not show."""
    held = held_by(frame)
    shown = {text for column in frame.get_columns() for text in column.cast(pl.String)}
    cells = {text for column in table.get_columns() for text in column} - shown
    return {text for text in cells if text.encode() in held}


def test_frames_hand_on_no_hidden_cell(tmp_path: Path) -> None:
    """Tests the memory of what is handed out: Arrow's files would hold all of it."""
    names = [f"name {i} {LONG}" for i in range(12)]
    code = [f"{LONG} of all"] * 4 + [f"{LONG} own {i}" for i in range(8)]
    ill = [f"{LONG} ill {i % 4}" for i in range(12)]
    table = pl.DataFrame({"name": names, "code": code, "town": names, "ill": ill})
    table.write_csv(tmp_path / "in.csv")
    told: Any = {"sensitive": "ill"}
    release = ic.anonymize(tmp_path / "in.csv", 4, id="name", **told)
    next_one = ic.republish(tmp_path / "in.csv", tmp_path / "h", m=4, person="name", **told)
    assert "*" in next_one.published["code"] and code[0] in next_one.published["code"]
    for frame in (release.data, next_one.published):
        assert hidden_in(frame, table) == set()
    # in the order of the release: any other one could tell counterfeits from people
    assert "".join(next_one.published["ill"]).encode() in held_by(next_one.published)


def test_rows_that_a_codebook_leaves_out_are_not_in_its_memory() -> None:
    """Tests the same of a release by patterns, which is to tell nothing of them."""
    rows = [(f"{LONG} of all", f"{LONG} ill")] * 40
    table = pl.DataFrame(rows, schema=["code", "ill"], orient="row")
    rare = [f"{LONG} rare {i}" for i in range(40)]
    table = pl.concat([table, pl.DataFrame({"code": rare, "ill": rare})])
    patterns = pl.DataFrame({"code": [f"{LONG} of all", f"{LONG} of nobody"]})
    release = codebook(table, patterns, 2, 0.9, epsilon=3, sensitive="ill")
    assert release.rows and hidden_in(release.texts, table) == set()


def test_what_is_remembered_quotes_no_cell(tmp_path: Path) -> None:
    """Tests what Python prints of a release of a series, and of its history."""
    rows = {"who": [f"Q{i}" for i in range(9)], "code": ["Ж"] * 9, "ill": ["Юx", "Юy", "Юz"] * 3}
    release = ic.republish(pl.DataFrame(rows), tmp_path / "h", person="who", sensitive="ill")
    told = f"{release}{release.history}{release.before}{[*release.history.people.values()]}"
    assert not any(mark in told for mark in "ЖЮQ")
    assert str(release).startswith("<Republished: 9 people and 0 counterfeits in 3 classes, m = 3")


def test_what_is_averaged_quotes_no_cell() -> None:
    """Tests what a release of averages holds of its columns."""
    frame = pl.DataFrame({"size": [7177, 7727, 7737, 7747]})
    averaged = ic.anonymize(frame, k=2, hierarchies={"size": "mean"}).averaged
    assert averaged is not None
    for each in (averaged, averaged.axes[0]):
        assert repr(each) == object.__repr__(each)
