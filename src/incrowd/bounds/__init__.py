"""Lower bounds: one per file; each docstring states the claim, the argument and the source."""
