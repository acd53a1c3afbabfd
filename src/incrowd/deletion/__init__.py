"""Releases in which rows may be missing, at a price (Aggarwal et al. 2005)."""
