"""Hierarchies: trees with a monotone cost per node, their sources and their costs."""
