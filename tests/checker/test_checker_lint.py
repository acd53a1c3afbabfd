"""Tests that the checker shares no code with what it checks, and stays short."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import incrowd.checker

FOLDER = Path(incrowd.checker.__file__).parent
FILES = sorted(FOLDER.glob("*.py"))
CORE = ("rejection", "ladder", "ranges", "recheck", "inequality", "verify")


def imported(tree: ast.AST) -> set[str]:
    """Names of all modules that a file imports, wherever the import stands."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_imports(path: Path) -> None:
    """Tests that only numpy, polars, the standard library and the checker itself are imported."""
    tree = ast.parse(path.read_text())
    for name in imported(tree):
        root = name.partition(".")[0]
        own = name == "incrowd.checker" or name.startswith("incrowd.checker.")
        assert own or root in {"numpy", "polars"} | sys.stdlib_module_names, name
        assert root != "importlib"
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not called & {"__import__", "eval", "exec", "compile"}


def test_nothing_else_is_loaded() -> None:
    """Tests in a fresh process that checking loads no other part of the package."""
    code = (
        "import sys, incrowd.checker.verify\n"
        "own = [m for m in sys.modules if m.split('.')[0] in ('incrowd', 'numba', 'narwhals')]\n"
        "print([m for m in own if m != 'incrowd' and not m.startswith('incrowd.checker')])"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


def lines_of_code(path: Path) -> int:
    """Lines without blanks, comments and docstrings."""
    text = path.read_text()
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                prose |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in prose
        for number, line in lines
    )


def test_short_enough_to_read_in_one_sitting() -> None:
    """Tests that what decides about k-anonymity and its bound has under 430 lines of code.

    And what reads, writes and prices intervals under 210.
    """
    lines = {name: lines_of_code(FOLDER / f"{name}.py") for name in CORE}
    assert lines.pop("ranges") < 210
    assert sum(lines.values()) < 430
