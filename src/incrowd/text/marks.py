"""Marks in released cells."""

STAR = "*"
"""What is written for a suppressed cell, where no other mark is asked for."""
