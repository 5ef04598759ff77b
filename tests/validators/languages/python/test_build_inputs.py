"""Files that shape an install."""

from validators.languages.python.build_inputs import (
    build_inputs,
    declare_dependencies,
    packages_of,
)


def test_versions_and_manifests_shape_an_install_and_modules_do_not() -> None:
    paths = ["setup.py", "pkg/core.py", "pkg/__version__.py", "requirements/test.txt", "README.md"]
    assert build_inputs(paths) == ("pkg/__version__.py", "requirements/test.txt", "setup.py")


def test_top_level_packages_are_listed() -> None:
    assert packages_of(["src/a/x.py", "b.py", "a/y.py", "docs/z.txt"]) == ("a", "b.py")


def test_a_patch_of_a_manifest_declares_dependencies() -> None:
    assert declare_dependencies(b"--- a/setup.py\n+++ b/setup.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert not declare_dependencies(b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-setup.py\n+x\n")
