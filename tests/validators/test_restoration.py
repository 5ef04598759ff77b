"""What is put back before a model's run, as pure rules."""

import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validators.languages import LANGUAGES
from validators.restoration import Change, is_protected, plan
from validators.surroundings import Surroundings

PYTHON = LANGUAGES["python"]
SURROUNDINGS = Surroundings(
    language=PYTHON,
    packages=("pytest==9.0", "PyYAML==6.0", "attrs==24.1", "calc @ file:///testbed"),
    final_paths=frozenset({"calc/__init__.py", "tests/test_a.py", "src/attrs/__init__.py"}),
)


def only_in_model(path: str) -> Change:
    return Change(path=path, in_final=False)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "calc/conftest.py",
        "pytest.ini",
        "sub/pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        "sitecustomize.py",
        "src/usercustomize.py",
        "x.pth",
        "evil.egg-info/entry_points.txt",
        "src/evil-1.dist-info/METADATA",
        "tests/test_mine.py",
        "tests/__init__.py",
        "tests/data/x.json",
        "calc/__pycache__/__init__.cpython-312.pyc",
        "pytest.py",
        "_pytest/__init__.py",
        "json.py",
        "src/typing.py",
        "lib/unittest/__init__.py",
        "evil.EGG-INFO/entry_points.txt",
        ".dist-info/entry_points.txt",
        "src/sitecustomize/__init__.py",
        "usercustomize.cpython-312-x86_64-linux-gnu.so",
        "pyyaml.py",
        ".env",
        ".coveragerc",
        ".coveragerc.toml",
        "code/sitecustomize/__init__.py",
        "code/usercustomize.abi3.so",
        "tests/setup.cfg",
        ".hypothesis/unicode_data/15.0.0/charmap.json.gz",
        "sub/.pytest_cache/v/cache/lastfailed",
        "calc/management/commands/test.py",
        "management/commands/test/__init__.py",
    ],
)
def test_what_a_patch_may_not_add_is_removed_with_a_note(path: str) -> None:
    found = plan([only_in_model(path)], SURROUNDINGS)
    assert found.remove == (path,)
    (note,) = found.notes
    assert note.startswith(f"removed {path}: ")


@pytest.mark.parametrize(
    "path",
    [
        "calc/new.py",
        "calc/json.py",
        "calc/pytest.py",
        "docs/conftest.md",
        "new_package/__init__.py",
        "src/attrs/extra.py",  # the project itself
        "calc/testing.py",
        "latest.py",
        "README.rst",
        ".gitignore",
        ".gitattributes",
        "calc/.hidden",
        "calc/.py",
        "..py",
        "calc/...",
        "calc/management/commands/testify.py",
        "calc/commands/test.py",
    ],
)
def test_honest_additions_stay(path: str) -> None:
    assert plan([only_in_model(path)], SURROUNDINGS) == plan([], SURROUNDINGS)


@given(paths=st.lists(st.text(alphabet="ab./_-pyt\n ü", min_size=1, max_size=12), max_size=4))
def test_no_path_is_too_odd_to_be_sorted(paths: list[str]) -> None:
    """What raised here would keep a patch out of the score."""
    found = plan(
        [Change(path=path, in_final=path.endswith("y")) for path in paths],
        replace(SURROUNDINGS, final_paths=frozenset(paths), test_cmd=" ".join(paths)),
    )
    assert {*found.remove, *found.restore, *found.merge} <= {*paths}


def test_a_folder_of_files_does_not_become_a_module() -> None:
    """Many projects have `packaging/` for distributions, and pytest imports packaging."""
    known = replace(
        SURROUNDINGS,
        final_paths=frozenset(
            {"packaging/calc.spec", "json.md", "types.py", "lib/abc/__init__.py"}
        ),
        packages=("packaging==24.0",),
    )
    hiding = ["packaging/__init__.py", "packaging/__init__.cpython-312-x86_64-linux-gnu.so"]
    hiding += ["packaging.py", "json.py"]
    assert plan([only_in_model(each) for each in hiding], known).remove == tuple(sorted(hiding))
    honest = ["packaging/debian/rules", "packaging/tool.py", "types.pyi", "lib/abc/more.py"]
    assert plan([only_in_model(each) for each in honest], known).remove == ()


