"""Bounds above the linear program: prices with odd-set terms, for any k.

The linear program over lawful classes lets halves of classes overlap in cycles of odd length.
Odd sets forbid that, and the like for other parts (rank-1 Chvátal–Gomory cuts with multipliers 1/q;
for q = 2 and three rows the subset-row inequalities of Jepsen, Petersen, Spoorendonk and Pisinger,
Operations Research 56, 2008).

lifted.py      price bounds, raised beyond the linear program
program.py     that program with odd sets, by the steps of primal_dual.py, in boxes.py
classes.py, pricing.py   classes that are missing in it      separation.py  odd sets that are
evaluation.py  the bound that prices and penalties prove
symmetric.py, certificate.py   sets spread over equal rows, and all of it in integers
"""
