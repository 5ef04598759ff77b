"""What tests need by their own words."""

from validators.languages.python.imports import builds_suites, needs_of_tests

TEST = """
import os, yaml
import dummy_module
from collections import abc
from tests.helpers import x
from mypkg.core import y
from . import z
import pytest
try:
    import optional
except ImportError:
    optional = None
if TYPE_CHECKING:
    import typed

@pytest.mark.asyncio
async def test_a(mocker, own):
    import IPython
    import made_by_the_test
"""


def test_imports_fixtures_and_marks_are_told() -> None:
    needs = needs_of_tests(
        {"tests/test_a.py": TEST, "tests/conftest.py": "def own(): pass"},
        ["tests/test_a.py", "tests/helpers.py", "src/mypkg/core.py", "dummy_module.py"],
    )
    assert needs.modules == {"yaml"}
    assert needs.inner == {"IPython", "made_by_the_test"}
    assert needs.plugins == {"pytest-mock", "pytest-asyncio"}


def test_a_fixture_of_the_projects_own_needs_no_plugin() -> None:
    files = {"tests/test_a.py": "def test_a(mocker): pass", "conftest.py": "def mocker(): pass"}
    assert needs_of_tests(files, list(files)).plugins == frozenset()


def test_sources_are_not_read_for_needs_of_tests() -> None:
    assert needs_of_tests({"src/a.py": "import yaml"}, ["src/a.py"]).modules == frozenset()


def test_a_file_that_does_not_parse_breaks_nothing() -> None:
    assert needs_of_tests({"tests/test_a.py": "print 'x'"}, []).modules == frozenset()


def test_cases_made_in_functions_are_for_unittest() -> None:
    made = (
        "import unittest\ndef make():\n    class A(unittest.TestCase):\n        pass\n"
        "def load_tests(l, t, p):\n    return t\n"
    )
    assert builds_suites({"tests/test_a.py": made})
    plain = "import doctest\ndef load_tests(l, t, p):\n    return t\nclass A(TestCase): pass\n"
    assert not builds_suites({"tests/test_a.py": plain})


def test_of_a_namespace_the_part_is_told_that_has_a_distribution() -> None:
    text = (
        "import azure.storage.blob.aio\nfrom google.cloud import storage, pubsub_v1\n"
        "from zope.interface import implementer\nfrom zope import event, here\nimport yaml.nodes\n"
    )
    needs = needs_of_tests({"tests/test_a.py": text}, ["src/zope/here/__init__.py"])
    assert needs.modules == {
        *("azure.storage.blob", "google.cloud.storage", "google.cloud.pubsub_v1"),
        *("zope.interface", "zope.event", "yaml"),
    }
