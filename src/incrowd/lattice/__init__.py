"""Closed patterns: the one enumeration that bounds and search share."""
