"""Exact methods.

subset_dp.py, split_recursion.py   over sub-multisets (submultisets.py, submultiset_kernels.py), by
                                   what dynamic.py shares
subset_convolution.py, convolution_kernels.py, class_prices.py   over what prices leave
"""
