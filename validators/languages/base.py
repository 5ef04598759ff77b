"""What the product knows of a language: data and functions, no inheritance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath

from validators.model import BuildFailure, Diagnosis, Recipe, TestResult, Verdict
from validators.transcript import Event


class FileClass(StrEnum):
    """What a changed file is. TEST goes into the test patch, all else into the gold patch."""

    TEST = "test"
    SOURCE = "source"
    DOCS = "docs"
    LOCK = "lock"
    CI = "ci"
    OTHER = "other"


ReportReader = Callable[[Sequence[Event]], Mapping[str, TestResult]]
"""Our reporter's records → test id → result. No records: no tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language.

    `propose_recipes`: manifest files (path → text) and the date → recipes, likeliest first.
    `manifest_paths`: which of a tree's paths `propose_recipes` wants to read.
    `repair`: a recipe, what went wrong with it → the recipes worth trying next (maybe none).
    `diagnose`: a verdict, the tree's files (texts of manifests only) → what its tests miss.
    `test_files`: of the test patch's paths, those a runner can be pointed at, in order.
    `read_report`: by test runner, our reporter's records → test id → result.
    `versions`: the interpreters that a recipe may ask for.
    """

    name: str
    versions: Sequence[str]
    classify: Callable[[PurePosixPath], FileClass]
    manifest_paths: Callable[[Sequence[str]], Sequence[str]]
    propose_recipes: Callable[[Mapping[str, str], Sequence[str], datetime], Sequence[Recipe]]
    repair: Callable[[Recipe, BuildFailure | Verdict, Mapping[str, str]], Sequence[Recipe]]
    diagnose: Callable[[Verdict, Mapping[str, str]], Diagnosis | None]
    test_files: Callable[[Sequence[str], Recipe], Sequence[str]]
    read_report: Mapping[str, ReportReader]
