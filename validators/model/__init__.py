"""The values that flow through verification and grading. No behaviour beyond small properties.

    containers.py     what an engine is asked for, and what it has
    environments.py   recipes, what they build, and why they could not
    tasks.py          what there is to verify or to grade, and how hard
    runs.py           one execution of the tests, and what it says of each
    findings.py       what runs together say: verdicts, examinations, grades

All of them are imported from here.
"""

from validators.model.containers import Cache, Image, Limits, Outcome, StoredImage
from validators.model.environments import (
    BuildFailure,
    BuildSettings,
    Diagnosis,
    Environment,
    FailureClass,
    Maker,
    ProjectInstall,
    Recipe,
)
from validators.model.findings import Attempt, Examination, Grade, Tally, Verdict
from validators.model.runs import Flaw, Phase, Run, TestResult, TestStatus
from validators.model.tasks import FULL, POLICIES, QUICK, SUITES, GradingTask, Policy, Task, Tree

__all__ = [
    "FULL",
    "POLICIES",
    "QUICK",
    "SUITES",
    "Attempt",
    "BuildFailure",
    "BuildSettings",
    "Cache",
    "Diagnosis",
    "Environment",
    "Examination",
    "FailureClass",
    "Flaw",
    "Grade",
    "GradingTask",
    "Image",
    "Limits",
    "Maker",
    "Outcome",
    "Phase",
    "Policy",
    "ProjectInstall",
    "Recipe",
    "Run",
    "StoredImage",
    "Tally",
    "Task",
    "TestResult",
    "TestStatus",
    "Tree",
    "Verdict",
]
