"""The Dockerfile of a recipe: complete, pure, and the same install."""

import io
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import docker
import pytest

from tests.real_engine import HERE, remove_tag, trusting_base
from tests.validators.samples import CA_BUNDLE, SAMPLE, sample_tar
from validators import installation, locks
from validators.dockerfile import UV_VERSION, dockerfile
from validators.engines import connect
from validators.environment import build_environment
from validators.errors import UnknownRecipeError
from validators.model import BuildSettings, Environment, Maker, Recipe, Tree

RECIPE = Recipe(
    language="python",
    python="3.12",
    apt=("libxml2",),
    pre_install=("python -m pip --version",),
    env_vars=(("GREETING", 'a "b" $c'),),
    source_paths=("src",),
    build_cmd="python setup.py build_ext --inplace",
    cutoff_at=datetime(2024, 5, 6, tzinfo=UTC),
    lock="pytest==8.2.0 \\\n    --hash=sha256:00\n",
)


def test_a_recipe_without_lock_has_none() -> None:
    with pytest.raises(UnknownRecipeError):
        dockerfile(replace(RECIPE, lock=None), base="python:3.12-slim")


def test_it_says_all_of_the_recipe() -> None:
    text = dockerfile(RECIPE, base="python:3.12-slim")
    for said in (
        "ARG BASE=python:3.12-slim\nFROM ${BASE} AS tree\n",
        "\nFROM ${BASE}\n",
        "libxml2",
        "python -m pip --version",
        'ENV GREETING="a \\"b\\" \\$c"',
        "'pytest==8.2.0 \\'",
        installation.install_line(RECIPE, "/opt/lock.txt"),
        str(installation.project_line(RECIPE)),
        "python setup.py build_ext --inplace",
        "python -m pytest",
    ):
        assert said in text


def test_what_builds_the_project_is_bound_to_the_tools_of_the_lock() -> None:
    digest = "0" * 64
    lock = locks.with_tools(str(RECIPE.lock), f"wheel==1 \\\n    --hash=sha256:{digest}\n")
    text = dockerfile(replace(RECIPE, lock=lock), base="b")
    assert f"'wheel==1 --hash=sha256:{digest}' \\\n    >> /opt/tools.txt\n" in text
    assert "chown guest /opt/venv /opt/miner /testbed /opt/lock.txt /opt/tools.txt\n" in text
    assert text.count("--build-constraints /opt/tools.txt -e /testbed --no-cache") == 1
    assert "#" not in text.partition(">> /opt/lock.txt")[0].rpartition("RUN printf")[2]


def test_a_lock_without_tools_and_a_build_in_the_environment_bind_nothing() -> None:
    lock = locks.with_tools(str(RECIPE.lock), "wheel==1\n")
    inside = replace(RECIPE, build_requirements=("setuptools",))
    assert dockerfile(replace(inside, lock=lock), base="b") == dockerfile(inside, base="b")
    assert "tools.txt" not in dockerfile(RECIPE, base="b")


def test_it_is_classic_and_of_no_machine() -> None:
    text = dockerfile(RECIPE, base="python:3.12-slim")
    assert "<<" not in text
    assert "--mount" not in text
    assert not re.search(r"(?i)ca[-_.]?(bundle|cert)s?\.(crt|pem)|SSL_CERT|INDEX", text)


def test_what_lies_beside_the_files_of_a_commit_comes_into_no_layer_of_the_image() -> None:
    text = dockerfile(RECIPE, base="python:3.12-slim")
    assert text.count("COPY . ") == 1
    assert text.index("COPY . ") < text.index("rm -rf /testbed/.git") < text.rindex("\nFROM ")


def test_no_step_is_longer_than_a_shell_takes() -> None:
    lock = "".join(f"p{n}==1 \\\n    --hash=sha256:{n:064}\n" for n in range(4000))
    text = dockerfile(replace(RECIPE, lock=lock), base="b")
    steps = re.sub(r"\\\n", "", text).splitlines()
    assert max(map(len, steps)) < 128 * 1024


def test_it_has_the_base_commits_date_and_tag() -> None:
    berlin = timezone(timedelta(hours=2))
    committed_at = datetime(2024, 4, 3, 12, tzinfo=berlin)
    text = dockerfile(RECIPE, base="b", committed_at=committed_at, tag='v"1$')
    assert "ARG COMMITTED_AT=2024-04-03T10:00:00+00:00\n" in text
    assert 'ARG TAG="v\\"1\\$"\n' in text


def test_the_installer_is_the_one_that_is_locked() -> None:
    lock = Path(__file__).parents[2] / "requirements.lock"
    assert re.findall(r"^uv==(\S+)", lock.read_text(), re.MULTILINE) == [UV_VERSION]


def test_the_same_recipe_gives_the_same_text() -> None:
    assert dockerfile(RECIPE, base="b") == dockerfile(RECIPE, base="b")


@pytest.fixture
def built() -> Iterator[tuple[Environment, str]]:
    """The sample's environment, and a base for `docker build`."""
    engine = connect(HERE)
    tree = Tree(
        commit="c" * 40,
        committed_at=datetime(2024, 5, 6, tzinfo=UTC),
        tar=sample_tar(SAMPLE),
        nearest_tag="v1.0",
    )
    recipe = Recipe(
        language="python",
        python="3.12",
        requirements=(".", "pytest"),
        cutoff_at=datetime(2024, 5, 6, tzinfo=UTC),
    )
    made = build_environment(
        tree,
        recipe,
        patches=(),
        repository="owner/name",
        maker=Maker.MINER,
        engine=engine,
        settings=BuildSettings(ca_bundle=CA_BUNDLE),
        progress=_silent,
    )
    assert isinstance(made, Environment)
    try:
        with trusting_base(engine) as base:
            yield made, base
    finally:
        engine.remove_image(made.image)
        engine.close()


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.timeout(600)
def test_anyone_can_build_it_and_has_the_same_packages(
    built: tuple[Environment, str],
) -> None:
    environment, base = built
    text = dockerfile(environment.recipe, base="python:3.12-slim")
    context = sample_tar({**SAMPLE, "Dockerfile": text.encode()})
    tag = f"miner-dockerfile-test:{uuid.uuid4().hex[:12]}"
    client = docker.from_env()
    try:
        client.images.build(
            fileobj=io.BytesIO(context),
            custom_context=True,
            tag=tag,
            buildargs={"BASE": base, "TAG": "v1.0"},
            rm=True,
            forcerm=True,
        )
        said = client.containers.run(
            tag,
            ["bash", "-c", "python -m pytest -q 2>&1 | tail -1; uv pip freeze; git log --oneline"],
            remove=True,
        ).decode()
    finally:
        remove_tag(client, tag)
        client.close()
    assert "1 passed" in said
    assert set(environment.packages) <= set(said.split())
    assert said.rstrip().endswith("base")


def _silent(line: str) -> None:
    del line
