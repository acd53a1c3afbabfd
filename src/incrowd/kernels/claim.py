"""How kernels in several threads share out work: each takes the next number, and nobody twice."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray


def claim(word: NDArray[np.int64]) -> int:
    """Return the number in the word (int64, shape (1,)), and add 1 to it, in one step."""
    number = int(word[0])
    word[0] += 1
    return number


def _added(typing: Any, word: Any) -> Any:
    """Add 1 in one step; return what was there."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, values[0])
        return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(word), code


_take: Any = intrinsic(_added)


@overload(claim)
def _claim(word: Any) -> Any:
    def take(word: Any) -> Any:
        return _take(word)

    return take
