"""Provably optimal 2-anonymity and 2-diversity by simplex matching.

solver.py      the solver values             pipeline.py  all of it in order
reduction.py, nodes.py  the table as matching nodes (the reduction of multiplicities)
walk.py        every pair and triple that prices allow, by a prefix-tree search; scan.py by pairs,
               where columns are many; emission.py, what becomes of one that is found
dual.py        prices and odd sets in integers, of nodes      certificate.py  of rows
assignment.py  the linear program over pairs and triples, as an assignment, in integers
pool.py        columns: pairs and triples with their costs
master.py      the linear program with odd-set cuts
separation.py  violated odd sets of a fractional solution
rounding.py    whole solutions out of fractional ones, region by region
exchange.py, exchange_kernels.py  without linear programs: two triples at a time, in polynomial time
branching.py   what odd sets leave open
"""
