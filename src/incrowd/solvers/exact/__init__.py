"""Exact methods."""
