"""Adding rows to an earlier release: it stays as it is, and the union is lawful."""
