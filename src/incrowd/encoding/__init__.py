"""From a table's text to the instance that solvers see, and back."""
