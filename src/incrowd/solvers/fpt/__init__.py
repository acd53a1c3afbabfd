"""Fixed-parameter methods: exact, and fast when few columns and values meet.

kernel.py, budget_kernel.py, resolution_vectors.py   kernels of the papers
two_columns.py                   two columns, by dynamic programming
pattern_milp.py, closeness_milp.py   integer programs (program.py) over patterns.py; laws.py says
                                 which models are linear
"""
