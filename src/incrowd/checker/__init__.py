"""The independent verifier of releases and proofs.

It imports numpy, polars and the standard library, and nothing else of incrowd: no solver, no
kernel, no bound, no reader of files is shared with the code whose work it checks.

    rejection.py  why something is rejected: a row number, a column, never a cell
    ladder.py     what a value may become, and at what price; validated as a tree
    recheck.py    truth of every cell, lawfulness of every class, the cost
    models.py     the privacy models, in their plainest form
    inequality.py the price inequality, for every pattern, in exact integers
    files.py      reading tables and proof files
    verify.py     all of it: release, original, proof → verdict
"""
