"""What a run brings along: its clock, its stop, what it tells."""
