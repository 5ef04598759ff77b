"""Nobody but tests and the demo's final table knows what the demo is expected to find."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

import miner
import validators
from miner.crawl import GitHub
from miner.crawl.stage import crawl
from miner.demo import ForgeData, serve
from miner.demo.expected import expected
from miner.git import Mirrors
from miner.http import HttpClient
from miner.split.policy import GatePolicy
from miner.split.stage import split
from miner.store import Database
from miner.wire import Token
from tests.fakes.progress import SilentProgress

ALLOWED = (
    "miner/demo/expected.py",
    "miner/cli/",
)  # the reader, and the final table of `miner demo`


def sources() -> Iterator[tuple[str, str]]:
    for package in (miner, validators):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            yield str(path.relative_to(root.parent)), path.read_text("utf-8")


def mentions(text: str) -> bool:
    """Does the code import the reader or hold the file's name in a string that is no docstring?"""
    tree = ast.parse(text)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and "expected" in f"{node.module}.":
            return True
        if isinstance(node, ast.Import) and any("demo.expected" in a.name for a in node.names):
            return True
        names_file = isinstance(node, ast.Constant) and "expected.json" in str(node.value)
        if names_file and id(node) not in docstrings:
            return True
    return False


@pytest.mark.parametrize(
    "text",
    [
        "from miner.demo.expected import expected",
        "import miner.demo.expected",
        "path = 'miner/demo/expected.json'",
    ],
)
def test_a_reader_would_be_seen(text: str) -> None:
    assert mentions(text)
    assert not mentions('"""expected.json is not for us."""')


def test_nothing_in_the_product_names_it() -> None:
    readers = [name for name, text in sources() if mentions(text)]
    assert [name for name in readers if not name.startswith(ALLOWED)] == []


def test_pairs_hold_nothing_of_it() -> None:
    given = (Path(str(miner.__file__)).parent / "demo" / "pairs.json").read_text("utf-8")
    for instance in expected().instances:
        for test in instance.fail_to_pass:
            assert test not in given


_watched: list[list[str]] = []


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watched:
        _watched[-1].append(str(arguments[0]))


sys.addaudithook(_audit)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The names of all files this process opens meanwhile."""
    _watched.append([])
    try:
        yield _watched[-1]
    finally:
        _watched.pop()


def test_a_crawl_and_a_split_never_open_it(
    made: ForgeData, database: Database, tmp_path: Path
) -> None:
    def now() -> datetime:
        return datetime.now(UTC)

    repos = ("demo/tally", "demo/ledger")
    mirrors = Mirrors(tmp_path / "mirrors")
    with (
        opened_files() as opened,
        serve(made) as forge,
        HttpClient(forge.base_url, tokens=[Token(forge.token)]) as client,
    ):
        crawl(
            database.crawl,
            source=GitHub(client),
            mirrors=mirrors,
            repos=repos,
            since=None,
            now=now,
            progress=SilentProgress(),
        )
        report = split(
            database.split,
            mirrors=mirrors,
            policy=GatePolicy(),
            repo=None,
            limit=100,
            now=now,
            progress=SilentProgress(),
        )
    assert opened
    assert not [name for name in opened if name.endswith("expected.json")]
    gates = {r.gate for r in expected().rejections if r.repo == "demo/tally"}
    assert {str(gate) for gate in report.counts if gate != "candidate"} == gates
    assert report.done == 1  # demo/ledger's, whose environment cannot be made
