"""Installs of projects that mean no good, and of an index that goes away: on a real engine."""

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import docker
import pytest
from docker.models.containers import Container

from tests.real_engine import HERE
from tests.validators.samples import CA_BUNDLE, SAMPLE, sample_tar
from validators.engine import ContainerEngine, Progress
from validators.engines import connect
from validators.engines.confinement import cache_volume
from validators.environment import build_environment
from validators.errors import EngineUnavailableError
from validators.model import (
    BuildFailure,
    BuildSettings,
    Environment,
    FailureClass,
    Maker,
    ProjectInstall,
    Recipe,
    Tree,
)

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(600)]

DATE = datetime(2024, 5, 6, tzinfo=UTC)
RECIPE = Recipe(language="python", python="3.12", requirements=(".",), cutoff_at=DATE)

LEAKS = (
    b"import glob, os\n"
    b"for name, value in sorted(os.environ.items()):\n    print(name + '=' + value)\n"
    b"for path in [*glob.glob('/proc/*/environ'), *glob.glob('/proc/*/cmdline'),\n"
    b"             *glob.glob('/run/**', recursive=True), *glob.glob('/root/**')]:\n"
    b"    try:\n        print(path, open(path, errors='replace').read()[:2000])\n"
    b"    except OSError as error:\n        print(path, error)\n"
    b"raise SystemExit('error: all is told')\n"
)
KNOWN = frozenset(
    [
        *("HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH", "PWD", "SHLVL", "USER", "_", "OLDPWD"),
        *("PYTHONIOENCODING", "VIRTUAL_ENV", "UV", "UV_CACHE_DIR", "UV_LINK_MODE"),
        *("UV_INTERNAL__BUILD_DIR", "UV_INTERNAL__PARENT_INTERPRETER"),
        *("CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "PIP_CERT"),
        *("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"),
    ]
)
"""What an install is told: paths, the locale, the installer's settings, what to trust."""

HOSTILE: Mapping[str, tuple[bytes, FailureClass]] = {
    "sleeps": (b"import time\ntime.sleep(900)\n", FailureClass.TIMED_OUT),
    "forks": (
        b"import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
        FailureClass.TIMED_OUT,
    ),
    "writes 10 GB": (
        b"import os\nfor n in range(100):\n"
        b"    with open(os.path.expanduser(f'~/{n}'), 'wb') as f:\n"
        b"        for _ in range(100):\n            f.write(bytes(1 << 20))\n",
        FailureClass.RESOURCE_LIMIT,
    ),
    "takes all memory": (b"x = bytearray(64 << 30)\n", FailureClass.RESOURCE_LIMIT),
    "asks a port that is closed": (
        b"import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')\n",
        FailureClass.OTHER,
    ),
    "asks a host that is none": (
        b"import urllib.request\nurllib.request.urlopen('http://nowhere.invalid/')\n",
        FailureClass.OTHER,
    ),
    "reads the environment": (LEAKS, FailureClass.OTHER),
}


@pytest.fixture(scope="module")
def engine() -> Iterator[ContainerEngine]:
    """The real one."""
    connected = connect(HERE)
    yield connected
    connected.close()


def built(
    engine: ContainerEngine,
    recipe: Recipe,
    files: Mapping[str, bytes],
    *,
    repository: str = "owner/name",
    progress: Progress = print,
) -> Environment | BuildFailure:
    """What comes of a real install."""
    tree = Tree(commit="c" * 40, committed_at=DATE, tar=sample_tar(files), nearest_tag="v1.0")
    return build_environment(
        tree,
        recipe,
        patches=(),
        repository=repository,
        maker=Maker.MINER,
        engine=engine,
        settings=BuildSettings(ca_bundle=CA_BUNDLE),
        progress=progress,
    )


@pytest.mark.hostile
@pytest.mark.parametrize("deed", HOSTILE)
def test_a_hostile_setup_py_is_contained_and_named(
    engine: ContainerEngine, deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_TOKEN", "MINER_ADVISOR_KEY", "PLANTED_0471"):
        monkeypatch.setenv(name, "planted_secret_0471")
    script, expected = HOSTILE[deed]
    time_s = 30 if expected is FailureClass.TIMED_OUT else 500  # a slow disk takes its time
    recipe = replace(RECIPE, timeout_s=time_s, memory_mb=2048)
    failure = built(engine, recipe, {"setup.py": script})
    assert isinstance(failure, BuildFailure)
    assert failure.failure_class is expected, failure.outcome.output[-2000:]
    assert b"planted_secret_0471" not in failure.outcome.output
    assert b"TOKEN" not in failure.outcome.output


def test_a_setup_py_is_told_what_an_install_needs_and_no_more(engine: ContainerEngine) -> None:
    script = b"import os\nraise SystemExit('told: ' + ' '.join(sorted(os.environ)))\n"
    failure = built(engine, RECIPE, {"setup.py": script})
    assert isinstance(failure, BuildFailure)
    (told,) = re.findall(rb"told: (.*)", failure.outcome.output)
    names = set(told.decode().split())
    assert {"PATH", "HOME", "UV_CACHE_DIR"} <= names
    assert not names - KNOWN


ADDRESS = "http://127.0.0.1:9"
LISTS: Mapping[str, tuple[str, FailureClass, str]] = {
    "a URL": (
        f"b @ {ADDRESS}/b-1.tar.gz\n",
        FailureClass.OUTSIDE_TREE,
        f"b @ {ADDRESS}/b-1.tar.gz",
    ),
    "a repository that is not there": (
        f"b @ git+{ADDRESS}/b.git\n",
        FailureClass.OUTSIDE_TREE,
        "Git operation failed",
    ),
    "a repository that is there": (
        "sample @ git+file:///testbed\n",
        FailureClass.OUTSIDE_TREE,
        "sample @ git+file:///testbed@",
    ),
    "a private index": (
        f"--index-url {ADDRESS}/simple\nsix\n",
        FailureClass.OUTSIDE_TREE,
        f"--index-url {ADDRESS}/simple",
    ),
    "a private index beside ours": (
        f"-r more.txt\n--extra-index-url {ADDRESS}/simple\n",
        FailureClass.OUTSIDE_TREE,
        f"--extra-index-url {ADDRESS}/simple",
    ),
    "a path outside of the tree": (
        "b @ file:///etc\n",
        FailureClass.OUTSIDE_TREE,
        "/etc",
    ),
    "a path that leaves the tree": ("../etc/b\n", FailureClass.OUTSIDE_TREE, "/etc/b"),
    "a file outside of the tree": (
        "-r ../etc/passwd\n",
        FailureClass.OUTSIDE_TREE,
        "-r ../etc/passwd",
    ),
    "10,000 lines": (
        "".join(f"never-there-0471-{number}\n" for number in range(10_000)),
        FailureClass.PACKAGE_NOT_FOUND,
        "never-there-0471-",
    ),
}


@pytest.mark.parametrize("kind", LISTS)
def test_a_hostile_list_of_requirements_is_contained_and_named(
    engine: ContainerEngine, kind: str
) -> None:
    text, expected, detail = LISTS[kind]
    files = {**SAMPLE, "needs.txt": text.encode(), "more.txt": b"six\n"}
    recipe = replace(RECIPE, requirements=("-r needs.txt",))
    failure = built(engine, recipe, files)
    assert isinstance(failure, BuildFailure)
    assert failure.failure_class is expected, failure.outcome.output[-2000:]
    assert detail in failure.detail


def test_ten_thousand_lines_that_are_one_package_are_installed(engine: ContainerEngine) -> None:
    files = {**SAMPLE, "needs.txt": b"iniconfig>=1\n" * 10_000}
    recipe = replace(RECIPE, requirements=("-r needs.txt",), project_install=ProjectInstall.NONE)
    environment = built(engine, recipe, files)
    assert isinstance(environment, Environment)
    engine.remove_image(environment.image)
    assert environment.packages == ("iniconfig==2.0.0",)


def test_what_uv_is_told_of_sources_is_not_asked(engine: ContainerEngine) -> None:
    """Else a project could say that its own packages come from a repository or from elsewhere."""
    sources = f"[tool.uv.sources]\niniconfig = {{ git = '{ADDRESS}/b.git' }}\n"
    index = f"[[tool.uv.index]]\nurl = '{ADDRESS}/simple'\ndefault = true\n"
    manifest = SAMPLE["pyproject.toml"] + f"{sources}{index}".encode()
    environment = built(engine, RECIPE, {**SAMPLE, "pyproject.toml": manifest})
    assert isinstance(environment, Environment), environment
    engine.remove_image(environment.image)
    assert environment.packages == ("iniconfig==2.0.0",)


@pytest.mark.parametrize("moment", ["resolving", "installing"])
def test_an_index_that_goes_away_is_no_verdict_and_the_next_try_succeeds(
    engine: ContainerEngine, moment: str
) -> None:
    """The network is taken from the install's container in the middle of it."""
    name = f"test/{uuid.uuid4().hex}"
    client = docker.from_env()
    before = {each.id for each in client.containers.list()}

    def cut(line: str) -> None:
        if not line.startswith(moment):
            return
        for container in client.containers.list():
            if container.id not in before and mounts(container, cache_volume(name)):
                client.networks.get("bridge").disconnect(container, force=True)
                cuts.append(line)

    cuts: list[str] = []
    try:
        with pytest.raises(EngineUnavailableError, match="package index cannot be reached"):
            built(engine, RECIPE, SAMPLE, repository=name, progress=cut)
        assert len(cuts) == 1
        again = built(engine, RECIPE, SAMPLE, repository=name)
        assert isinstance(again, Environment)
        engine.remove_image(again.image)
    finally:
        client.close()
        for cache in engine.caches():
            if cache.volume == cache_volume(name):
                engine.remove_cache(cache)


def mounts(container: Container, volume: str) -> bool:
    """Whether it is the install that has this cache."""
    return any(each.get("Name") == volume for each in container.attrs["Mounts"])
