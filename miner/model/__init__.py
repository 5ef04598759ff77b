"""The rows that flow from stage to stage. Frozen values; aware UTC datetimes; tuples.

    pulls.py      what was merged, as a source and git say it
    tasks.py      candidates, instances, and the recorded noes on the way
    published.py  snapshots, predictions, evaluations
    stages.py     the stages, what they report, the clock they are given

All of them are imported from here.
"""

from miner.model.published import Evaluation, EvaluationState, Member, Prediction, Snapshot, Split
from miner.model.pulls import (
    EVER,
    Actor,
    ActorKind,
    Base,
    ChangedFile,
    ChangeType,
    Comment,
    Commit,
    Depth,
    Issue,
    Link,
    LinkSource,
    LinkStrength,
    MergeMethod,
    Place,
    PullRequest,
    Repo,
    TextVersion,
)
from miner.model.stages import Clock, IncompleteError, Stage, StageReport
from miner.model.tasks import (
    Candidate,
    DueInstance,
    Examined,
    Gate,
    Instance,
    Rejection,
    Signal,
    StoredRecipe,
)

__all__ = [
    "EVER",
    "Actor",
    "ActorKind",
    "Base",
    "Candidate",
    "ChangeType",
    "ChangedFile",
    "Clock",
    "Comment",
    "Commit",
    "Depth",
    "DueInstance",
    "Evaluation",
    "EvaluationState",
    "Examined",
    "Gate",
    "IncompleteError",
    "Instance",
    "Issue",
    "Link",
    "LinkSource",
    "LinkStrength",
    "Member",
    "MergeMethod",
    "Place",
    "Prediction",
    "PullRequest",
    "Rejection",
    "Repo",
    "Signal",
    "Snapshot",
    "Split",
    "Stage",
    "StageReport",
    "StoredRecipe",
    "TextVersion",
]