@pytest.mark.parametrize(
    "path", ["yaml/__init__.py", "yaml.py", "src/_yaml.pyi", "lib/six.py", "speedups.so"]
)
def test_a_module_is_not_shadowed_whatever_its_package_is_called(path: str) -> None:
    lying = ("yaml", "_yaml", "six.py", "speedups.cpython-312-x86_64-linux-gnu.so")
    installed = replace(SURROUNDINGS, installed=(*lying, "PyYAML-6.0.dist-info", "new.libs"))
    assert plan([only_in_model(path)], installed).remove == (path,)
    honest = [only_in_model("new/__init__.py"), only_in_model("calc/yaml.py")]
    assert plan(honest, installed).remove == ()


@pytest.mark.parametrize(
    "path",
    [
        *("calc/test_b/__init__.py", "calc/test_b/more.py", "calc/conftest/__init__.py"),
        "calc/test_b.cpython-312-x86_64-linux-gnu.so",
    ],
)
def test_what_would_be_imported_instead_of_a_test_is_removed(path: str) -> None:
    paths = frozenset({"calc/__init__.py", "calc/test_b.py", "calc/conftest.py", "calc/b.py"})
    known = replace(SURROUNDINGS, final_paths=paths)
    assert plan([only_in_model(path)], known).remove == (path,)
    honest = [only_in_model("calc/b/__init__.py"), only_in_model("calc/b.so")]
    assert plan(honest, known).remove == ()


def test_data_in_a_folder_of_a_tests_name_is_restored() -> None:
    paths = ("calc/test_b.py", "calc/test_b/sums.json", "calc/test_b.json", "calc/b/x", "calc/b.py")
    known = replace(SURROUNDINGS, final_paths=frozenset(paths))
    changes = [Change(path=path, in_final=True) for path in paths]
    assert plan(changes, known).restore == tuple(sorted(paths[:3]))


def test_a_command_that_tests_is_restored_unless_the_fix_is_about_it() -> None:
    path = "calc/management/commands/test.py"
    known = replace(SURROUNDINGS, final_paths=frozenset({path}))
    assert plan([Change(path=path, in_final=True)], known).restore == (path,)
    fixed = replace(known, fixed=frozenset({path}))
    assert plan([Change(path=path, in_final=True)], fixed).restore == ()


def test_files_that_configuration_names_are_restored() -> None:
    known = replace(SURROUNDINGS, final_paths=frozenset({"x.env"}), files=("x.env", "none.env"))
    assert plan([Change(path="x.env", in_final=True)], known).restore == ("x.env",)


def test_changed_and_deleted_tests_are_restored() -> None:
    changes = [
        Change(path="tests/test_a.py", in_final=True),
        Change(path="tests/test_b.py", in_final=True),
        Change(path="calc/__init__.py", in_final=True),
        Change(path="calc/gone.py", in_final=True),
    ]
    found = plan(changes, SURROUNDINGS)
    assert found.restore == ("tests/test_a.py", "tests/test_b.py")
    assert found.remove == ()


@pytest.mark.parametrize(
    ("test_cmd", "restored"),
    [
        ("python ./run.py", ("run.py",)),
        ("python -W ignore dev/run.py --all", ("dev/run.py",)),
        ("coverage run run.py && true", ("run.py",)),
        ("python -m pytest --cov=calc run.py", ()),
        ("pytest", ()),
    ],
)
def test_the_script_that_runs_the_tests_is_restored(
    test_cmd: str, restored: tuple[str, ...]
) -> None:
    paths = ("calc", "dev/run.py", "run.py")
    changes = [Change(path=path, in_final=True) for path in paths]
    known = replace(SURROUNDINGS, final_paths=frozenset(paths), test_cmd=test_cmd)
    assert plan(changes, known).restore == restored


