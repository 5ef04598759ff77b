"""Names, files and texts that are no UTF-8, hold NUL or commands for terminals: one more task."""

import json
import os
from pathlib import Path

import pytest

from miner.cli import exits
from miner.demo import load_forge, serve
from miner.store import Database
from tests.miner.cli.conftest import Miner
from tests.miner.git.repository import Repository

NAME = "acme/odd"
MIT = (
    "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy "
    'of this software and associated documentation files (the "Software"), to deal in the '
    "Software without restriction\n"
)
TEXT = "It returns the text as it was: \0, \x1b[2J and \u2028; more words make it long enough."


def odd(folder: Path) -> Path:
    """A repository whose files and their names are Latin-1; pulls in a file beside it."""
    repository = Repository(folder / "git" / NAME)
    for name, content in ((b"caf\xe9.txt", b"x\0\xff\n"), (b"tests/d\xe9p.txt", b"\xe9\n")):
        repository.write({os.fsdecode(name): content})
    code = "# coding: latin-1\nNAME = 'caf\xe9'\ndef shout(x):\n    return x\n"
    repository.commit(
        {
            "LICENSE": MIT,
            "odd/__init__.py": code.encode("latin-1"),
            "tests/test_a.py": "from odd import shout\n",
        }
    )
    fixed = code.replace("return x", "return x.upper()").encode("latin-1")
    test = "# coding: latin-1\nfrom odd import shout\ndef test_up():\n    assert shout('\xe9')\n"
    merge = repository.commit(
        {
            "odd/__init__.py": fixed,
            "tests/test_a.py": test.encode("latin-1"),
            os.fsdecode(b"caf\xe9.txt"): b"y\0\xfe\n",
            os.fsdecode(b"tests/d\xe9p.txt"): b"\xe8\n",
        }
    )
    rows = (
        {
            "type": "issue", "repo": NAME, "number": 1, "title": "No \0 shouting", "body": TEXT,
            "created_at": "2023-12-01T00:00:00Z",
        },
        {
            "type": "pull", "repo": NAME, "number": 2, "title": "Shout \0", "body": "Fixes #1 \0",
            "merge_commit": merge, "created_at": "2023-12-02T00:00:00Z",
            "merged_at": "2024-01-02T00:00:00Z", "closing_references": [1],
        },
    )  # fmt: skip
    path = folder / "pulls.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_odd_content_becomes_a_candidate_and_is_shown(
    miner: Miner, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulls = odd(tmp_path)
    with serve(load_forge(tmp_path / "git", pulls)) as forge:
        monkeypatch.setenv("MINER_GITHUB_URL", forge.base_url)
        monkeypatch.setenv("MINER_GITHUB_TOKENS", forge.token)
        assert miner("crawl", "--repo", NAME).code == exits.OK
    assert json.loads(miner("split", "--json").out)["done"] == 1
    shown = miner("show", "acme__odd-2")
    assert shown.code == exits.OK
    assert "\0" not in shown.out
    assert "\x1b" not in shown.out
    found = db.admin.evidence("acme__odd-2")
    assert found is not None
    assert found.candidate is not None
    assert "caf\xe9".encode("latin-1") in found.candidate.patch
    assert b"tests/d\xe9p.txt" in found.candidate.test_patch
