"""The offline forge: real PyPI releases as small git repositories behind GitHub's API shape.

`build_forge` makes the demo's data, `load_forge` reads any git repositories and a pulls file, and
`serve` answers GraphQL, REST and git over HTTP for either. The code in the repositories is real;
their histories, issues and pulls are made, which is why they belong to the owner `demo`.

What a run is expected to find is in `expected.json`, which only tests and the demo's final table
read (`miner.demo.expected`); nothing in the forge or in a stage may.
"""

from miner.demo.faults import Faults
from miner.demo.forge import ForgeData, build_forge, load_forge, made_forge
from miner.demo.server import DEMO_TOKEN, Forge, serve
from miner.demo.synthetic import Shares, synthetic

__all__ = [
    "DEMO_TOKEN",
    "Faults",
    "Forge",
    "ForgeData",
    "Shares",
    "build_forge",
    "load_forge",
    "made_forge",
    "serve",
    "synthetic",
]
