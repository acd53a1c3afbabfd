"""Privacy models: one per file, each a frozen value with one plain definition.

model.py      what a model is, and what it may tell others      base.py  what it looks at
classes.py    all classes of a release at once                  numbers.py  exact thresholds
cautions.py   what a lawful table does not protect from

Models: k_anonymity.py, people.py, combination.py; by attribute.py: distinct_diversity.py,
frequency_diversity.py, entropy_diversity.py, recursive_diversity.py, disjoint_diversity.py,
alpha_k.py, beta_likeness.py, delta_disclosure.py and t_closeness.py; once.py makes them count each
value of a person once.
Distances: distance.py, ordered.py, metric.py, transport_kernel.py, close_counts.py.
For searches: law.py, laws.py, called.py, violation.py.  For bounds: pricing.py.  For integer
programs: linear.py.
"""
