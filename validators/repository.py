"""A tree becomes a git repository of one commit: the same shell lines for installs, runs, exports.

Version plug-ins (setuptools-scm, hatch-vcs, versioneer, pbr) ask git, tests do too, and patches
need it. It is dated and tagged like the base commit; nothing is in it that the tree does not show.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from shlex import quote

from validators.model import Tree

_IDENTITY = "-c user.name=base -c user.email=base@localhost"
_ATTRIBUTES = r"* -text -eol -ident -filter -working-tree-encoding\n"
"""Bytes stay bytes: the tree's own .gitattributes must not convert what patches are applied to,
nor let `git add` fail for a file that is not in the encoding it names."""

COMMIT_LINES: Sequence[str] = (
    "git -c init.defaultBranch=main init -q .",
    f"printf '{_ATTRIBUTES}' >.git/info/attributes",
    "git -c core.compression=0 add -A -f .",
    f"git {_IDENTITY} -c core.compression=0 -c maintenance.auto=false commit -q"
    " --allow-empty --no-verify --no-gpg-sign -m base",
)
"""In the tree's folder, with GIT_AUTHOR_DATE and GIT_COMMITTER_DATE set. Maintenance would be one
more process, for nothing."""


def repository_lines(tree: Tree) -> Sequence[str]:
    """Shell lines, each of which must succeed, to be run in the tree's folder."""
    date = timestamp(tree.committed_at)
    tag = (
        ()
        if tree.nearest_tag is None
        else (f"{{ {tag_command(quote(tree.nearest_tag))} || true; }}",)
    )
    return (
        f"export GIT_AUTHOR_DATE={date} GIT_COMMITTER_DATE={date}",
        *COMMIT_LINES,
        *tag,
        "unset GIT_AUTHOR_DATE GIT_COMMITTER_DATE",
    )


def tag_command(word: str) -> str:
    """The command that tags the commit; `word` is the tag as a word of the shell."""
    return f"git {_IDENTITY} tag -a -m base -- {word}"


def timestamp(date: datetime) -> str:
    """A date as git takes it."""
    return f"{date.astimezone(UTC):%Y-%m-%dT%H:%M:%S+00:00}"
