"""Do real projects get a working environment? The release current on a date, from its sdist.

    python -m benchmarks.environments [--date 2024-06-01] [--markdown] [--made] [project …]

Working: the project's own suite is collected without an error and at least 95 % of what is not
skipped passes. `--made` tries the made repositories instead, with the index of that date. One JSON
line a project, then docs' table with `--markdown`, and last a JSON line of figures: figure → value,
goal, ok. The goals are for the forty, and for the first twenty of them at the older date.
"""

import argparse
import hashlib
import io
import json
import re
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from packaging.version import InvalidVersion, Version
from pypi_simple import PyPISimple

from benchmarks.made import MADE
from miner.demo.sdists import Sdist, SdistCache, source_tree
from validators.certificates import system_certificates
from validators.engine import ContainerEngine
from validators.engines import connect
from validators.environment import build_environment
from validators.languages import LANGUAGES
from validators.languages.python.paths import is_test_module
from validators.model import (
    BuildFailure,
    BuildSettings,
    Environment,
    Flaw,
    Maker,
    Phase,
    Recipe,
    Run,
    TestStatus,
    Tree,
    Verdict,
)
from validators.procession import runs_of
from validators.trial import Trial

PROJECTS = (
    *("attrs", "click", "werkzeug", "flask", "itsdangerous", "jinja2", "markupsafe", "pluggy"),
    *("packaging", "sqlparse", "jsonschema", "jsonpointer", "marshmallow", "cerberus"),
    *("voluptuous", "pydash", "toolz", "more-itertools", "boltons", "python-dateutil", "cattrs"),
    *("iniconfig", "pathspec", "tomlkit", "tomli", "cachetools", "humanize", "arrow", "markdown"),
    *("mistune", "soupsieve", "parsel", "w3lib", "tinydb", "networkx", "tenacity", "freezegun"),
    *("responses", "simplejson", "pyyaml"),
)
"""Forty projects; the first twenty are also tried at 2020-06-01."""

RESERVE = (
    "httpx",
    "starlette",
    "pyparsing",
    "natsort",
    "wcwidth",
    "xmltodict",
    "babel",
    "dictdiffer",
)
"""For those whose sdist of that date ships no tests, in turn."""

NO_TESTS = "its sdist ships no tests"

