"""How a kernel learns that it is time to stop: a word that others write while it runs.

A kernel that may run for more than a moment is given a word (int64, shape (1,)) and looks at it now
and then: ``halted(word)``.  What it returns then is not finished, so its caller asks the stop
before it takes anything from it.  Whatever the clock does, a word that stays zero changes nothing.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

NEVER: NDArray[np.int64] = np.zeros(2, np.int64)
"""The words of those who are not to be stopped; nobody writes them."""


def halted(word: NDArray[np.int64]) -> bool:
    """Whether somebody has written the word."""
    return bool(word[0] != 0)


def _loaded(typing: Any, word: Any) -> Any:
    """Load the word, each time anew: an ordinary load may be moved out of the loop around it."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, values[0])
        found = builder.load_atomic(array.data, "monotonic", 8)
        return builder.icmp_signed("!=", found, ir.Constant(found.type, 0))

    return types.boolean(word), code


_read: Any = intrinsic(_loaded)


@overload(halted)
def _halted(word: Any) -> Any:
    def read(word: Any) -> Any:
        return _read(word)

    return read