@pytest.mark.parametrize(
    ("test_cmd", "restored"),
    [
        ("python -m pytest -c ci/a.ini --rootdir=. -p tools.plug", ("ci/a.ini", "tools/plug.py")),
        ("pytest -cci/a.ini -ptools.plug", ("ci/a.ini", "tools/plug.py")),
        ("pytest --config-file=ci/a.ini -p no:tools.plug", ("ci/a.ini",)),
        ("py.test --config-file ./ci/a.ini", ("ci/a.ini",)),
        ("pytest --ds=tools.settings", ("src/tools/settings/__init__.py",)),
        ("python -m django test --settings=tools.settings", ("src/tools/settings/__init__.py",)),
        ("pytest --ds='tools.settings", ()),  # no end of its word
        ("pytest -p tools.fixed -c", ()),
        ("coverage run --rcfile=ci/a.ini -m pytest", ("ci/a.ini",)),
        ("pytest --cov-config ci/a.ini", ("ci/a.ini",)),
    ],
)
def test_what_options_of_the_test_command_name_is_restored(
    test_cmd: str, restored: tuple[str, ...]
) -> None:
    """But not a plug-in that the fix is about."""
    paths = ("ci/a.ini", "src/tools/settings/__init__.py", "tools/fixed.py", "tools/plug.py")
    changes = [Change(path=path, in_final=True) for path in paths]
    known = replace(
        SURROUNDINGS,
        final_paths=frozenset(paths),
        test_cmd=test_cmd,
        fixed=frozenset({"tools/fixed.py"}),
    )
    assert plan(changes, known).restore == restored


@pytest.mark.parametrize(
    ("env_vars", "test_cmd", "restored"),
    [
        ((("PYTEST_ADDOPTS", "-c ci/a.ini -p tools.plug"),), "pytest",
         ("ci/a.ini", "tools/plug.py")),
        ((("PYTEST_ADDOPTS", "-p 'tools.plug"),), "pytest", ()),
        ((("PYTEST_ADDOPTS", "-ptools.fixed --ds tools.plug"),), "pytest", ("tools/plug.py",)),
        ((("DJANGO_SETTINGS_MODULE", "tools.settings"),), "python -m django test",
         ("src/tools/settings/__init__.py",)),
        ((("DJANGO_SETTINGS_MODULE", "inner.settings"),), "python site/manage.py test",
         ("site/inner/settings.py", "site/manage.py")),
        ((("PYTEST_PLUGINS", "tools.none, tools.plug"),), "pytest", ("tools/plug.py",)),
        ((("COVERAGE_PROCESS_START", "./ci/a.ini"),), "pytest", ("ci/a.ini",)),
        ((("BASH_ENV", "/testbed/ci/a.ini"),), "pytest", ("ci/a.ini",)),
        ((("LEVEL", "tools.plug"), ("BASH_ENV", "")), "pytest", ()),
        ((), "DJANGO_SETTINGS_MODULE=tools.plug python -m pytest", ("tools/plug.py",)),
        ((), "env PYTEST_ADDOPTS='-p tools.plug' pytest", ("tools/plug.py",)),
        ((), "pytest -o DJANGO_SETTINGS_MODULE=tools.plug", ("tools/plug.py",)),
        ((("PYTEST_ADDOPTS", "PYTEST_ADDOPTS=" * 5000),), "pytest", ()),
    ],
)  # fmt: skip
def test_what_variables_name_is_restored(
    env_vars: tuple[tuple[str, str], ...], test_cmd: str, restored: tuple[str, ...]
) -> None:
    paths = (
        *("ci/a.ini", "site/inner/settings.py", "site/manage.py", "src/tools/settings/__init__.py"),
        *("tools/fixed.py", "tools/plug.py"),
    )
    changes = [Change(path=path, in_final=True) for path in paths]
    known = replace(
        SURROUNDINGS,
        final_paths=frozenset(paths),
        test_cmd=test_cmd,
        env_vars=env_vars,
        fixed=frozenset({"tools/fixed.py"}),
    )
    assert plan(changes, known).restore == restored


def test_modules_beside_the_script_that_runs_the_tests_shadow_too() -> None:
    known = replace(
        SURROUNDINGS, final_paths=frozenset({"dev/run.py"}), test_cmd="python dev/run.py"
    )
    assert plan([only_in_model("dev/unittest.py")], known).remove == ("dev/unittest.py",)
    assert plan([only_in_model("dev/unittest.py")], SURROUNDINGS).remove == ()


