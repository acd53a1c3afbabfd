"""Looking for cells byte by byte, in whatever encoding or packing they may stand."""

import base64
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

PACKED = {rb"\x78[\x01\x5e\x9c\xda]": 15, rb"\x1f\x8b\x08": 31}  # zlib, gzip
ZSTD = re.compile(rb"\x28\xb5\x2f\xfd")
BASE64 = re.compile(rb"[A-Za-z0-9+/]{16,}={0,2}")


def marked(rows: int, values: int) -> dict[str, list[str]]:
    """A table of which each cell can be found: names, codes half of which are rare, towns, illness.

    ``values``: how many illnesses there are.
    """
    return {
        "name": [f"zqnm{i:03}xy" for i in range(rows)],
        "code": [f"zqcc{i % 2:03}xy" if i < rows // 2 else f"zqcd{i:03}xy" for i in range(rows)],
        "town": [f"zqtw{i:03}xy" for i in range(rows)],
        "ill": [f"zqil{i % values:03}xy" for i in range(rows)],
    }


def views(data: bytes) -> Iterator[bytes]:
    """Yield bytes, and what is packed in them: zlib, gzip, Zstandard, ZIP, base64."""
    yield data
    for magic, bits in PACKED.items():
        for met in re.finditer(magic, data):
            try:
                yield zlib.decompressobj(bits).decompress(data[met.start() :])
            except zlib.error:
                continue
    for met in ZSTD.finditer(data):
        yield unpacked(data[met.start() :])
    if b"PK\3\4" in data:
        try:
            parts = zipfile.ZipFile(io.BytesIO(data))
        except zipfile.BadZipFile:
            return
        for name in parts.namelist():
            yield from views(parts.read(name))
    for met in BASE64.finditer(data):
        for first in range(4):
            text = met[0].rstrip(b"=")[first:]
            yield base64.b64decode(text[: len(text) // 4 * 4])


def unpacked(data: bytes) -> bytes:
    """Return what is in a frame of Zstandard, as far as it can be read: other bytes follow."""
    stream, found = pa.CompressedInputStream(pa.BufferReader(data), "zstd"), b""
    try:
        while piece := stream.read(1):
            found += piece
    except (OSError, pa.ArrowException):
        pass
    return found


def found_in(data: bytes, cells: Iterable[str]) -> set[str]:
    """Return the cells that stand in some bytes, in any encoding or packing looked for."""
    seen = list(views(data))
    forms = ("utf-8", "utf-16-le", "utf-16-be")
    return {
        cell for cell in cells if any(cell.encode(form) in view for form in forms for view in seen)
    }


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files below a folder, hidden ones too, by name."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}
