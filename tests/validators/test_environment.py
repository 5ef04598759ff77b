"""A recipe becomes an image: its key, its steps, and a real one."""

import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.installs import LOCK, InstallingEngine, silent
from tests.real_engine import HERE
from tests.validators.samples import (
    CA_BUNDLE,
    DATE,
    RECIPE,
    SAMPLE,
    THING,
    sample_tar,
    thing_index,
    thing_wheel,
    tree_of,
)
from validators.engine import TREE, VENV, ContainerEngine
from validators.engines import connect
from validators.environment import (
    LAYOUT,
    LAYOUT_LABEL,
    KeyedTree,
    build_environment,
    environment_key,
)
from validators.errors import EngineUnavailableError
from validators.model import (
    BuildFailure,
    BuildSettings,
    Environment,
    FailureClass,
    Image,
    Limits,
    Maker,
    Outcome,
    ProjectInstall,
    Recipe,
    Tree,
)

BASE = Image(digest="sha256:base", tag="miner-base:x")


def _key(
    tree: Tree | None = None,
    recipe: Recipe = RECIPE,
    *,
    base: Image = BASE,
    repository: str = "owner/name",
    own: bool = False,
) -> str:
    return environment_key(
        KeyedTree.of(tree or tree_of()),
        recipe,
        base=base.digest,
        repository=repository,
        maker=Maker.MINER,
        own=own,
    )


def test_commits_with_the_same_dependencies_share_a_key() -> None:
    changed = {**SAMPLE, "src/sample/__init__.py": b"def answer():\n    return 43\n"}
    assert _key(tree_of(changed, commit="d" * 40)) == _key()


@pytest.mark.parametrize(
    "changed",
    [
        {"pyproject.toml": SAMPLE["pyproject.toml"] + b"\n# more\n"},
        {"src/sample/_version.py": b"version = '2'\n"},
        {"src/other/__init__.py": b""},
    ],
)
def test_what_shapes_the_install_shapes_the_key(changed: Mapping[str, bytes]) -> None:
    assert _key(tree_of({**SAMPLE, **changed})) != _key()


@pytest.mark.parametrize(
    "recipe",
    [
        replace(RECIPE, lock="pytest==8.0.1\n"),
        replace(RECIPE, python="3.11"),
        replace(RECIPE, apt=("gcc",)),
        replace(RECIPE, project_install=ProjectInstall.NONE),
        replace(RECIPE, env_vars=(("A", "1"),)),
    ],
)
def test_what_is_installed_shapes_the_key(recipe: Recipe) -> None:
    assert _key(recipe=recipe) != _key()


def test_how_tests_are_run_does_not_shape_the_key() -> None:
    recipe = replace(RECIPE, test_cmd="python -m unittest", timeout_s=1, origin="stored")
    assert _key(recipe=recipe) == _key()


def test_an_environment_of_its_own_is_of_one_commit() -> None:
    assert _key(own=True) != _key(tree_of(commit="d" * 40), own=True)


def test_a_plain_install_is_shared_with_no_other_commit() -> None:
    engine = InstallingEngine(scripts=())
    recipe = replace(RECIPE, project_install=ProjectInstall.PLAIN, source_paths=("src",))
    first = _scripted(engine, recipe)
    assert isinstance(first, Environment)
    assert first.key == _key(recipe=first.recipe, base=first.base_image, own=True)
    other = _scripted(engine, recipe, tree=tree_of(commit="d" * 40))
    assert isinstance(other, Environment)
    assert not other.reused


def test_the_package_cache_is_the_repositorys_own() -> None:
    engine = InstallingEngine(scripts=())
    _scripted(engine, RECIPE)
    _scripted(engine, RECIPE, repository="Other/Name")
    assert engine.cached == ["owner/name", "other/name"]


def test_a_repository_that_copies_anothers_files_has_an_environment_of_its_own() -> None:
    """The key names the files that an install reads, not the modules that those import."""
    build = {**SAMPLE, "setup.py": b"import helper\n", "helper.py": b"raise SystemExit('stolen')\n"}
    engine = InstallingEngine(scripts=())
    copied = _scripted(engine, RECIPE, tree=tree_of(build), repository="stranger/name")
    honest = {**build, "helper.py": b""}
    built = _scripted(engine, RECIPE, tree=tree_of(honest), repository="owner/name")
    assert isinstance(copied, Environment)
    assert isinstance(built, Environment)
    assert not built.reused
    assert built.key != copied.key


