"""Tests of how kernels are compiled: once for all callers, and out of every time limit."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incrowd
from incrowd.kernels import jit
from incrowd.kernels.apart import apart
from incrowd.kernels.caches import CacheFile, Everywhere
from incrowd.kernels.jit import Sources, inner_kernel, kernel, lean_kernel
from incrowd.run import clock
from incrowd.run.stop import Stop

PACKAGE = Path(incrowd.__file__).parent


@pytest.mark.parametrize("decorate", [kernel, lean_kernel])
def test_compiling_takes_none_of_a_time_limit(decorate: Any) -> None:
    """Tests a kernel that another one calls: the clock stands while both are compiled."""

    @decorate
    def inner(x: Any) -> Any:
        return x + 1

    @decorate
    def outer(x: Any) -> Any:
        return inner(x) * 2

    begin, before = time.monotonic(), clock.left_out()
    stop = Stop(1e6)
    assert outer(1) == 4
    elapsed, compiling = stop.elapsed(), clock.left_out() - before
    assert compiling > 0
    assert elapsed <= time.monotonic() - begin - compiling
    outer(2)  # compiled before
    assert clock.left_out() == before + compiling


@pytest.mark.parametrize("decorate", [kernel, lean_kernel])
def test_callers_share_one_version(decorate: Any) -> None:
    """Tests literals and narrow numbers as arguments: they are passed as 64 bits.

    A caller of a function from outside it is compiled anew in each run, whatever is cached.
    """

    @inner_kernel
    def added(x: Any, by: Any) -> Any:
        return x + by

    @decorate
    def outer(numbers: Any) -> Any:
        return added(numbers[0], 1) + added(added(-1, numbers.size), numbers[1])

    most = np.iinfo(np.int32).max
    assert outer(np.array([most, most], np.int32)) == 2 * most + 2
    assert outer(np.array([7, 5], np.int64)) == 14
    versions: Any = added
    assert [str(kind) for kind in versions.signatures[0]] == ["int64", "int64"]
    assert len(versions.signatures) == 1


def test_inner_kernels_are_not_for_python() -> None:
    """Tests that a call from Python, where such a kernel has no entry, does not crash."""

    @inner_kernel
    def added(x: Any, by: Any) -> Any:
        return x + by

    with pytest.raises(TypeError, match="added can be called by kernels alone"):
        added(1, 2)


def a_package(folder: Path, **changed: str) -> Sources:
    """A package whose kernel calls one of another file, which takes a constant by way of two."""
    texts = {
        "top": "from pack.kernels.jit import kernel\nfrom pack.inner import (\n    callee,\n)\n",
        "inner": "from pack.kernels.jit import kernel\nfrom pack import given\n",
        "given": "from pack.sizes import SIZE\n",
        "sizes": "SIZE = 3\n",
        "apart": "SIZE = 4\n",
        "kernels/jit": "",
    }
    (folder / "pack" / "kernels").mkdir(parents=True)
    for name, text in (texts | changed).items():
        (folder / "pack" / f"{name}.py").write_text(text)
    return Sources(folder / "pack")


@pytest.mark.parametrize(
    ("changed", "text", "kept"),
    [
        ("top", "# other", False),
        ("inner", "from pack.kernels.jit import kernel\n", False),
        ("sizes", "SIZE = 5", False),
        ("kernels/jit", "# other", False),
        ("apart", "SIZE = 5", True),
        ("apart", "class Moved(NamedTuple):\n    x: int", False),
    ],
)
def test_kernels_go_by_what_they_are_made_of(
    tmp_path: Path, changed: str, text: str, kept: bool
) -> None:
    """Tests edits of a kernel, of what it calls and takes, of types, and of a file apart."""
    before = a_package(tmp_path / "a").digest("pack.top")
    assert before == a_package(tmp_path / "b").digest("pack.top") != ""
    assert (before == a_package(tmp_path / "c", **{changed: text}).digest("pack.top")) is kept


def test_a_folder_that_is_not_there() -> None:
    """Tests that nothing is raised where there are no sources."""
    assert Sources(Path("/nowhere/at/all")).digest("all.top") == ""


def cache_of(made: Any) -> tuple[Any, Any]:
    """Return the file of a kernel's cache and the key of the one version that is in it."""
    made(3)
    file = made._cache._cache_file
    (key,) = file._load_index()
    return file, key


