"""Bounds above the linear program: prices with odd-set terms, for any k.

The linear program over lawful classes lets halves of classes overlap in cycles of odd length.
Odd sets forbid that, and the like for other parts (rank-1 Chvátal–Gomory cuts with multipliers 1/q;
for q = 2 and three rows the subset-row inequalities of Jepsen, Petersen, Spoorendonk and Pisinger,
Operations Research 56, 2008).
"""
