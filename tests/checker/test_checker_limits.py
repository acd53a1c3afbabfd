"""Tests that no proof takes memory or time without an end: what is too much, and who counts it.

Each case once took a multiple of what any honest table needs.  They are small here, and told by
the words that stop them.
"""

import io
import struct
from collections import Counter
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("networkx")

from forging.bundle import Bundle  # noqa: E402
from forging.trying import all_stars, arrow_file, base, verdict_of  # noqa: E402
from parquet_forger import I64, chunks, with_footer  # noqa: E402

from incrowd.checker import (  # noqa: E402
    charges,
    inequality,
    lawful,
    models,
    oddsets,
    shares,
    sizes,
    transport,
)
from incrowd.checker import parquet as plain  # noqa: E402
from incrowd.checker.arrow import require_moderate  # noqa: E402
from incrowd.checker.entropy import entropy_reaches  # noqa: E402
from incrowd.checker.files import read_table  # noqa: E402
from incrowd.checker.models import lawful as obeys  # noqa: E402
from incrowd.checker.models import least_class, scaled  # noqa: E402
from incrowd.checker.rejection import RejectedError  # noqa: E402
from incrowd.checker.verify import check  # noqa: E402


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
    "models": ("k=3", model({"model": "distinct", "l": 1, "column": "s"}, 1_001), "more than 1000"),
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
        "not a hierarchy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_lists_without_an_end(name: str, tmp_path: Path) -> None:
    """Tests what no honest proof needs so much of."""
    recipe, change, reason = LONG[name]
    bundle = base(recipe)
    change(bundle)
    assert reason in str(verdict_of(bundle, tmp_path).reason)


def test_repeated_levels_are_looked_at_once(tmp_path: Path) -> None:
    """Tests a hierarchy that is deep and says little: it is searched like a low one."""
    bundle = base("k=3")
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