def kernel_in(folder: Path | str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a kernel that is kept in a folder."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(folder))

    @lean_kernel
    def doubled(x: Any) -> Any:
        return 2 * x

    return doubled


def test_caches_go_with_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that what was compiled from other sources is not taken, wherever it is kept.

    That another process finds what is kept is tested with ``incrowd warm``.
    """
    hits = []
    for version in ("1", "1", "2"):
        monkeypatch.setattr(jit, "version_of", lambda _, version=version: version)
        made = kernel_in(tmp_path, monkeypatch)
        assert made(4) == 8
        hits.append(sum(made.stats.cache_hits.values()))
    assert hits == [0, 1, 0]


@pytest.mark.parametrize("half", ["*.nbi", "*.nbc"])
def test_half_a_file_of_a_cache_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    """Tests files that were cut: nothing is raised, and the next run finds whole ones."""
    file, key = cache_of(kernel_in(tmp_path, monkeypatch))
    (cut,) = tmp_path.rglob(half)
    cut.write_bytes(cut.read_bytes()[:-9])
    assert file.load(key) is None
    assert kernel_in(tmp_path, monkeypatch)(4) == 8
    assert file.load(key) is not None


def test_a_cache_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a kernel runs where its cache cannot be written any more."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
    monkeypatch.setattr(CacheFile, "lost", 0)
    made = kernel_in(tmp_path, monkeypatch)
    assert made(4) == 8 and CacheFile.lost == 1
    assert sum(made.stats.cache_misses.values()) == 1


def test_nothing_is_kept_for_who_has_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests a package that can only be read: numba would make a folder '~' where the run begins."""
    (tmp_path / "__pycache__").touch()  # so that it cannot be the folder, for root neither
    file = tmp_path / "read_only.py"
    file.write_text("def doubled(x):\n    return 2 * x\n")
    found: dict[str, Any] = {}
    exec(compile(file.read_text(), file, "exec"), found)
    before = set(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as without HOME and a name
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(CacheFile, "lost", 0)
    assert lean_kernel(found["doubled"])(4) == 8 and CacheFile.lost == 1
    assert set(tmp_path.iterdir()) == before


def denied(*_: Any, **__: Any) -> None:
    raise PermissionError(13, "Permission denied")


def test_kernels_that_can_only_be_read_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests the folder that root filled, in an image that another user runs."""
    monkeypatch.setattr(CacheFile, "lost", 0)
    monkeypatch.setitem(jit.SOURCES.texts, __name__, "")  # as one of the package
    kernel_in(tmp_path, monkeypatch)(4)
    monkeypatch.setattr("tempfile.TemporaryFile", denied)  # by which numba sees what it may write
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._open_for_write", denied)
    made = kernel_in(tmp_path, monkeypatch)
    assert made(4) == 8 and sum(made.stats.cache_hits.values()) == 1 and not CacheFile.lost
    assert made(0.5) == 1.0 and CacheFile.lost == 1


def test_kernels_beside_the_sources_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests a user with a folder of their own where root has compiled: it keeps what is new."""
    monkeypatch.setitem(jit.SOURCES.texts, __name__, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    kernel_in(tmp_path, monkeypatch)(4)
    (kept,) = tmp_path.rglob("*.nbc")
    monkeypatch.setattr("incrowd.kernels.caches.folder_of", lambda _: kept.parent)
    locators = [one for one in Everywhere._locator_classes if "InTree" not in one.__name__]
    monkeypatch.setattr(Everywhere, "_locator_classes", locators)
    for hits in (1, 2):
        made = kernel_in("", monkeypatch)
        assert made(4) == 8 and made(0.5) == 1.0
        assert sum(made.stats.cache_hits.values()) == hits
    assert (
        len(list((tmp_path / "home").rglob("*.nbc"))) == len(list(kept.parent.glob("*.nbc"))) == 1
    )


def test_code_of_something_else_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests what is left of other sources, and of other types: two processes count the same."""
    file, key = cache_of(kernel_in(tmp_path, monkeypatch))
    (data,) = tmp_path.rglob("*.nbc")
    good = data.read_bytes()
    other = ("another", *key[1:])
    file.save(other, "code")
    (name,) = {one.name for one in tmp_path.rglob("*.nbc")} - {data.name}
    data.write_bytes((data.parent / name).read_bytes())
    assert file.load(key) is None
    data.write_bytes(good)
    assert file.load(key) is not None
    version, file._version = file._version, "1"
    file._save_index({key: data.name})  # killed before the code was there
    assert file.load(key) is None
    file._version = version


def test_no_kernel_puts_an_array_into_a_slice() -> None:
    """Tests the sources: such a line is compiled with texts of its error, in seconds."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text("utf-8")
        if "kernels.jit" in text:
            found += [f"{file.name}:{line}" for line in lines_with_slices(text)]
    assert found == []


def lines_with_slices(text: str) -> list[int]:
    """Return the lines of kernels that assign an array to a slice, or to a row of an array."""
    return sorted(
        node.lineno
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef)
        and any("kernel" in ast.unparse(decorator) for decorator in function.decorator_list)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and any("[" in ast.unparse(t) and ":" in ast.unparse(t) for t in node.targets)
        for value in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])
        if isinstance(value, ast.Name | ast.Subscript)
        and not ast.unparse(value).isupper()  # a constant
    )


