"""Tests that what an adversary found in the checker stays closed: false claims, exceptions, hangs.

Each case once was accepted, ended in something else than a verdict, or took memory or time without
an end.  Those that took long are small here, and told by the words that stop them.
"""

import io
import struct
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("networkx")

from forging.bases import made  # noqa: E402
from forging.bundle import Bundle  # noqa: E402
from forging.mending import mend, starred  # noqa: E402

from incrowd.checker import charges, inequality, lawful, oddsets, sizes  # noqa: E402
from incrowd.checker.arrow import require_moderate  # noqa: E402
from incrowd.checker.files import read_table  # noqa: E402
from incrowd.checker.models import lawful as obeys  # noqa: E402
from incrowd.checker.rejection import RejectedError  # noqa: E402
from incrowd.checker.verify import Verdict, check  # noqa: E402


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Bundle]:
    """Makes honest proofs by name, each once; gives copies."""
    known: dict[str, Bundle] = {}

    def base(name: str) -> Bundle:
        if name not in known:
            known[name] = made(name, 0, tmp_path_factory.mktemp("base"))
        return known[name].copy()

    return base


def verdict_of(bundle: Bundle, folder: Path, **how: Any) -> Verdict:
    return check(*bundle.save(folder), **how)


def all_stars(bundle: Bundle) -> None:
    """Suppress all, so that every model of its own accord is obeyed; claim nothing."""
    starred(bundle, range(bundle.release.height))
    mend(bundle)
    bundle.facts["bound"] = 0


# --- false claims ---


def test_other_readers_would_see_other_rows(bases: Any, tmp_path: Path) -> None:
    """Tests a carriage return in a cell without quotes: most readers end the line there."""
    bundle = bases("k=3")
    for table in (bundle.original, bundle.release):
        table.columns["note"] = ["a\rb"] * table.height
    assert verdict_of(bundle, tmp_path).accepted
    bundle.edits.append(("release", lambda data: data.replace(b'"a\rb"', b"a\rb")))
    assert "other rows" in str(verdict_of(bundle, tmp_path).reason)


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


def test_cells_that_differ_are_not_one_text(bases: Any, tmp_path: Path) -> None:
    """Tests quasi-identifiers that hold structs: all classes looked like one, and were none."""
    bundle = bases("k=3")
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
            if fine:
                assert read_table(file.getvalue(), {}, released=True).height == 3
            else:
                with pytest.raises(RejectedError, match="written in two ways"):
                    read_table(file.getvalue(), {}, released=True)


def test_levels_that_repeat_are_no_levels(bases: Any, tmp_path: Path) -> None:
    """Tests a hierarchy with a level twice: its groups cost a third, not half, of a star."""
    bundle = bases("hierarchies")
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


def test_a_group_that_is_called_like_a_star(bases: Any, tmp_path: Path) -> None:
    """Tests a group ``*`` below another star: it costs less, and the file has no such group."""
    bundle = bases("star")
    ladders = bundle.parts["ladders.parquet"]
    group = pl.when(pl.col("label") == "xy").then(pl.lit("*")).otherwise(pl.col("label"))
    bundle.parts["ladders.parquet"] = ladders.with_columns(group.alias("label"))
    cells = bundle.release.columns["b"]
    bundle.release.columns["b"] = ["*" if cell == "xy" else cell for cell in cells]
    assert "without a name" in str(verdict_of(bundle, tmp_path).reason)


def test_a_hierarchy_of_a_column_that_is_published(bases: Any, tmp_path: Path) -> None:
    """Tests that a hierarchy's file is no hierarchy of a column which nothing hides."""
    bundle = bases("hierarchies")
    bundle.facts["hierarchies"]["note"] = bundle.facts["hierarchies"]["a"]
    file = tmp_path / "a.csv"
    file.write_bytes(bundle.hierarchies["a"])
    assert verdict_of(bundle, tmp_path, hierarchies={"a": file}).accepted
    verdict = verdict_of(bundle, tmp_path, hierarchies={"note": file})
    assert (verdict.accepted, verdict.column) == (False, "note")


def test_distances_of_nothing(bases: Any, tmp_path: Path) -> None:
    """Tests a metric by which all values are one: any class would be close to any table."""
    bundle = bases("t, metric")
    all_stars(bundle)
    assert verdict_of(bundle, tmp_path).accepted
    bundle.facts["pricing"] = []
    model = next(m for m in bundle.facts["models"] if m["model"] == "t-closeness")
    model["matrix"] = [["0"] * len(row) for row in model["matrix"]]
    assert "no fractions of the largest" in str(verdict_of(bundle, tmp_path).reason)