@pytest.mark.parametrize(("module", "name", "most", "recipe", "reason"), LIMITS)
def test_what_is_counted_ends(
    module: Any, name: str, most: int, recipe: str, reason: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Tests that each search counts its steps and stops: proofs in need of more are rejected."""
    bundle = base(recipe)
    all_stars(bundle)
    if recipe == "t":
        close = {"t": "7/20", "column": "s"}
        bundle.facts["pricing"] = [{"rule": "closeness", **close}, {"rule": "once", **close}]
        price = pl.col("price") + 100 * bundle.facts["quantum"]
        bundle.parts["rows.parquet"] = bundle.parts["rows.parquet"].with_columns(price)
    if module is oddsets:
        monkeypatch.setattr(module, "EACH", 0)
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


def test_histograms_that_are_hard_to_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests many values of one row each, where nearly all beginnings lead nowhere, and limits."""
    nearest = 1 - Fraction(10, 200)
    assert sizes.histograms(nearest - Fraction(1, 1000), 10, [1] * 200) == []
    assert sizes.histograms(nearest, 10, [1] * 200) is None
    assert sizes.histograms(Fraction(1, 2), 2, [2, 2]) == [[0, 2], [2, 0], [1, 1]]
    for name, most in ("TRIED", 2), ("SUMS", 3), ("LISTED", 2):
        with monkeypatch.context() as limited:
            limited.setattr(sizes, name, most)
            assert sizes.histograms(Fraction(1, 2), 2, [2, 2]) is None


def test_classmates_that_are_hard_to_find() -> None:
    """Tests a class in which no set of classmates is disjoint, though nearly all are."""
    rows: Any = Counter((str(i), str(j)) for i in range(11) for j in range(40))
    with pytest.raises(RejectedError, match="too many choices"):
        obeys({"model": "disjoint", "l": 12, "columns": ["a", "b"]}, rows, rows)


def test_searches_of_all_classes_share_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that many classes, each with few tries, may not take as long as they like."""
    monkeypatch.setattr(models, "MOST_TRIES", 0)
    values = pl.DataFrame({"a": list("vwxyz") * 20, "b": list("zyxwv") * 20})
    classes = np.arange(100, dtype=np.int64) // 5
    disjoint = {"model": "disjoint", "l": 2, "columns": ["a", "b"]}
    far = [["0" if i == j else "1" for j in range(5)] for i in range(5)]
    close = {"model": "t-closeness", "t": "1", "distance": "metric", "column": "a"}
    close |= {"order": list("vwxyz"), "matrix": far}
    for model, reason in ((disjoint, "too many choices"), (close, "too long to add up")):
        uneven = classes if model is disjoint else np.minimum(np.arange(100) // 7, 9)
        monkeypatch.setattr(models, "EACH", 1 << 15)
        models.require_lawful(uneven, values, [model])
        monkeypatch.setattr(models, "EACH", 1)
        with pytest.raises(RejectedError, match=reason):
            models.require_lawful(uneven, values, [model])


@pytest.mark.parametrize(
    ("values", "one"), [(1001, Fraction(1)), (201, Fraction(1, 2**70)), (3, Fraction(1, 2**10001))]
)
def test_metrics_that_take_long(values: int, one: Fraction) -> None:
    """Tests distances of too many values, or of numbers too long."""
    half = [[Fraction(1)] * values for _ in range(values)]
    for i in range(values):
        half[i][i] = Fraction(0)
    half[0][1] = half[1][0] = 1 - (one if one < 1 else 0)
    with pytest.raises(RejectedError, match="too many values, or too fine"):
        transport.checked_metric(half, values)


def test_entropies_that_are_nearly_the_limit() -> None:
    """Tests counts and limits that differ by far less than doubles tell, and not at all."""
    counts = [300_000, 200_000, 100_000]
    with localcontext(Context(prec=120)):
        n = Decimal(sum(counts))
        even = sum(Decimal(x) / n * (n / x).ln() for x in counts).exp()
        below, above = (Fraction(even) + side * Fraction(1, 10**90) for side in (-1, 1))
    assert entropy_reaches(counts, below) and not entropy_reaches(counts, above)
    assert entropy_reaches([10**6] * 3, Fraction(3))
    assert not entropy_reaches([10**6] * 3, 3 + Fraction(1, 10**95))
    squares = [16, 8, 8, 8, 8, 4, 4, 4, 4]  # three bits: e^entropy is 8
    assert entropy_reaches(squares, Fraction(8))
    assert not entropy_reaches([1000 * x for x in squares], 8 + Fraction(1, 10**95))


def test_memory_by_size_of_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that as many groups are looked at at once as there is room for."""
    monkeypatch.setattr(sizes, "SUMS", 9)
    by_size = sizes.BySize(Fraction(1, 2), 2, 64, np.full(1000, 100))
    assert by_size.step * len(by_size.of_slot) <= sizes.CELLS


@pytest.mark.parametrize("kind", ["text", "bytes", "within structs", "dictionary"])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_long_cells_that_a_file_holds_once(kind: str, form: str) -> None:
    """Tests a million bytes in each of 300 cells: a file of some hundred became all memory."""
    import pyarrow.parquet as pq

    long = "1" * 1_000_000
    cells = pa.DictionaryArray.from_arrays(
        pa.array([0] * 300, pa.int32()), pa.array([long.encode() if kind == "bytes" else long])
    )
    if kind == "within structs":
        cells = pa.StructArray.from_arrays([cells], ["x"])
    out, table = io.BytesIO(), pa.table({"a": cells})
    if form == "arrow":
        out = io.BytesIO(arrow_file(table, compression="zstd"))
    else:
        pq.write_table(table, out, compression="zstd", store_schema=kind == "dictionary")
    assert len(out.getvalue()) < 5_000
    with pytest.raises(RejectedError, match="too long texts"):
        read_table(out.getvalue(), {}, released=True)


def test_pages_of_nothing() -> None:
    """Tests a column chunk of pages that hold no value: each takes its time."""
    out = io.BytesIO()
    pl.DataFrame({"a": [1]}).write_parquet(out, compression="uncompressed", statistics=False)
    data = out.getvalue()
    plain.require_moderate(data, 1, "it")
    chunk = plain.footer(data)[4][0][1][0][3]
    start = chunk.get(11, chunk[9])
    empty = bytes.fromhex("1500150015002c15001500150615060000")

    def longer(facts: Any) -> None:
        for one in chunks(facts):
            one[9], one[7] = (I64, start), (I64, one[7][1] + 1000 * len(empty))
            one.pop(11, None)

    moved = with_footer(data, longer)
    more = moved[:start] + empty * 1000 + moved[start:]
    with pytest.raises(RejectedError, match="than it can be"):
        plain.require_moderate(more, 1, "it")


def test_sizes_of_class_are_not_sought_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a smaller least size is taken where the least takes long to find."""
    close = {"model": "t-closeness", "t": "0", "distance": "equal", "column": "a"}
    table = pl.DataFrame({"a": ["x", "y", "z", "x"] * 5})
    assert least_class([close], table) == 4
    monkeypatch.setattr(shares, "MOST_STEPS", 9)
    assert least_class([close], table) == 3
    assert least_class([close | {"distance": "ordered", "order": ["x", "y", "z"]}], table) == 3


def test_classes_of_many_values_take_what_their_rows_take() -> None:
    """Tests 4,000 rows of as many values in pairs: each class was held against all values.

    What a class lacks is counted here, not timed: look-ups of the table, and steps of a search.
    """

    class Looked(dict):
        at = 0

        def __getitem__(self, value: Any) -> int:
            Looked.at += 1
            return super().__getitem__(value)

        def values(self) -> Any:
            Looked.at += len(self)
            return super().values()

    table = Looked({(str(v),): 1 for v in range(4000)})
    table.rows = 4000  # as the checker counts once
    pair = {("1",): 1, ("7",): 1}
    for model, fine in (
        ({"model": "t-closeness", "t": "3999/4000", "distance": "equal"}, True),
        ({"model": "t-closeness", "t": "1998/2000", "distance": "equal"}, False),
        ({"model": "basic-beta", "beta": "1999"}, True),
        ({"model": "basic-beta", "beta": "1998"}, False),
        ({"model": "delta-disclosure", "delta": "99"}, False),
    ):
        Looked.at = 0
        assert obeys(model | {"column": "s"}, pair, table) == fine
        assert Looked.at <= 4


def test_all_models_share_the_steps_of_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests a hundred models, each of which sought its least size of class to the end."""
    close = {"model": "t-closeness", "t": "0", "distance": "equal", "column": "a"}
    beta = {"model": "basic-beta", "beta": "0", "column": "a"}
    table = pl.DataFrame({"a": ["x", "y", "z", "x"] * 5})
    monkeypatch.setattr(shares, "MOST_STEPS", 30)
    for model in (close, beta):
        assert least_class([model], table) == 4
        assert least_class([model] * 10, table) < 4


def test_distances_are_added_up_in_whole_numbers() -> None:
    """Tests that a class takes no fractions, which take ten times as long, nor the matrix anew."""
    matrix = [["0", "1/3", "1"], ["1/3", "0", "2/3"], ["1", "2/3", "0"]]
    model = {"model": "t-closeness", "distance": "metric", "order": list("xyz"), "matrix": matrix}
    model |= {"t": "1/3", "column": "s"}
    whole = scaled(model, 3)
    assert (whole.unit, whole.far) == (3, [[0, 1, 3], [1, 0, 2], [3, 2, 0]])
    ready, table = model | {"matrix": whole}, {("x",): 1, ("y",): 1, ("z",): 1}
    assert scaled(ready, 3) is whole
    for group in ({("y",): 2}, {("x",): 2}, {("x",): 1, ("z",): 1}):
        assert obeys(model, group, table) == obeys(ready, group, table)
    assert obeys(ready, {("y",): 2}, table) and not obeys(ready, {("x",): 2}, table)


def test_values_that_each_class_looks_at_are_counted() -> None:
    """Tests that guarded values and levels of a hierarchy are paid for, class by class."""
    table = {(str(v),): 1 for v in range(40)}
    values = [str(v) for v in range(40)]
    levels = [list(range(40)), [0] * 40]
    for model in (
        {"model": "alpha-k", "alpha": "1", "k": 1, "values": values},
        {"model": "t-closeness", "t": "1", "distance": "ordered", "order": values},
        {"model": "t-closeness", "t": "1", "distance": "hierarchical", "order": values,
         "levels": levels},
    ):  # fmt: skip
        assert obeys(model, {("1",): 2}, table, [1000])
        with pytest.raises(RejectedError, match="too long"):
            obeys(model, {("1",): 2}, table, [300])


def test_arrow_files_that_inflate(tmp_path: Path) -> None:
    """Tests compressed nothing, and columns that take no byte: refused before they are read."""
    rows = 10_000_000
    data = arrow_file(pa.table({"a": np.zeros(rows, np.int64)}), compression="zstd")
    assert len(data) < 10_000
    with pytest.raises(RejectedError, match="more rows than the original"):
        require_moderate(data, 7, "it")
    few = data.replace(struct.pack("<q", rows), struct.pack("<q", 7))  # but not their bytes
    with pytest.raises(RejectedError, match="than it can be"):
        require_moderate(few, 7, "it")
    bundle = base("stream")
    bundle.edits.append(("release", lambda _: data))
    assert "more rows than the original" in str(verdict_of(bundle, tmp_path).reason)


def test_a_file_without_lines(tmp_path: Path) -> None:
    """Tests zeros that take no place on a disk: they were read as one header, in 10 GB."""
    release, original = tmp_path / "release.csv", tmp_path / "original.csv"
    original.write_text("a\n1\n")
    with release.open("wb") as file:
        file.truncate(1 << 33)
    for paths in ((release, original), (original, release)):
        found = check(*paths, tmp_path / "no.proof")
        assert "release.csv has too long lines: a limit of the checker" in str(found.reason)
