"""Tests that what an adversary found in the checker stays closed: false claims, exceptions.

Each case once was accepted, or ended in something else than a verdict.
"""

import io
import json
import struct
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("networkx")

from forging.bundle import Bundle  # noqa: E402
from forging.mending import mend  # noqa: E402
from forging.trying import all_stars, arrow_file, base, verdict_of  # noqa: E402
from proof_samples import judged  # noqa: E402

from incrowd.checker.arrow import require_moderate  # noqa: E402
from incrowd.checker.files import read_proof, read_table  # noqa: E402
from incrowd.checker.published import require_hierarchy  # noqa: E402
from incrowd.checker.rejection import RejectedError  # noqa: E402
from incrowd.checker.verify import check  # noqa: E402
from incrowd.proof.statement import statement  # noqa: E402

# --- false claims ---


def test_other_readers_would_see_other_rows(tmp_path: Path) -> None:
    """Tests a carriage return in a cell without quotes: most readers end the line there."""
    bundle = base("k=3")
    for table in (bundle.original, bundle.release):
        table.columns["note"] = ["a\rb"] * table.height
    assert verdict_of(bundle, tmp_path).accepted
    bundle.edits.append(("release", lambda data: data.replace(b'"a\rb"', b"a\rb")))
    assert "other rows" in str(verdict_of(bundle, tmp_path).reason)


@pytest.mark.parametrize("facts", [{"deleted_rows": 7}, {"delete_rows": None}])
def test_deletions_that_were_not_asked_for(facts: dict[str, Any], tmp_path: Path) -> None:
    """Tests what the public statement repeats of deleted rows, where there are none."""
    bundle = base("k=3")
    bundle.facts |= facts
    assert "deleted rows" in str(verdict_of(bundle, tmp_path).reason)


def test_values_that_the_table_lacks_make_no_range_wider(tmp_path: Path) -> None:
    """Tests a range of the column stretched by a value of the ladder, so that intervals cost less.

    Costs that are called shares of the column's range were shares of a thousand times that.
    """
    bundle = base("range")
    cost, schema = bundle.facts["cost"], bundle.parts["ladders.parquet"].schema
    far = {"column": "a", "leaf": "4000", "level": [0, 1], "label": ["4000", "*"]}
    far |= {"cost": [0, 10**6]}
    ladders = bundle.parts["ladders.parquet"]
    bundle.parts["ladders.parquet"] = pl.concat([ladders, pl.DataFrame(far, schema=schema)])
    bundle.parts["rows.parquet"] = bundle.parts["rows.parquet"].with_columns(price=pl.lit(0))
    bundle.facts["bound"] = 0
    assert verdict_of(bundle, tmp_path).facts["cost"] == cost
    bundle.facts["cost"] = 5_006_006  # of so wide a range
    assert f"costs {cost}, not" in str(verdict_of(bundle, tmp_path).reason)


def priced(bundle: Bundle, price: int, bound: int) -> None:
    """Price all rows alike, and claim a bound."""
    rows = bundle.parts["rows.parquet"]
    bundle.parts["rows.parquet"] = rows.with_columns(pl.lit(price, pl.Int64).alias("price"))
    bundle.facts["bound"] = bound


