"""Bounds that proof files of sensitive models certify, and CPU seconds of the checker on them.

    python benchmarks/checker_sensitive.py                 all models
    python benchmarks/checker_sensitive.py t=0.2,on=occupation:5   one of them, with k

adult, occupation as the sensitive attribute.  Data as for ``checker.py``.  Prices and proof are as
``incrowd anonymize --proof`` makes them; the release is a poor one, from few moves, for the
checker's time depends on the table and the prices.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import incrowd
from checker import CHECK, ROOT
from incrowd.proof.prove import prove
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.engine import LawfulSearch

CASES = [
    *(f"l={size},on=occupation:1" for size in (3, 5)),
    *(f"l={size},kind=frequency,on=occupation:1" for size in (3, 5)),
    "l=4,kind=entropy,on=occupation:1",
    "c=1,l=3,kind=recursive,on=occupation:1",
    "alpha=0.3,on=occupation:5",
    *(f"beta=2,kind={kind},on=occupation:5" for kind in ("basic", "enhanced")),
    "delta=5,on=occupation:5",
    *(f"t={t},on=occupation:5" for t in ("0.5", "0.3", "0.2", "0.1")),
]


def measure(case: str) -> None:
    """Release, prove and check; print one line of a Markdown table."""
    model, k = case.split(":")
    original = ROOT / "adult.csv"
    method = Engine(lawful=LawfulSearch(annealing=LawfulAnnealing(moves=1)))
    release = incrowd.anonymize(
        str(original), int(k), sensitive="occupation", models=model, method=method
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / "out.csv"), str(original), str(Path(folder) / "out.proof")]
        release.write(paths[0])
        started = time.process_time()
        facts = prove(release, paths[1], paths[0], paths[2])
        proving = time.process_time() - started
        out = subprocess.run(
            [sys.executable, "-c", CHECK, *paths], check=True, capture_output=True, text=True
        )
    accepted, reason, _, seconds, _ = json.loads(out.stdout)
    if not accepted:
        raise SystemExit(f"{case}: rejected: {reason}")
    names = ", ".join(dict.fromkeys(rule["rule"] for rule in facts["pricing"])) or "none"
    print(
        f"| {model.removesuffix(',on=occupation')} | {k} | {release.bound_units:,} | "
        f"{facts['bound']:,} | {names} | {proving:.0f} | {seconds:.1f} |",
        flush=True,
    )


if __name__ == "__main__":
    print("| model | k | bound of the method | certified | rules | proof, s | checker, s |")
    print("|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or CASES:
        measure(name)
