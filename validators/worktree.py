"""The scripts and files that turn a tar of a commit into a work tree with patches on it.

In the container the tree becomes a repository of one commit, dated like the base commit and tagged
like it: version plug-ins ask git, tests do too, and patches need it. What the environment's install
left in the tree (egg-info, generated versions, built extensions) comes on top, after the patches,
and never replaces a file that is there.
"""

from collections.abc import Mapping, Sequence
from shlex import quote

from validators.archive import pack
from validators.engine import KIT, VENV
from validators.installation import GENERATED
from validators.invocation import LIBRARY, REPORTER_MODULE
from validators.model import Tree
from validators.patching import APPLY_SCRIPT, completed
from validators.repository import repository_lines

PATCH_FAILED = 40
"""Exit status of `prepare_script` when the first patch does not apply; 41: the second; …"""

PATCHING = "patching"
"""What the grading script prints, between NULs, when it begins to apply the model's patch; then how
many seconds it took so far."""

AFTERWARDS_FAILED = 39
"""Exit status of `prepare_script` when what comes after the patches fails."""

_ASIDE = "/tmp/miner-aside"  # noqa: S108 - inside a container
"""Where a grade's patches and the final state's objects lie until the tests are put back.

Nothing of the fix may be left for the code under test to read.
"""

_GIT_ENV = """
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0
export GIT_CONFIG_COUNT=4 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null
export GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
export GIT_CONFIG_KEY_2=core.autocrlf GIT_CONFIG_VALUE_2=false
export GIT_CONFIG_KEY_3=safe.directory GIT_CONFIG_VALUE_3=/testbed
"""


def repository_script(tree: Tree) -> str:
    """Bash: make the tree's folder a repository of one commit."""
    return "\n".join(repository_lines(tree)) + "\n"


PUT_BACK_FAILED = 42
"""Exit status of restore.sh when the model's files leave no room or stand in the way."""

ABSENT = 44
NOT_PLAIN = 45
"""Exit status of blob.sh when there is no such file, and when it is a link or a folder."""

CODE = (".py", ".ini", ".toml", ".pth")
"""Files of which `SEAL` looks at the content."""

SEALED = "//sealed"
"""What `SEAL` prints before, between and after its parts; no path looks like that."""

SEAL = r"""
# Defines `seal`: reads paths from standard input, each ended by NUL. Prints SHA-256, two spaces and
# path of the CODE among them, then last change, number and path of the same, then one sum of the
# changes and numbers of the others. What is not there is not in the list.
seal() {
    local path code=() plain=() others=()
    while IFS= read -r -d '' path; do
        case "$path" in
            SUFFIXES)
                code+=("$path")
                if [ -f "$path" ] && [ ! -L "$path" ]; then plain+=("$path"); fi ;;
            *) others+=("$path") ;;
        esac
    done
    printf 'MARK\0'
    listed sha256sum -z -- "${plain[@]}"
    printf 'MARK\0'
    listed stat --printf='%z|%i|%n\0' -- "${code[@]}"
    printf 'MARK\0'
    listed stat --printf='%z|%i|%n\0' -- "${others[@]}" | sha256sum
    printf 'MARK\0'
}
listed() {
    local command=() word
    for word in "$@"; do
        shift
        command+=("$word")
        [ "$word" != -- ] || break
    done
    [ $# = 0 ] || printf '%s\0' "$@" | xargs -0 "${command[@]}" 2>/dev/null || true
}
""".replace("SUFFIXES", " | ".join(f"*{suffix}" for suffix in CODE)).replace("MARK", SEALED)

TALK = f"{KIT}/talk.sh"
"""Prepares, and in a grade restores, then runs the tests: one command, as each costs a process."""

TESTS = f"{KIT}/tests.sh"
"""Only the tests of it, for where the guest's processes had to be ended after its build."""


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
    return f"set -e -o pipefail\ncd /testbed\n{_GIT_ENV}{APPLY_SCRIPT}"


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


