"""The papers' hard instances: problems turned into tables, with the equation of their optima.

Each family holds one source problem, makes the table, and maps answers to releases and back::

    from incrowd.instances import make
    family, answer = make("clique", seed=1, h=3)
    table = family.to_table()

base.py       what a family is      table.py  a hard table      write.py  one as a file
Source problems: graph.py, cnf.py, plain.py; exact_cover.py solves small ones, planting.py makes
graphs with a known answer.
Families: matching.py, satisfiability.py, monotone.py, edge_partition.py, edge_cliques.py,
cliques.py, bisection.py, vertex_cover.py, lifts.py, known.py; worked.py, examples of the papers.
"""

from typing import Any

import numpy as np

from incrowd.errors import InputError, did_you_mean
from incrowd.instances.base import Family, Option, Value, with_defaults
from incrowd.instances.bisection import Bisection
from incrowd.instances.cliques import AnyClique, Clique, HalfClique
from incrowd.instances.edge_cliques import DisjointDiversityTriangles, EdgeCliques
from incrowd.instances.edge_partition import (
    TernaryTriangles,
    ThreeDiversityTriangles,
    TrianglesOrStars,
    TwoDiversityTriangles,
)
from incrowd.instances.known import DistanceTwins, TwoFactorTight
from incrowd.instances.lifts import ClosenessLift, Padding
from incrowd.instances.matching import (
    ClosenessMatching,
    ClosenessMatchingHalf,
    ThreeDimensionalMatching,
)
from incrowd.instances.monotone import TwoColumnSat
from incrowd.instances.satisfiability import OneInThreeSat
from incrowd.instances.table import HardTable, ModelSpec, Partition
from incrowd.instances.vertex_cover import CubicVertexCover

FAMILIES: tuple[type[Family[Any]], ...] = (
    ThreeDimensionalMatching,
    OneInThreeSat,
    TrianglesOrStars,
    TernaryTriangles,
    EdgeCliques,
    TwoDiversityTriangles,
    ThreeDiversityTriangles,
    DisjointDiversityTriangles,
    Clique,
    CubicVertexCover,
    TwoColumnSat,
    ClosenessLift,
    Bisection,
    Padding,
    HalfClique,
    AnyClique,
    ClosenessMatching,
    ClosenessMatchingHalf,
    DistanceTwins,
    TwoFactorTight,
)
"""Every family, in the order of the reference page."""

__all__ = [
    "FAMILIES",
    "Family",
    "HardTable",
    "ModelSpec",
    "Option",
    "Partition",
    "find",
    "make",
    "read",
]


def find(name: str) -> type[Family[Any]]:
    """Return a family by id; raises InputError."""
    for family in FAMILIES:
        if family.id == name:
            return family
    hint = did_you_mean(name, [family.id for family in FAMILIES])
    raise InputError(f"there is no instance family {name!r}{hint}")


def make(
    name: str, seed: int = 0, planted: bool = True, **options: Value
) -> tuple[Family[Any], Any]:
    """Draw a source problem of a family, and the best answer planted in it (None if not planted).

    Raises InputError for an unknown family or parameter, or a value out of range.
    """
    family = find(name)
    rng = np.random.default_rng(seed)
    return family.make(rng, planted, with_defaults(family, options))


def read(name: str, text: str, **options: Value) -> Family[Any]:
    """Read a source problem in the family's ``file_format``; raises InputError."""
    family = find(name)
    return family.read(text, with_defaults(family, options))
