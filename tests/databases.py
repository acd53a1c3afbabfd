"""Databases for tests: SQLite, DuckDB, and a PostgreSQL that the tests start."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def binaries() -> Path | None:
    """The folder of PostgreSQL's programs, where it is installed."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return Path(found).parent if found else (folders or [None])[-1]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL that runs in a temporary folder, reached by a socket there."""
    bin_folder = binaries()
    if bin_folder is None:
        pytest.skip("PostgreSQL's server (initdb) is not installed")
    as_user: list[str] = []
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's own folder is closed to others
        folder = Path(name)
        if os.geteuid() == 0:  # it refuses to run as root
            if subprocess.run(["id", "postgres"], capture_output=True).returncode:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(folder, "postgres")
        data = folder / "data"

        def run(*command: str | Path) -> None:
            subprocess.run([*as_user, *map(str, command)], check=True, cwd=folder, stdout=nowhere)

        with (folder / "out").open("w") as nowhere:
            run(bin_folder / "initdb", "-D", data, "-A", "trust", "-U", "tester", "--no-sync")
            options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
            start = ("-w", "-l", folder / "log", "-o", options, "start")
            run(bin_folder / "pg_ctl", "-D", data, *start)
            yield f"postgresql://tester@/postgres?host={folder}"
            run(bin_folder / "pg_ctl", "-D", data, "-m", "immediate", "stop")


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if request.param == "postgresql":
        address = request.getfixturevalue("postgres")
        import sqlalchemy as sql

        from incrowd.tables.place import Place

        with Place.of(address).connected() as connection:
            connection.execute(sql.text("DROP SCHEMA public CASCADE"))
            connection.execute(sql.text("CREATE SCHEMA public"))
        return address
    return f"{request.param}:///{tmp_path}/t.db"


def output(address: str, table: str) -> str:
    """The address of a table: its name behind the database's."""
    base, mark, rest = address.partition("?")
    return f"{base}/{table}{mark}{rest}"
