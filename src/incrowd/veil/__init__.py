"""The veil: coins hide cells before a consistent method looks at the table.

coins.py    coins of the operating system
lists.py    the consistent method: sets of columns by loss, rare groups first, with helpers by lot
exchange.py rows that change places, where k rows are all that a class needs
heaviest.py exact steps: the best way to open groups; program.py proves it in whole numbers,
            after the cuts of cuts.py
optimum.py  another: the optimum of a small table, ties broken by a fixed order
matching.py that of large tables for k = 2; usable.py, columns.py what it may be made of; ties.py
            the first of these
release.py  from a table to a veiled solution; what the theorem does not hold for is refused

The theorems are in docs/explanation/veil.md.
"""
