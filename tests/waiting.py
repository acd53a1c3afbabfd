"""Workers that wait for each other: of those that need the same kernel, one compiles it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

try:
    import fcntl
except ImportError:  # on Windows all of them compile it
    fcntl = None

HELD: set[Path] = set()


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Wait until no other process is in here with the same file.  A process that ends is out."""
    if fcntl is None or file in HELD:
        yield
        return
    HELD.add(file)
    try:
        with file.open("w") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX)
            yield
    finally:
        HELD.discard(file)


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have a worker wait where another one compiles a kernel, and then load it.

    Kernels compile those that they call, which never call them: no two workers wait for each other.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    from incrowd.kernels.jit import Kernel

    folder = tmp_path_factory.getbasetemp().parent / "compiling"
    folder.mkdir(exist_ok=True)
    compiled = Kernel.compile

    def compile_alone(kernel: Any, sig: Any) -> Any:
        made_of = kernel.py_func
        with alone(folder / f"{made_of.__module__}.{made_of.__qualname__}"):
            return compiled(kernel, sig)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Kernel, "compile", compile_alone)
        yield
