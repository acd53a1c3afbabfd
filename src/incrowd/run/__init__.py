"""What a run brings along: its clock, its stop, what it tells.

clock.py, stop.py, paying.py   how time counts, when to end, when a search no longer pays
events.py, gauge.py, telling.py   what a run tells while it works
threads.py, forks.py   pieces of work beside each other; processes that were forked too late
entropy.py    what the operating system draws
late.py, silence.py    late imports; standard output without what compiled code prints
"""
