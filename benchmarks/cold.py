"""The first run after an installation: CPU seconds and kernels compiled, with an empty cache.

    python benchmarks/cold.py DATA [NAME …]

DATA is the folder of adult.csv and its hierarchies; each case runs in a process of its own.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROWS = 500
CASES: dict[str, dict[str, Any]] = {
    "k2": {"k": 2},
    "k5": {"k": 5},
    "hierarchies": {"k": 5, "hierarchies": True},
    "l2": {"k": 5, "l": 2, "sensitive": "salary-class"},
    "tiny": {"k": 2, "rows": 30},
    "hundred": {"k": 2, "rows": 100},
    "tiny-l2": {"k": 5, "l": 2, "sensitive": "salary-class", "rows": 30},
}


def one(data: Path, name: str) -> None:
    """Run a case in this process and print what it took."""
    import polars as pl
    from numba.core.event import Listener, register

    import incrowd as ic

    class Counting(Listener):
        versions = 0

        def on_start(self, event: Any) -> None:
            self.versions += 1

        def on_end(self, event: Any) -> None:
            pass

    counting = Counting()
    register("numba:compile", counting)
    asked = dict(CASES[name])
    table = pl.read_csv(data / "adult.csv", separator=";", infer_schema=False)
    table = table.head(asked.pop("rows", ROWS))
    if asked.pop("hierarchies", False):
        files = {c: data / "hierarchies" / f"adult_hierarchy_{c}.csv" for c in table.columns}
        asked["hierarchies"] = {column: str(file) for column, file in files.items()}
    made = ic.anonymize(table, seed=1, threads=1, **asked)
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime
    print(f"| {name} | {seconds:.1f} | {counting.versions} | {made.cost} | {made.lower_bound} |")


def main() -> None:
    """Run the cases that are named, or all."""
    data, names = Path(sys.argv[1]), sys.argv[2:]
    if names[:1] == ["--here"]:
        one(data, names[1])
        return
    print("| case | CPU s | kernels | cost | bound |\n|---|---|---|---|---|", flush=True)
    for name in names or CASES:
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"NUMBA_CACHE_DIR": folder}
            call = [sys.executable, __file__, str(data), "--here", name]
            subprocess.run(call, env=environment, check=True)


if __name__ == "__main__":
    main()
