"""Methods with a proven ratio.

forest.py, forest_kernels.py     within max{2k−1, 3k−5} of the optimum; deletion.py, of some rows
factor_1_2.py (k = 2), two_factor.py (k = 3) by cycle_program.py   what they share: factors.py
m_approximation.py, starred_set.py   within the number of columns: k, and models closed under union
"""