@pytest.mark.parametrize(
    ("python", "removed"), [("3.8", True), ("3.11", True), ("3.13", False), ("", False)]
)
def test_the_standard_library_is_that_of_the_environment(python: str, removed: bool) -> None:
    """It may be older or newer than that of the interpreter that grades."""
    found = plan([only_in_model("telnetlib.py")], replace(SURROUNDINGS, python=python))
    assert bool(found.remove) is (removed or "telnetlib" in sys.stdlib_module_names)


def test_what_stands_where_tests_are_goes() -> None:
    changes = [
        Change(path="checks/tests/test_a.py", in_final=True),
        only_in_model("checks"),
    ]
    found = plan(changes, SURROUNDINGS)
    assert found.remove == ("checks",)
    assert found.restore == ("checks/tests/test_a.py",)


def test_shared_configuration_is_merged_also_where_the_model_deletes_it() -> None:
    changes = [
        Change(path="setup.cfg", in_final=True),
        only_in_model("tox.ini"),
        Change(path="pyproject.toml", in_final=True),
    ]
    found = plan(changes, SURROUNDINGS)
    assert found.merge == ("pyproject.toml", "setup.cfg", "tox.ini")
    assert found.restore == ()


def test_rules_go_by_path_component() -> None:
    assert is_protected("tests/test_a.py", PYTHON)
    assert not is_protected("contest/latest.py", PYTHON)


def test_what_the_tests_hold_is_restored_whatever_it_is_called() -> None:
    held = frozenset({"checks/check_a.py", "expected.txt", "checks/gone.py"})
    surroundings = replace(SURROUNDINGS, held=held)
    found = plan(
        [
            Change(path="checks/check_a.py", in_final=True),
            Change(path="expected.txt", in_model=False, in_final=True),
            Change(path="checks/gone.py", in_final=False),
            Change(path="checks/mine.py", in_final=False),
        ],
        surroundings,
    )
    assert found.restore == ("checks/check_a.py", "expected.txt")
    assert found.remove == ("checks/gone.py",)


def test_data_of_tests_that_is_called_like_configuration_is_restored_whole() -> None:
    paths = ("tests/data/pyproject.toml", "pyproject.toml", "sub/setup.cfg")
    found = plan([Change(path=path, in_final=True) for path in paths], SURROUNDINGS)
    assert (found.restore, found.merge) == (paths[:1], paths[1:])


def test_plug_ins_that_configuration_names_are_restored_unless_the_fix_changes_them() -> None:
    paths = ("tools/plug.py", "src/other/__init__.py")
    surroundings = replace(
        SURROUNDINGS, final_paths=frozenset(paths), plugins=("tools/plug", "other", "gone")
    )
    changes = [Change(path=path, in_final=True) for path in paths]
    assert plan(changes, surroundings).restore == (paths[1], paths[0])
    fixed = replace(surroundings, fixed=frozenset(paths[:1]))
    assert plan(changes, fixed).restore == paths[1:]


@pytest.mark.parametrize(
    ("path", "removed"),
    [
        ("src/zope/interface/__init__.py", True),
        ("zope/interface.py", True),
        ("src/zope/mine/__init__.py", False),
        ("src/zope/calc/more.py", False),
    ],
)
def test_parts_of_a_package_that_distributions_share_are_not_shadowed(
    path: str, *, removed: bool
) -> None:
    surroundings = replace(
        SURROUNDINGS,
        installed=("zope", "zope/interface", "zope/calc"),
        final_paths=frozenset({"src/zope/calc/__init__.py"}),
        source_paths=("src",),
    )
    assert plan([only_in_model(path)], surroundings).remove == ((path,) if removed else ())


def test_a_module_of_the_start_inside_of_a_package_is_not_put_back_as_the_fix() -> None:
    """Python imports it by itself only from the import path; elsewhere it is what is tested."""
    paths = ("calc/boot/sitecustomize.py", "src/sitecustomize.py", "sitecustomize/__init__.py")
    surroundings = replace(SURROUNDINGS, final_paths=frozenset(paths), fixed=frozenset(paths))
    changes = [Change(path=path, in_final=True) for path in paths]
    assert plan(changes, surroundings).restore == (paths[2], paths[1])
    assert plan(changes, replace(surroundings, fixed=frozenset())).restore == (
        paths[0],
        paths[2],
        paths[1],
    )
