"""Writing what lets others check us: the proof file (private) and the statement (public)."""
