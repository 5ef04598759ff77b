"""Makefile, scripts, compose file: what people and machines start this program with."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from miner.config import PREFIX, Settings

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path for path in (ROOT / ".ci").iterdir() if path.is_file())


def run(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A command at the repository's root, without stdin."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_whole(script: Path) -> None:
    assert run("bash", "-n", str(script)).returncode == 0
    sourced = script.name == "packages"
    assert os.access(script, os.X_OK) is not sourced


def test_every_target_says_what_it_is_for() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    said = dict(re.findall(r"^([a-z-]+):.*?## (.+)$", makefile, re.MULTILINE))
    assert set(phony.group(1).split()) == set(said)


def test_the_gate_is_the_readmes_test_command() -> None:
    gate = (ROOT / ".ci/run").read_text().splitlines()[-1]
    assert gate == "exec make test </dev/null"
    assert "make test" in (ROOT / "README.md").read_text()


def test_no_test_is_skipped_for_want_of_a_tool() -> None:
    """A missing tool is a failure of the machine that was to run the test, never a pass."""
    wanting = re.compile(r"skipif\([^\n]*which\(|importorskip")
    found = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if path != Path(__file__) and wanting.search(path.read_text("utf-8"))
    ]
    assert found == []


def test_the_gate_leaves_no_service_out() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for service in ("docker", "postgres", "network"):
        assert f"--run-{service}" in makefile


@pytest.mark.postgres
def test_the_temporary_database_ends_with_its_command() -> None:
    script = "echo $MINER_TEST_POSTGRES_URL; exit 3"
    ended = run(".ci/postgres", "sh", "-c", script, MINER_TEST_POSTGRES_URL="")
    assert ended.returncode == 3, ended.stderr
    port = re.fullmatch(
        r"postgresql\+psycopg://miner:\w+@127\.0\.0\.1:(\d+)/postgres\n", ended.stdout
    )
    assert port is not None
    left = run("pgrep", "-f", f"postgres .*-p {port.group(1)}").stdout
    assert left == ""


def test_a_database_that_is_given_is_used() -> None:
    ended = run(
        ".ci/postgres", "sh", "-c", "echo $MINER_TEST_POSTGRES_URL", MINER_TEST_POSTGRES_URL="mine"
    )
    assert ended.stdout == "mine\n"


@pytest.mark.docker
def test_the_compose_file_is_valid() -> None:
    assert shutil.which("docker-compose"), "docker-compose is missing; .ci/compose installs it"
    checked = run("docker-compose", "config")
    assert checked.returncode == 0, checked.stderr
    services = yaml.safe_load(checked.stdout)["services"]
    assert set(services) == {"db", "migrate", "scheduler"}


def test_the_compose_file_sets_only_settings_there_are() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    for name, service in compose["services"].items():
        if name != "db":
            assert set(service["environment"]) <= known


def test_the_compose_file_publishes_nothing_and_mounts_the_engine_once() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert not [name for name, service in services.items() if "ports" in service]
    mounted = [n for n, s in services.items() if any(".sock" in v for v in s.get("volumes", ()))]
    assert mounted == ["scheduler"]


def test_the_image_is_classic_and_unprivileged() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    instructions = [line.split()[0] for line in lines if re.match(r"[A-Z]+ ", line)]
    assert instructions[:2] == ["ARG", "FROM"]
    assert "USER miner" in lines
    assert not [line for line in lines if "--mount" in line or line.startswith("# syntax")]