def grading_scripts(tree: Tree, *, patches: bytes, marker: str) -> Mapping[str, str]:
    """Bash for a model's patch; `patches` are those of `patches_tar`: test, gold, model.

    prepare.sh reads them and then the base tree from standard input. It applies the model's patch,
    with exit status PATCH_FAILED when it does not apply, and prints, each ended by NUL: NUL marker,
    the model's tree, the final tree (base + test + gold), status and path of every difference from
    the first to the second, marker, all final paths, marker, what lies in the environment's
    site-packages.
    restore.sh TREE reads pairs of D, R or G and path, each ended by NUL: it removes the first,
    restores the second and seals the third, as SEAL does. Then neither the patches
    nor the final tree can be read any more.
    Exit status PUT_BACK_FAILED when that does not go, another one when it was ended from outside.
    blob.sh TREE PATH prints a file; exit status ABSENT or NOT_PLAIN.
    """
    with_final = f"export GIT_ALTERNATE_OBJECT_DIRECTORIES={_ASIDE}/objects\n"
    final = (
        f"GIT_INDEX_FILE={_ASIDE}/index GIT_OBJECT_DIRECTORY={_ASIDE}/objects"
        ' GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/.git/objects" git'
    )
    prepare = f"""{prelude()}mkdir -p {_ASIDE}/objects
head --bytes={len(patches)} | tar --extract --no-same-owner --directory={_ASIDE} --file=-
{unpack_script(tree)}{repository_script(tree)}
{final} read-tree HEAD
{final} apply --cached --whitespace=nowarn -- {_ASIDE}/0
{final} apply --cached --whitespace=nowarn -- {_ASIDE}/1
final=$({final} write-tree)
# From here on every failure is the patch's doing, a full disk and lost time too.
printf '\\0%s\\0%s\\n' {PATCHING} "$SECONDS"
trap '[ $? = 0 ] || exit {PATCH_FAILED}' EXIT
apply_all {_ASIDE}/2
git add -A -f .
model=$(git write-tree)
git reset -q
{with_final}printf '\\0%s\\0%s\\0%s\\0' {marker} "$model" "$final"
git diff-tree -r -z --no-renames --name-status "$model" "$final"
printf '%s\\0' {marker}
git ls-tree -r -z --name-only "$final"
printf '%s\\0' {marker}
for entry in {VENV}/lib/python*/site-packages/*; do printf '%s\\0' "${{entry##*/}}"; done
"""
    restore = f"""{prelude()}{SEAL}{with_final}
restored=() removed=() guarded=()
while IFS= read -r -d '' kind && IFS= read -r -d '' path; do
    case "$kind" in
        R) restored+=("$path") ;;
        D) removed+=("$path") ;;
        G) guarded+=("$path") ;;
    esac
done
# 125 to 127 and signals: somebody else's doing
trap 's=$?; [ $s = 0 ] || [ $s = 125 ] || [ $s = 126 ] || [ $s = 127 ] || [ $s -gt 128 ] ||
    exit {PUT_BACK_FAILED}' EXIT
[ ${{#removed[@]}} = 0 ] || printf './%s\\0' "${{removed[@]}}" | xargs -0 rm -rf --
if [ ${{#restored[@]}} -gt 0 ]; then
    printf '%s\\0' "${{restored[@]}}" | git --literal-pathspecs restore --source="$1" --worktree \
        --pathspec-from-file=- --pathspec-file-nul
fi
rm -rf {_ASIDE}
{generated_script()}{{ [ ${{#guarded[@]}} = 0 ] || printf '%s\\0' "${{guarded[@]}}"; }} | seal
"""
    blob = f"""{prelude()}{with_final}
entry=$(git ls-tree "$1" -- "$2")
case "$entry" in
    100*) git cat-file blob "$1:$2" ;;
    "") exit {ABSENT} ;;
    *) exit {NOT_PLAIN} ;;
esac
"""
    return {
        "prepare.sh": prepare,
        "restore.sh": restore,
        "blob.sh": blob,
    }


def patches_tar(patches: Sequence[bytes]) -> bytes:
    """Patches as files 0, 1, … of a tar."""
    return pack({str(number): completed(patch) for number, patch in enumerate(patches)})


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
