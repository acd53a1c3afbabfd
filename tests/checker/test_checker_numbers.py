"""Tests that averages in Parquet are the numbers that they are called, of whatever type."""

import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner

from dial import crossed

pytest.importorskip("pyarrow")

import pyarrow as pa
from forging.bases import table_like
from forging.bundle import Bundle, Table, opened
from forging.trying import verdict_of

from incrowd.cli import cli

ROWS = 6
CELLS: dict[str, tuple[Any, list[Any]]] = {
    "doubles": (pa.float64(), [0.1, 0.2, 0.4, 0.5, 3.25, 7.75]),
    "singles": (pa.float32(), [0.1, 0.2, 0.4, 0.5, 3.25, 7.75]),
    "decimals": (pa.decimal128(38, 3), [Decimal(n) / 8 for n in (1, 2, 3, 50, 90, 91)]),
    "small": (pa.float64(), [1e-7, 2e-7, 4e-7, 5e-7, 3e-6, 8e-6]),
    "whole": (pa.int64(), [2**60, 2**60 + 1, 2**60 + 2, 2**61, 2**61 + 3, 2**61 + 8]),
    "missing": (pa.float64(), [None, None, 0.5, 0.75, 2.0, 2.5]),
    "zeros": (pa.float64(), [-0.0, 0.0, -1.0, 1.0, -0.5, 0.5]),
}


@cache
def honest(name: str, rule: str, suffix: str) -> Bundle:
    """A proof that incrowd makes of a column of numbers."""
    kind, cells = CELLS[name]
    table = Table({"a": cells, "note": [f"n{row}" for row in range(ROWS)]}, "parquet")
    table.types["a"] = kind
    with TemporaryDirectory() as folder:
        home = Path(folder)
        paths = home / f"release{suffix}", home / "original.parquet", home / "out.proof"
        paths[1].write_bytes(table.write())
        words = ["anonymize", paths[1], "-o", paths[0], "--proof", paths[2], "-k", 2, "--seed", 1]
        words += ["--hierarchy", f"a={rule}", "--keep", "note", "-q"]
        run = CliRunner().invoke(cli, list(map(str, words)))
        assert not run.exit_code, run.output
        like = table if suffix == ".parquet" else Table({})
        released = table_like(paths[0].read_bytes(), like)
        return opened(name, paths, (released, table), {})


def base(name: str, rule: str = "mean", suffix: str = ".parquet") -> Bundle:
    """An honest proof, to be changed."""
    return honest(name, rule, suffix).copy()


@pytest.mark.parametrize(
    ("name", "rule", "suffix"),
    crossed(CELLS, ["mean", "median:digits=8", "mean:digits=0"], [".parquet", ".csv"]),
)
def test_honest_numbers(name: str, rule: str, suffix: str, tmp_path: Path) -> None:
    """Tests that what incrowd writes of numbers is accepted, as numbers and as text."""
    verdict = verdict_of(base(name, rule, suffix), tmp_path)
    assert verdict.accepted, verdict.reason


def cells(change: Callable[[list[Any]], list[Any]], kind: Any = None) -> Callable[[Bundle], None]:
    """Change the averages, and their type."""

    def edit(bundle: Bundle) -> None:
        bundle.release.columns["a"] = change(bundle.release.columns["a"])
        if kind is not None:
            bundle.release.types["a"] = kind

    return edit


def first(new: Any) -> Callable[[list[Any]], list[Any]]:
    """Put another value for the first class's average."""
    return lambda known: [new(x) if x == known[0] else x for x in known]


def each(new: Any) -> Callable[[list[Any]], list[Any]]:
    """Change each average that is there."""
    return lambda known: [x if x is None else new(x) for x in known]


def one_longer(bundle: Bundle) -> None:
    """Write all as text, and one of them with a zero behind."""
    known = bundle.release.columns["a"]
    bundle.release.columns["a"] = [f"{x}{'0' if x == 0.15 else ''}" for x in known]
    bundle.release.types["a"] = pa.string()
    assert 0.15 in known


