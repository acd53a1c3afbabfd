"""What all tests share: the path to the oracle, the dial, frames of every library, no deadlines."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a script's background job
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # under nohup, which children inherit
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# a worker among others has no second core: on small tables polars' threads only wait for each other
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

sys.path.insert(0, str(Path(__file__).parent))

import dial
from databases import database, postgres
from waiting import compiled_once

__all__ = ["compiled_once", "database", "postgres"]

Columns = dict[str, list[Any]]
# Three workers begin with a twelfth of all tests each: one with searches, whose kernels have to be
# compiled, and two with what has none, while they are.
BEGIN = [["attack", "averages", "bounds"], ["hierarchy", "instances"], ["files"]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the dial of ``dial.py``."""
    text = "try all random tables, not a fifth of them (before a release; see CONTRIBUTING.md)"
    parser.addoption("--thorough", action="store_true", help=text)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Turn the dial before any test is imported; xdist hands the option to its workers."""
    dial.thorough = config.getoption("--thorough")
    examples, repeated = dial.few(100), not dial.thorough
    # the first call of a kernel compiles it: no example may be judged by its seconds
    known = {"deadline": None, "print_blob": True}
    settings.register_profile("incrowd", max_examples=examples, derandomize=repeated, **known)
    settings.load_profile("incrowd")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests into this order, so that no two workers compile the same kernels at once."""

    def turn(item: pytest.Item) -> int:
        room = item.path.relative_to(Path(__file__).parent).parts[0]
        return next((n for n, rooms in enumerate(BEGIN) if room in rooms), len(BEGIN))

    items.sort(key=turn)


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Have each worker import other test files first, so that no two rewrite the same ``assert``.

    Pytest keeps what it made of a file, and rewriting takes most of the time of a collection.  What
    fails here is reported where pytest collects the file.  Nearly all that is made meanwhile stays.
    """
    gc.disable()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if isinstance(collector, pytest.Session) and worker.startswith("gw"):
        workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for path in collector.config.args:
            files = sorted(Path(collector.config.rootpath, path).rglob("test_*.py"))
            for file in files[int(worker[2:]) :: workers]:
                with suppress(Exception, pytest.skip.Exception):
                    _ = pytest.Module.from_parent(collector, path=file).obj  # imports it


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over what was collected: it stays to the end."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures of reports empty, for tests of what else is in them, or beside them."""
    monkeypatch.setattr("incrowd.report.svg.svg_text", lambda *_, **__: "<svg></svg>")


def pandas_frame(columns: Columns) -> Any:
    """A pandas frame whose index has gaps and a duplicate."""
    import pandas as pd

    rows = len(next(iter(columns.values())))
    return pd.DataFrame(columns, index=[7 + (i // 2) * 3 for i in range(rows)])


def polars_frame(columns: Columns) -> Any:
    """An eager polars frame."""
    import polars as pl

    return pl.DataFrame(columns, strict=False)


def lazy_frame(columns: Columns) -> Any:
    """A lazy polars frame."""
    return polars_frame(columns).lazy()


def arrow_table(columns: Columns) -> Any:
    """A pyarrow table."""
    import pyarrow as pa

    return pa.table(columns)


def duckdb_relation(columns: Columns) -> Any:
    """A duckdb relation."""
    import duckdb

    return duckdb.from_arrow(arrow_table(columns))


CONSTRUCTORS = (pandas_frame, polars_frame, lazy_frame, arrow_table, duckdb_relation)


@pytest.fixture(params=CONSTRUCTORS, ids=lambda constructor: constructor.__name__)
def constructor(request: pytest.FixtureRequest) -> Callable[[Columns], Any]:
    """Makes a frame of one library from columns of Python values."""
    return request.param
