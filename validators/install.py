"""One install run: the steps of `installation.py` in a container, each with a name for its failure.

Everything here is the guest's: what fails is a value with its log. Only a dead engine, host or
package index is an exception.
"""

import io
import re
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from validators import infra, installation
from validators.engine import TREE, VENV, Container, Progress
from validators.errors import EngineUnavailableError
from validators.languages.python import failures
from validators.languages.python.as_of import fallback
from validators.languages.python.build_inputs import declare_dependencies
from validators.model import BuildFailure, BuildSettings, FailureClass, Outcome, Recipe, Tree

SCRATCH = "/tmp/miner"  # noqa: S108  # a tmpfs of the container: never in what is committed
_AFTER = f"{SCRATCH}/after"
_LOCK = f"{SCRATCH}/lock.txt"
_PATH = f"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:{VENV}/bin"
"""The system first: an environment may hold another uv."""

_NO_DATES = (
    "The package index does not say when its files were uploaded, so packages cannot be chosen as"
    " of a date: set MINER_INDEX_URL to one that does (PEP 700)."
)
_SHORT_S = 120.0
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
            self._run("apt", line, root=True, timeout_s=self.recipe.timeout_s)
        folders = f"install -d -o guest -g guest {VENV} {SCRATCH} /opt/miner"
        self._run("prepare", folders, root=True)
        self._put("prepare", TREE, self.tree.tar)
        lines = installation.repository_lines(self.tree.committed_at, self.tree.nearest_tag)
        self._run("prepare", " && ".join(["cd " + TREE, *lines]))
        self._run("venv", installation.venv_line(self.recipe))

    def lock(self, patches: Sequence[bytes]) -> str:
        """The lock: the recipe's own, else what its requirements resolve to as of its date."""
        if self.recipe.lock is not None:
            return self.recipe.lock
        before = self._resolve(TREE, extra=())
        if not any(map(declare_dependencies, patches)) or not self._apply(patches):
            return before
        # what the fix needs, and what only the tree before it needed
        after = self._resolve(_AFTER, extra=())
        gone = _pins_missing(before, after)
        return self._resolve(_AFTER, extra=gone) if gone else after

    def finish(self, lock: str) -> tuple[str, ...]:
        """Install `lock` and the project, keep what it left in the tree; the freeze is returned."""
        recipe = self.recipe
        self._put("install", SCRATCH, _tar({"lock.txt": lock.encode()}))
        long_s = recipe.timeout_s
        if lock.strip():
            self._run("install", installation.install_line(recipe, _LOCK), timeout_s=long_s)
        for line in recipe.pre_install:
            self._run("pre_install", line, timeout_s=long_s)
        if project := installation.project_line(recipe):
            self._run("project", project, timeout_s=long_s)
        tail = (installation.compile_line(), installation.bare_metadata_line(),
                f"cd {TREE} && {installation.generated_line()}")  # fmt: skip
        self._run("finish", "; ".join(tail), timeout_s=long_s)
        frozen = self._run("finish", f"uv pip freeze -q --no-config --python {VENV}/bin/python")
        return tuple(sorted(_packages(frozen.output.decode("utf-8", "replace"))))

    def seal(self) -> None:
        """Hand the environment to root: no run may change it."""
        self._run("finish", f"chown -R root:root {VENV} /opt/miner", root=True)

    def generated(self) -> Sequence[str]:
        """Paths in the tree of what the install left there."""
        listed = self._run("finish", f"tar --list --file={installation.GENERATED}")
        return tuple(listed.output.decode("utf-8", "replace").splitlines())

    def _resolve(self, tree: str, *, extra: Sequence[str]) -> str:
        try:
            text = installation.requirements_text(self.recipe, tree=tree)
        except installation.OutsideTreeError as outside:
            failure = _failure("resolve", FailureClass.OUTSIDE_TREE, outside.path)
            raise StepFailedError(failure) from outside
        text += "".join(f"{line}\n" for line in extra)
        self._put("resolve", SCRATCH, _tar({"requirements.in": text.encode()}))
        line = installation.resolve_line(self.recipe, f"{SCRATCH}/requirements.in", _LOCK)
        date = self.recipe.cutoff_at
        self.progress("resolving" if date is None else f"resolving as of {date:%Y-%m-%d}")
        self._run("resolve", line, timeout_s=self.recipe.timeout_s)
        packed = self.container.get(_LOCK, limit_mb=_READ_MB)
        if packed is None:
            failure = _failure("resolve", FailureClass.RESOURCE_LIMIT, "the lock is too large")
            raise StepFailedError(failure)
        lock = installation.without_project(_only_file(packed).decode())
        if (ancient := fallback(lock, self.recipe)) is not None:
            raise StepFailedError(_failure("resolve", FailureClass.REUPLOADED, ancient))
        return lock

    def _apply(self, patches: Sequence[bytes]) -> bool:
        """Make the tree with the patches beside the tree; False when they do not apply."""
        files = {f"{number}.patch": patch for number, patch in enumerate(patches) if patch}
        self._put("resolve", SCRATCH, _tar(files))
        names = " ".join(f"{SCRATCH}/{name}" for name in files)
        line = (
            f"cd {TREE} && git worktree add -q --detach {_AFTER} HEAD"
            f" && cd {_AFTER} && git apply --whitespace=nowarn {names}"
        )
        return self.container.exec(("/bin/sh", "-c", line), timeout_s=_SHORT_S).ok

    def _put(self, step: str, path: str, tar: bytes) -> None:
        """Builds of packages ran before: what they left no room for is their failure."""
        outcome = self.container.put(path, tar)
        if outcome.timed_out:
            raise EngineUnavailableError(
                "Files could not be put into a container in time: check the load of its machine."
            )
        if not outcome.ok:
            raise StepFailedError(failures.classify(step, outcome))

    def _run(
        self, step: str, line: str, *, root: bool = False, timeout_s: float = _SHORT_S
    ) -> Outcome:
        outcome = self.container.exec(
            ("/bin/bash", "-c", line),
            timeout_s=timeout_s,
            root=root,
            env=self._env(step),
            workdir=TREE,
        )
        if outcome.ok:
            return outcome
        said = failures.own_words(outcome.output)
        fault = infra.cause(said)
        if fault is not None and not failures.is_of_an_address(said):
            raise EngineUnavailableError(infra.sentence(fault))
        if failures.lacks_dates(said):
            raise EngineUnavailableError(_NO_DATES)
        raise StepFailedError(failures.classify(step, outcome))

    def _env(self, step: str) -> Mapping[str, str]:
        """The recipe's variables; the index and the CA bundle of here, which only installs get."""
        env = dict(self.recipe.env_vars) | dict(self.trust)
        if step != "pre_install":  # a recipe's own commands mean the environment's tools
            env["PATH"] = _PATH
        if self.settings.index_url is not None:
            env["UV_DEFAULT_INDEX"] = self.settings.index_url
        return env


def _failure(step: str, failure_class: FailureClass, detail: str) -> BuildFailure:
    outcome = Outcome(exit_code=1, output=f"{failure_class}: {detail}\n".encode())
    return BuildFailure(outcome=outcome, failure_class=failure_class, detail=detail, step=step)


def _tar(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _only_file(packed: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        member = archive.next()
        content = archive.extractfile(member) if member is not None else None
        return content.read() if content is not None else b""


def _pins_missing(lock: str, newer: str) -> Sequence[str]:
    """`name==version` of what `lock` holds and `newer` does not."""
    kept = _pins(newer)
    return tuple(f"{name}=={pin}" for name, pin in _pins(lock).items() if name not in kept)


def _pins(lock: str) -> Mapping[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", lock, re.MULTILINE))


def _packages(frozen: str) -> Sequence[str]:
    """The freeze without the project, whose path means nothing elsewhere."""
    return [line for line in frozen.splitlines() if "==" in line and not line.startswith("-e")]