NAN, INF = float("nan"), float("inf")
LIES: dict[str, tuple[Sequence[str], Callable[[Bundle], None]]] = {
    "NaN": (["doubles", "zeros", "missing"], cells(first(lambda x: NAN))),
    "infinite": (["doubles", "zeros"], cells(first(lambda x: INF))),
    "missing": (["doubles", "decimals", "whole", "zeros"], cells(first(lambda x: None))),
    "near": (["doubles"], cells(first(lambda x: x + 1e-15))),
    "near, of large ones": (["whole"], cells(first(lambda x: x + 1))),
    "as doubles": (["whole"], cells(each(float), pa.float64())),
    "as singles": (["doubles"], cells(each(float), pa.float32())),
    "as truth": (["doubles"], cells(each(bool), pa.bool_())),
    "a missing one named": (["missing"], cells(lambda x: [0.0 if y is None else y for y in x])),
    "a missing one as NaN": (["missing"], cells(lambda x: [NAN if y is None else y for y in x])),
    "as text with spaces": (["doubles"], cells(each(lambda x: f"{x} "), pa.string())),
    "as text with zeros": (["doubles"], cells(each(lambda x: f"{x}00"), pa.string())),
    "as text with zeros behind one": (["doubles"], one_longer),
    "as bytes": (["doubles"], cells(each(lambda x: str(x).encode()), pa.binary())),
    "as lists": (["doubles"], cells(each(lambda x: [x]), pa.list_(pa.float64()))),
    "as dates": (["whole"], cells(each(lambda x: 1), pa.date32())),
    "in two forms": (["zeros"], cells(lambda x: [-0.0 if i % 2 else 0.0 for i in range(ROWS)])),
}


@pytest.mark.parametrize("lie", LIES)
def test_other_numbers(lie: str, tmp_path: Path) -> None:
    """Tests that another number is rejected, however near, and what is not a number."""
    names, edit = LIES[lie]
    for name in names:
        bundle = base(name)
        before = bundle.release.columns["a"], dict(bundle.release.types)
        edit(bundle)
        assert (repr(bundle.release.columns["a"]), bundle.release.types) != (
            repr(before[0]),
            before[1],
        )
        verdict = verdict_of(bundle, tmp_path)
        assert not verdict.accepted, name
        assert verdict.reason


def test_equal_numbers_of_another_type(tmp_path: Path) -> None:
    """Tests that a number may be of another type, which tells nothing."""
    bundle = base("decimals")
    cells(each(lambda x: Decimal(x)), pa.decimal128(38, 9))(bundle)
    assert verdict_of(bundle, tmp_path).accepted
    cells(each(float), pa.float64())(bundle)
    assert verdict_of(bundle, tmp_path).accepted


@pytest.mark.parametrize("name", ["doubles", "decimals", "whole", "missing"])
@pytest.mark.parametrize("seed", range(3))
def test_an_original_that_differs(name: str, seed: int, tmp_path: Path) -> None:
    """Tests that another original is rejected, also where its hash fits: one cell is another."""
    bundle, draw = base(name), random.Random(seed)
    known = bundle.original.columns["a"]
    row = draw.choice([i for i, cell in enumerate(known) if cell is not None])
    known[row] = known[row] + type(known[row])(2**40 if name == "whole" else 1)
    assert not verdict_of(bundle, tmp_path).accepted


def test_long_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that averages of many digits are read exactly, and stay as they were written if so."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(
        "a\n" + f"{'9' * 50}.25\n{'9' * 50}.75\n" + "-0.50\n" * 2 + "1e3\n" * 2
    )
    words = "anonymize t.csv -o o.csv -k 2 --hierarchy a=mean:digits=2 --proof p.proof -q"
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code == 0, done.output
    assert set(Path("o.csv").read_text().split()[1:]) == {f"{'9' * 50}.5", "-0.50", "1e3"}
    words = "verify o.csv --original t.csv --proof p.proof"
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code == 0, done.output
