"""Which distribution provides a module: the right one, not the one of the same name."""

import pytest

from validators.languages.python import distributions


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        ("yaml", "pyyaml"),
        ("bson", "pymongo"),
        ("dateutil", "python-dateutil"),
        ("attr", "attrs"),
        ("PIL", "pillow"),
        ("pkg_resources", "setuptools"),
        ("freezegun", "freezegun"),
        ("some_thing", "some-thing"),
    ],
)
def test_a_module_names_its_distribution(module: str, distribution: str) -> None:
    assert distributions.distribution_of(module) == distribution


@pytest.mark.parametrize(
    ("option", "plugin"),
    [
        ("--cov=pkg", "pytest-cov"),
        ("--cov-fail-under", "pytest-cov"),
        ("-n4", "pytest-xdist"),
        ("--asyncio-mode=auto", "pytest-asyncio"),
        ("--doctest-modules", None),
        ("--no-such", None),
    ],
)
def test_an_option_names_its_plugin(option: str, plugin: str | None) -> None:
    assert distributions.plugin_of_option(option) == plugin
