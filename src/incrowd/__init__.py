"""incrowd: releases of microdata in which everyone hides in a crowd of at least k."""

__version__ = "0.1.0"