def test_a_repository_is_the_same_in_any_case() -> None:
    assert _key(repository="Owner/Name") == _key(repository="owner/name")
    assert _key(repository="a__b/c") != _key(repository="a/b__c")


def test_what_grading_makes_serves_grading_alone() -> None:
    """A row may name a repository, and a commit that only a fork of it has."""
    engine = InstallingEngine(scripts=())
    graded = _scripted(engine, RECIPE, maker=Maker.GRADER)
    mined = _scripted(engine, RECIPE)
    again = _scripted(engine, RECIPE, maker=Maker.GRADER)
    assert isinstance(graded, Environment)
    assert isinstance(mined, Environment)
    assert isinstance(again, Environment)
    assert engine.cached == [None, "owner/name"]
    assert (mined.reused, again.reused) == (False, True)
    assert again.key == mined.key != graded.key


def test_an_environment_says_in_which_layout_it_is() -> None:
    engine = InstallingEngine(scripts=())
    _scripted(engine, RECIPE)
    assert engine.installs[0].labels[LAYOUT_LABEL] == str(LAYOUT)


def test_a_lock_is_installed_and_nothing_is_resolved() -> None:
    engine = InstallingEngine(scripts=())
    built = _scripted(engine, RECIPE)
    assert isinstance(built, Environment)
    assert not any("pip compile" in line for line in engine.installs[0].lines)
    given = [text for line, text in engine.installs[0].fed.items() if "--require-hashes" in line]
    assert given == [LOCK.encode()]


def _resolved(engine: InstallingEngine) -> list[str]:
    """The lines that resolve what is in the environment."""
    lines = engine.installs[0].lines
    return [line for line in lines if "pip compile" in line and "requirements.in" in line]


def test_what_a_patch_adds_to_the_manifests_is_resolved_too() -> None:
    engine = InstallingEngine(scripts=())
    patch = b"--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -1 +1 @@\n-a\n+b\n"
    _scripted(engine, replace(RECIPE, lock=None), patches=(b"", patch))
    assert len(_resolved(engine)) == 2
    assert any("git worktree add" in line for line in engine.installs[0].lines)


def test_a_patch_of_sources_alone_is_not_applied() -> None:
    engine = InstallingEngine(scripts=())
    patch = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"
    _scripted(engine, replace(RECIPE, lock=None), patches=(patch,))
    assert not any("git worktree" in line for line in engine.installs[0].lines)


def test_a_requirement_outside_the_tree_is_a_failure_with_its_name() -> None:
    recipe = replace(RECIPE, lock=None, requirements=("-r ../../etc/passwd",))
    built = _scripted(InstallingEngine(scripts=()), recipe)
    assert isinstance(built, BuildFailure)
    assert built.failure_class is FailureClass.OUTSIDE_TREE
    assert built.detail == "../../etc/passwd"


@pytest.mark.parametrize("line", ["-r needs.txt", "-c needs.txt", "-r all.txt"])
def test_a_file_that_names_another_index_is_a_failure_with_its_name(line: str) -> None:
    option = b"--extra-index-url https://x.invalid/simple"
    files = {**SAMPLE, "needs.txt": option + b"\nsix\n", "all.txt": b"-r needs.txt\n"}
    engine = InstallingEngine(scripts=())
    recipe = replace(RECIPE, lock=None, requirements=(line,))
    built = _scripted(engine, recipe, tree=tree_of(files))
    assert isinstance(built, BuildFailure)
    assert (built.failure_class, built.detail) == (FailureClass.OUTSIDE_TREE, option.decode())
    assert not _resolved(engine)


def test_a_repository_that_a_package_is_taken_from_is_a_failure_with_its_name() -> None:
    engine = InstallingEngine(scripts=(), lock=b"b @ git+https://x.invalid/b@1f\n")
    built = _scripted(engine, replace(RECIPE, lock=None))
    assert isinstance(built, BuildFailure)
    assert built.failure_class is FailureClass.OUTSIDE_TREE
    assert built.detail == "b @ git+https://x.invalid/b@1f"


