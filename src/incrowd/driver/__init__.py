"""The one driver: choose a solver, run it, check what it returns."""
