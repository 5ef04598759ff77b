"""What `miner demo` ends in: the funnel, the instances, the grades, and what to try next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from miner.cli.differences import as_expected
from miner.cli.looks import tell_funnel
from miner.cli.speech import say, table
from miner.demo.expected import Expected
from miner.evaluate.predictions import EMPTY, GOLD
from miner.evaluate.report import rate
from miner.model import Evaluation, Snapshot
from miner.store import Funnel
from validators.model import Policy, Verdict
from validators.plural import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """All that the table tells. `differences`: a sentence for each thing that is not as it must."""

    funnel: Funnel
    verdicts: Mapping[str, Verdict]
    flags: Mapping[str, Sequence[str]]
    grades: tuple[Evaluation, ...]
    snapshot: Snapshot
    export: Path
    policy: Policy
    expected: Expected
    differences: tuple[str, ...]


def tell_ending(ending: Ending, *, seconds: float) -> None:
    """Print it."""
    tell_funnel(ending.funnel)
    states = {(e.instance_id, e.model_name_or_path): e.state.value for e in ending.grades}
    table(
        "Instances",
        ["instance", "FAIL_TO_PASS", "PASS_TO_PASS", "expected", "flags", "gold", "empty"],
        [
            [
                name,
                len(verdict.fail_to_pass),
                len(verdict.pass_to_pass),
                _check(ending.expected, name, verdict),
                " ".join(ending.flags.get(name, ())),
                states.get((name, GOLD), ""),
                states.get((name, EMPTY), ""),
            ]
            for name, verdict in sorted(ending.verdicts.items())
        ],
    )
    for model in (GOLD, EMPTY):
        found = rate([e for e in ending.grades if e.model_name_or_path == model])
        share = f"{100 * found.share:.0f} %" if found.share is not None else "nothing graded"
        say(f"{model}: {found.resolved} of {found.total} resolved, {share}")
    policy = ending.policy
    probes = "with probes" if policy.probes else "no probes"
    repeats = counted(policy.repeats, "time")
    say(f"policy {policy.name}: every run {repeats}, {probes}; nightly uses full")
    say(f"snapshot {ending.snapshot.name}: sha256 {ending.snapshot.content_hash}")
    say(f"exported to {ending.export}")
    say(counted(round(seconds), "second"))
    for difference in ending.differences:
        say(f"DIFFERS  {difference}")
    if not ending.differences:
        say("everything is as it must be")
    _tell_next(ending)


def _check(expected: Expected, name: str, verdict: Verdict) -> str:
    want = expected.by_instance_id().get(name)
    if want is None:
        return "no"
    return "✓" if as_expected(want, verdict.fail_to_pass) else "NO"


def _tell_next(ending: Ending) -> None:
    folder = ending.export.parent
    some = next(iter(sorted(ending.verdicts)), "INSTANCE")
    say("\nnext, with this database (export MINER_DATA_DIR=" + str(folder) + "):")
    say(f"  miner show {some}")
    say("  miner funnel --repo demo/sqlparse")
    say(f"  miner export --cutoff 2024-01-01 --out {folder / 'young.jsonl'}")
    say("  miner leaderboard " + str(ending.export))
    say("with GitHub (export GITHUB_TOKEN=…):")
    say("  miner db upgrade && miner run --repo owner/name --since 30d")
