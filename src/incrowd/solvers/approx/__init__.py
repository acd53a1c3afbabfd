"""Methods with a proven ratio."""
