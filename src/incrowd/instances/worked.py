"""The papers' worked examples: their tables, graphs and formulas."""

from dataclasses import replace

import numpy as np

from incrowd.instances.cnf import Cnf
from incrowd.instances.graph import Graph
from incrowd.instances.plain import PlainTable
from incrowd.instances.table import HardTable, ModelSpec

FIGURE_2 = Graph(("1", "2", "3", "4"), ((2, 3), (0, 3), (0, 1), (0, 2), (1, 2)))
"""The graph of Fig. 2 of Aggarwal et al. 2005, edges in order of rank (for ternary-triangles)."""

EXAMPLE_1 = Cnf(3, ((-1, 2, 3), (1, -2, 3)))
"""Blocki and Williams 2010, Appendix B: two 1-in-3 assignments (for one-in-three-sat)."""

EXAMPLE_2 = Cnf(3, ((1, 2, 3), (-1, -2, -3)))
"""Blocki and Williams 2010, Appendix B: not 1-in-3 satisfiable (for one-in-three-sat)."""

_PATIENTS = """
98765 38 Bachelor   Viral_Infection
98654 39 Doctorate  Heart_Disease
98543 32 Master     Heart_Disease
97654 65 Bachelor   Cancer
96689 45 Bachelor   Viral_Infection
97427 33 Bachelor   Viral_Infection
96552 54 Bachelor   Heart_Disease
97017 69 Doctorate  Cancer
97023 55 Master     Cancer
97009 62 Bachelor   Cancer
"""


def patients(model: ModelSpec) -> HardTable:
    """Table 1 of Liang and Yuan 2012: ten patients, eight quasi-identifiers, one disease.

    Each digit of zip code and age is a column of its own, as the paper counts stars.
    """
    rows = [line.split() for line in _PATIENTS.split("\n") if line]
    cells = tuple((*zip_code, *age, education) for zip_code, age, education, _ in rows)
    columns = (*(f"zip{i}" for i in range(1, 6)), "age1", "age2", "education")
    diseases = tuple(dict.fromkeys(row[3] for row in rows))
    return replace(
        PlainTable(columns, cells).hard_table(model),
        sensitive_columns=("disease",),
        sensitive_alphabet=tuple(name.replace("_", " ") for name in diseases),
        sensitive=np.array([[diseases.index(row[3])] for row in rows], np.int32),
    )
