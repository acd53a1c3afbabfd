"""Heuristics that users know, to compare with; they promise nothing.

mondrian.py, k_member.py         local recoding
full_domain.py: datafly.py, incognito.py   one level per column
first.py, dear_columns.py        a release at once; one for columns that cost far more than others
"""