def test_an_ancient_pytest_is_a_failure_with_its_version() -> None:
    recipe = replace(
        RECIPE, lock=None, requirements=("pytest",), cutoff_at=datetime(2035, 5, 1, tzinfo=UTC)
    )
    engine = InstallingEngine(scripts=(), younger=LOCK.replace("8.0.0", "9.1.0").encode())
    built = _scripted(engine, recipe)
    assert isinstance(built, BuildFailure)
    assert built.failure_class is FailureClass.REUPLOADED
    assert built.detail == "pytest==8.0.0 for 2035-05-01"


def test_an_ancient_pytest_that_stays_with_younger_packages_is_as_it_should_be() -> None:
    """Something pins it: an extra, a group, the patch, another package."""
    recipe = replace(
        RECIPE, lock=None, requirements=(".[test]",), cutoff_at=datetime(2035, 5, 1, tzinfo=UTC)
    )
    engine = InstallingEngine(scripts=())
    assert isinstance(_scripted(engine, recipe, patches=(b"", MANIFEST_PATCH)), Environment)
    lines = engine.installs[0].lines
    twice = [line for line in lines if "pip compile" in line and "younger.txt" in line]
    assert len(twice) == 2  # of the tree before, and of the tree after
    assert all("--exclude-newer-package pluggy=2036-04-30" in line for line in twice)


def test_an_ancient_pytest_beside_younger_packages_that_cannot_be_built_is_a_failure() -> None:
    recipe = replace(RECIPE, lock=None, cutoff_at=datetime(2035, 5, 1, tzinfo=UTC))
    fails = Outcome(exit_code=1, output=b"error: No solution found\n")
    engine = InstallingEngine(
        scripts=(), answer=lambda line: fails if "--output-file /tmp/miner/young" in line else None
    )
    built = _scripted(engine, recipe)
    assert isinstance(built, BuildFailure)
    assert built.failure_class is FailureClass.REUPLOADED


def test_a_scratch_that_builds_filled_is_their_failure() -> None:
    full = Outcome(exit_code=2, output=b"tar: Cannot write: No space left on device\n")
    engine = InstallingEngine(
        scripts=(), answer=lambda line: full if line == "put /tmp/miner requirements.in" else None
    )
    built = _scripted(engine, replace(RECIPE, lock=None))
    assert isinstance(built, BuildFailure)
    assert (built.step, built.failure_class) == ("resolve", FailureClass.RESOURCE_LIMIT)
    assert "No space left" in built.detail


OURS_FIRST = ("tar --extract --no-same-owner --file=-", "add -A -f", "uv venv -q --no-config")
OURS_LAST = ("git worktree", "put /tmp/miner requirements.in", "chown -R")
AHEAD = "/tmp/miner/aside/bin/python"
LAST = "uv pip freeze"
MANIFEST_PATCH = b"--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -1 +1 @@\n-a\n+b\n"


def _ending(step: str, outcome: Outcome) -> Environment | BuildFailure:
    """What an install comes to in which the line of that step ends so."""
    engine = InstallingEngine(
        scripts=(),
        answer=lambda line: outcome if step in line and AHEAD not in line else None,
    )
    return _scripted(engine, replace(RECIPE, lock=None), patches=(b"", MANIFEST_PATCH))


@pytest.mark.parametrize(
    ("output", "step"),
    [
        (b"error: no build\n", "project"),
        (b"\0tar: broken\n", "finish"),
        (b"\0\0tar: broken\n", "finish"),
        (b"\0\0\0error: broken\n", "finish"),
    ],
)
def test_the_last_step_fails_by_the_name_of_its_part(output: bytes, step: str) -> None:
    built = _ending(LAST, Outcome(exit_code=2, output=output))
    assert isinstance(built, BuildFailure)
    assert built.step == step


@pytest.mark.parametrize(("parts", "slow"), [(0, False), (1, False), (2, True), (3, True)])
def test_only_a_slow_look_at_the_end_is_the_machines(parts: int, slow: bool) -> None:
    outcome = Outcome(exit_code=137, output=b"\0" * parts, timed_out=True)
    if slow:
        with pytest.raises(EngineUnavailableError, match="too slow"):
            _ending(LAST, outcome)
        return
    built = _ending(LAST, outcome)
    assert isinstance(built, BuildFailure)
    assert built.failure_class is FailureClass.TIMED_OUT


