"""Writing a hard table as CSV, and what is known about it as JSON."""

from typing import Any

from incrowd.instances.base import Family, Options
from incrowd.instances.plain import PlainTable
from incrowd.instances.table import HardTable


def csv_text(table: HardTable) -> str:
    """The table as CSV with a header, quasi-identifiers first."""
    columns = (*table.columns, *table.sensitive_columns)
    return PlainTable(columns, tuple(map(tuple, table.cells()))).text()


def describe(
    family: Family[Any], table: HardTable, options: Options, seed: int | None, answer: Any
) -> dict[str, Any]:
    """What the side file says: the model, the roles, the equation, and the planted optimum.

    ``planted`` is None unless an answer was planted.  Row numbers count from 0.
    """
    planted = None
    if answer is not None:
        classes = family.source_to_solution(answer)
        planted = {"optimum": table.cost(classes), "answer": answer, "classes": classes}
    return {
        "instance": family.id,
        "source": family.source,
        "problem": {
            "words": family.problem,
            "format": family.file_format or None,
            "text": family.text(),
        },
        "parameters": {
            name: value if isinstance(value, int) else str(value) for name, value in options.items()
        },
        "seed": seed,
        "rows": table.rows,
        "columns": len(table.columns),
        "k": table.model.k,
        "model": table.model.describe(),
        "roles": {"quasi_identifiers": table.columns, "sensitive": table.sensitive_columns},
        "sensitive_values": table.sensitive_alphabet,
        "equation": family.equation,
        "decision": family.decision,
        "threshold": table.threshold,
        "planted": planted,
        "row_meaning": table.meaning,
    }
