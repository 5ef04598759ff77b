"""No patch that does not fix the bug counts as a fix, unless it is flagged; every twin does."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.attack.cases import ATTACKS as KNOWN
from tests.attack.cases import TOY, Attack
from tests.attack.disguises import DISGUISED
from tests.attack.hiding_places import HIDDEN
from tests.attack.libraries import THROUGH_LIBRARIES
from tests.attack.neighbours import BESIDE_TESTS
from tests.attack.plug_ins import BY_PLUG_INS
from tests.toy import RECIPE, Repository, environment_of, grading_task_of
from validators.engines import DockerEngine
from validators.evaluation import grade
from validators.model import Flaw, Grade, Image

ATTACKS = (*KNOWN, *HIDDEN, *DISGUISED, *BESIDE_TESTS, *THROUGH_LIBRARIES)

pytestmark = [pytest.mark.attack, pytest.mark.docker]


def graded(
    case: Attack, patch: bytes, repository: Repository, engine: DockerEngine, image: Image
) -> Grade:
    return grade(
        grading_task_of(case.toy, repository),
        environment_of(image, case.toy.recipe),
        model_patch=patch,
        engine=engine,
        progress=print,
    )


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case.name)
def test_attack_is_unresolved_or_flagged(
    case: Attack, engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    _try_attack(case, engine, toy_image, tmp_path)


@pytest.mark.network
@pytest.mark.parametrize("case", BY_PLUG_INS, ids=lambda case: case.name)
def test_attack_is_repelled_through_plug_ins(
    case: Attack, engine: DockerEngine, equipped_image: Image, tmp_path: Path
) -> None:
    _try_attack(case, engine, equipped_image, tmp_path)


@pytest.mark.network
@pytest.mark.parametrize("case", BY_PLUG_INS, ids=lambda case: case.name)
def test_honest_twin_is_resolved_beside_plug_ins(
    case: Attack, engine: DockerEngine, equipped_image: Image, tmp_path: Path
) -> None:
    _try_twin(case, engine, equipped_image, tmp_path)


def _try_attack(case: Attack, engine: DockerEngine, image: Image, folder: Path) -> None:
    repository = Repository(folder / "toy", case.toy.base)
    patch = case.raw if case.raw is not None else repository.diff(case.attack, links=case.links)
    found = graded(case, patch, repository, engine, image)
    if case.flags:
        assert not found.resolved or case.flags <= set(found.flags), found
        assert case.flags <= set(found.flags), found
    else:
        assert not found.resolved, found
    if case.flaw is not None:
        assert found.flaw is case.flaw, found


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case.name)
def test_honest_twin_is_resolved_and_unflagged(
    case: Attack, engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    _try_twin(case, engine, toy_image, tmp_path)


def _try_twin(case: Attack, engine: DockerEngine, image: Image, folder: Path) -> None:
    """Attacks that hang have little time; their twins have what everybody has."""
    repository = Repository(folder / "toy", case.toy.base)
    recipe = replace(case.toy.recipe, timeout_s=RECIPE.timeout_s)
    patient = replace(case, toy=replace(case.toy, recipe=recipe))
    patch = case.raw_twin if case.raw_twin is not None else repository.diff(case.twin)
    found = graded(patient, patch, repository, engine, image)
    assert found.resolved, found
    assert found.flags == (), found


def test_what_variables_name_need_be_no_file_of_the_tree(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    variables = (("COVERAGE_RCFILE", "/dev/null"), ("COVERAGE_PROCESS_START", "tests"))
    case = Attack(name="names", toy=replace(TOY, recipe=replace(RECIPE, env_vars=variables)))
    repository = Repository(tmp_path / "toy", TOY.base)
    found = graded(case, repository.diff(TOY.gold), repository, engine, toy_image)
    assert found.resolved, found


def test_a_patch_that_fills_the_disk_is_the_models_failure(
    engine: DockerEngine, toy_image: Image, tmp_path: Path
) -> None:
    """Were it called the machine's, a model could keep its failures out of its score."""
    recipe = replace(RECIPE, memory_mb=256)
    case = Attack(name="bomb", toy=replace(TOY, recipe=recipe))
    repository = Repository(tmp_path / "toy", TOY.base)
    patch = repository.diff({"calc/zeros": bytes(140 << 20)})
    assert len(patch) < 1 << 20
    found = graded(case, patch, repository, engine, toy_image)
    assert (found.resolved, found.applied) == (False, False), found
    assert found.flaw is Flaw.PATCH_DOES_NOT_APPLY


def test_there_are_enough_of_them() -> None:
    assert len(ATTACKS) >= 25
    names = [case.name for case in (*ATTACKS, *BY_PLUG_INS)]
    assert len({*names}) == len(names)
