"""Patches onto a tree inside a container: which are refused, and how the others are applied.

The chain of attempts is the official harness's (swebench 5, `GIT_APPLY_CMDS`): `git apply`, the
same with `--3way`, with `--reject`, then `patch --fuzz=5`; a patch that is in the tree already
counts as applied. Unlike there, every attempt starts from a clean tree: `git reset --hard` and
`git clean -fd` (after a conflicting `--3way`, `git checkout -- .` fails and the next attempts run
on conflict markers).

What a patch says it touches is read here, before anything is applied, since `patch` would follow
names that git refuses.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile
from posixpath import normpath

from validators.unified import FileDiff, file_diffs

_HEADER = re.compile(
    rb"(?:diff --git (?P<pair>.+)"
    rb"|(?:---|\+\+\+|rename from|rename to|copy from|copy to|Index:) (?P<one>.+))"
)
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_QUOTED_WORD = re.compile(rb'(?:^|(?<=\s))"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_NAMED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_LINK_MODE = re.compile(rb"(?:new file mode|new mode|index [0-9a-f]+\.\.[0-9a-f]+) 120000")
_CHANGES = (b"@@ ", b"GIT binary patch", b"rename from ", b"copy from ", b"old mode ", b"new file ")
_CHANGES_END = (b"deleted file ", b"Binary files ")


_OF_GIT = (
    *(b"diff --git ", b"index ", b"old mode ", b"new mode ", b"deleted file mode "),
    *(b"new file mode ", b"similarity index ", b"dissimilarity index ", b"rename from "),
    *(b"rename to ", b"copy from ", b"copy to ", b"--- ", b"+++ ", b"@@ ", b"GIT binary patch"),
    *(b"literal ", b"delta ", b"Binary files "),
)
_BINARY = re.compile(rb"[^\s:]*\r?\n?")
"""A line of what a binary patch holds; no header of any kind looks like that."""

LARGEST_PATCH = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """One file's part of a patch: the names it bears, and what it adds. Paths as git spells them.

    `paths` are all names in its header, `a/` and `b/` cut, without /dev/null.
    """

    paths: tuple[str, ...]
    added: tuple[bytes, ...]
    is_link: bool
    is_deletion: bool


def is_empty(patch: bytes) -> bool:
    """Nothing in it would change a file."""
    lines = patch.splitlines()
    return not any(line.startswith(_CHANGES + _CHANGES_END) for line in lines)


def completed(patch: bytes) -> bytes:
    """The patch with its last newline, which many tools lose and git insists on."""
    return patch if patch.endswith(b"\n") else patch + b"\n"


def without_prose(patch: bytes) -> bytes:
    """The patch with nothing but its hunks and the header lines that git writes.

    `patch` finds names, links and whole diffs in other lines too: indented, behind `X`, after a
    dash, at `Index:` or `***`. What is not read here must not be applied either.
    """
    kept: list[bytes] = []
    for diff in file_diffs(patch):
        kept += filter(_is_of_git, diff.head)
        for hunk in diff.hunks:
            kept += (hunk.head, *hunk.lines, *filter(_is_of_git, hunk.rest))
    return b"".join(kept)


def _is_of_git(line: bytes) -> bool:
    return line.startswith(_OF_GIT) or _BINARY.fullmatch(line) is not None


def file_patches(patch: bytes) -> tuple[FilePatch, ...]:
    """What a patch says of each file. Names inside hunks are content and are not looked at."""
    return tuple(file_patch(diff) for diff in file_diffs(patch))


def refusal(patch: bytes) -> str | None:
    """Why this patch may not be applied at all, or None: it names what lies outside the tree.

    Refused are paths into a `.git` folder, absolute paths, `..`, links that lead out or hide where
    they lead (as binary patches do), and more than LARGEST_PATCH bytes.
    """
    if len(patch) > LARGEST_PATCH:
        return f"the patch has {len(patch)} bytes, more than {LARGEST_PATCH}"
    for each in file_patches(patch):
        for path in each.paths:
            reason = _bad_path(path)
            if reason is not None:
                return f"{path!a} {reason}"
        if each.is_link and each.paths:
            if not each.added:
                return f"{each.paths[-1]!a} is a link that does not show its target"
            target = b"".join(each.added).decode("utf-8", "surrogateescape")
            if _leads_out(each.paths[-1], target):
                return f"{each.paths[-1]!a} is a link out of the tree, to {target!a}"
    return None


def touched_paths(patch: bytes) -> tuple[str, ...]:
    """Every path that a patch names, sorted."""
    return tuple(sorted({path for each in file_patches(patch) for path in each.paths}))


def _bad_path(path: str) -> str | None:
    if path.startswith("/") or re.match(r"[A-Za-z]:[\\/]", path):
        return "is an absolute path"
    parts = path.replace("\\", "/").split("/")
    if ".." in parts:
        return "leads out of the tree"
    if any(part.lower().rstrip(". ") in {".git", "git~1"} for part in parts):
        return "is inside git's own folder"
    return None


def _leads_out(path: str, target: str) -> bool:
    if target.startswith("/"):
        return True
    inner = [*dropwhile(lambda part: part in {"", ".", ".."}, target.split("/"))]
    if ".." in inner:  # behind a link of the patch's own that would be anywhere
        return True
    reached = normpath(f"{'/'.join(path.split('/')[:-1]) or '.'}/{target}")
    return reached == ".." or reached.startswith("../")


def file_patch(diff: FileDiff) -> FilePatch:
    """What one part of a patch says of its file."""
    paths: dict[str, None] = {}
    for line in diff.outside:
        match = _HEADER.match(line.strip(b" \t\r\n"))  # `patch` accepts indented patches
        if match is None:
            continue
        if match["pair"] is not None:
            names = _pair(match["pair"])
        else:
            cut = line.startswith((b"--- ", b"+++ "))
            names = (_cut_prefix(_name(match["one"])) if cut else _name(match["one"]),)
        paths.update((name.decode("utf-8", "surrogateescape"), None) for name in names if name)
    return FilePatch(
        paths=tuple(paths),
        added=tuple(
            line[1:].removesuffix(b"\n")
            for hunk in diff.hunks
            for line in hunk.lines
            if line.startswith(b"+")
        ),
        is_link=any(_LINK_MODE.match(line) for line in diff.outside),
        is_deletion=any(line.startswith(b"deleted file mode ") for line in diff.outside),
    )


def _name(text: bytes) -> bytes:
    """One name of a header line; git ends it with a tab when it holds spaces."""
    quoted = _QUOTED.match(text)
    if quoted is not None:
        return _unquoted(quoted[1])
    name = text.split(b"\t")[0]
    return b"" if name == b"/dev/null" else name


def _unquoted(text: bytes) -> bytes:
    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _NAMED.get(code, code)

    return _ESCAPE.sub(plain, text)


def _cut_prefix(name: bytes) -> bytes:
    """As `-p1` does: the first component, which is `a` or `b`, goes."""
    if name.startswith(b"/"):
        return name
    return name.partition(b"/")[2] if b"/" in name else name


def _pair(text: bytes) -> tuple[bytes, ...]:
    """The two names of a `diff --git` line, where that line is unambiguous.

    Without quotes the two are told apart only when they are equal; else the other header lines
    name them.
    """
    quoted = [_unquoted(match) for match in _QUOTED_WORD.findall(text)]
    if quoted:
        rest = _QUOTED_WORD.sub(b"", text).strip()
        return tuple(_cut_prefix(name) for name in (*quoted, *((rest,) if rest else ())))
    middle = len(text) // 2
    first, second = text[:middle], text[middle + 1 :]
    if text[middle : middle + 1] == b" " and _cut_prefix(first) == _cut_prefix(second):
        return (_cut_prefix(first),)
    return ()


APPLY_SCRIPT = r"""
# Defines `apply_all PATCH...`: applies them in order onto HEAD's tree, which must be clean.
# Prints "applied METHOD" for each; returns 0, or the number of the first that does not apply.
clean_tree() {
    git reset -q --hard && git clean -fdq
}
apply_once() {
    case "$1" in
        plain) git apply --verbose -- "$2" ;;
        3way) git add -A . && git apply --verbose --3way -- "$2" ;;
        reject) git apply --verbose --reject -- "$2" ;;
        fuzz) command -v patch >/dev/null && patch --batch --forward --fuzz=5 -p1 --unified \
            --no-backup-if-mismatch -i "$2" ;;
        already) git apply --check --reverse -- "$2" ;;
    esac
}
apply_all() {
    local number=0 method applied=() earlier
    for file in "$@"; do
        number=$((number + 1))
        for method in plain 3way reject fuzz already; do
            if [ "$method" != plain ]; then
                clean_tree || return 99
                for earlier in "${applied[@]}"; do
                    apply_once "${earlier%%:*}" "${earlier#*:}" >/dev/null 2>&1 || return 99
                done
            fi
            if apply_once "$method" "$file" 2>&1; then
                echo "applied $method"
                applied+=("$method:$file")
                continue 2
            fi
        done
        return "$number"
    done
}
"""
"""Bash. Exit status 99 is no answer: git itself failed where it had succeeded before."""


def methods(output: bytes) -> Sequence[str]:
    """How each patch was applied, from what APPLY_SCRIPT printed: "plain", "3way", "fuzz" …"""
    return tuple(
        line.split()[1].decode()
        for line in output.splitlines()
        if re.fullmatch(rb"applied [a-z0-9]+", line)
    )
