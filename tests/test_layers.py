"""Imports go one way only, also those inside functions."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import incrowd

PACKAGE = Path(incrowd.__file__).parent
# what each layer holds, from the lowest up: a file or folder imports from its own and lower ones
LAYERS = (
    "errors text checker",
    "run hierarchy",
    "kernels linear",
    "privacy tables",
    "problem measures",
    "lattice reduce instances policy pandera",
    "bounds encoding",
    "solvers",
    "driver",
    "averages combinations constraints deletion persons",
    "veil",
    "published",
    "proof report",
    "release",
    "existing series",
    "_api",
    "codebooks attacks frontiers spark sklearn",
    "desk",
    "cli",
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names.split()}
ROOT = {"__init__", "__main__"}


@cache
def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(file.read_text("utf-8"))


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """All of its nodes; a walk takes as long as parsing."""
    return tuple(ast.walk(parsed(file)))


@pytest.fixture(scope="module", autouse=True)
def let_go() -> Iterator[None]:
    """Let a million nodes go at the end, which the garbage collector would look at later."""
    yield
    nodes.cache_clear()
    parsed.cache_clear()


def unit_of(file: Path) -> str:
    """The file or folder of the package that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> set[str]:
    """Files and folders of the package that a file imports from, those for types included."""
    found: set[str] = set()
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom) and node.module == "incrowd":
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            path = node.module.split(".")
            found |= {path[1]} if path[0] == "incrowd" else set()
        elif isinstance(node, ast.Import):
            paths = (one.name.split(".") for one in node.names)
            found |= {path[1] for path in paths if path[0] == "incrowd" and len(path) > 1}
    return found & set(LAYER)


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        if file.parent != PACKAGE or file.stem not in ROOT:
            graph.setdefault(unit_of(file), set()).update(imports(file))
    return graph


def test_no_room_enters_by_the_front_door():
    """Public names are for users: what the package itself needs it takes from where that lives."""
    public = set(incrowd.__all__) | {"__version__"}
    for file in PACKAGE.rglob("*.py"):
        if file.name == "__main__.py":
            continue
        for node in nodes(file):
            if isinstance(node, ast.Import):
                assert "incrowd" not in {one.name for one in node.names}, file
            elif isinstance(node, ast.ImportFrom) and node.module == "incrowd":
                assert not public & {one.name for one in node.names}, file


def test_every_file_has_a_layer(graph: dict[str, set[str]]):
    assert set(graph) == set(LAYER)


def test_nothing_imports_from_above(graph: dict[str, set[str]]):
    above = [(a, b) for a, others in graph.items() for b in others if LAYER[b] > LAYER[a]]
    assert not above


def test_nothing_imports_in_circles(graph: dict[str, set[str]]):
    others = {a: imported - {a} for a, imported in graph.items()}
    try:
        tuple(TopologicalSorter(others).static_order())
    except CycleError as error:
        pytest.fail(f"in circles: {error.args[1]}")


def modules(file: Path, known: set[str]) -> set[str]:
    """Modules of the package that a file imports from, for types and in functions as well."""
    found: set[str] = set()
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)} & known
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names} & known
    return found


def test_no_files_import_each_other():
    known = {
        ".".join(("incrowd", *file.relative_to(PACKAGE).with_suffix("").parts)): file
        for file in PACKAGE.rglob("*.py")
        if file.name != "__init__.py"
    }
    try:
        TopologicalSorter(
            {name: modules(file, set(known)) - {name} for name, file in known.items()}
        ).prepare()
    except CycleError as error:
        pytest.fail(f"in circles: {error.args[1]}")


def test_few_files_stand_outside_the_rooms():
    front_door = {"__init__", "__main__", "_api", "errors", "release", "pandera"}
    assert {file.stem for file in PACKAGE.glob("*.py")} == front_door


def functions(file: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a file, those in classes and functions included."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in nodes(file) if isinstance(node, kinds)]


def late_imports(file: Path) -> set[tuple[int, str]]:
    """Lines of a file at which a function imports from the package, and from where."""
    found: set[tuple[int, str]] = set()
    for node in (inner for function in functions(file) for inner in ast.walk(function)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "incrowd":
            found.add((node.lineno, node.module or ""))
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names if one.name.split(".")[0] == "incrowd"]
            found |= {(node.lineno, name) for name in names}
    return found


def test_only_front_doors_import_late():
    """Tests that imports stand at the top of a file, but where a help text would have to wait."""
    late = {file: late_imports(file) for file in PACKAGE.rglob("*.py")}
    front = {"cli", "policy", "spark", "measures", "frontiers", "__init__"}
    assert {unit_of(file) for file, found in late.items() if found} <= front
    assert sum(map(len, late.values())) <= 80


def test_folders_name_files_that_are_there():
    """Tests that the map at the head of a folder names no file that went elsewhere."""
    gone = [
        f"{face.parent.relative_to(PACKAGE)}: {name}"
        for face in PACKAGE.rglob("__init__.py")
        for name in re.findall(r"\b\w+\.py\b", ast.get_docstring(parsed(face)) or "")
        if not (face.parent / name).exists()
    ]
    assert not gone


def test_large_folders_name_all_their_files():
    """Tests that the head of a folder of eight files or more is a map of it."""
    unsaid = [
        str(file.relative_to(PACKAGE))
        for face in PACKAGE.rglob("__init__.py")
        if len(files := set(face.parent.glob("*.py")) - {face}) >= 8 and face.parent != PACKAGE
        for file in files
        if not re.search(rf"\b{file.name}\b", ast.get_docstring(parsed(face)) or "")
    ]
    assert not unsaid


def test_files_are_short():
    """Tests that no file has more than 400 lines."""
    lines = {file: file.read_text("utf-8").count("\n") for file in PACKAGE.rglob("*.py")}
    assert not [str(file.relative_to(PACKAGE)) for file, count in lines.items() if count > 400]


FRONT = "cli policy _api published report proof spark sklearn existing constraints frontiers"


def test_functions_take_few_parameters():
    """Tests that no function of the rooms above the search takes more than twelve parameters."""
    wide = [
        f"{file.relative_to(PACKAGE)}: {function.name}"
        for file in PACKAGE.rglob("*.py")
        if unit_of(file) in FRONT.split()
        for function in functions(file)
        if len([*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]) > 12
    ]
    assert not wide
