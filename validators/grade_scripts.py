"""The scripts of a grade: the model's patch applied, what differs from the final state put back."""

from collections.abc import Mapping, Sequence
from shlex import quote

from validators.archive import pack
from validators.engine import TREE, VENV
from validators.model import Tree
from validators.patching import completed
from validators.worktree import (
    PATCH_FAILED,
    generated_script,
    prelude,
    repository_script,
    unpack_script,
)

PATCHING = "patching"
"""What the grading script prints, between NULs, when it begins to apply the model's patch; then how
many seconds it took so far."""

SHOWN = 16 << 20
"""Bytes of what a model's patch adds that are looked at: a longer diff is seen as far as that."""

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

_ASIDE = "/tmp/miner-aside"  # noqa: S108 - inside a container
"""Where a grade's patches and the final state's objects lie until the tests are put back.

Nothing of the fix may be left for the code under test to read.
"""

_WITH_FINAL = f"export GIT_ALTERNATE_OBJECT_DIRECTORIES={_ASIDE}/objects\n"


def grading_scripts(
    tree: Tree, *, patches: bytes, marker: str, configurations: Sequence[str]
) -> Mapping[str, str]:
    """File name → bash for a model's patch. `patches` is a tar of three: test, gold and model's.

    prepare.sh reads them and then the base tree from standard input. It applies the model's patch,
    with exit status PATCH_FAILED when it does not apply, and prints, each ended by NUL: NUL marker,
    the model's tree, the final tree (base + test + gold), how many bytes of diff follow; then that
    diff of what the model's tree adds to the base, of no more than SHOWN bytes, without a NUL of
    its own; status and path of every difference from the model's tree to the final one, marker, all
    final paths, marker, what lies in the environment's site-packages (and in folders there that are
    no packages), marker, lines of the .pth files there that name the tree, name and text of each of
    `configurations` that the final tree has as a file, marker, what its conftests say of plug-ins.
    restore.sh TREE reads pairs of D, R or G and path, each ended by NUL: it removes the first,
    restores the second and seals the third, as SEAL does. Then neither the patches nor the final
    tree can be read any more. Exit status PUT_BACK_FAILED when that does not go, another one when
    it was ended from outside.
    blob.sh TREE PATH prints a file; exit status ABSENT or NOT_PLAIN.
    """
    return {
        "prepare.sh": _prepare(tree, patches, marker, configurations),
        "restore.sh": _restore(),
        "blob.sh": _blob(),
    }


def patches_tar(patches: Sequence[bytes]) -> bytes:
    """Patches as files 0, 1, … of a tar."""
    return pack({str(number): completed(patch) for number, patch in enumerate(patches)})


def _prepare(tree: Tree, patches: bytes, marker: str, configurations: Sequence[str]) -> str:
    final = (
        f"GIT_INDEX_FILE={_ASIDE}/index GIT_OBJECT_DIRECTORY={_ASIDE}/objects"
        ' GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/.git/objects" git'
    )
    return f"""{prelude()}mkdir -p {_ASIDE}/objects
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
# As text, whatever attributes or a patch in binary say: no line that is added stays unseen.
{{ git diff-tree -r -p --text --unified=0 --find-renames --diff-filter=d --no-ext-diff \\
    --no-textconv --src-prefix=a/ --dst-prefix=b/ HEAD "$model" || true; }} |
    head --bytes={SHOWN} >{_ASIDE}/shown
{_WITH_FINAL}printf '\\0%s\\0%s\\0%s\\0%s\\0' {marker} "$model" "$final" \\
    "$(stat --printf=%s {_ASIDE}/shown)"
cat {_ASIDE}/shown
git diff-tree -r -z --no-renames --name-status "$model" "$final"
printf '%s\\0' {marker}
git ls-tree -r -z --name-only "$final"
printf '%s\\0' {marker}
for entry in {VENV}/lib/python*/site-packages/*; do
    name=${{entry##*/}}
    printf '%s\\0' "$name"
    case "$name" in *.*-info | *.libs | bin | __pycache__) continue ;; esac
    if [ -d "$entry" ] && [ ! -e "$entry/__init__.py" ]; then
        for inner in "$entry"/*; do printf '%s/%s\\0' "$name" "${{inner##*/}}"; done
    fi
done
printf '%s\\0' {marker}
grep --no-filename --no-messages '^{TREE}' {VENV}/lib/python*/site-packages/*.pth || true
printf '\\0'
git ls-tree -z "$final" -- {" ".join(map(quote, configurations))} |
    while IFS=$' \\t' read -r -d '' mode kind blob path; do
        [ "$kind" = blob ] || continue
        printf '%s\\0' "$path"
        git cat-file blob "$blob" | tr -d '\\0'
        printf '\\0'
    done
printf '%s\\0' {marker}
git grep -h -I -E -A 20 '^pytest_plugins' "$final" -- '*conftest.py' || true
printf '\\0'
"""


def _restore() -> str:
    return f"""{prelude()}{SEAL}{_WITH_FINAL}
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


def _blob() -> str:
    return f"""{prelude()}{_WITH_FINAL}
entry=$(git ls-tree "$1" -- "$2")
case "$entry" in
    100*) git cat-file blob "$1:$2" ;;
    "") exit {ABSENT} ;;
    *) exit {NOT_PLAIN} ;;
esac
"""
