"""Whether an Arrow file has the bytes that it names, asked before polars asks for as much memory.

Where that is not there its process ends at once, and no message can say that a file is broken.
"""

import struct

from incrowd.checker.arrow import DICTIONARY, messages

RATIO = 1 << 15
"""What a byte can be inflated to: Zstandard writes 128 KiB of one byte as four, LZ4 no more."""
START = 8
CONTINUED = b"\xff" * 4  # before each message, but in files of the years before 2019


def require_whole(data: bytes) -> None:
    """Raise unless all buffers of an Arrow file or stream lie in it and inflate to what they can.

    Raises
    ------
    IndexError, struct.error, ValueError: it is broken.
    """
    begin = START if data.startswith(b"ARROW1") else 0
    if data[begin : begin + 4] != CONTINUED:
        return  # of a form that only polars knows
    for kind, batch, body in messages(data):
        held = batch.table(1) if kind == DICTIONARY else batch
        packed = held.has(3)
        for at in held.vector(2, 16):
            offset, width = struct.unpack_from("<qq", data, at)
            if not 0 <= offset <= offset + width <= len(data) - body:
                raise ValueError("a buffer is nowhere")
            if packed and width:
                (size,) = struct.unpack_from("<q", data, body + offset)  # -1: not compressed
                if not -1 <= size <= RATIO * width:
                    raise ValueError("a buffer says a size that it cannot have")
