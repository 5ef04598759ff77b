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

BYTECODE = "__pycache__"
FOLDER = "/."
"""How paths end that name folders: what is sealed of one is itself, not what lies in it."""

SEALED = "//sealed"
"""What `SEAL` prints before, between and after its parts; no path looks like that."""

SEAL = r"""
# Defines `seal`: reads paths from standard input, each ended by NUL. Prints SHA-256, two spaces and
# path of the CODE among them, then last change, number, last change of the content and path of the
# same and of folders, then one sum of the changes and numbers of the others. What is not there is
# not in the list.
seal() {
    local path code=() plain=() others=()
    while IFS= read -r -d '' path; do
        case "$path" in
            SUFFIXES)
                code+=("$path")
                if [ -f "$path" ] && [ ! -L "$path" ]; then plain+=("$path"); fi ;;
            FOLDERS) code+=("$path") ;;
            *) others+=("$path") ;;
        esac
    done
    printf 'MARK\0'
    listed sha256sum -z -- "${plain[@]}"
    printf 'MARK\0'
    listed stat --printf='%z|%i|%y|%n\0' -- "${code[@]}"
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
"""
SEAL = SEAL.replace("SUFFIXES", " | ".join(f"*{suffix}" for suffix in CODE))
SEAL = SEAL.replace("FOLDERS", f"*{FOLDER} | {BYTECODE} | */{BYTECODE}").replace("MARK", SEALED)

CLOSE = r"""
# Defines `close`: reads paths of folders for bytecode, each ended by NUL, and makes each anew,
# empty, and such that nobody writes into it without a trace. Where that does not go, Python cannot.
# And `lay`: reads the same, and makes each that is not there, as Python would.
close() {
    local paths=()
    mapfile -d '' -t paths
    [ ${#paths[@]} -gt 0 ] || return 0
    printf './%s\0' "${paths[@]}" | xargs -0 rm -rf -- 2>/dev/null || true
    printf './%s\0' "${paths[@]}" | xargs -0 mkdir -m 0555 -- 2>/dev/null || true
}
lay() {
    local paths=()
    mapfile -d '' -t paths
    [ ${#paths[@]} -gt 0 ] || return 0
    printf './%s\0' "${paths[@]}" | xargs -0 mkdir -m 0755 -- 2>/dev/null || true
}
"""

_ASIDE = "/tmp/miner-aside"  # noqa: S108 - inside a container
"""Where a grade's patches and the final state's objects lie until the tests are put back.

Nothing of the fix may be left for the code under test to read.
"""

_TESTING = (
    r"^(import|from) +(_?pytest|hypothesis|nose)\b|^import +unittest *$"
    r"|^from +unittest(\.case)? +import +([^m]|m[^o])"
)
"""How a module begins that is for tests; `unittest.mock` is used by programs too."""

_NO_DATA = "*.py? | *.c | *.cc | *.cpp | *.h | *.rs | *.md | *.rst | *.lock"
_DATA = 20
_TEXT = 1 << 20

_WITH_FINAL = f"export GIT_ALTERNATE_OBJECT_DIRECTORIES={_ASIDE}/objects\n"


