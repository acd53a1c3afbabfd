"""Releases in which rows may be missing, at a price (Aggarwal et al. 2005).

of_table.py  from a table and a policy to a release of some of its rows
solving.py   by which method                     found.py  what is known of the result
paying.py    rows and classes that it pays to delete
search.py    the engine's search, where deletion is a pattern that is always open
small.py     a few rows exactly, and larger releases some classes at a time
by_model.py  where a class has to obey more than a size
"""