def test_what_the_install_left_in_the_tree_is_looked_at_part_by_part() -> None:
    words = b"warning: a\0words\0src/sample/extension.so\n\0pytest==8.0.0\nb==2\n"
    built = _ending(LAST, Outcome(exit_code=0, output=words))
    assert isinstance(built, Environment)
    assert built.packages == ("b==2", "pytest==8.0.0")
    assert built.key == _key(recipe=built.recipe, base=built.base_image, own=True)


def _projects(engine: InstallingEngine) -> list[str]:
    """The lines that install the project in the environment."""
    lines = engine.installs[0].lines
    return [line for line in lines if "/testbed" in line and "pip freeze" in line]


def test_a_project_is_built_beside_the_lock_and_its_build_installed() -> None:
    engine = InstallingEngine(scripts=())
    assert isinstance(_scripted(engine, RECIPE), Environment)
    (ahead,) = [line for line in engine.installs[0].lines if AHEAD in line]
    assert ahead.endswith("--no-deps -e /testbed")
    assert ahead.startswith("mkdir -p src/sample.egg-info; ")
    (project,) = _projects(engine)
    assert "-r - )" in project


def test_a_build_that_fails_beside_the_lock_is_made_again() -> None:
    failed = Outcome(exit_code=1, output=b"error: no network\n")
    engine = InstallingEngine(scripts=(), answer=lambda line: failed if AHEAD in line else None)
    assert isinstance(_scripted(engine, RECIPE), Environment)
    (project,) = _projects(engine)
    assert "--no-deps -e /testbed )" in project


def test_a_build_without_end_is_not_made_again() -> None:
    late = Outcome(exit_code=137, output=b"", timed_out=True)
    engine = InstallingEngine(scripts=(), answer=lambda line: late if AHEAD in line else None)
    built = _scripted(engine, RECIPE)
    assert isinstance(built, BuildFailure)
    assert (built.step, built.failure_class) == ("project", FailureClass.TIMED_OUT)
    assert not _projects(engine)


def test_a_build_ends_with_the_install_it_goes_on_beside() -> None:
    failed = Outcome(exit_code=1, output=b"error: no such package\n")
    engine = InstallingEngine(
        scripts=(), answer=lambda line: failed if "--require-hashes" in line else None
    )
    built = _scripted(engine, RECIPE)
    assert isinstance(built, BuildFailure)
    assert built.step == "install"
    assert "kill -9 -1" in engine.installs[0].lines


@pytest.mark.parametrize(
    "recipe",
    [
        replace(RECIPE, build_requirements=("setuptools",)),
        replace(RECIPE, pre_install=("pip list",)),
        replace(RECIPE, project_install=ProjectInstall.NONE),
    ],
)
def test_what_needs_the_lock_is_not_built_beside_it(recipe: Recipe) -> None:
    engine = InstallingEngine(scripts=())
    assert isinstance(_scripted(engine, recipe), Environment)
    assert not any(AHEAD in line for line in engine.installs[0].lines)


def test_a_build_that_would_not_be_found_again_is_not_made() -> None:
    files = {"setup.py": b"import x\nsetup(name=x.y)\n", "src/sample/__init__.py": b""}
    engine = InstallingEngine(scripts=())
    assert isinstance(_scripted(engine, RECIPE, tree=tree_of(files)), Environment)
    assert not any(AHEAD in line for line in engine.installs[0].lines)


@pytest.mark.parametrize("step", OURS_FIRST)
def test_a_step_of_ours_that_fails_before_the_guest_ran_decides_nothing(step: str) -> None:
    with pytest.raises(EngineUnavailableError, match=r"no fault of the project .*broken"):
        _ending(step, Outcome(exit_code=128, output=b"fatal: broken\n"))


@pytest.mark.parametrize("step", [*OURS_FIRST, *OURS_LAST, "git apply"])
def test_a_step_of_ours_that_is_slow_decides_nothing(step: str) -> None:
    with pytest.raises(EngineUnavailableError, match="too slow"):
        _ending(step, Outcome(exit_code=137, output=b"", timed_out=True))


