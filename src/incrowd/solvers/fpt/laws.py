"""Which models are linear in the numbers of rows of each kind in a class."""

from incrowd.problem.problem import Problem

LINEAR = (
    "k-anonymity",
    "distinct l-diversity",
    "frequency l-diversity",
    "recursive (c, l)-diversity",
)
"""Those without transport, by name."""


def refuse_bent(problem: Problem) -> str | None:
    """Say no to a model of which some part is not linear, by the name of that part."""
    for part in problem.model.parts:
        if part.linear(problem.table) is None:
            name = part.called(problem.sensitive)
            return f"{name} is not linear in the rows of a class; use subset-dp or engine"
    return None
