"""Hierarchies: trees with a monotone cost per node, their sources and their costs."""

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