@pytest.mark.parametrize("name", ["distinct", "t", "people"])
def test_rules_of_larger_classes_beside_groups_of_small_ones(name: str, tmp_path: Path) -> None:
    """Tests sizes of groups that are lawful beside a size of class that is not: rules went by that.

    No pattern had as many rows, so no price was too high.
    """
    bundle = base(name)
    facts = bundle.facts
    price = -(-facts["cost"] * facts["quantum"] // bundle.release.height)
    facts["price_k"], facts["group_k"] = bundle.release.height + 1, [1]
    priced(bundle, price, facts["cost"])
    assert "larger classes" in str(verdict_of(bundle, tmp_path).reason)


def nested(bundle: Bundle) -> None:
    """Release structs that differ in nanoseconds, of which Python's own form tells nothing."""
    kind = pa.struct([("t", pa.timestamp("ns"))])
    for table in (bundle.original, bundle.release):
        table.columns["c"] = [{"t": n} for n in range(table.height)]
        table.types["c"] = kind
        table.form = "parquet"
    label = "{'t': datetime.datetime(1970, 1, 1, 0, 0)}"
    ladders = bundle.parts["ladders.parquet"].filter(pl.col("column") != "c")
    rungs = {"column": "c", "leaf": label, "level": [0, 1], "label": [label, "*"], "cost": [0, 1]}
    bundle.parts["ladders.parquet"] = pl.concat([ladders, pl.DataFrame(rungs)])


def test_cells_that_differ_are_not_one_text(tmp_path: Path) -> None:
    """Tests quasi-identifiers that hold structs: all classes looked like one, and were none."""
    bundle = base("k=3")
    all_stars(bundle)
    nested(bundle)
    bundle.facts["cost"] -= bundle.release.height
    assert "makes no sense" in str(verdict_of(bundle, tmp_path).reason)


@pytest.mark.parametrize("other", [-0.0, struct.unpack("<d", b"\1" + bytes(5) + b"\xf8\x7f")[0]])
def test_equal_numbers_in_two_forms_within_lists(other: float) -> None:
    """Tests kept cells that hold numbers: their bits could tell rows of a class apart."""
    same = float("nan") if other != other else 0.0
    for kind, wrap in (
        (pl.List(pl.Float64), lambda x: [x]),
        (pl.Array(pl.Float64, 1), lambda x: [x]),
        (pl.Struct({"a": pl.List(pl.Float64)}), lambda x: {"a": [x]}),
    ):
        for second, fine in ((same, True), (other, False)):
            file = io.BytesIO()
            cells = pl.Series("a", [wrap(same), wrap(second), None], dtype=kind)
            pl.DataFrame([cells]).write_parquet(file)
            table = read_table(file.getvalue(), {}, released=True)
            one = table.select(pl.col("=a").gather([0, 0, 2]))
            if fine:
                judged(one, table, "keep")
            else:
                with pytest.raises(RejectedError, match="written in two ways"):
                    judged(one, table, "keep")
                judged(table, table, "keep")


def test_levels_that_repeat_are_no_levels(tmp_path: Path) -> None:
    """Tests a hierarchy with a level twice: its groups cost a third, not half, of a star."""
    bundle = base("hierarchies")
    honest = verdict_of(bundle, tmp_path).facts["costs"]["a"]
    assert honest["rule"] == "levels"
    all_stars(bundle)
    ladders = bundle.parts["ladders.parquet"]
    mine, level = pl.col("column") == "a", pl.col("level")
    twice = ladders.filter(mine & (level == 1)).with_columns(level + 1)
    above = pl.when(mine & (level > 1)).then(level + 1).otherwise(level).alias("level")
    ladders = pl.concat([ladders.with_columns(above), twice])
    cost = pl.when(level == 3).then(6).when(level > 0).then(2).otherwise(0)
    cost = pl.when(mine).then(cost).otherwise(pl.col("cost")).cast(pl.Int64).alias("cost")
    bundle.parts["ladders.parquet"] = ladders.with_columns(cost)
    mend(bundle)
    verdict = verdict_of(bundle, tmp_path)
    assert verdict.accepted, verdict.reason
    assert verdict.facts["costs"]["a"]["rule"] == "listed"


def test_a_group_that_is_called_like_a_star(tmp_path: Path) -> None:
    """Tests a group ``*`` below another star: it costs less, and the file has no such group."""
    bundle = base("star")
    ladders = bundle.parts["ladders.parquet"]
    group = pl.when(pl.col("label") == "xy").then(pl.lit("*")).otherwise(pl.col("label"))
    bundle.parts["ladders.parquet"] = ladders.with_columns(group.alias("label"))
    cells = bundle.release.columns["b"]
    bundle.release.columns["b"] = ["*" if cell == "xy" else cell for cell in cells]
    assert "without a name" in str(verdict_of(bundle, tmp_path).reason)


@pytest.mark.parametrize("column", ["note", "Ada Lovelace has f"])
def test_a_hierarchy_of_a_column_that_is_published(column: str, tmp_path: Path) -> None:
    """Tests a hierarchy of a column that nothing hides, or of none: the statement repeats it."""
    bundle = base("hierarchies")
    bundle.facts["hierarchies"][column] = bundle.facts["hierarchies"]["a"]
    assert "of what has none" in str(verdict_of(bundle, tmp_path).reason)


@pytest.mark.parametrize("kind", ["range", "average"])
def test_a_file_of_a_column_that_shows_no_label_of_it(kind: str, tmp_path: Path) -> None:
    """Tests a file of values and stars: the verifier asked for suppression, and saw intervals."""
    bundle = base("range")
    file = tmp_path / "a.csv"
    values = sorted({cell for cell in bundle.original.columns["a"] if cell})
    file.write_text("".join(f"{value};*\n" for value in values))
    stated = bundle.facts["hierarchies"]["a"]
    stated["sha256"] = sha256(file.read_bytes()).hexdigest()
    if kind == "average":
        stated["average"] = {"kind": "mean", "digits": 0}
        stated["range"] = None
    assert any("-" in cell for cell in bundle.release.columns["a"])
    assert verdict_of(bundle, tmp_path).accepted == (kind == "range")
    proof = read_proof(tmp_path / "out.proof", bundle.original.height)
    proof = proof._replace(facts=proof.facts | {"roles": bundle.facts["roles"]})
    with pytest.raises(RejectedError, match="is not the file"):
        require_hierarchy(proof, "a", file.read_bytes())


def test_values_that_stay_cost_nothing_in_a_range(tmp_path: Path) -> None:
    """Tests a range that charges cells which stay as they are: its costs are called a width."""
    bundle = base("range")
    ladders = bundle.parts["ladders.parquet"]
    mine = (pl.col("column") == "a") & (pl.col("level") == 0)
    cost = pl.when(mine).then(1).otherwise(pl.col("cost")).cast(pl.Int64).alias("cost")
    bundle.parts["ladders.parquet"] = ladders.with_columns(cost)
    bundle.facts["bound"] = 0
    assert "charges values that stay" in str(verdict_of(bundle, tmp_path).reason)


def stated(bundle: Bundle, folder: Path) -> dict[str, Any]:
    """Return the honest statement of a bundle, which is written to a folder."""
    return statement(bundle.facts, bundle.save(folder)[2])


def with_statement(bundle: Bundle, said: dict[str, Any], folder: Path) -> Any:
    """Return the verdict on a bundle with a statement."""
    file = folder / "statement.json"
    file.write_text(json.dumps(said))
    return check(*bundle.save(folder), statement=file)


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said | {"suppressed_rows": False},
        lambda said: said | {"cost": float(said["cost"])},
        lambda said: said | {"version": 2.0},
        lambda said: said | {"optimal": int(said["optimal"])},
        lambda said: said | {"models": [said["models"][0] | {"k": 3.0}, *said["models"][1:]]},
    ],
)
def test_numbers_of_a_statement_have_one_form(change: Any, tmp_path: Path) -> None:
    """Tests true for 1 and 1.0 for 1: readers differ, and forms could tell of hidden cells."""
    bundle = base("k=3")
    said = stated(bundle, tmp_path)
    assert with_statement(bundle, said, tmp_path).accepted
    assert change(said) == said  # to Python
    assert "the statement's" in str(with_statement(bundle, change(said), tmp_path).reason)


