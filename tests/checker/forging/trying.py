"""What tests of single forgeries share: honest proofs by name, verdicts, Arrow files."""

import io
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from forging.bases import made
from forging.bundle import Bundle
from forging.mending import mend, starred
from incrowd.checker.verify import Verdict, check


@cache
def _honest(name: str) -> Bundle:
    with TemporaryDirectory() as folder:
        return made(name, 0, Path(folder))


def base(name: str) -> Bundle:
    """Return an honest proof of a recipe, to be changed."""
    return _honest(name).copy()


def verdict_of(bundle: Bundle, folder: Path, **how: Any) -> Verdict:
    """Write a bundle, hashes mended, and have it checked."""
    return check(*bundle.save(folder), **how)


def all_stars(bundle: Bundle) -> None:
    """Suppress all, so that every model of its own accord is obeyed; claim nothing."""
    starred(bundle, range(bundle.release.height))
    mend(bundle)
    bundle.facts["bound"] = 0


def arrow_file(table: Any, **how: Any) -> bytes:
    """Return a table as an Arrow stream."""
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(**how)) as file:
        file.write_table(table)
    return out.getvalue()
