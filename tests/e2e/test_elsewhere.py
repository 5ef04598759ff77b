"""Work is done where nothing was crawled: trees come from a clone made on the way."""

import dataclasses
import subprocess
from pathlib import Path

import pytest

from miner.cli.trees import trees, web_url
from miner.cli.wiring import House
from miner.errors import NotFoundError
from miner.evaluate.dataset import DatasetRow
from miner.store import open_store
from miner.verify.stage import verify
from tests.e2e.conftest import Miner
from tests.fakes.progress import SilentProgress
from tests.fakes.serial import SerialExecutor
from tests.fakes.whole_line import TwoOfThreeBench
from tests.samples import GOLD, NOON, TESTS, recipe
from validators.model import QUICK


@pytest.fixture
def row(miner: Miner) -> DatasetRow:
    """A row of demo/ledger, mined here."""
    assert miner.run("crawl", "--repo", "demo/ledger").code == 0
    assert miner.run("split").code == 0
    with open_store(f"sqlite:///{miner.database}") as store:
        found = store.admin.evidence("demo__ledger-2")
    assert found is not None
    assert found.candidate is not None
    return DatasetRow(
        instance_id="demo__ledger-2", repo="demo/ledger", base_commit=found.candidate.base_commit,
        patch=GOLD, test_patch=TESTS, fail_to_pass=("t",), pass_to_pass=(), recipe=recipe(),
        merged_at=NOON, row_hash="",
    )  # fmt: skip


def test_a_tree_is_the_same_from_the_mirror_and_from_a_clone(
    miner: Miner, row: DatasetRow, tmp_path: Path
) -> None:
    here = trees(House.of_environment())(row)
    miner.set(MINER_DATA_DIR=str(tmp_path / "elsewhere"))
    there = trees(House.of_environment())(row)
    assert (tmp_path / "elsewhere" / "mirrors").is_dir()
    assert there == here


def test_a_candidate_is_verified_where_nothing_was_crawled(
    miner: Miner, row: DatasetRow, tmp_path: Path
) -> None:
    miner.set(
        MINER_DATA_DIR=str(tmp_path / "elsewhere"),
        MINER_DATABASE_URL=f"sqlite:///{miner.database}",
    )
    house = House.of_environment()
    with house.store() as store:
        report = verify(
            store.verify,
            executor=SerialExecutor(),
            workshop=TwoOfThreeBench(),
            tree=trees(house),
            policy=QUICK,
            repo=row.repo,
            limit=9,
            now=lambda: NOON,
            progress=SilentProgress(),
        )
    assert (report.done, report.retried) == (1, 0)


def test_an_old_mirror_is_brought_up_to_date(miner: Miner, row: DatasetRow, tmp_path: Path) -> None:
    miner.set(MINER_DATA_DIR=str(tmp_path / "elsewhere"))
    mirror = House.of_environment().mirrors().update("demo/ledger", str(made_empty(tmp_path)))
    assert not mirror.has(row.base_commit)
    assert trees(House.of_environment())(row).commit == row.base_commit


def made_empty(folder: Path) -> Path:
    """A repository that knows nothing yet."""
    path = folder / "empty.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True)
    return path


def test_a_commit_that_is_gone_is_told(miner: Miner, row: DatasetRow) -> None:
    gone = dataclasses.replace(row, base_commit="e" * 40)
    with pytest.raises(NotFoundError, match="demo/ledger has no commit eeeeeeeeeeee any more"):
        trees(House.of_environment())(gone)


@pytest.mark.parametrize(
    ("api", "web"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://github.example.com/api/v3", "https://github.example.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_where_clones_come_from(api: str, web: str) -> None:
    assert web_url(api) == web
