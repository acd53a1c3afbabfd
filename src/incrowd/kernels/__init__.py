"""How kernels are compiled, and what all of them share.

jit.py        the one way a kernel is compiled      types.py  names of the arrays it takes
caches.py     where compiled code is kept           interpreted.py  none, for small tables
arrays.py, random.py   arrays that grow, random numbers
apart.py      kernels called at their address
halt.py, claim.py      when to stop, and how threads share out work
"""
