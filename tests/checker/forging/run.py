"""One forgery: a seed in, what became of it out."""

import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow as pa
from click.testing import CliRunner

from forging import averaged, climbing, constrained, facts, meaning, missing, parts, raw
from forging.bundle import Bundle
from forging.judge import faults_of
from forging.plain import ENDS, Plain, Unreadable, proof_of, records, table_of
from incrowd.checker.verify import check
from incrowd.cli import cli

LEVELS = {
    "JSON": facts.CHANGES,
    "tables": parts.CHANGES,
    "meaning": meaning.CHANGES
    | missing.CHANGES
    | climbing.CHANGES
    | averaged.CHANGES
    | constrained.CHANGES,
    "bytes": raw.CHANGES,
}
SHARES = {"JSON": 2, "tables": 2, "meaning": 5, "bytes": 2}
OFTEN = {"prices as high as believed": 3, "rows left out": 2}  # they find the most


# what a change ends in that does not go with those before
SENSELESS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, StopIteration)
SENSELESS += (RecursionError, pl.exceptions.PolarsError, pa.ArrowException)


class Outcome(NamedTuple):
    """What became of a forgery.

    Attributes
    ----------
    base, level, changes: what was forged, and how.
    accepted, reason: the checker's verdict; None where the forgery could not be written.
    faults: what is false of an accepted one; an exception that is no verdict.
    seconds: CPU time of the checker.
    """

    base: str
    level: str
    changes: tuple[str, ...]
    accepted: bool | None
    reason: str | None
    faults: tuple[str, ...]
    seconds: float = 0.0


def forged(base: Bundle, seed: int, folder: Path, only: str | None = None) -> Outcome:
    """Change a bundle as a seed says, write it to a folder, have it checked and judged.

    ``only``: the one change that is made; by default one to three of any level.
    """
    draw = random.Random(f"{base.name} {seed}")
    bundle = base.copy()
    level = draw.choices(list(SHARES), list(SHARES.values()))[0]
    level = next((name for name in LEVELS if only in LEVELS[name]), level)
    names = changed(draw, bundle, level, only)
    if level != "bytes" and draw.random() < 0.3:
        mended(draw, bundle)
    how = base.name, level, tuple(names)
    try:
        paths = bundle.save(folder)
    except SENSELESS:
        return Outcome(*how, None, "cannot be written", ())
    files = hierarchy_files(draw, base, folder)
    started = time.process_time()
    try:
        verdict = check(*paths, hierarchies=files)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome(*how, False, None, (f"{type(error).__name__}: {str(error)[:200]}",))
    seconds = time.process_time() - started
    if draw.random() < 0.1 and (fault := shown_otherwise(paths, files, verdict.accepted)):
        return Outcome(*how, verdict.accepted, None, (fault,), seconds)
    if not verdict.accepted:
        return Outcome(*how, False, verdict.reason, (), seconds)
    faults = tuple(judged(bundle, paths, verdict.facts))
    return Outcome(*how, True, None, faults, seconds)


def shown_otherwise(paths: Sequence[Path], files: Mapping[str, Path], accepted: bool) -> str | None:
    """Return how ``incrowd verify`` ends where that is not as the checker says."""
    words = [
        "verify",
        str(paths[0]),
        "--original",
        str(paths[1]),
        "--proof",
        str(paths[2]),
        "--json",
    ]
    words += [x for column, path in files.items() for x in ("--hierarchy", f"{column}={path}")]
    run = CliRunner().invoke(cli, words)
    code = 0 if accepted else 1
    return None if run.exit_code == code else f"incrowd verify ends with {run.exit_code}"


def changed(draw: random.Random, bundle: Bundle, level: str, only: str | None) -> list[str]:
    """Make the changes, as far as they go together; return their names."""
    names = []
    for _ in range(1 + (not only and draw.random() < 0.35) + (not only and draw.random() < 0.1)):
        known = list(LEVELS[level])
        name = only or draw.choices(known, [OFTEN.get(one, 1) for one in known])[0]
        with suppress(*SENSELESS):
            LEVELS[level][name](draw, bundle)
            names.append(name)
        level = draw.choice(list(LEVELS)) if draw.random() < 0.15 else level
    return names


def mended(draw: random.Random, bundle: Bundle) -> None:
    """State classes, cost and bound as they have become, where they still have a meaning."""
    with suppress(*SENSELESS):
        meaning.claimed(draw, bundle)


def hierarchy_files(draw: random.Random, base: Bundle, folder: Path) -> dict[str, Path]:
    """Write the files of the hierarchies, in half of the cases."""
    found = {}
    for column, text in base.hierarchies.items() if draw.random() < 0.5 else ():
        found[column] = folder / f"hierarchy_{column}.csv"
        found[column].write_bytes(text)
    return found


def judged(bundle: Bundle, paths: Sequence[Path], said: Mapping[str, object]) -> list[str]:
    """Return what is false of what the checker says, by other readers of the same files."""
    tables = []
    for name, path in zip(("release", "original"), paths, strict=False):
        one = bundle.table(name)
        try:
            ends = one.newline[-1] if name == "original" else ENDS
            tables.append(table_of(path.read_bytes(), one.delimiter, one.encoding, ends))
        except Unreadable as error:
            return [f"no other reader opens the {name}: {error}"]
    try:
        stated = proof_of(paths[2].read_bytes())
    except Unreadable as error:
        return [f"no other reader opens the proof: {error}"]
    found = faults_of(tables[1], tables[0], stated, said)
    one, data = bundle.release, paths[0].read_bytes()
    if one.form == "csv" and not found and two_ways(tables[0], data, one.delimiter, one.encoding):
        found.append("equal cells are written in two ways")
    return found


def two_ways(release: Plain, data: bytes, delimiter: str, encoding: str) -> bool:
    """Whether rows of a class can be told apart by quotes."""
    lines = records(data.decode(encoding).removeprefix("\ufeff"), delimiter, written=True)
    written = [len(set(column)) for column in zip(*lines[1:], strict=True)]
    return written != [len(set(column)) for column in zip(*release.rows, strict=True)]
