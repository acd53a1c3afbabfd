"""Reductions that keep the optimum: each is an apply/undo pair."""