WORKING_SHARE = 0.95
ATTEMPTS = 6
_PYTHON = LANGUAGES["python"]
_PASSES = frozenset({TestStatus.PASSED, TestStatus.XFAIL, TestStatus.XPASS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of one project."""

    project: str
    version: str
    python: str
    working: bool
    passed: int
    bad: int
    uncollected: int
    attempts: tuple[str, ...]
    build_s: float
    run_s: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A project at a date: its tree, and the texts of its manifests (of other paths: "")."""

    project: str
    version: str
    tree: Tree
    files: Mapping[str, str]


def main() -> None:
    """Try every project in turn and print what became of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("projects", nargs="*", default=PROJECTS)
    parser.add_argument("--date", type=datetime.fromisoformat, default=datetime(2024, 6, 1))  # noqa: DTZ001
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--made", action="store_true", help="the made repositories")
    arguments = parser.parse_args()
    date: datetime = arguments.date.replace(tzinfo=UTC)
    settings = BuildSettings(ca_bundle=system_certificates())
    engine = connect()
    rows = []
    try:
        with SdistCache(Path(tempfile.gettempdir()) / "miner-benchmark-sdists") as cache:
            queue = [*(MADE if arguments.made else arguments.projects)]
            reserve = [*RESERVE] if queue == [*PROJECTS] else []
            while queue:
                project = queue.pop(0)
                made = arguments.made
                try:
                    subject = _made(project, date) if made else released(project, date, cache)
                except LookupError as error:
                    print(error, file=sys.stderr)
                    continue
                rows.append(_tried(subject, date, engine=engine, settings=settings))
                print(json.dumps(asdict(rows[-1])), flush=True)
                if rows[-1].detail == NO_TESTS and reserve:
                    queue.append(reserve.pop(0))
    finally:
        engine.close()
    if arguments.markdown:
        sys.stdout.write(_markdown(rows))
    print(json.dumps(_figures(rows, goal=_goal(arguments.made, [*arguments.projects]))))


def _figures(rows: Sequence[Row], *, goal: int | None) -> dict[str, dict[str, object]]:
    """Figure → value, goal, ok."""
    figures: dict[str, tuple[float, float | None]] = {
        "working": (sum(row.working for row in rows), goal),
        "with_tests": (sum(row.detail != NO_TESTS for row in rows), None),
        "build_s": (round(sum(row.build_s for row in rows), 1), None),
    }
    return {
        name: {"value": value, "goal": goal, "ok": goal is None or value >= goal}
        for name, (value, goal) in figures.items()
    }


def _goal(made: bool, projects: Sequence[str]) -> int | None:  # noqa: FBT001
    """How many are to work, where that was ever said."""
    if made:
        return len(MADE)
    return {PROJECTS: 36, PROJECTS[:20]: 16}.get(tuple(projects))


def _tried(
    subject: Subject, date: datetime, *, engine: ContainerEngine, settings: BuildSettings
) -> Row:
    files = subject.files
    texts = {path: files[path] for path in _PYTHON.manifest_paths(list(files))}
    queue = [*_PYTHON.propose_recipes(texts, list(files), date)]
    if not any(is_test_module(PurePosixPath(path)) for path in files):
        return _row(subject, queue[0], Counter(), build_s=0.0, run_s=0.0, detail=NO_TESTS)
    best: Row | None = None
    reasons: list[str] = []
    seen: set[Recipe] = set()
    while queue and len(reasons) < ATTEMPTS:
        recipe, *queue = queue
        if recipe in seen:
            continue
        seen.add(recipe)
        started = time.monotonic()
        built = build_environment(
            subject.tree,
            recipe,
            patches=(),
            repository=re.sub(r"\W+", "-", subject.project),
            maker=Maker.MINER,
            engine=engine,
            settings=settings,
            progress=_silent,
        )
        build_s = time.monotonic() - started
        row, problem = _outcome(subject, recipe, built, engine=engine, build_s=build_s)
        reasons.append(row.detail or "seen")
        best = row if best is None or row.passed > best.passed else best
        if row.working:
            break
        repairs = _PYTHON.repair(recipe, problem, files)
        queue = [*repairs[:1], *queue, *repairs[1:]]
    if best is None:
        raise SystemExit(f"{subject.project}: no recipe was proposed")
    return Row(**{**asdict(best), "attempts": tuple(reasons)})


def _outcome(
    subject: Subject,
    recipe: Recipe,
    built: Environment | BuildFailure,
    *,
    engine: ContainerEngine,
    build_s: float,
) -> tuple[Row, BuildFailure | Verdict]:
    """The row of one attempt, and the problem that a repair would be asked about."""
    if isinstance(built, BuildFailure):
        detail = f"{built.step}: {built.failure_class}: {built.detail}"
        return _row(subject, recipe, Counter(), build_s=build_s, run_s=0.0, detail=detail), built
    started = time.monotonic()
    trials = (Trial(phase=Phase.AFTER),)
    suite = _suite(list(subject.files), recipe)
    (run,) = runs_of(subject.tree, built, trials, selection=suite, engine=engine)
    run_s = time.monotonic() - started
    detail = f"{run.flaw}: {run.detail[-300:]}" if run.flaw is not None else _bad(run)
    failing = Verdict(flaw=Flaw.NO_FAIL_TO_PASS, runs=(run,))
    if detail and (missing := _PYTHON.diagnose(failing, subject.files)) is not None:
        detail = f"{missing}; {detail}"
    row = _row(subject, recipe, _counts(run), build_s=build_s, run_s=run_s, detail=detail)
    flaw = run.flaw if run.flaw is Flaw.NO_TESTS_SEEN else None
    return row, Verdict(flaw=flaw, runs=(run,))


def _suite(paths: Sequence[str], recipe: Recipe) -> Sequence[str]:
    """Nothing, which is all that a runner finds; by path where it would not find the tests."""
    tests = [path for path in paths if is_test_module(PurePosixPath(path))]
    found = any(PurePosixPath(path).name.startswith("test_") for path in tests)
    return () if found else _PYTHON.test_files(tests, recipe)


def _counts(run: Run) -> Counter[str]:
    counts: Counter[str] = Counter()
    for identifier, result in run.results.items():
        if result.status in _PASSES:
            counts["passed"] += 1
        elif result.phase == "collect" and "::" not in identifier:
            # a class that is no test class is the project's own affair
            if result.status is TestStatus.SKIPPED:
                continue
            counts["uncollected"] += 1
        elif result.status is not TestStatus.SKIPPED:
            counts["bad"] += 1
    return counts


def _bad(run: Run) -> str:
    """The first few that did not pass, with what they said."""
    said = [
        f"{identifier}: {result.message.strip().splitlines()[-1] if result.message else ''}"[:160]
        for identifier, result in run.results.items()
        if result.status not in _PASSES and result.status is not TestStatus.SKIPPED
    ]
    return "; ".join(said[:3])


def _row(
    subject: Subject,
    recipe: Recipe,
    counts: Mapping[str, int],
    *,
    build_s: float,
    run_s: float,
    detail: str,
) -> Row:
    passed, bad = counts.get("passed", 0), counts.get("bad", 0)
    uncollected = counts.get("uncollected", 0)
    enough = passed > 0 and passed >= WORKING_SHARE * (passed + bad)
    return Row(
        project=subject.project,
        version=subject.version,
        python=recipe.python,
        working=enough and not uncollected,
        passed=passed,
        bad=bad,
        uncollected=uncollected,
        attempts=(),
        build_s=round(build_s, 1),
        run_s=round(run_s, 1),
        detail=detail,
    )


def _current(project: str, date: datetime) -> Sdist:
    """The newest final release that had an sdist on the index at `date`."""
    found: list[tuple[Version, Sdist]] = []
    with PyPISimple() as index:
        page = index.get_project_page(project)
    for package in page.packages:
        known = package.version is not None and package.upload_time is not None
        if package.package_type != "sdist" or not known or package.is_yanked:
            continue
        try:
            version = Version(str(package.version))
        except InvalidVersion:
            continue
        uploaded_at = package.upload_time
        assert uploaded_at is not None  # noqa: S101  # told above
        if version.is_prerelease or uploaded_at > date or not package.filename.endswith(".gz"):
            continue
        found.append((version, Sdist(
            package=project, version=str(version), file=package.filename,
            sha256=package.digests["sha256"], uploaded_at=uploaded_at,
        )))  # fmt: skip
    if not found:
        raise LookupError(f"{project}: no sdist of it was on the index at {date:%Y-%m-%d}")
    return max(found, key=lambda pair: pair[0])[1]


def released(project: str, date: datetime, cache: SdistCache) -> Subject:
    """The release of a project that was current at `date`. LookupError: there was none."""
    sdist = _current(project, date)
    archive = cache.fetch(sdist).read_bytes()
    files = {path: file.data for path, file in source_tree(archive).items()}
    return _subject(project, sdist.version, files, sdist.uploaded_at)


def _made(name: str, date: datetime) -> Subject:
    return _subject(name, "1", MADE[name], date)


def _subject(project: str, version: str, files: Mapping[str, bytes], date: datetime) -> Subject:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), 0o755 if path.endswith(".sh") else 0o644
            tar.addfile(member, io.BytesIO(content))
    packed = buffer.getvalue()
    tree = Tree(
        commit=hashlib.sha256(packed).hexdigest()[:40],
        committed_at=date,
        tar=packed,
        nearest_tag=f"v{version}",
    )
    wanted = set(_PYTHON.manifest_paths(list(files)))
    texts = {
        path: files[path].decode("utf-8", "replace") if path in wanted else "" for path in files
    }
    return Subject(project, version, tree, texts)


def _markdown(rows: Sequence[Row]) -> str:
    lines = ["| project | Python | working | passed | failed | uncollected | recipes | build s |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for row in rows:
        mark = "yes" if row.working else f"no: {row.detail[:80]}".replace("|", "/")
        lines.append(
            f"| {row.project} {row.version} | {row.python} | {mark} | {row.passed} | {row.bad}"
            f" | {row.uncollected} | {len(row.attempts)} | {row.build_s} |"
        )
    return "\n".join(lines) + "\n"


def _silent(line: str) -> None:
    del line


if __name__ == "__main__":
    main()
