"""Methods that find releases: each a frozen value that says what it guarantees and what it serves.

base.py       what a method is        catalog.py   all of them, a row each
progress.py   how far a run has come: the best so far, what is proven, when to end
portfolio.py  which of two methods is asked first, for k = 2

engine/     the main engine: prices, candidates, annealing, polishing
sensitive/  the same stages for models of sensitive values
matching/   k = 2 to the optimum
exact/      small tables to the optimum       fpt/  tables with few columns, values or changed cells
approx/     what papers prove a factor of     baseline/  what others do: Mondrian, Datafly, …
"""
