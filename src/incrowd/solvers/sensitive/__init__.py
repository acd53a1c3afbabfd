"""The engine for sensitive models: search by integer laws, bounds by lawful classes' prices.

engine.py    the stages of a run     bounding.py  those that bound
improving.py those that anneal       schedule.py  moves by stage
rules.py     the laws that the search obeys: the model's, or stricter ones
start.py     the first release       rare_classes.py  classes for the rarest values
rounding.py, prune.py  from a fractional release to a whole one, and to candidates
by_program.py          the integer program over all patterns, where they are few
resumed.py             the search from prices, or a release, that are known

Annealing on the state of ``assignment.py``, with a histogram per class:

anneal.py, moves.py    slices of moves, and the moves       journal.py  what they write down
settle.py              what becomes of a class that a move has broken
soft.py, soften.py     moves through unlawful releases, at a penalty
by_regions.py          large tables, region beside region
"""
