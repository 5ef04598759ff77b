"""One install run: the steps of `installation.py` in a container, each with a name for its failure.

What the guest fails is a value with its log. A dead engine, host or package index is an exception,
and so is a step of our own that fails before anything of the guest ran, or that is too slow: it
says nothing of the project.
"""

import io
import re
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from validators import infra, installation
from validators.archive import pack
from validators.engine import TREE, VENV, Container, Progress
from validators.errors import EngineUnavailableError
from validators.languages.python import failures
from validators.languages.python.as_of import fallback, past_fallback, pytest_of
from validators.languages.python.build_inputs import declare_dependencies
from validators.model import (
    BuildFailure,
    BuildSettings,
    FailureClass,
    Outcome,
    ProjectInstall,
    Recipe,
    Tree,
)

SCRATCH = "/tmp/miner"  # noqa: S108  # a tmpfs of the container: never in what is committed
_AFTER = f"{SCRATCH}/after"
_WANTED = f"{SCRATCH}/requirements.in"
_LOCK = f"{SCRATCH}/lock.txt"
_YOUNGER = f"{SCRATCH}/younger.txt"

_PATH = f"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:{VENV}/bin"
"""The system first: an environment may hold another uv."""

_NO_DATES = (
    "The package index does not say when its files were uploaded, so packages cannot be chosen as"
    " of a date: set MINER_INDEX_URL to one that does (PEP 700)."
)
_OURS_S = 300.0
"""For steps of our own; trees of a hundred thousand files take a minute."""

_READ_MB = 64


