"""The version, where every room may read it; `pyproject.toml` has the same."""

PROGRAM_VERSION = "0.1.0"
