"""A Spark session for tests: Sail's, which starts in a second, or Spark's own local mode.

``INCROWD_SPARK=local`` asks for the latter, ``INCROWD_SPARK=connect`` for its Connect server; by
default they are left out, for starting Java takes longer than all tests together.
"""

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "3",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """pyspark warns about pandas 3, and its sockets are closed late."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            for kind in ("FutureWarning", "ResourceWarning", "DeprecationWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))
            item.add_marker(
                pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
            )


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session that all tests share."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("pyspark.sql")
        kind = os.environ.get("INCROWD_SPARK", "sail")
        server, found = started(kind)
    yield found
    if server is not None:  # a server that is slow to let go must not keep the tests for minutes
        found.client.set_retry_policies([])
    found.stop()
    if server is not None:
        server.stop()


def started(kind: str) -> tuple[Any, Any]:
    """Return the server, if it is one of ours, and a session."""
    from pyspark.sql import SparkSession

    if kind == "sail":
        import pyspark

        server_of = pytest.importorskip("pysail.spark")
        if tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 2):
            pytest.skip("Sail 0.7 serves pyspark up to 4.1; INCROWD_SPARK=local takes Java")
        server = server_of.SparkConnectServer()
        server.start()
        address, port = server.listening_address
        return server, SparkSession.builder.remote(f"sc://{address}:{port}").getOrCreate()
    if shutil.which("java") is None:
        pytest.skip("no Java")
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if kind == "connect" else builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    return None, builder.getOrCreate()


@pytest.fixture
def scratch(tmp_path: Path) -> str | None:
    """Sail has no cache: what tasks find goes into a folder."""
    return str(tmp_path / "scratch") if os.environ.get("INCROWD_SPARK", "sail") == "sail" else None