def grading_scripts(
    tree: Tree,
    *,
    patches: bytes,
    marker: str,
    configurations: Sequence[str],
    fixed: Sequence[str] = (),
    examples: Sequence[str] = (),
) -> Mapping[str, str]:
    """File name → bash for a model's patch. `patches` is a tar of three: test, gold and model's.

    prepare.sh reads them and then the base tree from standard input. It applies the model's patch,
    with exit status PATCH_FAILED when it does not apply, and prints, each ended by NUL: NUL marker,
    the model's tree, the final tree (base + test + gold), how many bytes of diff follow; then that
    diff of what the model's tree adds to the base, of no more than SHOWN bytes, without a NUL of
    its own; status and path of every difference from the model's tree to the final one, marker, all
    final paths, marker, what lies in the environment's site-packages (and in folders there that are
    no packages), marker, lines of the .pth files there that name the tree, name and text of each of
    `configurations` that the final tree has as a file, marker, what its conftests say of plug-ins
    and settings, marker, what `_supporting_script` prints.
    restore.sh TREE reads pairs of D, R, C, L or G and path, each ended by NUL: it removes the
    first, restores the second, closes the third and lays the fourth as CLOSE does, and seals the
    last, as SEAL does. Then neither the patches nor the final tree can be read any more. Exit
    status PUT_BACK_FAILED when that does not go, another one when it was ended from outside.
    blob.sh TREE PATH prints a file; exit status ABSENT or NOT_PLAIN.
    """
    return {
        "prepare.sh": _prepare(tree, patches, marker, configurations)
        + _supporting_script(marker, fixed, examples),
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
{{ git diff-tree -r -p --text --unified=2 --find-renames --diff-filter=d --no-ext-diff \\
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
git grep -h -I -E -A 20 '^pytest_plugins|DJANGO_SETTINGS_MODULE' "$final" -- '*conftest.py' || true
printf '\\0'
"""


def _supporting_script(marker: str, fixed: Sequence[str], examples: Sequence[str]) -> str:
    """Bash at the end of prepare.sh: what tests may rest on that is no test, each ended by NUL.

    Marker; of the modules that the model changed or that are `fixed`, those that import what tests
    are written with, as TREE:PATH; marker; data that the model changed; marker; of each of the
    modules `examples` that it changed the path, and the text in base, final and model's tree;
    marker; then TREE:PATH, NUL, name, newline for each time that code of the final tree names such
    data.
    """
    also = " ".join(quote(path) for path in fixed if path.endswith(".py"))
    return f"""
mapfile -d '' -t changed < <(
    git diff-tree -r -z --no-renames --name-only --diff-filter=M HEAD "$model")
modules=() data=() names=()
for path in "${{changed[@]}}"; do
    case "$path" in
        *.py) modules+=("$path") ;;
        {_NO_DATA}) ;;
        *) if [ ${{#data[@]}} -lt {_DATA} ]; then data+=("$path") names+=(-e "${{path##*/}}"); fi ;;
    esac
done
printf '%s\\0' {marker}
[ ${{#modules[@]}} = 0 ] || printf '%s\\0' "${{modules[@]}}" {also} |
    xargs -0 git --literal-pathspecs grep -l -z -I -E {quote(_TESTING)} "$final" -- || true
printf '%s\\0' {marker}
[ ${{#data[@]}} = 0 ] || printf '%s\\0' "${{data[@]}}"
printf '%s\\0' {marker}
for path in {" ".join(map(quote, examples))}; do
    case $'\\n'"$(printf '%s\\n' "${{modules[@]}}")"$'\\n' in
        *$'\\n'"$path"$'\\n'*) ;;
        *) continue ;;
    esac
    printf '%s\\0' "$path"
    for state in HEAD "$final" "$model"; do
        git cat-file blob "$state:$path" 2>/dev/null | head --bytes={_TEXT} | tr -d '\\0' || true
        printf '\\0'
    done
done
printf '%s\\0' {marker}
[ ${{#names[@]}} = 0 ] || git grep -z -o -I -F "${{names[@]}}" "$final" -- '*.py' |
    head --bytes={_TEXT} || true
"""


def _restore() -> str:
    return f"""{prelude()}{SEAL}{CLOSE}{_WITH_FINAL}
restored=() removed=() closed=() laid=() guarded=()
while IFS= read -r -d '' kind && IFS= read -r -d '' path; do
    case "$kind" in
        R) restored+=("$path") ;;
        D) removed+=("$path") ;;
        C) closed+=("$path") ;;
        L) laid+=("$path") ;;
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
{generated_script()}[ ${{#closed[@]}} = 0 ] || printf '%s\\0' "${{closed[@]}}" | close
[ ${{#laid[@]}} = 0 ] || printf '%s\\0' "${{laid[@]}}" | lay
{{ [ ${{#guarded[@]}} = 0 ] || printf '%s\\0' "${{guarded[@]}}"; }} | seal
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
