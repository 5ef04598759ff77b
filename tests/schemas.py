"""GitHub's own descriptions of its API, to hold our queries and our fake servers against.

They come from the npm packages @octokit/graphql-schema and @octokit/openapi, through the npm
client, into a cache outside the repository; nothing of them is kept in it. Tests that use them are
marked `network`.
"""

import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from graphql import GraphQLSchema, build_schema

_GRAPHQL = ("@octokit/graphql-schema", "15.26.1", "package/schema.graphql")
_OPENAPI = ("@octokit/openapi", "23.0.2", "package/generated/api.github.com.json")
_NPM_TIMEOUT_S = 180


@cache
def graphql_schema() -> GraphQLSchema:
    """GitHub's public GraphQL schema. (Its own validity is not checked: it fails that.)"""
    text = _member(*_GRAPHQL).read_text("utf-8")
    return build_schema(text, assume_valid=True, assume_valid_sdl=True)


@cache
def openapi() -> Mapping[str, Any]:
    """GitHub's REST description: `openapi()["paths"]["/repos/{owner}/{repo}"]["get"]` …"""
    described: Mapping[str, Any] = json.loads(_member(*_OPENAPI).read_bytes())
    return described


def _member(package: str, version: str, member: str) -> Path:
    """A file of a package, fetched when the cache does not hold it yet."""
    kept = _cache() / f"{package.replace('/', '+')}-{version}" / Path(member).name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            _fetch(f"{package}@{version}", member, to=kept, scratch=Path(scratch))
    return kept


def _cache() -> Path:
    given = os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path.home() / ".cache") / "miner-tests"


def _fetch(spec: str, member: str, *, to: Path, scratch: Path) -> None:
    subprocess.run(
        ["npm", "pack", spec, "--silent"],
        cwd=scratch,
        check=True,
        capture_output=True,
        timeout=_NPM_TIMEOUT_S,
    )
    (packed,) = scratch.glob("*.tgz")
    with tarfile.open(packed) as archive:
        source = archive.extractfile(member)
        assert source is not None
        part = scratch / to.name
        part.write_bytes(source.read())
    part.replace(to)  # whole or not at all: several test workers may fetch at once
