"""Workers that want the same kernel: one compiles it, the others wait and take it from the cache.

Without this two or three workers compile the same kernels at the same time, most of all where one
test after another begins with the same search.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def take_turns(folder: Path) -> None:
    """Have all kernels of this process compiled in turns with processes that share a folder."""
    try:
        import fcntl
    except ImportError:  # Windows: each compiles for itself
        return
    from numba.core.compiler_lock import global_compiler_lock

    from incrowd.kernels.jit import Kernel
    from incrowd.run import clock

    compiled, held = Kernel.compile, set[str]()

    @contextmanager
    def turn(name: str) -> Iterator[None]:
        if name in held:  # by this process, further up
            yield
            return
        with global_compiler_lock, (folder / name).open("w") as file:
            first = not held
            held.add(name)
            try:
                if first:  # else the clock stands already, as while anything is compiled
                    clock.stand()
                try:
                    fcntl.flock(file, fcntl.LOCK_EX)
                finally:
                    if first:
                        clock.go_on()
                yield
            finally:
                held.discard(name)

    def compile_in_turn(self: Kernel, sig: Any) -> Any:
        made = self.py_func
        with turn(f"{type(self).__name__}-{made.__module__}.{made.__qualname__}"):
            return compiled(self, sig)

    Kernel.compile = compile_in_turn
