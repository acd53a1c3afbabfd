"""How figures and texts read; which version this is.

units.py, grids.py         costs in their units, tables of figures
numerals.py, exact.py      numbers as people write them
lists.py, models.py        names on one line: parted by commas, of privacy models
marks.py, missing.py       marks in released cells, texts that stand for missing values
paths.py, shell.py         texts that may name files, words as a line for a shell
version.py
"""
