"""How kernels are compiled, and what all of them share."""
