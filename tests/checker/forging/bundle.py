"""A proof with its tables: taken apart, changed, and written again with all hashes mended."""

import io
import json
import zipfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

NAMES = {"release": "release", "original": "original"}
Edit = Callable[[bytes], bytes]


@dataclass
class Table:
    """A table and the form in which it stands on disk.

    Attributes
    ----------
    columns: cells by name; None is missing.
    form: ``csv``, ``parquet``, ``arrow`` or ``stream``.
    types: Arrow's types of columns that are no text.
    """

    columns: dict[str, list[Any]]
    form: str = "csv"
    delimiter: str = ","
    newline: str = "\n"
    encoding: str = "utf-8"
    types: dict[str, Any] = field(default_factory=dict)

    @property
    def height(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), []))

    def take(self, rows: list[int]) -> None:
        """Keep these rows, in this order."""
        for name, cells in self.columns.items():
            self.columns[name] = [cells[row] for row in rows]

    def write(self) -> bytes:
        """Return the file's bytes."""
        if self.form == "csv":
            lines = [list(self.columns), *zip(*self.columns.values(), strict=True)]
            fields = [[quoted(cell, self.delimiter) for cell in line] for line in lines]
            text = "".join(self.delimiter.join(line) + self.newline for line in fields)
            return text.encode(self.encoding)
        arrays = [pa.array(c, self.types.get(n, pa.string())) for n, c in self.columns.items()]
        table, out = pa.table(arrays, names=list(self.columns)), io.BytesIO()
        if self.form == "parquet":
            pq.write_table(table, out, write_page_index=True)
        else:
            kind = pa.ipc.new_file if self.form == "arrow" else pa.ipc.new_stream
            with kind(out, table.schema) as file:
                file.write_table(table)
        return out.getvalue()


def quoted(cell: str | None, delimiter: str) -> str:
    """Return a field; empty text in quotes, nothing for a missing cell."""
    if cell is None:
        return ""
    plain = cell and not {*cell} & {delimiter, '"', "\n", "\r"}
    return cell if plain else '"' + cell.replace('"', '""') + '"'


@dataclass
class Bundle:
    """A proof, its two tables, and the files of its hierarchies.

    Attributes
    ----------
    edits: what is done at last to the bytes of ``release``, ``original``, a part or ``proof.json``.
    packed: what is done at last to the parts, which become the proof file; None for an honest ZIP.
    """

    name: str
    facts: dict[str, Any]
    parts: dict[str, pl.DataFrame]
    original: Table
    release: Table
    hierarchies: dict[str, bytes]
    edits: list[tuple[str, Edit]] = field(default_factory=list)
    packed: Callable[[dict[str, bytes]], bytes] | None = None

    def copy(self) -> "Bundle":
        """Return one of its own, to be changed."""
        return deepcopy(self)

    def table(self, name: str) -> Table:
        """Return ``release`` or ``original``."""
        return self.release if name == "release" else self.original

    def bytes_of(self, name: str) -> bytes:
        """Return a table or part as it is written, edits and all."""
        if name in NAMES:
            data = self.table(name).write()
        elif name == "proof.json":
            data = json.dumps(self.facts, ensure_ascii=False).encode("utf-8", "surrogatepass")
        else:
            out = io.BytesIO()
            self.parts[name].write_parquet(out, compression="zstd")
            data = out.getvalue()
        for target, edit in self.edits:
            data = edit(data) if target == name else data
        return data

    def save(self, folder: Path) -> tuple[Path, Path, Path]:
        """Write release, original and proof, each hash that of its file or part."""
        paths = []
        for name in NAMES:
            table = self.table(name)
            path = folder / (
                name + {"csv": ".csv", "parquet": ".parquet"}.get(table.form, ".arrow")
            )
            path.write_bytes(self.bytes_of(name))
            if isinstance(self.facts.get(name), dict):
                self.facts[name]["sha256"] = sha256(path.read_bytes()).hexdigest()
            paths.append(path)
        parts = {name: self.bytes_of(name) for name in self.parts}
        if isinstance(self.facts.get("parts"), dict):
            known = {name: sha256(data).hexdigest() for name, data in parts.items()}
            self.facts["parts"] = self.facts["parts"] | known
        whole = {"proof.json": self.bytes_of("proof.json"), **parts}
        proof = folder / "out.proof"
        proof.write_bytes((self.packed or zipped)(whole))
        return paths[0], paths[1], proof


def zipped(parts: dict[str, bytes]) -> bytes:
    """Return an honest proof file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def opened(
    name: str, paths: tuple[Path, Path, Path], tables: tuple[Table, Table], files: dict[str, bytes]
) -> Bundle:
    """Take a proof file apart; ``tables``: what release and original hold."""
    with zipfile.ZipFile(paths[2]) as archive:
        facts = json.loads(archive.read("proof.json"))
        parts = {
            part: pl.read_parquet(io.BytesIO(archive.read(part)))
            for part in archive.namelist()
            if part.endswith(".parquet")
        }
    return Bundle(name, facts, parts, tables[1], tables[0], files)
