"""The main engine: any k, suppression and hierarchies, weights; see ``engine.Engine``.

A run goes from stage to stage, each with a part of the time:

engine.py   what a run is           schedule.py  the parts of a time limit
resumed.py  the search from prices and a release that are known
pricing.py  bounds, and prices that guide the search
search.py   candidates → greedy release → annealing → polishing
lifting.py  prices with odd sets, and what they guide: blocks, a proof that nothing is cheaper

A first release, and which patterns a row may be released as:

by_levels.py, growing.py        a release before anything is priced
candidates.py                   pairs of row and pattern that a good release may use
windows.py, near.py, near_joins.py  where patterns are too many: of neighbours in the table
greedy.py, rounding.py, warm.py a release of candidates, by prices, or around one that is known

Annealing over single rows, on the state of ``assignment.py``:

anneal.py   slices of moves         moves.py, pull.py, swap.py  small moves, and two large ones

Classes put together anew:

trading.py, traded.py           annealing in which near classes trade rows
near_classes.py, regrouping.py, relief.py  which classes are near, and pairs of them
neighbourhood.py                blocks of classes, by integer programs
block.py, block_partition.py, repartition.py, class_blocks.py  blocks, by branch and bound on prices
regions.py                      large tables, region beside region
prove.py, branching/            small tables to the end: nothing is cheaper
"""
