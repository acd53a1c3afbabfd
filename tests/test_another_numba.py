"""Tests of a numba that is made otherwise inside."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["caching._CacheLocator", "Impl._locator_classes"])
def test_another_numba_may_lack_the_names_of_its_caches(name: str, tmp_path: Path) -> None:
    """Tests that kernels run then, and are kept as that numba keeps them."""
    (tmp_path / "other.py").write_text(
        f"""
import numba.core.caching as caching
from numba.core.caching import CacheImpl as Impl
held = {name}
del {name}
import incrowd.kernels.caches
{name} = held
from incrowd.kernels.jit import kernel

@kernel
def one_more(x):
    return x + 1

print(one_more(1), incrowd.kernels.caches.CacheFile.lost)
"""
    )
    done = subprocess.run(
        [sys.executable, "other.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "2 0\n", done.stderr
    assert list((tmp_path / "__pycache__").glob("other.one_more*.nbi"))
