"""One file a format. Each writes rows to a path: complete under its name, or not at all."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from miner.publish.formats import jsonl
from miner.publish.row import ExportRow

FORMATS: Mapping[str, Callable[[Sequence[ExportRow], Path], None]] = MappingProxyType(
    {"jsonl": jsonl.write}
)
