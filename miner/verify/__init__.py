"""What do the tests of a candidate say? Leases work, hands it to an executor, stores the answer.

stage.py      claims, submits, stores        recipes.py   which stored recipes to try first
bench.py      what crosses to a worker       judgement.py examination → instance or rejection
advisor.py    asks a model for a recipe (optional)
"""