class StepFailedError(Exception):
    """The guest failed a step; carries the value that `build_environment` returns."""

    def __init__(self, failure: BuildFailure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """The install of one recipe on one tree in one container."""

    container: Container
    tree: Tree
    recipe: Recipe
    settings: BuildSettings
    trust: Mapping[str, str]  # from base_images.trust
    progress: Progress

    def prepare(self) -> None:
        """System packages, the tree as a repository of one commit, an empty environment."""
        for line in installation.apt_lines(self.recipe):
            self._guests("apt", line, root=True)
        folders = f"install -d -o guest -g guest {VENV} {SCRATCH} /opt/miner"
        self._first("prepare", folders, root=True)
        _must(self.container.put(TREE, self.tree.tar), "prepare")
        lines = installation.tree_lines(self.tree)
        self._first("prepare", " && ".join([f"cd {TREE}", *lines]))
        self._first("venv", installation.venv_line(self.recipe))

    def lock(self, patches: Sequence[bytes]) -> str:
        """The lock: the recipe's own, else what its requirements resolve to as of its date."""
        if self.recipe.lock is not None:
            return self.recipe.lock
        before = self._resolve(TREE)
        if not any(map(declare_dependencies, patches)) or not self._apply(patches):
            return before
        # what the fix needs, and what only the tree before it needed
        after = self._resolve(_AFTER, preferred=before)
        gone = _pins_missing(before, after)
        return self._resolve(_AFTER, extra=gone, preferred=after) if gone else after

    def finish(self, lock: str) -> tuple[str, ...]:
        """Install `lock` and the project, keep what it left in the tree; the freeze is returned."""
        recipe = self.recipe
        self._put("install", SCRATCH, pack({"lock.txt": lock.encode()}))
        if lock.strip():
            self._guests("install", installation.install_line(recipe, _LOCK))
        for line in recipe.pre_install:
            self._guests("pre_install", line)
        if project := installation.project_line(recipe):
            self._guests("project", installation.beside(project, installation.compile_line()))
        compiled = project is not None and recipe.project_install is ProjectInstall.EDITABLE
        tail = [] if compiled else [installation.compile_line()]
        tail += [installation.bare_metadata_line(), f"cd {TREE} && {installation.generated_line()}"]
        self._guests("finish", "; ".join(tail))
        frozen = self._last("finish", f"uv pip freeze -q --no-config --python {VENV}/bin/python")
        return tuple(sorted(_packages(frozen.output.decode("utf-8", "replace"))))

    def seal(self) -> None:
        """Hand the environment to root: no run may change it."""
        self._last("finish", f"chown -R root:root {VENV} /opt/miner", root=True)

    def generated(self) -> Sequence[str]:
        """Paths in the tree of what the install left there."""
        listed = self._last("finish", f"tar --list --file={installation.GENERATED}")
        return tuple(listed.output.decode("utf-8", "replace").splitlines())

    def _resolve(self, tree: str, *, extra: Sequence[str] = (), preferred: str = "") -> str:
        """`preferred` is what stands in the lock that is written again: uv prefers its versions."""
        try:
            text = installation.requirements_text(self.recipe, tree=tree)
        except installation.OutsideTreeError as outside:
            failure = _failure("resolve", FailureClass.OUTSIDE_TREE, outside.path)
            raise StepFailedError(failure) from outside
        text += "".join(f"{line}\n" for line in extra)
        self._put("resolve", SCRATCH, pack({"requirements.in": text.encode()}))
        date = self.recipe.cutoff_at
        self.progress("resolving" if date is None else f"resolving as of {date:%Y-%m-%d}")
        lock = self._compiled(self.recipe, _LOCK, tree=tree)
        ancient = fallback(lock, self.recipe)
        if ancient is not None and not self._is_pinned(lock, tree=tree, preferred=preferred):
            raise StepFailedError(_failure("resolve", FailureClass.REUPLOADED, ancient))
        return lock

    def _is_pinned(self, lock: str, *, tree: str, preferred: str) -> bool:
        """Whether its pytest is what something asks for, wherever that stands.

        Then what pytest needs may be younger, and it is the same. What can then not be resolved is
        not the same.
        """
        self.progress(f"resolving once more, as {pytest_of(lock)} is old")
        self._put("resolve", SCRATCH, pack({"younger.txt": preferred.encode()}))
        try:
            younger = self._compiled(past_fallback(self.recipe), _YOUNGER, tree=tree)
        except StepFailedError:
            return False
        return pytest_of(younger) == pytest_of(lock)

    def _compiled(self, recipe: Recipe, path: str, *, tree: str) -> str:
        """What `requirements.in` resolves to by the dates of a recipe, written to `path`."""
        self._guests("resolve", installation.resolve_line(recipe, _WANTED, path, tree=tree))
        packed = self.container.get(path, limit_mb=_READ_MB)
        if packed is None:
            failure = _failure("resolve", FailureClass.RESOURCE_LIMIT, "the lock is too large")
            raise StepFailedError(failure)
        written = _only_text(packed)
        if written is None:  # builds of packages ran, and may write there
            raise StepFailedError(_failure("resolve", FailureClass.OTHER, "the lock is no text"))
        return installation.without_project(written)

    def _apply(self, patches: Sequence[bytes]) -> bool:
        """Make the tree with the patches beside the tree; False when they do not apply."""
        files = {f"{number}.patch": patch for number, patch in enumerate(patches) if patch}
        self._put("resolve", SCRATCH, pack(files))
        names = " ".join(f"{SCRATCH}/{name}" for name in files)
        self._last("resolve", f"git worktree add -q --detach {_AFTER} HEAD")
        applied = self._exec("resolve", f"cd {_AFTER} && git apply --whitespace=nowarn {names}")
        if applied.timed_out or _is_of_room(applied):
            _left(applied, "resolve")
        return applied.ok

    def _put(self, step: str, path: str, tar: bytes) -> None:
        """Builds of packages may have run before."""
        _left(self.container.put(path, tar), step)

    def _first(self, step: str, line: str, *, root: bool = False) -> None:
        """A step of ours before anything of the guest ran: only a lack of room is its failure."""
        _must(self._exec(step, line, root=root), step)

    def _last(self, step: str, line: str, *, root: bool = False) -> Outcome:
        """A step of ours on what the guest left, which may be why it fails."""
        return _left(self._exec(step, line, root=root), step)

    def _guests(self, step: str, line: str, *, root: bool = False) -> Outcome:
        """A step that runs what the recipe or the project says."""
        outcome = self._exec(step, line, root=root, timeout_s=self.recipe.timeout_s)
        if outcome.ok:
            return outcome
        said = failures.own_words(outcome.output)
        fault = infra.cause(said)
        if fault is not None and not failures.is_of_an_address(said):
            raise EngineUnavailableError(infra.sentence(fault))
        if failures.lacks_dates(said):
            raise EngineUnavailableError(_NO_DATES)
        raise StepFailedError(failures.classify(step, outcome))

    def _exec(
        self, step: str, line: str, *, root: bool = False, timeout_s: float = _OURS_S
    ) -> Outcome:
        return self.container.exec(
            ("/bin/bash", "-c", line),
            timeout_s=timeout_s,
            root=root,
            env=self._env(step),
            workdir=TREE,
        )

    def _env(self, step: str) -> Mapping[str, str]:
        """The recipe's variables; the index and the CA bundle of here, which only installs get."""
        env = dict(self.recipe.env_vars) | dict(self.trust)
        if step != "pre_install":  # a recipe's own commands mean the environment's tools
            env["PATH"] = _PATH
        if self.settings.index_url is not None:
            env["UV_DEFAULT_INDEX"] = self.settings.index_url
        return env


def _must(outcome: Outcome, step: str) -> None:
    """Raise for a failure that the guest had no part in."""
    if not outcome.ok and not _is_of_room(outcome):
        raise _ours_failed(outcome, step)
    _left(outcome, step)


def _left(outcome: Outcome, step: str) -> Outcome:
    """Raise for what was too slow; what fails otherwise is the guest's failure."""
    if outcome.timed_out:
        raise _ours_failed(outcome, step)
    if not outcome.ok:
        raise StepFailedError(failures.classify(step, outcome))
    return outcome


def _is_of_room(outcome: Outcome) -> bool:
    """It ended for want of disk or memory: of the container's share, as the host's is raised."""
    if outcome.ok or outcome.timed_out:
        return False
    return failures.classify("", outcome).failure_class is FailureClass.RESOURCE_LIMIT


def _ours_failed(outcome: Outcome, step: str) -> EngineUnavailableError:
    words = outcome.output[-300:].decode("utf-8", "replace").split()
    said = " ".join(words) or "it said nothing"
    how = "was too slow" if outcome.timed_out else "failed"
    return EngineUnavailableError(
        f"Step {step} of an install {how}, which is no fault of the project ({said}): check the"
        " container engine's machine, then try again."
    )


def _failure(step: str, failure_class: FailureClass, detail: str) -> BuildFailure:
    outcome = Outcome(exit_code=1, output=f"{failure_class}: {detail}\n".encode())
    return BuildFailure(outcome=outcome, failure_class=failure_class, detail=detail, step=step)


def _only_text(packed: bytes) -> str | None:
    """The text of the one file in a tar; None when it is something else."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        member = archive.next()
        if member is None or not member.isfile():
            return None
        content = archive.extractfile(member)
        try:
            return content.read().decode() if content is not None else None
        except UnicodeDecodeError:
            return None


def _pins_missing(lock: str, newer: str) -> Sequence[str]:
    """`name==version` of what `lock` holds and `newer` does not."""
    kept = _pins(newer)
    return tuple(f"{name}=={pin}" for name, pin in _pins(lock).items() if name not in kept)


def _pins(lock: str) -> Mapping[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", lock, re.MULTILINE))


def _packages(frozen: str) -> Sequence[str]:
    """The freeze without the project, whose path means nothing elsewhere."""
    return [line for line in frozen.splitlines() if "==" in line and not line.startswith("-e")]
