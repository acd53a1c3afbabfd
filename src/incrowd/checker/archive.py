"""The parts of a ZIP file, of which none is much larger than it looks.

A header says how large a part becomes, and no more than that is read.  Only parts that are stored,
or deflated at a rate that text has, are taken: a megabyte of zeros is a kilobyte otherwise.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Collection

from incrowd.checker.rejection import PROOF, RejectedError, require

SMALL, FOLD = 1 << 24, 32  # a part may have so many bytes, or be so many times what it was
DAMAGED = "the proof file is damaged"
LACKING = "the proof file lacks a part or holds one that makes no sense"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def parts_of(data: bytes, names: Collection[str]) -> dict[str, bytes]:
    """Return the named parts, which must be there once; there must be no others."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            held = archive.infolist()
            require(sorted(part.filename for part in held) == sorted(names), LACKING)
            for part in held:
                require(not part.flag_bits & 1, "the proof file is encrypted")
                known = part.compress_type in METHODS
                require(
                    known, "the proof file is compressed in a way that the checker does not read"
                )
                fine = part.file_size <= max(SMALL, FOLD * part.compress_size)
                stored = part.compress_type == zipfile.ZIP_STORED
                fine &= not stored or part.file_size == part.compress_size
                require(fine and part.compress_size <= len(data), f"{part.filename} is too large")
            return {name: _read(archive, name) for name in names}
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError):
        raise RejectedError(DAMAGED, mistaken=PROOF) from None
    except (ArithmeticError, LookupError, NotImplementedError, OSError, RuntimeError, ValueError):
        raise RejectedError(LACKING) from None


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a part; asked for no size, the library inflates what no header speaks of."""
    with archive.open(name) as part:
        return part.read(archive.getinfo(name).file_size)
