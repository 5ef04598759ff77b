"""The git command: mirrors, diffs as bytes, the tree of a commit, does base + patches equal it.

    command.py  how git is run here: clean settings, no prompts, limits, credentials by askpass
    mirrors.py  one bare mirror a repository, made and updated under a lock
    mirror.py   reading a mirror
    copies.py   a mirror as refs and packs, to be made again elsewhere
    change.py   what git says of one changed file
    tree.py     the files of a commit as a tar
    objects.py  blobs, trees and commits by name
    commits.py  what a commit says of itself
    session.py  git processes that stay open and answer many questions
    index.py    git's index file, a few entries of it

Repositories are strangers' input. Their configuration never counts (a mirror's own config file is
ours), their hooks and filters never run, submodules are never followed, LFS objects never fetched.

Blobs leave a mirror as they are stored: `.gitattributes` changes no line end. Patches are in terms
of blobs, so they fit the trees that are handed out, whatever the project asks of a work tree.
"""

from miner.git.change import Comparison, RawChange
from miner.git.command import version
from miner.git.commits import CommitHeader
from miner.git.mirror import Mirror
from miner.git.mirrors import Mirrors
from miner.git.tree import TreeEntry, UnusableTreeError

__all__ = [
    "CommitHeader",
    "Comparison",
    "Mirror",
    "Mirrors",
    "RawChange",
    "TreeEntry",
    "UnusableTreeError",
    "version",
]