def arrow_file(table: Any, **how: Any) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(**how)) as file:
        file.write_table(table)
    return out.getvalue()


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
def test_names_with_a_nul(table: Any, form: str, bases: Any, tmp_path: Path) -> None:
    """Tests names that Arrow's interface cannot say: they ended the whole process."""
    file = io.BytesIO()
    frame = pl.DataFrame(table)
    (frame.write_parquet if form == "parquet" else frame.write_ipc)(file)
    bundle = bases("k=3")
    bundle.release.form = form
    bundle.edits.append(("release", lambda _: file.getvalue()))
    assert "cannot be read" in str(verdict_of(bundle, tmp_path).reason)


def test_days_that_no_calendar_has(bases: Any, tmp_path: Path) -> None:
    """Tests dates far off, at which polars panics, which is no Exception."""
    bundle = bases("k=3")
    bundle.release.form = "parquet"
    bundle.release.columns["a"] = [10**9] * 7
    bundle.release.types["a"] = pa.date32()
    assert "makes no sense (PanicException)" in str(verdict_of(bundle, tmp_path).reason)


def test_arrow_files_that_end_in_an_error_of_the_system(bases: Any) -> None:
    """Tests every whole number of an Arrow file, set to what it cannot be."""
    data = bases("arrow").bytes_of("release")
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


# --- memory and time without an end ---


def test_text_of_quotes() -> None:
    """Tests quotes that close nowhere: each was the start of a search to the end of the file."""
    for text in (b'"' * 100_001 + b'x""' * 100_000, b'"' * 300_001, b'"x' * 100_000):
        with pytest.raises(RejectedError, match="cannot be read"):
            read_table(b"a;b\n" + text, {"delimiter": ";"})


@pytest.mark.parametrize("name", ["idna", "punycode", "unicode_escape", "hz", "rot13"])
def test_encodings_are_looked_at_before_they_decode(name: str) -> None:
    """Tests encodings that no table has; some of them take the square of a text's length."""
    with pytest.raises(RejectedError, match="encoding"):
        read_table(b"a,b\nxn--" + b"a" * 1_000_000 + b"-9z,1\n", {"encoding": name})


def model(entry: dict[str, Any], times: int = 1, **rule: Any) -> Callable[[Bundle], None]:
    def change(bundle: Bundle) -> None:
        all_stars(bundle)
        bundle.facts["models"] += [dict(entry) for _ in range(times)]
        bundle.facts["pricing"] = [rule] if rule else []

    return change


def deep(levels: int) -> Callable[[Bundle], None]:
    """A hierarchy that says the same again and again."""

    def change(bundle: Bundle) -> None:
        ladders = bundle.parts["ladders.parquet"]
        rest = ladders.filter(pl.col("column") != "a")
        leaves = ladders.filter(pl.col("column") == "a", level=0)["leaf"].to_list()
        low = pl.DataFrame({"leaf": leaves, "label": leaves, "cost": 0})
        steps = [low.with_columns(pl.lit(n).alias("level")) for n in range(levels - 1)]
        top = pl.DataFrame({"leaf": leaves, "label": "*", "cost": 1, "level": levels - 1})
        known = pl.concat([*steps, top], how="diagonal_relaxed")
        known = known.select(pl.lit("a").alias("column"), "leaf", "level", "label", "cost")
        bundle.parts["ladders.parquet"] = pl.concat([rest, known], how="vertical_relaxed")
        bundle.facts["hierarchies"]["a"] = {}

    return change


