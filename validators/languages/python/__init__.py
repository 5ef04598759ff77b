"""Python: what its files are, how its projects are built and tested, what its runners report."""

from validators.languages.base import Language
from validators.languages.python.interpreters import RELEASED_AT, UNTESTED
from validators.languages.python.paths import classify, test_files
from validators.languages.python.proposals import manifest_paths, propose_recipes
from validators.languages.python.repair import repair
from validators.languages.python.report import READERS
from validators.languages.python.symptoms import diagnose

LANGUAGE = Language(
    name="python",
    versions=(*RELEASED_AT, *UNTESTED),
    classify=classify,
    manifest_paths=manifest_paths,
    propose_recipes=propose_recipes,
    repair=repair,
    diagnose=diagnose,
    test_files=test_files,
    read_report=READERS,
)
