"""Nothing newer than the base commit: a history with a planted future, from mirror to run.

Later commits of the same repository are installed first, into the same package cache, as a night
does that mines neighbouring pulls.
"""

import json
import subprocess
import tarfile
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import docker
import pytest

from miner.git import Mirror, Mirrors
from tests.e2e.look_for import parts
from tests.miner.git.repository import Repository
from tests.real_engine import HERE, remove_tag, trusting_base
from tests.validators.samples import CA_BUNDLE, SAMPLE
from validators.dockerfile import dockerfile
from validators.engine import TREE, VENV
from validators.engines import DockerEngine, connect
from validators.engines.confinement import cache_volume
from validators.environment import build_environment
from validators.model import (
    BuildSettings,
    Environment,
    Image,
    Maker,
    Phase,
    ProjectInstall,
    Recipe,
    TestStatus,
    Tree,
)
from validators.run import Ready, make_ready, run_ready
from validators.trial import Trial

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(600)]

MARK = "planted_in_the_future_0471"
LATER = "20471.0"
"""The version of the future."""

WORDS = (MARK, LATER)
LOOK = (Path(__file__).parent / "look_for.py").read_bytes()
BASE: Mapping[str, bytes] = {
    **SAMPLE,
    "pyproject.toml": SAMPLE["pyproject.toml"].replace(
        b"[build", b'readme = "README.md"\n[build', 1
    ),
    "README.md": b"# sample\n",
}
FIXED: Mapping[str, bytes] = {
    "README.md": f"# sample\n\n{MARK}\n".encode(),
    "src/sample/__init__.py": SAMPLE["src/sample/__init__.py"] + f"# {MARK}\n".encode(),
    f"src/sample/{MARK}.py": f"{MARK} = 1\n".encode(),
}
"""The fix changes no file that the key of an environment names, but for a plain install's."""

RECIPE = Recipe(
    language="python",
    python="3.12",
    requirements=(".", "pytest"),
    source_paths=("src",),
    cutoff_at=datetime(2024, 5, 6, tzinfo=UTC),
    timeout_s=120,
)
TEST = {"tests/test_new.py": b"def test_new():\n    from sample import answer\n\n    answer()\n"}


@dataclass(frozen=True, slots=True)
class History:
    """A mirror whose branches, tags and pull hold more than the base commit."""

    mirror: Mirror
    base: str
    fixed: str
    future: str


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """v1.0 is the base, then a fix with its tests, then v20471.0."""
    folder = tmp_path_factory.mktemp("history")
    upstream = Repository(folder / "upstream")
    base = upstream.commit(BASE, "The base")
    upstream.git("tag", "--annotate", "--message=one", "v1.0")
    fixed = upstream.commit({**FIXED, **TEST}, f"Fix it: {MARK}")
    upstream.git("update-ref", "refs/pull/7/head", fixed)
    future = upstream.commit({f"docs/{MARK}.md": MARK}, f"Later: {MARK}")
    upstream.git("tag", "--annotate", f"--message={MARK}", f"v{LATER}")
    upstream.git("tag", f"light-{MARK}")
    upstream.git("branch", f"next-{MARK}")
    upstream.git("gc", "--quiet")
    mirror = Mirrors(folder / "mirrors").update(
        "owner/future", str(upstream.path), refs=["refs/pull/7/head"]
    )
    assert not mirror.missing([base, fixed, future])
    return History(mirror, base, fixed, future)


@dataclass(frozen=True, slots=True)
class Built:
    """The environment of the base commit, made after those of two later commits."""

    tree: Tree
    environment: Environment


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    """The real one."""
    connected = connect(HERE)
    yield connected
    connected.close()


@pytest.fixture(scope="module", params=[ProjectInstall.EDITABLE, ProjectInstall.PLAIN])
def built(
    request: pytest.FixtureRequest, engine: DockerEngine, history: History
) -> Iterator[Built]:
    """Of one way to install the project."""
    name = f"test/{uuid.uuid4().hex}"
    recipe = replace(RECIPE, project_install=request.param)
    trees = [history.mirror.tree(each) for each in (history.future, history.fixed, history.base)]
    made: list[Environment] = []
    try:
        made.extend(environment_of(tree, recipe, engine, name) for tree in trees)
        assert made[-1].reused == (request.param is ProjectInstall.EDITABLE)
        yield Built(trees[-1], made[-1])
    finally:
        for image in {each.image for each in made}:
            engine.remove_image(image)
        for cache in engine.caches():
            if cache.volume == cache_volume(name):
                assert engine.remove_cache(cache)


