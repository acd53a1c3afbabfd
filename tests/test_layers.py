"""Imports go one way only, also those inside functions."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import incrowd

PACKAGE = Path(incrowd.__file__).parent
# what each layer holds, from the lowest up: a file or folder imports from its own and lower ones
LAYERS = (
    "clock errors events units silence stop highs simplex jit draws",
    "hierarchy privacy instance solution problem instances",
    "patterns bounds presolve",
    "solvers memory",
    "solve",
    "frames measure policy coding constraints fewest checker",
    "anonymize attack cautions existing frontier proof release report summary learnt verification "
    "demo",
    "spark sklearn pandera",
    "cli",
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names.split()}
# they call each other in functions: a release writes its report and proof, a frontier draws itself
KNOTS = ({"release", "report"}, {"release", "proof"}, {"frontier", "report"})


def unit_of(file: Path) -> str:
    """The file or folder of the package that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> set[str]:
    """Files and folders of the package that a file imports from, those for types included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
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
        if file.parent != PACKAGE or not file.name.startswith("_"):
            graph.setdefault(unit_of(file), set()).update(imports(file))
    return graph


def test_every_file_has_a_layer(graph: dict[str, set[str]]):
    assert set(graph) == set(LAYER)


def test_nothing_imports_from_above(graph: dict[str, set[str]]):
    above = [(a, b) for a, others in graph.items() for b in others if LAYER[b] > LAYER[a]]
    assert not above


def test_nothing_imports_in_circles(graph: dict[str, set[str]]):
    tied = {
        a: {b for b in others if b != a and not any({a, b} <= knot for knot in KNOTS)}
        for a, others in graph.items()
    }
    try:
        tuple(TopologicalSorter(tied).static_order())
    except CycleError as error:
        pytest.fail(f"in circles: {error.args[1]}")
