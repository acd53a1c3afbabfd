"""Keys in files that only their owner can read."""

import contextlib
import os
import secrets
import time
from pathlib import Path

from incrowd.errors import InputError
from incrowd.tables.atomic import PRIVATE, raise_plainly

BYTES = 32
PATIENCE = 1.0  # seconds


def key_in(path: str) -> bytes:
    """Return the key in a file, which is made where it is not there; of no file, a new key.

    A key is 32 bytes of the operating system's randomness, in hexadecimal.

    Raises
    ------
    InputError: the file holds no key, others than its owner may open it, or it cannot be made.
    """
    if not path:
        return secrets.token_bytes(BYTES)
    with contextlib.suppress(FileExistsError):
        return _made(path)
    until = time.monotonic() + PATIENCE
    while _is_empty(path) and time.monotonic() < until:  # another run is about to write it
        time.sleep(PATIENCE / 50)
    try:
        if os.name == "posix" and Path(path).stat().st_mode & 0o077:
            raise InputError(
                f"{path}: others than its owner may open this key, and undo the pseudonyms: make a "
                f"new one, or if nobody has read it: chmod 600 {path}"
            )
        key = bytes.fromhex(Path(path).read_text("ascii").strip())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        key = b""
    if len(key) != BYTES:
        raise InputError(
            f"{path}: is not a key of {BYTES} bytes in hexadecimal; name a file that is not there "
            "yet, and one is made"
        )
    return key


def _is_empty(path: str) -> bool:
    with contextlib.suppress(OSError):
        return Path(path).stat().st_size == 0
    return False


def _made(path: str) -> bytes:
    """Make a key file; it must not be there."""
    key = secrets.token_bytes(BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    except FileExistsError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be made: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(key.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:  # half a key would end every later run
        Path(path).unlink()
        raise_plainly(error, path)
        raise
    return key
