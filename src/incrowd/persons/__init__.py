"""Releases in which the rows of a person stay linked."""
