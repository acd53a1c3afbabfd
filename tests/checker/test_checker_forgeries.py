"""Tests that every honest proof is accepted and every forged one rejected."""

import io
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from proof_samples import NAMES, Forger, broken_pattern, judged, problems, write_honest

from dial import few
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices
from incrowd.bounds.support import support_prices
from incrowd.checker.delimited import Reading
from incrowd.checker.files import PARTS, read_table
from incrowd.checker.ladder import validated
from incrowd.checker.packed import unclaimed
from incrowd.checker.published import require_like_file, require_named
from incrowd.checker.rejection import RejectedError
from incrowd.checker.verify import check
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.proof.writing import pack
from incrowd.published.ladders import ladder_of
from oracle import optimum


@settings(max_examples=few(36), deadline=None)
@given(problems(), st.data())
def test_honest_proofs_are_accepted(problem, data) -> None:
    """Tests random tables and hierarchies: accepted, and the bound is below the optimum."""
    instance, codes, copy, k = problem
    assume(any(tree.cost.any() for tree in instance.trees))  # else a bound says nothing
    n = len(codes)
    classes = np.minimum(np.array(data.draw(st.permutations(range(n)))) // k, n // k - 1)
    order = np.array(data.draw(st.permutations(range(n))))
    tree = PrefixTree(instance)
    start, _ = support_prices(tree, k)
    sharper = PriceBound(rounds=3, iterations=30).ascend(tree, k, start.astype(np.float64))
    for prices in (Prices(start, 1), certify(tree, k, sharper)):
        with TemporaryDirectory() as folder:
            paths = write_honest(Path(folder), instance, codes, copy, classes, k, prices, order)
            verdict = check(*paths)
        assert verdict.accepted, verdict.reason
        least = optimum(instance, KAnonymity(k))
        assert least is not None
        assert verdict.facts["bound"] <= least <= verdict.facts["cost"]


# A table with a hierarchy, a missing value, copies, and tight prices: forging has little room.
TREES = (
    Tree(
        "age", (("1", "2", "9", None), ("low", "high", "?"), ("*",)),
        np.array([[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0]], np.int32),
        np.array([[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]], np.int64),
    ),
    Tree.suppression("sex", ("f", "m"), weight=2),
)  # fmt: skip
CODES = np.array([[0, 0], [1, 0], [0, 0], [2, 1], [3, 1], [2, 1], [1, 1], [3, 1]], np.int32)
CLASSES = np.array([0, 0, 0, 1, 2, 1, 1, 2])  # of the rows above
QUANTUM = 12


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an honest release, original and proof; the release is shuffled."""
    folder = tmp_path_factory.mktemp("honest")
    instance, copy = from_codes(CODES, TREES)
    classes = np.empty(len(CODES), np.int64)
    classes[copy] = CLASSES
    order = np.array([3, 7, 0, 5, 1, 6, 2, 4])
    write_honest(folder, instance, CODES, copy, classes, 2, tight(instance), order)
    return folder


def tight(instance: Any) -> Prices:
    """Prices of which none can be raised by one unit: raised one by one from the bottom."""
    price = np.zeros(instance.distinct, np.int64)
    for r in range(len(price)):
        while not broken_pattern(CODES, by_row(instance, price), TREES, 2, QUANTUM):
            price[r] += 1
        price[r] -= 1
    return Prices(price, QUANTUM)


def by_row(instance: Any, price: np.ndarray) -> list[int]:
    """Each row's price."""
    rows = instance.codes.tolist()
    return [int(price[rows.index(row)]) for row in CODES.tolist()]


def test_rewriting_without_change_is_accepted(honest: Path, tmp_path: Path) -> None:
    """Tests that the forger's own tools do not spoil a proof."""
    assert check(*(honest / n for n in NAMES)).accepted
    verdict = Forger(honest, tmp_path).save()
    assert verdict.accepted, verdict.reason


def edit(table: str, column: str, row: int, change: Callable[[Any], Any]) -> Any:
    return lambda f: f.cell(table, column, row, change)


def fact(name: str, change: Callable[[Any], Any]) -> Any:
    return lambda f: f.facts.__setitem__(name, change(f.facts[name]))


def frame(table: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Any:
    return lambda f: f.put(table, change(f.parts.get(table, getattr(f, table, None))))


def swap(frame: pl.DataFrame, a: int, b: int) -> pl.DataFrame:
    order = list(range(frame.height))
    order[a], order[b] = order[b], order[a]
    return frame[order]


def rows_and(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Any:
    """The same change to the release and to the proof's row table."""

    def both(f: Forger) -> None:
        f.release = change(f.release)
        f.parts["rows.parquet"] = change(f.parts["rows.parquet"])

    return both


def several(*edits: Callable[[Forger], None]) -> Any:
    return lambda f: [e(f) for e in edits]


def odd_set(rows: list[int], weights: list[int], modulus: int | list[int] = 2) -> Any:
    alike = [modulus] * len(rows) if isinstance(modulus, int) else modulus
    facts = {"set": [0] * len(rows), "row": rows, "weight": weights, "modulus": alike}
    sets = pl.DataFrame(facts)
    return frame("sets.parquet", lambda _: sets)


def raised(row: int, by: int = 1) -> Any:
    return edit("rows.parquet", "price", row, lambda p: p + by)


def ladder_rung(leaf: str | None, level: int, column: str, value: Any) -> Any:
    here = pl.col("leaf").eq_missing(pl.lit(leaf, pl.String)) & (pl.col("level") == level)
    here = here & (pl.col("column") == ("sex" if leaf in ("f", "m") else "age"))
    new = pl.when(here).then(pl.lit(value)).otherwise(column).alias(column)
    return frame("ladders.parquet", lambda t: t.with_columns(new))


FORGERIES: dict[str, Callable[[Forger], Any]] = {
    "release: a true value replaced by another": edit("release", "sex", 2, lambda v: "m"),
    "release: a cell put back to its original": edit("release", "age", 2, lambda v: "1"),
    "release: a cell starred more than claimed": edit("release", "age", 2, lambda v: "*"),
    "release: a star made missing": edit("release", "sex", 0, lambda v: None),
    "release: missing made a star": edit("release", "age", 1, lambda v: "*"),
    "release: an ancestor of another value": edit("release", "age", 2, lambda v: "high"),
    "release: empty text for a missing value": edit("release", "age", 1, lambda v: ""),
    "release: a space after a value": edit("release", "sex", 2, lambda v: v + " "),
    "release: a row dropped": frame("release", lambda t: t[1:]),
    "release: a row dropped everywhere but in the original": rows_and(lambda t: t[1:]),
    "release: a row twice": frame("release", lambda t: pl.concat([t, t[:1]])),
    "release: a row twice, in the proof too": rows_and(lambda t: pl.concat([t, t[:1]])),
    "release: a row twice in place of another": rows_and(lambda t: t[[1, *range(1, 8)]]),
    "release: two rows swapped": frame("release", lambda t: swap(t, 0, 1)),
    "release: two rows of one class swapped": frame("release", lambda t: swap(t, 2, 4)),
    "release: a column dropped": frame("release", lambda t: t.drop("sex")),
    "release: a kept column dropped": frame("release", lambda t: t.drop("note")),
    "release: a kept cell changed": edit("release", "note", 0, lambda v: v + "!"),
    "release: a direct identifier put back": frame("release", lambda t: t.with_columns(id=1)),
    "release: a column added": frame("release", lambda t: t.with_columns(extra=pl.lit("x"))),
    "release: columns in another order": frame("release", lambda t: t.select(t.columns[::-1])),
    "original: a cell changed": edit("original", "sex", 0, lambda v: "m"),
    "original: a row dropped": frame("original", lambda t: t[:-1]),
    "original: a row added": frame("original", lambda t: pl.concat([t, t[:1]])),
    "original: a column without a role": frame("original", lambda t: t.with_columns(new=1)),
    "rows: a class changed": edit("rows.parquet", "class", 0, lambda c: c + 1),
    "rows: all classes renumbered": frame(
        "rows.parquet", lambda t: t.with_columns(pl.col("class") + 1)
    ),
    "rows: two rows of the map swapped": frame("rows.parquet", lambda t: swap(t, 0, 2)),
    "rows: an original row used twice": edit("rows.parquet", "original", 0, lambda r: (r + 1) % 8),
    "rows: an original row beyond the table": edit("rows.parquet", "original", 0, lambda r: 8),
    "rows: a negative original row": edit("rows.parquet", "original", 0, lambda r: -1),
    "rows: a price missing": edit("rows.parquet", "price", 0, lambda p: None),
    "rows: prices as decimals": frame(
        "rows.parquet", lambda t: t.with_columns(pl.col("price") + 0.5)
    ),
    "rows: a price that is no number": frame(
        "rows.parquet", lambda t: t.with_columns(price=float("nan"))
    ),
    "rows: a price that overflows": edit("rows.parquet", "price", 0, lambda p: -(2**62)),
    "rows: another huge price": edit("rows.parquet", "price", 0, lambda p: 2**63 - 1),
    "rows: no prices": frame("rows.parquet", lambda t: t.drop("price")),
    "sets: weight on three rows": odd_set([0, 1, 2], [1, 1, 1]),
    "sets: an even set": odd_set([0, 1], [1, 1]),
    "sets: a negative weight": odd_set([0, 1, 2], [-1, -1, -1]),
    "sets: a row twice": odd_set([0, 0, 1], [1, 1, 1]),
    "sets: two weights": odd_set([0, 1, 2], [1, 2, 3]),
    "sets: a row beyond the table": odd_set([8], [1]),
    "sets: a multiple of the modulus": odd_set([0, 1, 2], [1, 1, 1], 3),
    "sets: two moduli": odd_set([0, 1, 2], [1, 1, 1], [2, 2, 4]),
    "sets: a modulus of nothing": odd_set([0], [1], 0),
    "sets: a modulus below nothing": odd_set([0, 1, 2], [1, 1, 1], -2),
    "ladders: a cheaper root": ladder_rung("f", 1, "cost", 1),
    "ladders: a dearer root, alike for all": frame(
        "ladders.parquet", lambda t: t.with_columns(cost=pl.col("cost") * 2)
    ),
    "ladders: a cost that falls": ladder_rung("9", 1, "cost", 3),
    "ladders: a leaf that costs more than its group": ladder_rung("9", 0, "cost", 9),
    "ladders: two roots": ladder_rung(None, 2, "label", "all"),
    "ladders: another root": frame(
        "ladders.parquet", lambda t: t.with_columns(pl.col("label").replace("*", "all"))
    ),
    "ladders: another root, released": several(
        frame("ladders.parquet", lambda t: t.with_columns(pl.col("label").replace("*", "all"))),
        frame("release", lambda t: t.with_columns(pl.col("age", "sex").replace("*", "all"))),
    ),
    "ladders: a group without a name, released": several(
        frame("ladders.parquet", lambda t: t.with_columns(pl.col("label").replace("low", ""))),
        frame("release", lambda t: t.with_columns(pl.col("age").replace("low", ""))),
    ),
    "ladders: a label missing": ladder_rung("9", 1, "label", None),
    "ladders: a value missing": frame(
        "ladders.parquet", lambda t: t.filter(pl.col("leaf").ne_missing("9"))
    ),
    "ladders: a level missing": frame("ladders.parquet", lambda t: t.filter(pl.col("level") != 1)),
    "ladders: a column missing": frame(
        "ladders.parquet", lambda t: t.filter(pl.col("column") != "sex")
    ),
    "ladders: a value twice": frame("ladders.parquet", lambda t: pl.concat([t, t[:1]])),
    "ladders: a dearer root on top of the root": frame(
        "ladders.parquet",
        lambda t: pl.concat(
            [t, t.filter(level=2).with_columns(pl.col("level") + 1, pl.col("cost") + 1)]
        ),
    ),
    "ladders: all costs are 0": several(
        frame("ladders.parquet", lambda t: t.with_columns(cost=pl.lit(0))),
        frame("rows.parquet", lambda t: t.with_columns(price=pl.lit(0))),
        lambda f: f.facts.update(cost=0, bound=0),
    ),
    "facts: a scale beyond all weights": fact("scale", lambda s: 2**70),
    "facts: a scale that makes all costs look like nothing": fact("scale", lambda s: 3 * 10**6),
    "facts: a higher bound": fact("bound", lambda b: b + 1),
    "facts: the bound as a decimal": fact("bound", lambda b: b + 0.0),
    "facts: the bound as text": fact("bound", str),
    "facts: no bound": lambda f: f.facts.pop("bound"),
    "facts: a lower cost": fact("cost", lambda c: c - 1),
    "facts: a higher cost": fact("cost", lambda c: c + 1),
    "facts: a higher k": fact("models", lambda m: [{"model": "k-anonymity", "k": 3}]),
    "facts: no model": fact("models", lambda m: []),
    "facts: an unknown model": fact("models", lambda m: [{"model": "magic", "k": 2}]),
    "facts: k no number": fact("models", lambda m: [{"model": "k-anonymity", "k": True}]),
    "facts: k below one": fact("models", lambda m: [{"model": "k-anonymity", "k": 0}]),
    "facts: prices for larger classes": fact("price_k", lambda k: k + 1),
    "facts: prices for no class": fact("price_k", lambda k: 0),
    "facts: another quantum": several(fact("quantum", lambda q: q - 1)),
    "facts: a negative quantum": fact("quantum", lambda q: -q),
    "facts: no quantum": fact("quantum", lambda q: 0),
    "facts: a huge quantum": fact("quantum", lambda q: 2**62),
    "facts: no hierarchy named": fact("hierarchies", lambda h: {}),
    "facts: another version": fact("version", lambda v: 3),
    "facts: the version as a decimal": fact("version", float),
    "facts: a number that is none": fact("incrowd", lambda v: float("nan")),
    "facts: another format": fact("format", lambda v: "other"),
    "facts: scale zero": fact("scale", lambda s: 0),
    "facts: roles swapped": fact("roles", lambda r: r | {"qi": ["age"], "keep": ["note", "sex"]}),
    "facts: a column in two roles": fact("roles", lambda r: r | {"keep": ["note", "sex"]}),
    "facts: a role for no column": fact("roles", lambda r: r | {"keep": ["note", "none"]}),
    "facts: no quasi-identifier": fact(
        "roles", lambda r: r | {"qi": [], "keep": ["age", "note", "sex"]}
    ),
    "facts: another delimiter": fact("csv", lambda c: c | {"delimiter": ","}),
    "facts: another encoding": fact("csv", lambda c: c | {"encoding": "utf-16"}),
    "facts: a decimal": lambda f: f.facts.__setitem__("note", 0.5),
    "facts: a text for a list of columns": fact("roles", lambda r: r | {"sensitive": ""}),
    "facts: a form unknown": fact("csv", lambda c: c | {"quote": "x"}),
}
FORGERIES |= {f"rows: the price of row {r} raised by one": raised(r) for r in range(8)}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_rejected(name: str, honest: Path, tmp_path: Path) -> None:
    """Tests that the checker rejects what a forger changes, all hashes made to fit."""
    forger = Forger(honest, tmp_path)
    FORGERIES[name](forger)
    verdict = forger.save()
    assert not verdict.accepted
    for value in ("Male", "'1'", "'f'", "low"):
        assert value not in str(verdict.reason)


def test_prices_whose_sums_wrap(tmp_path: Path) -> None:
    """Tests prices that sum to 0 modulo 2^64: they would prove that all must be suppressed."""
    codes = np.array([[0]] * 4 + [[1]] * 4, np.int32)
    instance, copy = from_codes(codes, (Tree.suppression("a", ("x", "y")),))
    huge = Prices(np.full(instance.distinct, 2**62), 2**62)
    paths = write_honest(tmp_path, instance, codes, copy, np.zeros(8, np.int64), 4, huge)
    verdict = check(*paths)
    assert (verdict.accepted, verdict.reason) == (False, "the numbers exceed 64 bits")


@pytest.mark.parametrize("file", [0, 1, 2])
@pytest.mark.parametrize("how", ["flip a bit", "cut the end", "append", "empty"])
def test_damaged_files_are_rejected(file: int, how: str, honest: Path, tmp_path: Path) -> None:
    """Tests files damaged without mending any hash."""
    forger = Forger(honest, tmp_path)
    path = forger.paths[file]
    data = bytearray(path.read_bytes())
    if how == "flip a bit":
        data[len(data) // 2] ^= 1
    else:
        data = {"cut the end": data[:-9], "append": data + b"x\n", "empty": bytearray()}[how]
    path.write_bytes(data)
    verdict = check(*forger.paths)
    appended_to_archive = file == 2 and how == "append"  # bytes behind an archive are no part of it
    assert verdict.accepted == appended_to_archive


def test_a_price_of_the_lowest_number(honest: Path, tmp_path: Path) -> None:
    """Tests that −2^63, whose absolute value is no 64-bit number, counts as too large."""
    forger = Forger(honest, tmp_path)
    edit("rows.parquet", "price", 0, lambda p: -(2**63))(forger)
    assert "64 bits" in str(forger.save().reason)


@pytest.mark.parametrize("how", ["key", "model's key", "part"])
def test_what_stands_twice_is_rejected(how: str, honest: Path, tmp_path: Path) -> None:
    """Tests a proof that readers would read differently, the first or the last of two."""
    forger = Forger(honest, tmp_path)
    with zipfile.ZipFile(forger.paths[2]) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    twice = {"key": (b'"cost":', b'"cost": 0, "cost":'), "model's key": (b'"k":', b'"k": 9, "k":')}
    facts = dict(parts)["proof.json"]
    if how == "part":
        parts.append(("proof.json", facts))
    else:
        parts = [(n, d.replace(*twice[how]) if n == "proof.json" else d) for n, d in parts]
        assert ("proof.json", facts) not in parts
    with zipfile.ZipFile(forger.paths[2], "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in parts:
            archive.writestr(name, data)
    assert "makes no sense" in str(check(*forger.paths).reason)


def test_proofs_nested_too_deep(honest: Path, tmp_path: Path) -> None:
    """Tests that a proof which no reader can hold is rejected as any other."""
    forger = Forger(honest, tmp_path)
    with zipfile.ZipFile(forger.paths[2], "w") as parts:
        parts.writestr("proof.json", "[" * 100_000)
        for name in PARTS:
            parts.writestr(name, b"")
    assert "makes no sense" in str(check(*forger.paths).reason)


@pytest.mark.parametrize("text", ['a,b\n"x"y,1\n', '"a",b\n1\n2,3,4\n', '"a",b\n1,2,3\n4\n'])
def test_text_between_the_fields_and_fields_between_the_lines(text: str) -> None:
    """Tests that nothing is skipped, and no field moved to the next line, to make a table of it."""
    with pytest.raises(RejectedError, match="cannot be read in the form"):
        read_table(text.encode(), {})


@pytest.mark.parametrize("release", ["a,b\n1,2\n1\n", '"a",b\n1,2\n1\n'])
def test_lines_with_too_few_fields(release: str) -> None:
    """Tests that a line cut short is no line with empty cells: readers differ on what it says."""
    assert read_table(release.replace("\n1\n", "\n1,\n").encode(), {}).rows()[1] == ("1", None)
    with pytest.raises(RejectedError, match="cannot be read in the form"):
        read_table(release.encode(), {})


@pytest.mark.parametrize(
    ("honest", "forged", "encoding", "reason"),
    [
        ("a;b\nx;1\nx;1\n", "a;b\nx;1\n+AHg-;1\n", "utf-7", "not written as utf-7"),
        ("a;b\nx;1\nx;1\n", "a;b\nx;1\r\nx;1\n", None, "lines end in several ways"),
        ('a;b\n"x";1\n"x";1\n', 'a;b\n"x";1\r\n"x";1\n', None, "lines end in several ways"),
        ('a;b\n"x";1\n"x";1\n', 'a;b\n"x";1\nx;1\n', None, "written in two ways"),
        ('a;b\r\nx;"1"\r\nx;"1"\r\n', 'a;b\r\nx;"1"\r\nx;1\r\n', None, "written in two ways"),
        ('a;b\rx;1\r"";1\r', 'a;b\rx;1\r"";"1"\r', None, "written in two ways"),
    ],
)
def test_equal_cells_in_two_ways(honest: str, forged: str, encoding: str | None, reason: str):
    """Tests that rows of a class cannot be marked by how a delimited file writes them."""
    end = "\r\n" if "\r\n" in honest else honest[-1]
    form = {"delimiter": ";", "newline": end} | ({"encoding": encoding} if encoding else {})
    reading = Reading(encoding=encoding)
    assert read_table(honest.encode(), form, True, reading).height == 2
    assert read_table(forged.encode(), form, False, reading).height == 2  # as it likes to look
    with pytest.raises(RejectedError, match=reason):
        read_table(forged.encode(), form, True, reading)


@pytest.mark.parametrize("other", [-0.0, struct.unpack("<d", b"\1" + bytes(5) + b"\xf8\x7f")[0]])
def test_equal_numbers_in_two_forms(other: float) -> None:
    """Tests that rows of a class cannot be marked by the bits of equal numbers."""
    plain = float("nan") if other != other else 0.0
    cells = ([plain, plain, None], [plain, other, None], [other, plain, None])
    one, table, swapped = (pl.DataFrame({"a": each}) for each in cells)
    for role in ("qi", "keep"):
        judged(one, one, role)
        judged(table, one, role)  # a release may show them one way
    judged(table, table, "keep")
    for before, role in ((one, "qi"), (one, "keep"), (swapped, "keep"), (table, "qi")):
        with pytest.raises(RejectedError, match="written in two ways"):
            judged(before, table, role)


def test_empty_names_beside_quotes() -> None:
    """Tests that a column without a name keeps none where the file holds quotes."""
    table = read_table(b'a,b,\n"x",1,2\n', {})
    assert [name.removeprefix("=") for name in table.columns] == ["a", "b", ""]


def test_hierarchies_can_be_compared_with_their_files(honest: Path, tmp_path: Path) -> None:
    """Tests that a hierarchy which is lawful but not the file's is told by the file."""
    file = {"age": honest / "age.csv"}
    assert check(*(honest / n for n in NAMES), file).accepted
    forger = Forger(honest, tmp_path)
    ladder_rung("9", 1, "label", "low")(forger)
    assert forger.save().accepted  # no cell uses it, and the bound holds under it as well
    verdict = check(*forger.paths, file)
    assert (verdict.accepted, verdict.column) == (False, "age")
    other = tmp_path / "age.csv"
    other.write_text(file["age"].read_text() + "77;high;*\n")
    assert "hash" in str(check(*(honest / n for n in NAMES), {"age": other}).reason)


@pytest.mark.parametrize("label", [None, "", "low"])
def test_a_group_that_the_file_lacks(label: str | None) -> None:
    """Tests values that would be published as missing, or as empty text, all alike."""
    labels = (("1", "2", "3"), (label, "3"), ("*",))
    node = np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]], np.int32)
    ladder = ladder_of(Tree("age", labels, node, np.array([[0] * 3, [1, 1, 0], [2] * 3])))
    with pytest.raises(RejectedError, match="differs from its file"):
        require_like_file(validated(ladder, "age"), b"1;*\n2;*\n3;*\n", "age")


@pytest.mark.parametrize("star", ["*", None, "?"])
def test_a_root_is_shown_as_text(star: str | None) -> None:
    """Tests that no hierarchy ends in a missing cell, even where the proof calls that its star."""
    labels = (("1", "2"), (star,))
    tree = Tree("a", labels, np.array([[0, 1], [0, 0]], np.int32), np.array([[0, 0], [1, 1]]))
    ladders = {"a": validated(ladder_of(tree), "a")}
    if star is None:
        with pytest.raises(RejectedError, match="not the star"):
            require_named(ladders, {}, star)
    else:
        require_named(ladders, {}, star)


@pytest.mark.parametrize(("text", "reason"), [("{", "no JSON"), ("[]", "no JSON object")])
def test_a_statement_that_states_nothing(
    text: str, reason: str, honest: Path, tmp_path: Path
) -> None:
    """Tests that a file which is no statement gets an answer."""
    statement = tmp_path / "statement.json"
    statement.write_text(text)
    verdict = check(*(honest / n for n in NAMES), statement=statement)
    assert (verdict.accepted, verdict.reason) == (False, f"the statement is {reason}")


@pytest.mark.parametrize("name", ["release", "original"])
def test_stated_hashes_must_match(name: str, honest: Path, tmp_path: Path) -> None:
    """Tests each stated hash by itself."""
    forger = Forger(honest, tmp_path)
    stated = forger.facts[name]["sha256"]
    forger.facts[name]["sha256"] = stated[:-1] + ("0" if stated[-1] != "0" else "1")
    assert not forger.save(rehash=False).accepted


def test_names_the_cell_rather_than_the_hash(honest: Path, tmp_path: Path) -> None:
    """Tests that a changed file is told by the place of the change, and by its hash as well."""
    forger = Forger(honest, tmp_path)
    forger.cell("release", "sex", 2, lambda v: "m")
    verdict = forger.save(rehash=False)
    assert (verdict.row, verdict.column) == (3, "sex")
    assert "the release is not the file" in str(verdict.reason)


def test_a_part_must_have_its_hash(honest: Path, tmp_path: Path) -> None:
    """Tests a price changed without mending the hash of its part."""
    forger = Forger(honest, tmp_path)
    forger.cell("rows.parquet", "price", 0, lambda p: p - 1)
    assert "hash" in str(forger.save(rehash=False).reason)


def test_lower_prices_are_still_a_proof(honest: Path, tmp_path: Path) -> None:
    """Tests that lowering a price, and the bound with it, is no forgery."""
    forger = Forger(honest, tmp_path)
    forger.cell("rows.parquet", "price", 0, lambda p: p - 5)
    forger.facts["bound"] -= 1
    assert forger.save().accepted


def test_no_bound_is_below_nothing(honest: Path, tmp_path: Path) -> None:
    """Tests a bound that holds, but would make the gap more than the whole cost."""
    forger = Forger(honest, tmp_path)
    forger.facts["bound"] = -1
    assert "below 0" in str(forger.save().reason)


def test_names_row_and_column(honest: Path, tmp_path: Path) -> None:
    """Tests that the verdict says where the first violation is."""
    forger = Forger(honest, tmp_path)
    forger.cell("release", "sex", 2, lambda v: "m")
    verdict = forger.save()
    assert (verdict.row, verdict.column) == (3, "sex")


ODD_VALUES = [None, True, 0, -1, 1.5, 2**70, "", "x", [], [1], {}, {"": 1}, [None], [{}], {"a": []}]
HARMLESS = {"csv", "spreadsheet_safe", "scale"}  # change nothing about this release
KEYS = ["format", "version", "original", "release", "csv", "roles", "hierarchies", "models"]
KEYS += ["scale", "quantum", "price_k", "cost", "bound", "spreadsheet_safe", "parts", "star"]


@pytest.mark.parametrize("name", KEYS)
def test_odd_facts_are_rejected_in_words(name: str, honest: Path, tmp_path: Path) -> None:
    """Tests that facts of a wrong kind lead to a verdict, never to an exception."""
    forger = Forger(honest, tmp_path)
    right = forger.facts[name]
    with zipfile.ZipFile(honest / NAMES[2]) as archive:
        parts = {n: archive.read(n) for n in archive.namelist() if n != "proof.json"}
    for value in ODD_VALUES:
        forger.facts[name] = value
        pack(forger.paths[2], forger.facts, parts)
        humbler = name == "bound" and type(value) is int and value < right
        assert not check(*forger.paths).accepted or name in HARMLESS or humbler


def test_a_claim_of_being_sorted_is_not_believed() -> None:
    """Tests a Parquet column that says it is sorted and is not: polars would count it wrongly."""
    pq = pytest.importorskip("pyarrow.parquet")
    frame = pl.DataFrame({"set": [0, 1] * 30, "text": ["b", "a"] * 30})
    file = io.BytesIO()
    pq.write_table(frame.to_arrow(), file, sorting_columns=[pq.SortingColumn(0)])
    assert pl.read_parquet(io.BytesIO(file.getvalue()))["set"].flags["SORTED_ASC"]
    read = read_table(file.getvalue(), {})
    assert not any(column.flags["SORTED_ASC"] for column in read.get_columns())
    assert read.to_series(0).n_unique() == 2


def test_cells_stay_as_they_are_without_claims() -> None:
    """Tests every kind of column, with missing cells, and tables of no row and of one."""
    kinds = {
        "i": pl.Series([3, None, 1]),
        "big": pl.Series([2**100, None, 1], dtype=pl.Int128),
        "f": pl.Series([0.5, None, -0.0]),
        "text": pl.Series(["b", None, "a"]),
        "kind": pl.Series(["b", None, "a"], dtype=pl.Categorical),
        "enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b"])),
        "list": pl.Series([[1, 2], None, []]),
        "none": pl.Series([None, None, None]),
        "money": pl.Series(["1.50", None, "2.00"]).str.to_decimal(scale=2),
        "bytes": pl.Series([b"x", None, b""]),
        "day": pl.Series([9, None, 1]).cast(pl.Date),
        "when": pl.Series([9, None, 1]).cast(pl.Datetime("ns", "Europe/Berlin")),
        "time": pl.Series([9, None, 1]).cast(pl.Time),
        "span": pl.Series([9, None, 1]).cast(pl.Duration("us")),
    }
    frame = pl.DataFrame(kinds)
    for rows in (0, 1, 3):
        part = frame.head(rows)
        assert unclaimed(part).equals(part)
        assert unclaimed(part).schema == part.schema
