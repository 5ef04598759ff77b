"""A mirror as refs and packs: kept beside a tape, and made again elsewhere without its server."""

import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from miner.errors import BadItemError, ConfigError
from miner.git import command
from miner.git.mirror import Mirror

PACK_TIMEOUT_S = 3600

_PACK = ("pack-objects", "--quiet", "--non-empty", "--delta-base-offset")
_EVERYTHING = ("--all", "--keep-unreachable", "--pack-loose-unreachable")


def refs(mirror: Mirror) -> Mapping[str, str]:
    """Every ref and the object it names."""
    listed = _said(mirror, ["for-each-ref", "--format=%(objectname) %(refname)"])
    pairs = (line.partition(" ") for line in listed.decode("utf-8", "surrogateescape").splitlines())
    return {name: oid for oid, _, name in pairs}


def pack(mirror: Mirror, folder: Path, *, known: Collection[str]) -> str | None:
    """Write a pack and its index into `folder`; the pack's name, or None when nothing is new.

    `known`: objects that earlier packs hold, with all that is behind them. None of them: a pack of
    all that the mirror has, also of what no ref reaches any more, for it may be some pull's base.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not known:
        named = _said(mirror, [*_PACK, *_EVERYTHING, str(folder / "pack")])
    else:
        wanted = sorted(set(refs(mirror).values()))
        revisions = "\n".join([*wanted, "--not", *sorted(known), ""]).encode()
        named = _said(mirror, [*_PACK, "--revs", str(folder / "pack")], stdin=revisions)
    digest = named.decode().strip()
    return f"pack-{digest}.pack" if digest else None


def fill(git_dir: Path, *, named: Mapping[str, str], packs: Sequence[Path]) -> None:
    """Put packs and refs into a repository. ConfigError when a pack is missing or damaged."""
    for source in packs:
        for part in (source, source.with_suffix(".idx")):  # git looks for the index
            target = git_dir / "objects" / "pack" / part.name
            if target.is_file():
                continue
            try:
                shutil.copyfile(part, target.with_name(f"tmp_{part.name}"))
            except FileNotFoundError:
                raise ConfigError(f"{part} is missing; it belongs to the tape.") from None
            target.with_name(f"tmp_{part.name}").rename(target)
    orders = "".join(f"update {name}\0{oid}\0\0" for name, oid in sorted(named.items()))
    stdin = orders.encode("utf-8", "surrogateescape")
    answer = command.run(git_dir, ["update-ref", "-z", "--stdin"], stdin=stdin)
    if not answer.ok:
        reason = answer.error.strip().splitlines()[-1:] or ["git said nothing"]
        raise ConfigError(f"The tape's packs do not hold what its refs name: {reason[0]}.")


def _said(mirror: Mirror, arguments: Sequence[str], stdin: bytes = b"") -> bytes:
    answer = command.run(mirror.path, arguments, stdin=stdin, timeout_s=PACK_TIMEOUT_S)
    if not answer.ok:
        reason = answer.error.strip().splitlines()[-1:] or [f"exit code {answer.exit_code}"]
        raise BadItemError(f"git cannot copy the mirror of {mirror.name}: {reason[0]}.")
    return answer.output
