"""Branch and bound over the patterns of a release, on tables of some hundred rows.

A pattern is open, so at least k rows publish it, or closed.  Once that is known of every pattern,
dealing the rows to the open ones is a flow, and the best one is easy.  So only patterns need
branching: in place of thousands of classes some hundred, and each choice moves the bound.
"""
