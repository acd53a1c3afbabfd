"""Hierarchies: trees with a monotone cost per node, their sources and their costs.

ladder.py     a column's hierarchy before it has costs      paths.py  checks and numbers its nodes
tree.py       the same as the engine sees it                family.py  tree or intervals
costs.py      what a cell pays        build.py  from values, sources, costs and weights to trees

Sources, by spec.py as they are written: file.py, interval.py, bands.py, characters.py (of codes),
date.py, rounding.py, and missing.py around any of them.
Classes with intervals or averages of their own: ranges.py, range_family.py, averages.py;
template.py says how an interval is written.

labels.py     where each label stands, and which of them a cell shows
make.py       hierarchies made from values      check.py  all that is wrong with one
show.py       a hierarchy as a picture          text.py   small delimited files
"""

from incrowd.hierarchy.averages import Averages
from incrowd.hierarchy.bands import Bands
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.characters import Keep, Prefix
from incrowd.hierarchy.costs import Cost, Explicit, Level, Ncp, Stars, parse_cost
from incrowd.hierarchy.date import Dates
from incrowd.hierarchy.file import HierarchyFile, HierarchyRows
from incrowd.hierarchy.interval import Intervals
from incrowd.hierarchy.ladder import Ladder, Source, Suppression
from incrowd.hierarchy.ranges import Ranges
from incrowd.hierarchy.rounding import EndCodes, Rounding
from incrowd.hierarchy.spec import parse
from incrowd.hierarchy.tree import STAR, Tree

__all__ = [
    "STAR",
    "Averages",
    "Bands",
    "Cost",
    "Dates",
    "EndCodes",
    "Explicit",
    "HierarchyFile",
    "HierarchyRows",
    "Intervals",
    "Keep",
    "Ladder",
    "Level",
    "Ncp",
    "Prefix",
    "Ranges",
    "Rounding",
    "Source",
    "Stars",
    "Suppression",
    "Tree",
    "build_trees",
    "parse",
    "parse_cost",
]