@pytest.mark.parametrize("step", [*OURS_FIRST, *OURS_LAST, "git apply"])
def test_no_room_is_the_guests_failure_in_every_step(step: str) -> None:
    built = _ending(step, Outcome(exit_code=1, output=b"error: No space left on device\n"))
    assert isinstance(built, BuildFailure)
    assert built.failure_class is FailureClass.RESOURCE_LIMIT


@pytest.mark.parametrize("step", OURS_LAST)
def test_what_a_step_of_ours_finds_broken_the_guest_broke(step: str) -> None:
    built = _ending(step, Outcome(exit_code=2, output=b"error: invalid metadata\n"))
    assert isinstance(built, BuildFailure)


def test_a_patch_that_does_not_apply_beside_the_tree_is_not_resolved() -> None:
    built = _ending("git apply", Outcome(exit_code=1, output=b"error: patch does not apply\n"))
    assert isinstance(built, Environment)


def test_a_lock_that_a_build_overwrote_is_its_failure() -> None:
    engine = InstallingEngine(scripts=(), lock=b"\xff\xfe")
    built = _scripted(engine, replace(RECIPE, lock=None))
    assert isinstance(built, BuildFailure)
    assert (built.step, built.detail) == ("resolve", "the lock is no text")


def test_python_3_14_is_known() -> None:
    built = _scripted(InstallingEngine(scripts=()), replace(RECIPE, python="3.14"))
    assert isinstance(built, Environment)


def test_the_environment_is_sealed_by_root_before_it_is_kept() -> None:
    engine = InstallingEngine(scripts=())
    _scripted(engine, RECIPE)
    assert "chown -R root:root" in engine.installs[0].lines[-1]


def _scripted(
    engine: InstallingEngine,
    recipe: Recipe,
    *,
    tree: Tree | None = None,
    patches: tuple[bytes, ...] = (),
    repository: str = "owner/name",
    maker: Maker = Maker.MINER,
) -> Environment | BuildFailure:
    return build_environment(
        tree or tree_of(),
        recipe,
        patches=patches,
        repository=repository,
        maker=maker,
        engine=engine,
        settings=BuildSettings(),
        progress=silent,
    )


@pytest.fixture(scope="module")
def engine() -> Iterator[ContainerEngine]:
    """The real one."""
    connected = connect(HERE)
    yield connected
    connected.close()


@pytest.fixture(scope="module")
def sample(engine: ContainerEngine) -> Iterator[Environment]:
    """The sample project, really installed."""
    built = _real(engine, replace(RECIPE, lock=None))
    assert isinstance(built, Environment), built
    yield built
    engine.remove_image(built.image)


