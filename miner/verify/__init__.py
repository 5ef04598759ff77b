"""What do the tests of a candidate say? Leases work, hands it to an executor, stores the answer.

stage.py      hands over, takes back         recipes.py   which stored recipes to try first
bench.py      what crosses to a worker       judgement.py examination → instance or rejection
leases.py     who has which candidate        books.py     what came of each
advisor.py    asks a model for a recipe (optional)
"""
