"""A release as a table: what may be published, re-checked, with its figures."""