@pytest.mark.parametrize(
    ("key", "value"), [("salt", ""), ("salt", "00"), ("salt", "A" * 64), ("incrowd", "Ada has f")]
)
def test_statements_that_tell_more(key: str, value: str, tmp_path: Path) -> None:
    """Tests a salt that anybody guesses, so that hidden cells can be tried, and words of a cell."""
    bundle = base("k=3")
    bundle.facts[key] = value
    said = stated(bundle, tmp_path)
    assert key in str(with_statement(bundle, said, tmp_path).reason) or key == "incrowd"
    assert not with_statement(bundle, said, tmp_path).accepted


def test_pseudonyms_of_people_without_company(tmp_path: Path) -> None:
    """Tests a model of linked rows that asks for one person: pseudonyms told whose rows are whose.

    Where nothing at all is asked for, pseudonyms may stand.
    """
    bundle = base("pseudonyms")
    bundle.facts["pricing"] = []
    priced(bundle, 0, 0)
    assert verdict_of(bundle, tmp_path).accepted
    people = bundle.facts["models"][-1]
    bundle.facts["models"] = [{"model": "k-anonymity", "k": 2}, people | {"k": 1}]
    assert "pseudonyms" in str(verdict_of(bundle, tmp_path).reason)
    bundle.facts["models"], bundle.facts["price_k"] = [people | {"k": 1}], 1
    assert verdict_of(bundle, tmp_path).accepted


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\r\n\n\r\n"])
def test_blank_lines_at_the_end_of_a_release(end: bytes, tmp_path: Path) -> None:
    """Tests line ends behind the last row: each of two kinds, they could spell any text."""
    bundle = base("k=3")
    bundle.edits.append(("original", lambda data: data + end))
    assert verdict_of(bundle, tmp_path).accepted
    bundle.edits.append(("release", lambda data: data + end))
    assert "blank lines" in str(verdict_of(bundle, tmp_path).reason)