def environment_of(tree: Tree, recipe: Recipe, engine: DockerEngine, name: str) -> Environment:
    """Really installed."""
    made = build_environment(
        tree,
        recipe,
        patches=(),
        repository=name,
        maker=Maker.MINER,
        engine=engine,
        settings=BuildSettings(ca_bundle=CA_BUNDLE),
        progress=print,
    )
    assert isinstance(made, Environment), made
    return made


@pytest.fixture(scope="module")
def ready(built: Built, engine: DockerEngine, history: History) -> Iterator[Ready]:
    """A run before the fix, prepared as any: only its tests are still to be run."""
    patch = history.mirror.diff(history.base, history.fixed)
    at = patch.index(b"diff --git a/tests/")
    assert MARK.encode() not in patch[at:]
    trial = Trial(phase=Phase.BEFORE, patches=(patch[at:],))
    made = make_ready(built.tree, built.environment, trial, selection=("tests",), engine=engine)
    assert made.flaw is None, made.outcome
    yield made
    made.leave()


def said(ready: Ready, line: str, *, root: bool = False) -> str:
    """What a shell line prints in the container of a run; a failure fails the test."""
    outcome = ready.container.exec(
        ("/bin/bash", "-c", f"set -e -o pipefail; {line}"), timeout_s=120, root=root, workdir=TREE
    )
    assert outcome.ok, outcome.output[-2000:]
    return outcome.output.decode("utf-8", "replace")


@pytest.mark.parametrize("root", [False, True])
def test_no_file_of_a_run_shows_the_future(ready: Ready, root: bool) -> None:
    """Nor of its environment, its kit, its folders for caches and temporary files."""
    command = (f"{VENV}/bin/python", "-", *WORDS)
    outcome = ready.container.exec(command, timeout_s=200, root=root, stdin=LOOK)
    assert (outcome.ok, outcome.output) == (True, b"")


def test_what_looks_for_the_future_would_find_it(ready: Ready) -> None:
    """In a plain file, a name, a link, a zip, a gzip, an object of git."""
    folder = "/tmp/planted"
    said(
        ready,
        f"""mkdir {folder}; cd {folder}; git init -q .; echo a{MARK} >plain; : >in-{LATER}-name
        ln -s /{MARK} link; gzip -c plain >gz; python -m zipfile -c zip plain
        git hash-object -w --stdin <plain >/dev/null""",
    )
    command = (f"{VENV}/bin/python", "-", *WORDS)
    outcome = ready.container.exec(command, timeout_s=200, stdin=LOOK)
    said(ready, f"rm -r {folder}")
    names = {line.rpartition("/")[2] for line in outcome.output.decode().splitlines()}
    assert {"plain'", f"in-{LATER}-name'", "link'", "gz'", "zip'"} < names
    assert sum("/.git/objects/" in line for line in outcome.output.decode().splitlines()) == 1


def test_gits_objects_are_those_of_the_base_commit(ready: Ready, history: History) -> None:
    """One commit and one tag of our own beside them; nothing is packed or borrowed."""
    listed = said(
        ready, "git cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)'"
    )
    there = dict(line.split() for line in listed.splitlines())
    tree = trees_and_blobs(history)
    ours = {oid: kind for oid, kind in there.items() if oid not in tree}
    assert sorted(ours.values()) == ["commit", "tag"]
    assert {oid: kind for oid, kind in there.items() if oid in tree} == tree
    content = said(ready, "git cat-file --batch-all-objects --batch")
    assert not [word for word in WORDS if word in content]
    stored = said(ready, "find .git -name '*.pack' -o -name alternates -o -name packed-refs")
    assert stored == ""


def trees_and_blobs(history: History) -> Mapping[str, str]:
    """Id → kind of all that the base commit holds, as the mirror has it."""
    command = ["git", "--git-dir", str(history.mirror.path), "ls-tree", "-r", "-t", history.base]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    root = ["git", "--git-dir", str(history.mirror.path), "rev-parse", f"{history.base}^{{tree}}"]
    found = {line.split()[2]: line.split()[1] for line in lines.splitlines()}
    return {
        **found,
        subprocess.run(root, check=True, capture_output=True, text=True).stdout.strip(): "tree",
    }


