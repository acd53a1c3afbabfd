"""Releases that publish the average of each class: microaggregation.

axes.py       a column's numbers, exactly, and what a class costs in it
strata.py     rows that lack the same cells, as points for a search
exact.py      one column: the optimum, by shortest paths (Hansen and Mukherjee 2003)
mdav.py       MDAV and V-MDAV
search.py     moves between classes (kernels.py), for several columns
bound.py      what no classes of k rows can cost less than: prices of rows
lifting.py    prices as high as sets of k rows allow, raised one by one, or mended
boxes.py      which rows may be in one set with a row
program.py    prices as high together as these sets allow
catalog.py    the methods by name
of_table.py   from a table to its release

Definitions and theorems are in docs/explanation/averages.md.
"""
