"""Files that no run of a model may change, since they are its tests, and their digests."""

from collections.abc import Mapping, Sequence

from validators.engine import TREE, Container
from validators.restoration import Surroundings, is_kept
from validators.run import PREPARE_S
from validators.worktree import DIGESTS

_SUFFIXES = (".py", ".ini", ".toml", ".pth")


def guarded_paths(surroundings: Surroundings) -> tuple[str, ...]:
    """Tests and test configuration of the final state, sorted; data that tests may write is not."""
    return tuple(
        sorted(
            path
            for path in surroundings.final_paths
            if path.endswith(_SUFFIXES) and is_kept(path, surroundings)
        )
    )


def digests_now(container: Container, paths: Sequence[str]) -> Mapping[str, str]:
    """SHA-256 by path, looked at as root: the guest's processes are out of the way then."""
    stdin = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    outcome = container.exec(
        ("/bin/bash", "-c", DIGESTS), timeout_s=PREPARE_S, root=True, workdir=TREE, stdin=stdin
    )
    return read_digests(outcome.output)


def read_digests(output: bytes) -> Mapping[str, str]:
    """Path → SHA-256, from what DIGESTS printed."""
    lines = output.decode("utf-8", "surrogateescape").split("\0")
    return {line[66:]: line[:64] for line in lines if len(line) > 66}
