"""The forge over its socket: tokens, REST, git, and an end without leftovers."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from miner.demo import DEMO_TOKEN, Forge, ForgeData, serve
from miner.errors import ConfigError
from tests.miner.demo.conftest import ask, dig

REPO = "/repos/demo/tally"
PULLS = f"{REPO}/pulls?state=closed&sort=updated&direction=desc&per_page=2"
GIT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "no_proxy": "127.0.0.1",
}


def git(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["git", *arguments], capture_output=True, text=True, check=False, env=GIT, timeout=30
    )


@pytest.mark.parametrize(
    ("token", "message"), [(None, "Requires authentication"), ("wrong", "Bad credentials")]
)
@pytest.mark.parametrize("path", [REPO, "/graphql", "/rate_limit", "/nothing"])
def test_without_a_good_token_nothing_is_told(
    forge: Forge, path: str, token: str | None, message: str
) -> None:
    answer = ask(forge, path, token=token)
    assert answer.status == 401
    assert dig(answer.json, "message") == message


def test_graphql_is_where_github_and_its_enterprise_server_have_it(forge: Forge) -> None:
    for path in ("/graphql", "/api/graphql"):
        answer = ask(forge, path, body={"query": "{ viewer { login } }"})
        assert answer.json == {"data": {"viewer": {"login": "miner"}}}
        assert answer.headers["x-ratelimit-resource"] == "graphql"
    assert ask(forge, "/api/v3" + REPO).status == 200
    assert forge.requests.points() == 2


@pytest.mark.parametrize("body", [None, "text", {"variables": {}}])
def test_a_body_that_is_no_query_is_a_400_or_404(forge: Forge, body: object) -> None:
    assert ask(forge, "/graphql", body=body).status == (404 if body is None else 400)


def test_every_answer_says_what_is_left(forge: Forge) -> None:
    first, second = ask(forge, REPO), ask(forge, REPO)
    assert first.headers["x-ratelimit-limit"] == "5000"
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in (first, second)]
    assert left == [4999, 4998]
    free = ask(forge, "/rate_limit")
    assert dig(free.json, "resources", "core", "used") == 2


def test_unchanged_pulls_are_a_304_that_costs_nothing(forge: Forge) -> None:
    first = ask(forge, PULLS)
    again = ask(forge, PULLS, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert forge.requests.counted() == 1
    forge.world.add(
        forge.world.repositories["demo/tally"].pulls[7].model_copy(update={"title": "x"})
    )
    third = ask(forge, PULLS, headers={"If-None-Match": first.headers["etag"]})
    assert third.status == 200


def test_the_etag_does_not_change_with_the_port(made: ForgeData) -> None:
    with serve(made) as one, serve(made) as two:
        assert one.base_url != two.base_url
        assert ask(one, PULLS).headers["etag"] == ask(two, PULLS).headers["etag"]


def test_lists_are_paged_by_link(forge: Forge) -> None:
    numbers: list[object] = []
    path = PULLS
    while path:
        answer = ask(forge, path)
        assert isinstance(answer.json, list)
        numbers += [pull["number"] for pull in answer.json]
        link = answer.headers.get("link", "")
        path = link.split(">")[0].removeprefix("<").removeprefix(forge.base_url)
    assert numbers == [9, 7, 6, 5, 3, 2]


def test_repository_facts(forge: Forge) -> None:
    facts = ask(forge, "/repos/DEMO/Tally").json
    assert dig(facts, "full_name") == "demo/tally"
    assert dig(facts, "license", "spdx_id") == "MIT"
    assert dig(facts, "clone_url") == f"{forge.base_url}/demo/tally.git"
    assert dig(ask(forge, f"{REPO}/license").json, "name") == "LICENSE"
    assert isinstance(dig(ask(forge, f"{REPO}/languages").json, "Python"), int)
    assert ask(forge, "/repos/demo/none").status == 404
    by_id = ask(forge, f"/repositories/{dig(facts, 'id')}").json
    assert dig(by_id, "full_name") == "demo/tally"


def test_an_old_name_is_moved_to_the_id(made: ForgeData) -> None:
    renamed = tuple(
        record.model_copy(update={"former_names": ("demo/counter",)})
        if record.type == "repository" and record.name == "demo/tally"
        else record
        for record in made.records
    )
    with serve(ForgeData(git_root=made.git_root, records=renamed)) as forge:
        moved = ask(forge, "/repos/demo/counter/pulls?state=closed")
        assert moved.status == 301
        target = moved.headers["location"].removeprefix(forge.base_url)
        assert isinstance(ask(forge, target).json, list)
        assert ask(forge, "/repos/demo/counter").status == 301


def test_the_api_version_is_heeded(forge: Forge) -> None:
    old = ask(forge, PULLS, headers={"X-GitHub-Api-Version": "2022-11-28"})
    new = ask(forge, PULLS, headers={"X-GitHub-Api-Version": "2026-03-10"})
    assert dig(old.json, 1, "merge_commit_sha")
    assert isinstance(new.json, list)
    assert "merge_commit_sha" not in new.json[1]
    assert ask(forge, REPO, headers={"X-GitHub-Api-Version": "1999-01-01"}).status == 400


def test_spent_budget_is_a_403(made: ForgeData) -> None:
    with serve(made, limits={"core": 1}) as forge:
        assert ask(forge, REPO).status == 200
        limited = ask(forge, REPO)
        assert limited.status == 403
        assert limited.headers["x-ratelimit-remaining"] == "0"
        assert "rate limit exceeded" in str(dig(limited.json, "message"))


def test_git_clones_with_all_refs_of_pulls(forge: Forge, tmp_path: Path) -> None:
    mirror = str(tmp_path / "m.git")
    assert (
        git("clone", "-q", "--mirror", f"{forge.base_url}/demo/tally.git", mirror).returncode == 0
    )
    refs = git("-C", mirror, "for-each-ref", "--format=%(refname)").stdout.split()
    assert {"refs/heads/main", "refs/tags/v0.1.0", "refs/pull/5/head"} <= set(refs)
    assert git("-C", mirror, "fsck", "--strict").returncode == 0


def test_git_takes_the_token_and_refuses_a_wrong_one(forge: Forge, tmp_path: Path) -> None:
    host = forge.base_url.removeprefix("http://")
    header = "http.extraHeader=Authorization: Basic eDp3cm9uZw=="  # x:wrong
    refused = git("-c", header, "ls-remote", f"http://{host}/demo/tally.git")
    assert refused.returncode != 0
    good = git("clone", "-q", f"http://x:{forge.token}@{host}/demo/tally", str(tmp_path / "t"))
    assert good.returncode == 0
    assert git("ls-remote", f"http://{host}/demo/none.git").returncode != 0


def test_nothing_can_be_pushed(forge: Forge, tmp_path: Path) -> None:
    url = f"{forge.base_url}/demo/tally.git"
    git("clone", "-q", url, str(tmp_path / "t"))
    pushed = git("-C", str(tmp_path / "t"), "push", url, "HEAD:refs/heads/new")
    assert pushed.returncode != 0
    assert "403" in pushed.stderr


def test_the_log_counts_and_never_holds_the_token(forge: Forge) -> None:
    ask(forge, REPO)
    ask(forge, REPO, token="another-secret")  # noqa: S106  none
    assert [entry.status for entry in forge.requests.entries] == [200, 401]
    assert [entry.token for entry in forge.requests.entries] == [0, None]
    shown = repr(forge.requests.entries)
    assert DEMO_TOKEN not in shown
    assert "another-secret" not in shown
    assert forge.requests.max_in_flight() == 1


def test_after_serving_no_thread_and_no_port_is_left(made: ForgeData) -> None:
    before = set(threading.enumerate())
    with serve(made) as forge:
        ask(forge, REPO)
        port = int(forge.base_url.rsplit(":", 1)[1])
    assert set(threading.enumerate()) == before
    with serve(made, port=port) as again:
        assert ask(again, REPO).status == 200


def test_a_taken_port_is_one_clear_sentence(forge: Forge, made: ForgeData) -> None:
    port = int(forge.base_url.rsplit(":", 1)[1])
    with (
        pytest.raises(ConfigError, match=f"127.0.0.1:{port} cannot be served"),
        serve(made, port=port),
    ):
        pass
