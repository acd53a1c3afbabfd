"""What a release must leave alone: fixed columns, linked columns, caps on changed cells.

plan.py       what a policy's constraints mean for a table      solving.py  solved part by part
capped.py     dearer cells until a cap is met; repair.py brings a release within its caps, as
              repairing.py searches near it, on the classes of crowd.py
of_release.py, published.py   whether a release obeys: with, and without knowing which row is whose
levels.py     whether linked columns stand at one level
"""
