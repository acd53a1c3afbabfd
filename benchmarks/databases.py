"""What a release of a million rows of a database takes: CPU seconds and peak memory, by kind.

``python benchmarks/databases.py [ROWS [KIND…]]`` makes random visits and writes them as CSV, to a
SQLite and a DuckDB file and to a PostgreSQL that it starts in a temporary folder (Debian's server;
left out where there is none).  Of each it makes a release of the same kind with ``incrowd
anonymize`` in a process of its own, whose CPU time and peak memory are told; a server's own are not
among them.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.tables import Edit, open_table, write

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import databases  # pyright: ignore[reportMissingImports]

ASKED = ["-k", "5", "--qi", "age,sex,region", "--sensitive", "illness", "--keep", "note", "-q"]


def visits(rows: int) -> pl.DataFrame:
    """Return a table of random visits; some 7,000 combinations of quasi-identifiers."""
    rng = np.random.default_rng(0)
    region = np.minimum(rng.geometric(0.08, rows), 50)
    return pl.DataFrame(
        {
            "age": np.clip(rng.normal(50, 18, rows).astype(np.int64), 18, 95),
            "sex": rng.choice(["f", "m"], rows),
            "region": np.char.add("region ", region.astype(str)),
            "illness": rng.choice(["flu", "gout", "asthma", "none"], rows),
            "note": rng.integers(0, 1 << 40, rows),
        }
    )


@contextmanager
def postgres() -> Iterator[str | None]:
    """Start a PostgreSQL as the tests do; None where there is none."""
    if databases.binaries() is None:  # pyright: ignore[reportAttributeAccessIssue]
        yield None
        return
    made = databases.postgres.__wrapped__()  # pyright: ignore
    address = next(made)
    try:
        yield address
    finally:
        next(made, None)


def run(table: str, output: str) -> tuple[float, float, float]:
    """Make a release; return CPU seconds, wall seconds and peak memory in GB of its process."""
    words = [sys.executable, "-m", "incrowd", "anonymize", table, "-o", output, *ASKED]
    process = subprocess.Popen(words)
    begun = os.times().elapsed
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{table}: ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, os.times().elapsed - begun, used.ru_maxrss / 2**20


def main() -> None:
    """Print a line of Markdown for each kind."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name, postgres() as server:
        folder = Path(name)
        first = folder / "visits.csv"
        visits(rows).write_csv(first)
        kinds = {"CSV": (str(first), str(folder / "release.csv"))}
        places = {"SQLite": f"sqlite:///{folder}/v.db", "DuckDB": f"duckdb:///{folder}/v.duckdb"}
        pairs = {kind: (f"{place}/visits", f"{place}/release") for kind, place in places.items()}
        if server is not None:
            base, _, query = server.partition("?")
            pairs["PostgreSQL"] = f"{base}/visits?{query}", f"{base}/release?{query}"
        asked = sys.argv[2:] or list(kinds | pairs)
        kinds, pairs = ({k: some[k] for k in some if k in asked} for some in (kinds, pairs))
        source = open_table(first)
        for kind, (table, _) in pairs.items():
            write(source.edited(Edit(source.columns)), table)
            print(f"{kind}: written", file=sys.stderr, flush=True)
        print("| kind | CPU s | wall s | peak GB |\n|---|---|---|---|")
        for kind, (table, output) in (kinds | pairs).items():
            cpu, wall, peak = run(table, output)
            print(f"| {kind} | {cpu:.0f} | {wall:.0f} | {peak:.2f} |", flush=True)


if __name__ == "__main__":
    main()
