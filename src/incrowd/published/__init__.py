"""A release as a table: what may be published, re-checked, with its figures.

base.py       the table that may be published, and what is known of it
figures.py    what follows from its figures      window.py  some of its rows beside the original's
rechecked.py  handed to the independent checker: the one call site
ladders.py    hierarchies as the checker reads them
verification.py  whether a published table is lawful, without a proof; by fitting.py, assigned.py
              and pseudonyms.py, which original rows a row may be
cautions.py   what a lawful release does not protect from; of columns that stay unchanged.py,
              of cells that look different spelled.py
"""
