"""The scripts and files that turn a tar of a commit into a work tree with patches on it.

In the container the tree becomes a repository of one commit, dated like the base commit and tagged
like it: version plug-ins ask git, tests do too, and patches need it. What the environment's install
left in the tree (egg-info, generated versions, built extensions) comes on top, after the patches,
and never replaces a file that is there.
"""

from collections.abc import Mapping, Sequence
from shlex import quote

from validators.archive import pack
from validators.engine import KIT, TREE
from validators.installation import GENERATED
from validators.invocation import LIBRARY, REPORTER_MODULE
from validators.model import Tree
from validators.patching import APPLY_SCRIPT, completed
from validators.repository import repository_lines

PATCH_FAILED = 40
"""Exit status of `prepare_script` when the first patch does not apply; 41: the second; …"""

AFTERWARDS_FAILED = 39
"""Exit status of `prepare_script` when what comes after the patches fails."""

TALK = f"{KIT}/talk.sh"
"""Prepares, and in a grade restores, then runs the tests: one command, as each costs a process."""

TESTS = f"{KIT}/tests.sh"
"""Only the tests of it, for where the guest's processes had to be ended after its build."""

_GIT_ENV = f"""
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0
export GIT_CONFIG_COUNT=4 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
export GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
export GIT_CONFIG_KEY_2=core.autocrlf GIT_CONFIG_VALUE_2=false
export GIT_CONFIG_KEY_3=safe.directory GIT_CONFIG_VALUE_3={TREE}
"""


def repository_script(tree: Tree) -> str:
    """Bash: make the tree's folder a repository of one commit."""
    return "\n".join(repository_lines(tree)) + "\n"


def unpack_script(tree: Tree) -> str:
    """Bash: the tree, from standard input, of which not one byte more is read."""
    return f"head --bytes={len(tree.tar)} | tar --extract --no-same-owner --file=-\n"


def talk_script(*steps: str, env: Mapping[str, str], mark: str = "") -> str:
    """Bash: scripts of the kit in order, then test.sh with `env` and the script's arguments.

    A script that fails ends it with its status; after each, the mark is printed and a line of input
    awaited: the number of bytes that the next script may read, and its arguments. The line before
    the tests is empty: what follows it is theirs.
    """
    lines = []
    for number, step in enumerate(steps):
        call = f"/bin/bash {KIT}/{step}"
        if number:
            lines.append("read -r size words || exit")
            call = f'head --bytes="$size" | {call} $words'
        lines += [f"{call} || exit", f"printf %s {mark}"]
    dress = " ".join(quote(f"{name}={value}") for name, value in env.items())
    lines += ["read -r || exit", f'exec /usr/bin/env {dress} /bin/bash {KIT}/test.sh "$@"']
    return "set -o pipefail\n" + "\n".join(lines) + "\n"


def prelude() -> str:
    """Bash that every script of ours begins with: in the tree, git without foreign settings."""
    return f"set -e -o pipefail\ncd {TREE}\n{_GIT_ENV}{APPLY_SCRIPT}"


def generated_script() -> str:
    """Bash: what the install left in the tree, and bytecode; no file that is there is replaced."""
    unpack = "[ ! -s {0} ] || tar --extract --skip-old-files --file={0}\n"
    return unpack.format(GENERATED) + unpack.format(f"{KIT}/bytecode.tar")


def stamp_script(stamped: Mapping[str, int]) -> str:
    """Bash: modification times, in seconds, of files of the tree where they are there.

    A link has its own: through it, a file that no patch touches would get another time.
    """
    by_time: dict[int, list[str]] = {}
    for path, time_s in stamped.items():
        by_time.setdefault(time_s, []).append(f"./{path}")
    return "".join(
        f"touch -c -h -m -d @{time_s} -- {' '.join(quote(path) for path in paths)} || true\n"
        for time_s, paths in by_time.items()
    )


def prepare_script(
    tree: Tree, *, patches: int, stamped: Mapping[str, int], after_patching: str = ""
) -> str:
    """Bash: tree, repository, patches 0 … n-1 of the kit in order, generated files, and more bash.

    `stamped` is as in `stamp_script`.

    Exit status PATCH_FAILED + number of the patch that does not apply, AFTERWARDS_FAILED when
    what comes after them fails; else 0 or git's own.
    """
    names = " ".join(f"{KIT}/patches/{number}" for number in range(patches))
    return f"""{prelude()}{unpack_script(tree)}{repository_script(tree)}
status=0
apply_all {names} || status=$?
[ "$status" != 99 ] || exit 99
[ "$status" = 0 ] || exit $(({PATCH_FAILED} - 1 + status))
{stamp_script(stamped)}trap '[ $? = 0 ] || exit {AFTERWARDS_FAILED}' EXIT
{generated_script()}{after_patching}"""


def kit_tar(
    reporter: bytes,
    patches: Sequence[bytes] = (),
    *,
    files: Mapping[str, bytes],
) -> bytes:
    """Our files for a run, to be unpacked as root where KIT says: whatever runs can read them."""
    inside = LIBRARY.removeprefix(f"{KIT}/")
    contents = {
        f"{inside}/{REPORTER_MODULE}.py": reporter,
        **{f"patches/{number}": completed(patch) for number, patch in enumerate(patches)},
        **files,
    }
    folders = sorted({name.rpartition("/")[0] for name in contents} - {""})
    return pack(contents, folders=folders)
