"""What was merged? Sources of merged pulls, and the loop that stores what they tell."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from miner.crawl.github import GitHub
from miner.crawl.source import Source
from miner.http import HttpClient

SOURCES: Mapping[str, Callable[[HttpClient], Source]] = MappingProxyType({"github": GitHub})
"""Every source by name. A new one is a module here and a line in this table."""

__all__ = ["SOURCES", "GitHub", "Source"]