def test_distances_of_nothing(tmp_path: Path) -> None:
    """Tests a metric by which all values are one: any class would be close to any table."""
    bundle = base("t, metric")
    all_stars(bundle)
    assert verdict_of(bundle, tmp_path).accepted
    bundle.facts["pricing"] = []
    model = next(m for m in bundle.facts["models"] if m["model"] == "t-closeness")
    model["matrix"] = [["0"] * len(row) for row in model["matrix"]]
    assert "not fractions of the largest" in str(verdict_of(bundle, tmp_path).reason)


def test_missing_cells_of_which_there_are_less_than_none(tmp_path: Path) -> None:
    """Tests a count of −1: polars sees cells where others see gaps."""
    data = arrow_file(pa.table({"a": ["x", None, "y"]}))
    require_moderate(data, 3, "it")
    lie = data.replace(struct.pack("<qq", 3, 1), struct.pack("<qq", 3, -1))
    assert lie != data
    with pytest.raises(RejectedError, match="missing cells that is none"):
        require_moderate(lie, 3, "it")


# --- other ends than a verdict ---


@pytest.mark.parametrize(
    "table",
    [{"a\0": ["x"] * 7}, {"a": [{"b\0": 1}] * 7}, {"a": [[{"b\0": None}]] * 7}],
    ids=["a column's name", "within a struct", "within a list"],
)
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_names_with_a_nul(table: Any, form: str, tmp_path: Path) -> None:
    """Tests names that Arrow's interface cannot say: they ended the whole process."""
    file = io.BytesIO()
    frame = pl.DataFrame(table)
    (frame.write_parquet if form == "parquet" else frame.write_ipc)(file)
    bundle = base("k=3")
    bundle.release.form = form
    bundle.edits.append(("release", lambda _: file.getvalue()))
    assert "cannot be read" in str(verdict_of(bundle, tmp_path).reason)


def test_days_that_no_calendar_has(tmp_path: Path) -> None:
    """Tests dates far off, at which polars panics, which is no Exception."""
    bundle = base("k=3")
    bundle.release.form = "parquet"
    bundle.release.columns["a"] = [10**9] * 7
    bundle.release.types["a"] = pa.date32()
    assert "makes no sense (PanicException)" in str(verdict_of(bundle, tmp_path).reason)


def test_arrow_files_that_end_in_an_error_of_the_system() -> None:
    """Tests every whole number of an Arrow file, set to what it cannot be."""
    data = base("arrow").bytes_of("release")
    ends = set()
    for at in range(8, len(data) - 8, 8):
        lie = data[:at] + struct.pack("<q", 2**40) + data[at + 8 :]
        try:
            pl.read_ipc(io.BytesIO(lie))
        except BaseException as error:
            ends.add(type(error))
        with suppress(RejectedError):
            read_table(lie, {}, released=True)
    assert len(ends) > 1  # of several kinds, which the checker makes verdicts of
