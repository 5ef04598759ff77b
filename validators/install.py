"""One install run: the lines of `installation.py` in a container, in order and side by side."""

import tarfile
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from shlex import quote

from validators import installation, locks
from validators.archive import guests_members, pack
from validators.engine import KEPT, TREE, VENV, Progress
from validators.install_steps import StepFailedError, Steps, blame_machine, is_of_room, left
from validators.languages.python import failures
from validators.languages.python.ahead import folders_before
from validators.languages.python.as_of import fallback, past_fallback, pytest_of
from validators.languages.python.build_inputs import declare_dependencies
from validators.languages.python.build_tools import build_tools
from validators.languages.python.requirement_files import from_elsewhere
from validators.model import (
    BuildFailure,
    FailureClass,
    Outcome,
    ProjectInstall,
    Recipe,
    Tree,
)
from validators.tree import read_tree

SCRATCH = "/tmp/miner"  # noqa: S108  # a tmpfs of the container: never in what is committed
_AFTER = f"{SCRATCH}/after"
_ASIDE = f"{SCRATCH}/aside"
_WANTED = f"{SCRATCH}/requirements.in"
_LOCK = f"{SCRATCH}/lock.txt"
_YOUNGER = f"{SCRATCH}/younger.txt"
_TOOLS = f"{SCRATCH}/tools.txt"
_READ_MB = 64
_GUESTS_PARTS = 2  # of the last step: the project, and what is done about it


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What is in an environment: its freeze, the paths that the install left in the tree, and the
    lock that all of it was made of."""

    lock: str
    packages: tuple[str, ...]
    generated: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """The install of one recipe on one tree in one container."""

    steps: Steps
    tree: Tree
    progress: Progress

    @property
    def recipe(self) -> Recipe:
        """What is installed."""
        return self.steps.recipe

    def prepare(self) -> None:
        """System packages, the tree as a repository of one commit, an empty environment."""
        for line in installation.apt_lines(self.recipe):
            self.steps.guests("apt", line, root=True)
        lines = [installation.unpack_line(), f"cd {TREE}", *installation.tree_lines(self.tree)]
        tree, venv = " && ".join(lines), installation.venv_line(self.recipe)
        self.steps.first("prepare", installation.together(tree, venv), stdin=self.tree.tar)

    def lock(self, patches: Sequence[bytes]) -> str:
        """The lock: the recipe's own, else what its requirements resolve to as of its date."""
        if self.recipe.lock is not None:
            return self.recipe.lock
        if not installation.is_isolated(self.recipe):
            return self._resolved(patches)
        with self.steps.meanwhile(self._resolve_tools) as resolved:
            lock = self._resolved(patches)
        return locks.with_tools(lock, resolved.result())

    def _resolved(self, patches: Sequence[bytes]) -> str:
        before = self._resolve(TREE)
        if not any(map(declare_dependencies, patches)) or not self._apply(patches):
            return before
        # what the fix needs, and what only the tree before it needed
        after = self._resolve(_AFTER, preferred=before)
        gone = locks.pins_missing(before, after)
        return self._resolve(_AFTER, extra=gone, preferred=after) if gone else after

    def finish(self, lock: str) -> Installed:
        """Install `lock` and the project, and keep what it left in the tree.

        An isolated build needs nothing of the lock, so it goes on beside that. A build that failed
        there is made again: what counts is what it says with the lock in place.
        """
        bound = installation.is_isolated(self.recipe) and locks.tools_of(lock)
        tools = _TOOLS if bound else None
        with self.steps.meanwhile(lambda: self._build_ahead(lock, tools)) as built:
            if pins := locks.without_tools(lock).strip():
                line = installation.install_line(self.recipe, "-")
                self.steps.guests("install", line, stdin=f"{pins}\n".encode())
            for line in self.recipe.pre_install:
                self.steps.guests("pre_install", line)
            with self.steps.meanwhile(self._compile) as compiled:
                return self._with_project(lock, tools, compiled, built=built.result())

    def seal(self) -> None:
        """Hand the environment to root: no run may change it."""
        self.steps.last("finish", f"chown -R root:root {VENV} {KEPT}", root=True)

    def _build_ahead(self, lock: str, tools: str | None) -> bool:
        """Build the project, where it needs nothing else; whether the installer has it now."""
        recipe = self.recipe
        if tools is not None:
            self.steps.put("project", SCRATCH, pack({"tools.txt": locks.tools_of(lock).encode()}))
        if not installation.is_isolated(recipe) or recipe.pre_install:
            return False
        folders = folders_before(read_tree(self.tree))
        if folders is None:
            return False
        made = [f"mkdir -p {quote(folder)}" for folder in folders]
        line = "; ".join([*made, installation.ahead_line(recipe, _ASIDE, tools)])
        return self.steps.aside("ahead", line, step="project")

    def _compile(self) -> bool:
        return self.steps.aside("finish", installation.compile_line(), step="finish")

    def _with_project(
        self, lock: str, tools: str | None, compiled: "Future[bool]", *, built: bool
    ) -> Installed:
        """Install the project, and see what all of it comes to."""
        if self.recipe.project_install is ProjectInstall.PLAIN:
            compiled.result()  # two at once would be in each other's way
        outcome = self._installed(tools, built=built)
        if tools is not None and self.recipe.lock is None and _excludes_tools(outcome):
            lock = locks.without_tools(lock)
            outcome = self._installed(None, built=False)
        ended = outcome.output.count(b"\0")
        if ended < _GUESTS_PARTS:
            self.steps.judged("project" if ended == 0 else "finish", outcome)
        left(outcome, "finish")
        kept, _, frozen = outcome.output.rpartition(b"\0")
        return Installed(
            lock=lock,
            packages=tuple(sorted(_packages(frozen.decode("utf-8", "replace")))),
            generated=tuple(kept.rpartition(b"\0")[2].decode("utf-8", "replace").splitlines()),
        )

    def _installed(self, tools: str | None, *, built: bool) -> Outcome:
        """The last step, in parts with zero bytes between them."""
        recipe = self.recipe
        line = installation.built_line if built else installation.project_line
        tail = [installation.bare_metadata_line(), f"cd {TREE} && {installation.generated_line()}"]
        if recipe.project_install is ProjectInstall.PLAIN:
            tail.insert(0, installation.compile_line())
        look = installation.listing_line(), installation.freeze_line()
        script = installation.in_turn(line(recipe, tools) or "true", "; ".join(tail), *look)
        return self.steps.exec("project", script, timeout_s=recipe.timeout_s)

    def _resolve_tools(self) -> str:
        """A lock of what builds the project; "" where there is none, which its build tells why."""
        wanted = "".join(f"{line}\n" for line in build_tools(read_tree(self.tree)))
        line, timeout_s = installation.tools_line(self.recipe), self.recipe.timeout_s
        outcome = self.steps.exec("resolve", line, timeout_s=timeout_s, stdin=wanted.encode())
        if outcome.ok:
            return outcome.output.decode("utf-8", "replace")
        blame_machine(outcome)
        return ""

    def _resolve(self, tree: str, *, extra: Sequence[str] = (), preferred: str = "") -> str:
        """`preferred` is what stands in the lock that is written again: uv prefers its versions."""
        try:
            text = installation.requirements_text(self.recipe, tree=tree)
        except installation.OutsideTreeError as outside:
            failure = _failure("resolve", FailureClass.OUTSIDE_TREE, outside.path)
            raise StepFailedError(failure) from outside
        if (line := self._from_elsewhere()) is not None:
            raise StepFailedError(_failure("resolve", FailureClass.OUTSIDE_TREE, line))
        text += "".join(f"{line}\n" for line in extra)
        self.steps.put("resolve", SCRATCH, pack({"requirements.in": text.encode()}))
        date = self.recipe.cutoff_at
        self.progress("resolving" if date is None else f"resolving as of {date:%Y-%m-%d}")
        lock = self._compiled(self.recipe, _LOCK, tree=tree)
        ancient = fallback(lock, self.recipe)
        if ancient is not None and not self._is_pinned(lock, tree=tree, preferred=preferred):
            raise StepFailedError(_failure("resolve", FailureClass.REUPLOADED, ancient))
        return lock

    def _from_elsewhere(self) -> str | None:
        """The line of a file of requirements that names another index, or a file outside the tree.

        There is one index, and it is the setting's: another could put any package before it, and
        none of its being down would be told from ours.
        """
        paths = installation.requirement_paths(self.recipe)
        if not paths:
            return None
        texts = {
            path: content.decode("utf-8", "replace")
            for path, content in read_tree(self.tree).items()
            if path in paths or path.endswith((".txt", ".in", ".pip"))
        }
        found = (from_elsewhere(path, texts) for path in paths)
        return next((line for line in found if line is not None), None)

    def _is_pinned(self, lock: str, *, tree: str, preferred: str) -> bool:
        """Whether its pytest is what something asks for, wherever that stands.

        Then what pytest needs may be younger, and it is the same. What can then not be resolved is
        not the same.
        """
        self.progress(f"resolving once more, as {pytest_of(lock)} is old")
        self.steps.put("resolve", SCRATCH, pack({"younger.txt": preferred.encode()}))
        try:
            younger = self._compiled(past_fallback(self.recipe), _YOUNGER, tree=tree)
        except StepFailedError:
            return False
        return pytest_of(younger) == pytest_of(lock)

    def _compiled(self, recipe: Recipe, path: str, *, tree: str) -> str:
        """What `requirements.in` resolves to by the dates of a recipe, written to `path`."""
        self.steps.guests("resolve", installation.resolve_line(recipe, _WANTED, path, tree=tree))
        packed = self.steps.container.get(path, limit_mb=_READ_MB)
        if packed is None:
            failure = _failure("resolve", FailureClass.RESOURCE_LIMIT, "the lock is too large")
            raise StepFailedError(failure)
        written = _only_text(packed)
        if written is None:  # builds of packages ran, and may write there
            raise StepFailedError(_failure("resolve", FailureClass.OTHER, "the lock is no text"))
        if addresses := locks.addresses(written):
            raise StepFailedError(_failure("resolve", FailureClass.OUTSIDE_TREE, addresses[0]))
        return locks.without_project(written)

    def _apply(self, patches: Sequence[bytes]) -> bool:
        """Make the tree with the patches beside the tree; False when they do not apply."""
        files = {f"{number}.patch": patch for number, patch in enumerate(patches) if patch}
        self.steps.put("resolve", SCRATCH, pack(files))
        names = " ".join(f"{SCRATCH}/{name}" for name in files)
        self.steps.last("resolve", f"git worktree add -q --detach {_AFTER} HEAD")
        applied = self.steps.exec(
            "resolve", f"cd {_AFTER} && git apply --whitespace=nowarn {names}"
        )
        if applied.timed_out or is_of_room(applied):
            left(applied, "resolve")
        return applied.ok


def _failure(step: str, failure_class: FailureClass, detail: str) -> BuildFailure:
    outcome = Outcome(exit_code=1, output=f"{failure_class}: {detail}\n".encode())
    return BuildFailure(outcome=outcome, failure_class=failure_class, detail=detail, step=step)


def _excludes_tools(outcome: Outcome) -> bool:
    """Whether the build asked for other versions of its tools, which its files did not say."""
    failed = not outcome.ok and not outcome.timed_out and b"\0" not in outcome.output
    known = failed and failures.classify("project", outcome).failure_class
    return known is FailureClass.NO_MATCHING_VERSION


def _only_text(packed: bytes) -> str | None:
    """The text of the one file in a tar; None when it is something else."""
    try:
        content = next((content for _, content in guests_members(packed)), None)
        return None if content is None else content.decode()
    except (tarfile.TarError, UnicodeDecodeError):
        return None


def _packages(frozen: str) -> Sequence[str]:
    """The freeze without the project, whose path means nothing elsewhere."""
    return [line for line in frozen.splitlines() if "==" in line and not line.startswith("-e")]