def test_git_names_the_base_alone(ready: Ready) -> None:
    assert said(ready, "git tag") == "v1.0\n"
    assert (
        said(ready, "git for-each-ref --format='%(refname)'") == "refs/heads/main\nrefs/tags/v1.0\n"
    )
    assert said(ready, "git log --all --reflog --format=%s%b") == "base\n"
    moves = said(ready, "git reflog --all --format=%gs")  # of HEAD and of main
    assert set(moves.splitlines()) == {"commit (initial): base"}
    assert said(ready, "git describe --tags") == "v1.0\n"
    assert said(ready, "git stash list; git remote; git notes list; git fsck --no-progress") == ""


def test_packages_tell_the_version_of_the_base(ready: Ready, built: Built) -> None:
    metadata = said(ready, f"cd {VENV}/lib/python3.12/site-packages; cat sample-*/METADATA")
    assert "\nVersion: 1.0" in metadata
    record = said(ready, f"cat {VENV}/lib/python3.12/site-packages/sample-*/RECORD")
    assert MARK not in record
    direct = said(ready, f"cat {VENV}/lib/python3.12/site-packages/sample-*/direct_url.json")
    assert json.loads(direct)["url"] == "file:///testbed"
    assert "version = '1.0" in said(ready, "grep version src/sample/_version.py")
    assert not [name for name in built.environment.packages if name.startswith("sample")]


def test_the_image_and_its_history_do_not_tell(built: Built) -> None:
    assert told_by(built.environment.image, above=built.environment.base_image) == []


def test_the_tests_pass_as_they_would_have(built: Built, ready: Ready) -> None:
    """Last, as it ends the run."""
    results = run_ready(ready).results
    assert {name: each.status for name, each in results.items()} == {
        "tests/test_new.py::test_new": TestStatus.PASSED,
        "tests/test_sample.py::test_answer": TestStatus.PASSED,
    }


def test_an_image_made_in_a_clone_does_not_hold_its_history(
    engine: DockerEngine, built: Built, history: History, tmp_path: Path
) -> None:
    """Whoever builds an instance's Dockerfile has git's whole history beside it."""
    clone = tmp_path / "clone"
    for words in (
        ["clone", "--quiet", str(history.mirror.path), str(clone)],
        ["-C", str(clone), "checkout", "--quiet", history.base],
    ):
        subprocess.run(["git", *words], check=True)
    text = dockerfile(built.environment.recipe, base="b", tag="v1.0")
    (clone / "Dockerfile").write_text(text)
    client = docker.from_env()
    with trusting_base(engine) as base:
        tag = f"miner-future-test:{uuid.uuid4().hex[:12]}"
        try:
            client.images.build(
                path=str(clone), tag=tag, buildargs={"BASE": base}, rm=True, forcerm=True
            )
            assert told_by(Image(digest=tag, tag=tag), above=Image(digest=base, tag=base)) == []
        finally:
            remove_tag(client, tag)
            client.close()


def told_by(image: Image, *, above: Image) -> list[str]:
    """Where an image tells of the future: configuration, history, the layers above its base's."""
    client = docker.from_env(timeout=200)
    api = client.api
    try:
        config = client.images.get(image.digest).attrs
        shown = json.dumps([config, client.images.get(image.digest).history()])
        found = [f"inspect: {word}" for word in WORDS if word in shown]
        known = len(client.images.get(above.digest).attrs["RootFS"]["Layers"])
        with tempfile.TemporaryFile() as saved:
            for chunk in api.get_image(image.digest):
                saved.write(chunk)
            saved.seek(0)
            with tarfile.open(fileobj=saved) as archive:
                return [*found, *in_layers(archive, after=known)]
    finally:
        client.close()


def in_layers(archive: tarfile.TarFile, *, after: int) -> Iterator[str]:
    """Files of an image's layers, but for the first `after`, that have a word."""
    manifest = archive.extractfile("manifest.json")
    assert manifest is not None
    words = tuple(map(str.encode, WORDS))
    layers = json.load(manifest)[0]["Layers"]
    assert layers[after:]
    for layer in layers[after:]:
        with tarfile.open(fileobj=archive.extractfile(layer)) as files:
            for member in files:
                opened = files.extractfile(member) if member.isfile() else None
                content = b"" if opened is None else opened.read()
                told = (f"{member.name}\0{member.linkname}".encode(), *parts(content))
                if any(word in each for word in words for each in told):
                    yield f"{layer[:12]}: {member.name}"
