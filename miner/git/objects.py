"""Objects of a mirror, by any name that git knows them by: what `cat-file --batch` says of them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from miner.errors import BadItemError
from miner.git import command
from miner.git.commits import CommitHeader, parse_commit
from miner.git.session import NAMES_AT_ONCE, LostError, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """A blob, tree, commit or tag. All is empty where there is none, or more than one."""

    kind: str = ""
    oid: str = ""
    content: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of the repository at `path`. `name` is "owner/name", for messages."""

    path: Path
    name: str
    session: Session | None

    def read(self, names: Sequence[str]) -> list[StoredObject]:
        """What the names mean, in order."""
        return _parse(self._answer(names), len(names))

    def commits(self, names: Sequence[str]) -> tuple[CommitHeader, ...]:
        """The commits among what the names mean; () when the first one is none."""
        found = self.read(names)
        if found[0].kind != "commit":
            # said by a session: let a git of its own say it again, which fails if it is damaged
            return () if self.session is None else replace(self, session=None).commits(names)
        try:
            return tuple(parse_commit(e.oid, e.content) for e in found if e.kind == "commit")
        except (ValueError, OverflowError, OSError) as error:
            raise BadItemError(f"A commit of {self.name} cannot be read: {error}.") from error

    def _answer(self, names: Sequence[str]) -> bytes:
        if self.session is not None and len(names) <= NAMES_AT_ONCE:
            with suppress(LostError):
                return self.session.objects(names)
        stdin = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        return output_of(command.run(self.path, ["cat-file", "--batch"], stdin=stdin), self.name)


def output_of(answer: command.Answer, name: str) -> bytes:
    """What git said of a mirror. BadItemError with its last words when it failed."""
    if not answer.ok:
        reason = answer.error.strip().splitlines()[-1:] or [f"exit code {answer.exit_code}"]
        raise BadItemError(f"git cannot read the mirror of {name}: {reason[0]}.")
    return answer.output


def _parse(output: bytes, count: int) -> list[StoredObject]:
    """Each object is a line "id kind size" and its content, or a line that says what it is not."""
    found, at = [], 0
    for _ in range(count):
        end = output.index(b"\n", at)
        header = output[at:end].rsplit(b" ", 2)
        at = end + 1
        if len(header) < 3 or not header[2].isdigit():  # missing, ambiguous, submodule
            found.append(StoredObject())
            continue
        oid, kind, size = header[0].decode(), header[1].decode(), int(header[2])
        found.append(StoredObject(kind=kind, oid=oid, content=output[at : at + size]))
        at += size + 1
    return found