def test_lines_with_slices_are_found() -> None:
    """Tests the search of the test above."""
    body = ["a[:2] = b", "a[1:] = b[2:]", "a[:] = ONE", "a[0] = b[0]", "a[:], b[:] = b, a"]
    text = "\n    ".join(["@kernel\ndef f(a, b):", *body])
    assert lines_with_slices(text) == [3, 4, 7, 7]


def test_a_kernel_is_a_part_of_its_callers() -> None:
    """Tests that what kernels call is not translated by itself, unless Python calls it too."""

    @lean_kernel
    def doubled(x: Any) -> Any:
        return 2 * x

    @lean_kernel
    def outer(x: Any) -> Any:
        return doubled(x) + 1

    assert outer(3) == 7
    both: Any = doubled
    assert not both.overloads and len(both.part.overloads) == 1
    assert type(next(iter(both.part.overloads.values())).library) is both.part.library
    assert doubled(4) == 8
    assert len(both.overloads) == 1
    with pytest.raises(TypeError, match="by kernels alone"):
        both.part(4)


def test_an_operator_is_typed_once_for_all_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests also that numba itself stays as it was."""
    asked: list[tuple[Any, Any]] = []
    numbas = jit.typed_by_numba

    def counted(operator: Any, context: Any, args: Any, kws: Any) -> Any:
        asked.append((operator, args))
        return numbas(operator, context, args, kws)

    @kernel
    def summed(x: Any, y: Any) -> Any:
        return x[0] + y[0] + x[1] + y[1]

    @kernel
    def least(x: Any, y: Any) -> Any:
        return min(x[0] + y[0], x[1] + y[1])

    monkeypatch.setattr(jit, "typed_by_numba", counted)
    monkeypatch.setattr(jit, "TYPED", {})
    monkeypatch.setattr(jit, "cached", lambda _: None)  # an earlier run of the tests kept them
    x, y = np.array([1.0, 5.0]), np.array([4.0, 2.0])
    assert summed(x, y) == 12.0 and least(x, y) == 5.0
    assert len(asked) > 2 and len(set(asked)) == len(asked)
    assert jit.operators.get_call_type is numbas


PARTS = """
import sys
import numpy as np
from incrowd.kernels.apart import address_of, apart
from incrowd.kernels.jit import inner_kernel, kernel

@inner_kernel
def least(x, y):
    return x if x < y else y

@kernel
def between(x, y):
    return least(x, 5) + y

@kernel
def outer(x, y):
    return between(x, 1) * y

print(outer(7, float(sys.argv[1]) if "." in sys.argv[1] else int(sys.argv[1])))
print(*(sum(k.part.stats.cache_hits.values()) for k in (least, between)))

@kernel
def far(x, y):
    return x - len(y)

LIKE = 0, (0, np.zeros(0))
at = apart(far, LIKE)

@kernel
def caller(address, x, y):
    return at(address, (x, y)) if address else 0

y = np.zeros(2)
print(caller(0, 7, y), caller(address_of(far, LIKE), 7, y), at(1, (7, y)))
print(*(sum(k.stats.cache_hits.values()) for k in (far, caller)))
"""


def test_parts_come_from_the_cache(tmp_path: Path) -> None:
    """Tests a version of a kernel whose parts an earlier process compiled for another one.

    And one that is called at its address, which is another one in each process.
    """
    program = tmp_path / "parts.py"
    program.write_text(PARTS)
    there = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PACKAGE.parent)}

    def run(argument: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, program, argument],
            env=os.environ | there, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split()

    compiled, loaded = ["0", "5", "5", "0", "0"], ["0", "5", "5", "1", "1"]
    assert run("3") == ["18", "0", "0", *compiled]
    assert run("2.5") == ["15.0", "0", "1", *loaded]  # what a part is made of is in it
    assert run("3") == ["18", "0", "0", *loaded]  # the whole


def test_a_kernel_called_at_its_address_is_given_its_own_types() -> None:
    """Tests that what it would read as something else is refused where a caller is compiled."""
    at = apart(kernel(lambda x: x), (0, (0,)))

    @kernel
    def caller(x: Any) -> Any:
        return at(1, (x,))

    with pytest.raises(TypeError, match="called at its address takes"):
        caller(2.5)


LINEAR_ALGEBRA = """
import sys
import incrowd._api

solvers = [m for m in sys.modules if m.startswith("scipy.") and m.count(".") == 1]
print([m for m in solvers if not m.startswith("scipy._") and m != "scipy.version"] or "none")
import numba, numpy as np
from incrowd.kernels.jit import kernel

@kernel
def doubled(x):
    return 2 * x

@numba.njit
def product(a):
    return a @ a

print(doubled(4), "scipy.linalg" in sys.modules, product(np.full((2, 2), 3.0))[0, 0])
"""


def test_what_is_never_used_is_not_loaded() -> None:
    """Tests that the package loads no solver, and a kernel no linear algebra, which others may."""
    done = subprocess.run(
        [sys.executable, "-c", LINEAR_ALGEBRA],
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["none", "8", "False", "18.0"]
