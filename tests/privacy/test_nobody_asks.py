"""Nobody outside ``privacy/`` and ``checker/`` asks which class a model or a distance is."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import incrowd
from incrowd.privacy.distance import GroundDistance
from incrowd.privacy.model import Model

PACKAGE = Path(incrowd.__file__).parent
CALLED = ("model", "part", "distance")  # what holds one, by the end of its name
OTHERS = {"ModelSpec", "Mapping", "str"}  # ways to write a model, which are none
ASKING = ("isinstance", "issubclass")


def kinds() -> set[str]:
    """Names of all classes of models and distances."""
    found, queue = set(), [Model, GroundDistance]
    for file in (PACKAGE / "privacy").glob("*.py"):
        import_module(f"incrowd.privacy.{file.stem}")
    while queue:
        kind = queue.pop()
        if kind.__module__.startswith("incrowd."):
            found.add(kind.__name__)
        queue += kind.__subclasses__()
    return found


def names(node: ast.AST) -> set[str]:
    """All names in an expression, and attributes by their own."""
    found = (getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(node))
    return {name for name in found if name}


def questions(source: str, kinds: set[str]) -> Iterator[int]:
    """Yield the lines of a source that ask for a class."""
    words = "|".join([*ASKING, "type", "__class__", *kinds])
    if not re.search(rf"\b({words})\b", source):
        return  # sooner than the source can be parsed
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ASKING:
            what, which = node.args
            held = isinstance(what, ast.Name | ast.Attribute) and ast.unparse(what).endswith(CALLED)
            if names(which) & kinds or (held and not names(which) & OTHERS):
                yield node.lineno
        elif isinstance(node, ast.Compare):
            named = names(node)
            text = ast.unparse(node) if named & {"type", "__class__"} else ""
            by_kind = any(f"type({c})" in text or f"{c}.__class__" in text for c in CALLED)
            if named & kinds or by_kind:
                yield node.lineno
        elif isinstance(node, ast.MatchClass) and names(node.cls) & kinds:
            yield node.lineno


def test_nobody_asks() -> None:
    """Tests every file that is not a model's own or the checker's."""
    asked = kinds()
    found = [
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in PACKAGE.rglob("*.py")
        if file.relative_to(PACKAGE).parts[0] not in ("privacy", "checker")
        for line in questions(file.read_text("utf-8"), asked)
    ]
    assert not found


def test_every_way_of_asking_is_seen() -> None:
    """Tests the test: ways in which the question was once put, or could be."""
    assert {"AllOf", "KAnonymity", "PerAttribute", "People", "Metric"} <= kinds()
    for text in (
        "isinstance(x, KAnonymity)",
        "isinstance(problem.model, k_anonymity.KAnonymity | AllOf)",
        "isinstance(part, EASED)",
        "issubclass(kind, (int, TCloseness))",
        "type(model) is Anything",
        "model.__class__ == Anything",
        "problem.model != KAnonymity(2)",
        "match model:\n    case KAnonymity(k=2): pass",
    ):
        assert len(list(questions(text, kinds()))) == 1, text
    assert not list(questions("isinstance(model, ModelSpec)\nproblem.model.size_decides", kinds()))
