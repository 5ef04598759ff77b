"""GitHub: GraphQL for pulls, REST for facts.

pulls.py       the source: pages of merged pulls, adapted in size
completion.py  what a page cut off, and what its pulls point at
graphql.py     a client that keeps partial data      queries/  what is asked
rest.py        repository facts, the "anything new?" check
nodes.py       the answers' shape     payload.py, evidence.py, versions.py  answers → our rows
discovery.py   finding repositories worth watching   app.py  an App's tokens
page_size.py   how much to ask for at once   budget.py  what is left   mark.py  of a whole crawl
"""

from miner.crawl.github.pulls import GitHub

__all__ = ["GitHub"]
