"""Kernels that others call at their address, and hold no code of.

A kernel holds the code of all that it calls, and there is a version of it for each of their types.
What is long, and only some tables need, is better called where it stands: its callers are compiled
once, without it.  They are given its address, or 0 where the table needs it not.
"""

from collections.abc import Callable
from typing import Any

import numba
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

Typed = tuple[Any, tuple[Any, ...]]
"""What a kernel returns and takes: any values of their types, such as empty arrays."""


def address_of(kernel: Callable[..., Any], like: Typed) -> int:
    """Return where a compiled kernel begins, which is valid to the end of the process.

    Where numba is switched off there is none, and none is needed: 1.
    """
    made: Any = kernel
    if not hasattr(made, "overloads"):
        return 1
    given = tuple(map(numba.typeof, like[1]))
    made.compile(given)
    version = made.overloads[given]
    return version.library.get_pointer_to_function(version.fndesc.llvm_func_name)


def apart(kernel: Callable[..., Any], like: Typed) -> Callable[[int, tuple[Any, ...]], Any]:
    """Return what kernels call with the address of a kernel, and all that it is given.

    The kernel must not raise: its callers would not hear of it.
    """
    result, given = numba.typeof(like[0]), tuple(map(numba.typeof, like[1]))

    def at(address: int, values: tuple[Any, ...]) -> Any:
        return kernel(*values)

    def typed(typing: Any, address: Any, values: Any) -> Any:
        if [*map(writable, values.types)] != [*given]:  # it would read what is something else
            raise TypeError(f"a kernel called at its address takes {given}, not {values.types}")
        return result(types.int64, values), code

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        form = context.call_conv.get_function_type(result, given)
        there = builder.inttoptr(values[0], form.as_pointer())
        each = cgutils.unpack_tuple(builder, values[1], len(given))
        return context.call_conv.call_function(builder, there, result, given, each)[1]

    call: Any = intrinsic(typed)

    @overload(at)
    def _at(address: Any, values: Any) -> Any:
        def called(address: Any, values: Any) -> Any:
            return call(address, values)

        return called

    return at


def writable(given: Any) -> Any:
    """Return the type of an array that may be written in place of one that may not."""
    return given.copy(readonly=False) if isinstance(given, types.Array) else given
