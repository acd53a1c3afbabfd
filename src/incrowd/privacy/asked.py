"""How a kernel calls a function of Python's back."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def called_back(typingctx: Any, address: Any, place: Any) -> Any:
    """Call the function at ``address`` (int64) with ``place`` (a pointer, as int64): its bool."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        form = ir.FunctionType(context.get_value_type(types.int64), [cgutils.voidptr_t])
        function = builder.inttoptr(args[0], form.as_pointer())
        found = builder.call(function, [builder.inttoptr(args[1], cgutils.voidptr_t)])
        return builder.icmp_signed("==", found, ir.Constant(found.type, 0))

    return types.boolean(types.int64, types.int64), code


unlawful: Any = intrinsic(called_back)
"""Whether the function at an address says 0 of what stands at another; both int64."""
