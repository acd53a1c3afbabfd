"""Lower bounds: each docstring states the claim, the argument and the source.

prices.py    integer prices, whose sum no lawful release undercuts    repair.py  made exact
best.py      the best prices of a table: whole, by groups of columns, or by sets of rows

Without prices:        support.py, neighbours.py
By patterns:           price.py, which lists (listing.py) what prices break in the walk of
                       prefix_tree.py (tree_parts.py: by threads), and ascends in boxes
                       (rounds.py, ascent.py, reductions.py, strides.py, far_rows.py)
Wide tables:           column_groups.py; wide.py by row_sets.py, closed_sets.py, seen.py
Columns of intervals:  range_windows.py; span_prices.py by span_sets.py, span_tree.py; worth.py and
                       differences.py for both
Sensitive models:      lawful_price.py, lawful_shares.py and lawful_tree.py do by a model's
                       pricing.py what price.py does for k rows.  The dearest class: diversity.py,
                       ranked.py, closeness.py, potential.py, whole.py, on copies_by_value.py and
                       top_copies.py
Patterns charged once: charges.py, charged_shares.py, by dearest_class.py and capped_class.py
Above linear programs: odd_sets/
Rows told apart, columns split, rows deleted:  leaf_costs.py, thermometer.py, deletion.py
"""
