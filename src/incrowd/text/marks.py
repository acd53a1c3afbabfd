"""Marks in released cells."""

STAR = "*"
"""What is written for a suppressed cell, where no other mark is asked for."""


def own_star(star: str) -> str:
    """Return what is left open of a mark of one's own: that it reads like a value, perhaps."""
    return f"whether {star!r} in a cell is read as a suppressed one"