def _patch(path: str, old: bytes, new: bytes) -> bytes:
    """The whole file replaced, as git writes it."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    lines = [b"-" + line for line in before] + [b"+" + line for line in after]
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ -1,{len(before)} +1,{len(after)} @@\n".encode() + b"".join(lines)


def _real(
    engine: ContainerEngine,
    recipe: Recipe,
    *,
    tree: Tree | None = None,
    patches: tuple[bytes, ...] = (),
) -> Environment | BuildFailure:
    return build_environment(
        tree or tree_of(),
        recipe,
        patches=patches,
        repository="owner/name",
        maker=Maker.MINER,
        engine=engine,
        settings=BuildSettings(ca_bundle=CA_BUNDLE),
        progress=silent,
    )


def _of_index(
    engine: ContainerEngine, wheels: Mapping[str, bytes], lock: str | None = None
) -> Environment | BuildFailure:
    """An environment of thing, made anew from an empty cache, and removed again."""
    made = build_environment(
        tree_of(thing_index(wheels)),
        Recipe(
            language="python",
            python="3.12",
            requirements=("thing",),
            project_install=ProjectInstall.NONE,
            lock=lock,
        ),
        patches=(),
        repository="owner/changed-index",
        maker=Maker.GRADER,
        engine=engine,
        settings=BuildSettings(index_url=f"file://{TREE}/index"),
        progress=silent,
    )
    if isinstance(made, Environment):
        assert not made.reused
        engine.remove_image(made.image)
    return made


@pytest.fixture(scope="module")
def thing_lock(engine: ContainerEngine) -> str:
    """Of the time when the index had one version."""
    first = _of_index(engine, {"1.0": THING})
    assert isinstance(first, Environment), first
    assert first.packages == ("thing==1.0",)
    assert first.recipe.lock is not None
    return first.recipe.lock


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_a_lock_gives_its_packages_when_the_index_has_newer_ones(
    engine: ContainerEngine, thing_lock: str
) -> None:
    later = {"1.0": THING, "1.1": thing_wheel("1.1", "second")}
    anew = _of_index(engine, later)
    assert isinstance(anew, Environment), anew
    assert anew.packages == ("thing==1.1",)  # so the index did change
    again = _of_index(engine, later, thing_lock)
    assert isinstance(again, Environment), again
    assert (again.packages, again.recipe.lock) == (("thing==1.0",), thing_lock)


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_a_version_of_the_lock_that_is_gone_is_named(
    engine: ContainerEngine, thing_lock: str
) -> None:
    failed = _of_index(engine, {"1.1": thing_wheel("1.1", "second")}, thing_lock)
    assert isinstance(failed, BuildFailure), failed
    assert (failed.step, failed.failure_class) == ("install", FailureClass.NO_MATCHING_VERSION)
    assert "thing" in failed.detail


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_another_file_under_the_name_of_the_lock_is_refused(
    engine: ContainerEngine, thing_lock: str
) -> None:
    failed = _of_index(engine, {"1.0": thing_wheel("1.0", "another")}, thing_lock)
    assert isinstance(failed, BuildFailure), failed
    assert failed.step == "install"
    assert b"hash" in failed.outcome.output.lower()


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(600)
class TestReal:
    """What a real environment image holds."""

    def test_packages_are_those_of_the_date(self, sample: Environment) -> None:
        assert "pytest==8.2.0" in sample.packages  # 2024-04-28; 8.2.1 is of 2024-05-19
        assert "iniconfig==2.0.0" in sample.packages
        assert not any("sample" in package for package in sample.packages)
        assert "--hash=sha256:" in (sample.recipe.lock or "")

    def test_a_run_sees_the_install_and_cannot_change_it(
        self, engine: ContainerEngine, sample: Environment
    ) -> None:
        with engine.run(sample.image, Limits()) as container:
            container.put(TREE, sample_tar(SAMPLE))
            unpack = "tar -x --skip-old-files -f /opt/miner/generated.tar"
            tests = f"cd {TREE} && {unpack} && python -m pytest -q 2>&1"
            outcome = container.exec(("/bin/sh", "-c", tests), timeout_s=60)
            written = container.exec(("touch", f"{VENV}/x"), timeout_s=60)
        assert b"1 passed" in outcome.output
        assert not written.ok

    def test_only_what_was_generated_is_kept(
        self, engine: ContainerEngine, sample: Environment
    ) -> None:
        with engine.run(sample.image, Limits()) as container:
            packed = container.get("/opt/miner/generated.tar")
        assert packed is not None
        with tarfile.open(fileobj=io.BytesIO(packed)) as outer:
            content = outer.extractfile("generated.tar")
            assert content is not None
            with tarfile.open(fileobj=io.BytesIO(content.read())) as inner:
                names = inner.getnames()
        assert "src/sample/_version.py" in names
        assert all("egg-info" in name or name == "src/sample/_version.py" for name in names)

    def test_nothing_of_where_it_was_built_is_in_it(
        self, engine: ContainerEngine, sample: Environment
    ) -> None:
        look = f"grep -rl /tmp/miner {VENV} /opt/miner; cat {VENV}/lib/*/site-packages/*/direct*"
        with engine.run(sample.image, Limits()) as container:
            outcome = container.exec(("/bin/sh", "-c", look), timeout_s=60)
        assert outcome.output == b'{"url":"file:///testbed","dir_info":{"editable":true}}'

    def test_what_is_in_it_is_compiled(self, engine: ContainerEngine, sample: Environment) -> None:
        look = (
            f"cd {VENV}/lib/*/site-packages; ls -l _pytest/__pycache__/main.*.pyc iniconfig/"
            "__pycache__/__init__.*.pyc; find . -path '*/tests/*.pyc'"
        )
        with engine.run(sample.image, Limits()) as container:
            outcome = container.exec(("/bin/sh", "-c", look), timeout_s=60)
        assert outcome.output.count(b" root root ") == len(outcome.output.splitlines()) == 2

    def test_a_build_made_beside_the_lock_is_not_made_again(
        self, engine: ContainerEngine, sample: Environment
    ) -> None:
        script = (
            b"import os, setuptools\n"
            b"with open('/opt/venv/built', 'a') as f:\n    f.write('x')\n"
            b"setuptools.setup(name='sample', package_dir={'': 'src'}, packages=['sample'])\n"
        )
        files = {"setup.py": script, "src/sample/__init__.py": b""}
        built = _real(engine, sample.recipe, tree=tree_of(files))
        assert isinstance(built, Environment), built
        try:
            with engine.run(built.image, Limits()) as container:
                counted = container.exec(("cat", f"{VENV}/built"), timeout_s=60)
        finally:
            engine.remove_image(built.image)
        assert counted.output == b"xxx"  # what it asks for, its metadata, itself

    def test_the_same_key_is_found_at_once(
        self, engine: ContainerEngine, sample: Environment
    ) -> None:
        again = _real(engine, sample.recipe, tree=tree_of(commit="d" * 40))
        assert isinstance(again, Environment)
        assert again.reused
        assert again.image == sample.image
        assert again.packages == sample.packages

    def test_nothing_of_this_machine_is_in_the_image(
        self, engine: ContainerEngine, sample: Environment
    ) -> None:
        look = (
            "find / -xdev -newer /etc/os-release \\( -name 'ca.pem' -o -path '*/uv/*wheels*' \\)"
            " -not -path '/proc/*' 2>/dev/null; env | grep -iE 'cert|index'; ls -A /testbed"
        )
        with engine.run(sample.image, Limits()) as container:
            outcome = container.exec(("/bin/sh", "-c", look), timeout_s=60)
        assert outcome.output.strip() == b""

    def test_what_either_state_needs_is_there(self, engine: ContainerEngine) -> None:
        old = SAMPLE["pyproject.toml"].splitlines(keepends=True)
        at = old.index(b'dependencies = ["iniconfig"]\n')
        patch = (
            b"diff --git a/pyproject.toml b/pyproject.toml\n"
            b"--- a/pyproject.toml\n+++ b/pyproject.toml\n"
            + f"@@ -{at},3 +{at},3 @@\n ".encode()
            + old[at - 1]
            + b'-dependencies = ["iniconfig"]\n+dependencies = ["tomli"]\n '
            + old[at + 1]
        )
        recipe = replace(RECIPE, lock=None, requirements=(".",))
        built = build_environment(
            tree_of(),
            recipe,
            patches=(b"", patch),
            repository="owner/name",
            maker=Maker.MINER,
            engine=engine,
            settings=BuildSettings(ca_bundle=CA_BUNDLE),
            progress=silent,
        )
        assert isinstance(built, Environment), built
        engine.remove_image(built.image)
        assert built.packages == ("iniconfig==2.0.0", "tomli==2.0.1")

    @pytest.mark.parametrize(
        ("requirement", "declared"),
        [
            (".[test]", b"[project.optional-dependencies]\ntest = [%s]\n"),
            ("--group test", b"[dependency-groups]\ntest = [%s]\n"),
        ],
    )
    @pytest.mark.parametrize("fixed", [False, True])
    def test_an_old_pytest_may_be_what_the_project_asks_for(
        self, engine: ContainerEngine, requirement: str, declared: bytes, fixed: bool
    ) -> None:
        """In the tree itself, or (`fixed`) only in what the patch makes of it."""
        pinned = SAMPLE["pyproject.toml"] + declared % b"'pytest<6'"
        files = {**SAMPLE, "pyproject.toml": pinned}
        patch = b""
        if fixed:
            files["pyproject.toml"] = SAMPLE["pyproject.toml"] + declared % b"'pytest'"
            patch = _patch("pyproject.toml", files["pyproject.toml"], pinned)
        recipe = replace(
            RECIPE,
            lock=None,
            requirements=(".", requirement),
            cutoff_at=datetime(2025, 6, 1, tzinfo=UTC),
        )
        built = _real(engine, recipe, tree=tree_of(files), patches=(b"", patch))
        assert isinstance(built, Environment), built
        engine.remove_image(built.image)
        assert "pytest==5.4.3" in built.packages

    def test_an_ancient_pytest_that_nothing_asks_for_is_none(self, engine: ContainerEngine) -> None:
        """All files of atomicwrites, which 4.6 needs, were uploaded anew in July 2022."""
        recipe = replace(
            RECIPE,
            lock=None,
            requirements=("pytest<5",),
            project_install=ProjectInstall.NONE,
            cutoff_at=datetime(2022, 7, 1, tzinfo=UTC),
            cutoff_exempt=(("setuptools", DATE),),  # one that builds on this Python
        )
        built = _real(engine, recipe)
        assert isinstance(built, BuildFailure)
        assert built.failure_class is FailureClass.REUPLOADED

    def test_a_package_that_never_was_fails_by_name(self, engine: ContainerEngine) -> None:
        name = "this-package-was-never-there-0471"
        recipe = replace(RECIPE, lock=None, requirements=(".", name))
        built = _real(engine, recipe)
        assert isinstance(built, BuildFailure)
        assert (built.failure_class, built.detail) == (FailureClass.PACKAGE_NOT_FOUND, name)

    def test_a_lock_whose_hash_does_not_fit_fails(
        self, engine: ContainerEngine, sample: Environment
    ) -> None:
        lock = "iniconfig==2.0.0 \\\n    --hash=sha256:" + "0" * 64 + "\n"
        built = _real(engine, replace(sample.recipe, lock=lock))
        assert isinstance(built, BuildFailure)
        assert built.step == "install"

    def test_a_lock_gives_the_same_packages_when_the_index_has_newer_ones(
        self, engine: ContainerEngine, sample: Environment
    ) -> None:
        later = replace(sample.recipe, cutoff_at=datetime(2025, 6, 1, tzinfo=UTC))
        other = tree_of({**SAMPLE, "requirements.txt": b"# other key\n"})
        again = _real(engine, later, tree=other)
        assert isinstance(again, Environment)
        anew = _real(engine, replace(later, lock=None), tree=other)
        assert isinstance(anew, Environment)
        engine.remove_image(anew.image)
        assert anew.packages != sample.packages  # the index of then has newer ones
        try:
            assert not again.reused
            assert again.packages == sample.packages
        finally:
            engine.remove_image(again.image)

    @pytest.mark.parametrize("install", [ProjectInstall.EDITABLE, ProjectInstall.PLAIN])
    def test_no_image_shows_what_a_later_commit_says(
        self, engine: ContainerEngine, install: ProjectInstall
    ) -> None:
        mark = b"planted_in_the_future_0471"
        manifest = SAMPLE["pyproject.toml"].replace(b"[build", b'readme = "README.md"\n[build', 1)
        base = {**SAMPLE, "pyproject.toml": manifest, "README.md": b"# sample\n"}
        future = {
            **base,
            "README.md": b"# sample\n\n" + mark,
            "src/sample/__init__.py": SAMPLE["src/sample/__init__.py"] + b"# " + mark + b"\n",
            "src/sample/planted_in_the_future_0471.py": b"",
        }
        recipe = replace(
            RECIPE, lock=None, project_install=install, source_paths=("src",), requirements=(".",)
        )
        later = _real(engine, recipe, tree=tree_of(future, commit="f" * 40))
        built = _real(engine, recipe, tree=tree_of(base))
        assert isinstance(later, Environment)
        assert isinstance(built, Environment)
        try:
            assert built.reused == (install is ProjectInstall.EDITABLE)
            look = f"grep -rl {mark.decode()} / --exclude-dir=proc --exclude-dir=sys 2>/dev/null"
            with engine.run(built.image, Limits()) as container:
                found = container.exec(("/bin/sh", "-c", look), timeout_s=120, root=True)
            assert found.output == b""
        finally:
            for image in {later.image, built.image}:
                engine.remove_image(image)
