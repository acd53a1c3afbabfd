"""Heuristics that users know, to compare with; they promise nothing."""
