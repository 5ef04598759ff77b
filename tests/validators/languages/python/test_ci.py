"""What CI says of interpreters."""

from validators.languages.python.ci import python_versions

WORKFLOW = """
on: push
jobs:
  test:
    strategy:
      matrix:
        python-version: [3.9, 3.10, "3.11", pypy3.9]
    steps:
      - run: |
          tox -e py312
"""


def test_a_matrix_tells_versions() -> None:
    files = {".github/workflows/ci.yml": WORKFLOW, ".travis.yml": "python:\n  - '3.6'\n  - 2.7\n"}
    assert set(python_versions(files)) == {"3.9", "3.10", "3.11", "3.12", "3.6"}


def test_a_broken_workflow_tells_nothing() -> None:
    assert python_versions({".github/workflows/ci.yml": "a: [\n"}) == ()