CLOSE = {"t": "7/20", "column": "s"}
ENTROPY = {"model": "entropy", "l": "1." + "0" * 120 + "1", "column": "s"}
LONG: dict[str, tuple[str, Callable[[Bundle], Any], str]] = {
    "models": ("k=3", model({"model": "distinct", "l": 1, "column": "s"}, 101), "more than 100"),
    "digits": ("k=3", model(ENTROPY, rule="distinct", l=2, column="s"), "over 100 digits"),
    "guarded values": (
        "k=3",
        model({"model": "alpha-k", "alpha": "1", "k": 1, "column": "s"}
              | {"values": [str(n) for n in range(20_000)]}),
        "guards no set",
    ),
    "levels": ("k=3", deep(1001), "more than 1000 levels"),
    "rules": (
        "t",
        lambda b: b.facts.update(
            pricing=[{"rule": "sizes", "sizes": 1 + n, **CLOSE} for n in range(64)]
        ),
        "by size of class than there are",
    ),
    "levels of a hierarchy of values": (
        "t, tree",
        lambda b: b.facts["models"][-1].update(levels=b.facts["models"][-1]["levels"] * 99),
        "no hierarchy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_lists_without_an_end(name: str, bases: Any, tmp_path: Path) -> None:
    """Tests what no honest proof needs so much of."""
    base, change, reason = LONG[name]
    bundle = bases(base)
    change(bundle)
    assert reason in str(verdict_of(bundle, tmp_path).reason)


def test_repeated_levels_are_looked_at_once(bases: Any, tmp_path: Path) -> None:
    """Tests a hierarchy that is deep and says little: it is searched like a low one."""
    bundle = bases("k=3")
    deep(900)(bundle)
    looked = []
    real = inequality.refine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inequality, "refine", lambda *a: looked.append(1) or real(*a))
        assert verdict_of(bundle, tmp_path).accepted
    assert len(looked) < 900


LIMITS = [
    (inequality, "STEPS", 0, "k=3", "too many patterns to look at"),
    (lawful, "ENTRIES", 0, "distinct", "too many patterns to ask"),
    (charges, "STEPS", 0, "t", "too much to try"),
    (oddsets, "TRIES", 5, "k=3", "too many classes to try"),
]


@pytest.mark.parametrize(("module", "name", "most", "base", "reason"), LIMITS)
def test_what_is_counted_ends(
    module: Any, name: str, most: int, base: str, reason: str, bases: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Tests that each search counts its steps and stops: proofs in need of more are rejected."""
    bundle = bases(base)
    all_stars(bundle)
    if base == "t":
        close = {"t": "7/20", "column": "s"}
        bundle.facts["pricing"] = [{"rule": "closeness", **close}, {"rule": "once", **close}]
        price = pl.col("price") + 100 * bundle.facts["quantum"]
        bundle.parts["rows.parquet"] = bundle.parts["rows.parquet"].with_columns(price)
    if module is oddsets:
        facts = {"set": 0, "row": [0, 1, 2], "weight": 9 * bundle.facts["quantum"], "modulus": 2}
        schema = bundle.parts["sets.parquet"].schema
        bundle.parts["sets.parquet"] = pl.DataFrame(facts, schema=schema)
    monkeypatch.setattr(module, name, most)
    assert reason in str(verdict_of(bundle, tmp_path).reason)


def test_rows_in_many_odd_sets_cost_steps() -> None:
    """Tests that a step counts the sets of its row as well."""
    facts = {"set": np.repeat(np.arange(50_000), 3), "row": np.arange(150_000) % 7}
    odd = oddsets.OddSets(pl.DataFrame(facts | {"weight": 1, "modulus": 2}), 7)
    before = odd.tries
    odd.broken(np.array([9, 8, 7]), np.ones(3, np.int64), odd.mark[:3], 1, 2)
    assert before - odd.tries > 20_000


def test_histograms_that_are_hard_to_find() -> None:
    """Tests many values of one row each: nearly all beginnings lead nowhere."""
    t = Fraction(1) - Fraction(10, 200) - Fraction(1, 1000)
    assert sizes.histograms(t, 10, [1] * 200) is None
    assert sizes.histograms(Fraction(1, 2), 2, [2, 2]) == [[1, 1], [2, 0], [0, 2]]


def test_classmates_that_are_hard_to_find() -> None:
    """Tests a class in which no set of classmates is disjoint, though nearly all are."""
    rows: Any = Counter((str(i), str(j)) for i in range(11) for j in range(40))
    with pytest.raises(RejectedError, match="too many choices"):
        obeys({"model": "disjoint", "l": 12, "columns": ["a", "b"]}, rows, rows)


def test_memory_by_size_of_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that as many groups are looked at at once as there is room for."""
    monkeypatch.setattr(sizes, "STARTS", 9)
    by_size = sizes.BySize(Fraction(1, 2), 2, 64, np.full(1000, 100))
    assert by_size.step * len(by_size.of_slot) <= sizes.CELLS


def test_arrow_files_that_inflate(bases: Any, tmp_path: Path) -> None:
    """Tests compressed nothing, and columns that take no byte: refused before they are read."""
    rows = 10_000_000
    data = arrow_file(pa.table({"a": np.zeros(rows, np.int64)}), compression="zstd")
    assert len(data) < 10_000
    with pytest.raises(RejectedError, match="more rows than the original"):
        require_moderate(data, 7, "it")
    few = data.replace(struct.pack("<q", rows), struct.pack("<q", 7))  # but not their bytes
    with pytest.raises(RejectedError, match="than it can be"):
        require_moderate(few, 7, "it")
    bundle = bases("stream")
    bundle.edits.append(("release", lambda _: data))
    assert "more rows than the original" in str(verdict_of(bundle, tmp_path).reason)
