"""How fast the desk is, on a table made from a seed, without a socket and without a browser.

    python benchmarks/desk.py [--rows 1000000] [--seed 0]

Prints, as a table in Markdown: CPU and wall seconds to open and guess, to begin (state, columns),
of a page of rows anywhere and of a chosen one, the peak memory, and the size of the page.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from incrowd.desk.calls import READ
from incrowd.desk.server import PAGE
from incrowd.desk.session import Session
from measure import table


def timed(what: str, do: Callable[[], Any]) -> Any:
    """Do something and print how long it took."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = do()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(f"| {what} | {cpu:.3f} | {wall:.3f} |", flush=True)
    return found


def main() -> None:
    """Make the table, and use it as the page does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--make", type=Path, help="Only write the table there.")
    given = parser.parse_args()
    if given.make is not None:
        table(given.rows, 2.0, given.seed).write_csv(given.make)
        return
    files = list(PAGE.iterdir())
    print(f"the page: {sum(f.stat().st_size for f in files):,} bytes in {len(files)} files\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        # in a process of its own, for the peak memory is to be the desk's
        subprocess.run([sys.executable, *sys.argv, "--make", str(path)], check=True)
        Session(str(path))  # whatever a machine does once, such as compiling
        print(f"| {given.rows:,} rows | CPU s | wall s |\n|---|---|---|")
        session = timed("open and guess", lambda: Session(str(path)))
        session.change({"roles": {"s": "keep"}, "further": {"time_limit": 1}})
        timed("state and columns", lambda: READ["state"](session, {"table": "1"}))

        def release() -> None:
            session.make()
            session.making.join()
            if session.making.error:
                raise SystemExit(session.making.error)

        timed("a release with a search of 1 s", release)
        timed("the first page of rows", lambda: READ["rows"](session, {}))
        places = np.random.default_rng(given.seed).integers(0, given.rows, 20)
        for start in places[:3].tolist():
            timed("a page of rows anywhere", lambda at=start: READ["rows"](session, {"start": at}))
        timed("the first page of changed rows", lambda: READ["rows"](session, {"changed": "any"}))
        timed("another", lambda: READ["rows"](session, {"changed": "any", "start": 5_000}))
        timed("risk and use", lambda: READ["figures"](session, {}))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\npeak memory: {peak:.2f} GiB")


if __name__ == "__main__":
    main()
