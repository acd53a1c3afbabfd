"""Provably optimal 2-anonymity and 2-diversity by simplex matching.

nodes       the table as matching nodes (the reduction of multiplicities)
walk        every pair and triple that prices allow, by a prefix-tree search
assignment  the linear program over pairs and triples, as an assignment, in integers
pool        columns: pairs and triples with their costs
master      the linear program with odd-set cuts
separation  violated odd sets of a fractional solution
rounding    whole solutions out of fractional ones, region by region
branching   what odd sets leave open
pipeline    all of it in order
solver      the solver values
"""
