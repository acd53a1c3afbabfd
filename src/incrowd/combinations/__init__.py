"""Releases in which chosen combinations of quasi-identifiers are k-anonymous, each by its own k."""
