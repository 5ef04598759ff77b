"""What prepare.sh tells of a model's tree, and what the rules need to know of it: pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise
from pathlib import PurePosixPath
from posixpath import normpath

from validators.configured import CONFIGURATIONS, configured, plugins_in
from validators.engine import TREE
from validators.languages import LANGUAGES
from validators.languages.python.documents import words
from validators.model import Environment, GradingTask, Outcome, Recipe
from validators.naming import PYTEST, folders, named
from validators.patching import touched_paths
from validators.putting_back import Trees
from validators.required import files_of_tests, import_bases
from validators.restoration import Change, is_kept
from validators.surroundings import Surroundings, import_roots

_LONGEST = 200_000
"""Characters of paths in one command; the kernel's limit is ten times that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The model's tree: what it adds to the base (a diff), what differs from the final state, all
    paths of that, what is installed.

    `linked` are folders of the tree that the environment imports from, `configurations` name and
    text of the final state's, `conftests` what its conftests say of plug-ins. `helpers` are modules
    for tests, of those that the model or the fix changed, `data` what the model changed that is no
    code, `mentions` code of the final state and a name of such data in it, `examples` path and text
    in base, final and model's tree of what holds required examples and was changed.
    """

    outcome: Outcome
    added: bytes
    trees: Trees
    changes: tuple[Change, ...]
    final_paths: frozenset[str]
    installed: tuple[str, ...]
    linked: tuple[str, ...]
    configurations: tuple[tuple[str, str], ...]
    conftests: str
    helpers: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    mentions: tuple[tuple[str, str], ...] = ()
    examples: tuple[tuple[str, str, str, str], ...] = ()

    @property
    def model_paths(self) -> frozenset[str]:
        """All paths of the model's tree, before anything is put back."""
        gone = {each.path for each in self.changes if not each.in_model}
        return (self.final_paths - gone) | {each.path for each in self.changes if each.in_model}


def configurations(recipe: Recipe, selection: Sequence[str]) -> tuple[str, ...]:
    """Of which files `Prepared` needs the text: pytest looks above each of the selected paths.

    Only at the top where there would be more than one command can be given.
    """
    parents = {str(parent) for path in selection for parent in PurePosixPath(path).parents}
    above = sorted(f"{folder}/" for folder in parents - {"."})
    if sum(map(len, above)) * len(CONFIGURATIONS) > _LONGEST:
        above = []
    places = [f"{folder}{name}" for folder in ("", *above) for name in CONFIGURATIONS]
    return (*places, *sorted(named(recipe.test_cmd, recipe.env_vars).files))


def read_prepared(outcome: Outcome, told: bytes, marker: str) -> Prepared:
    """From what came after the first marker; see `grading_scripts`."""
    model, final, size, listed = told.split(b"\0", maxsplit=3)
    added, listed = listed[: int(size)], listed[int(size) :]
    parts: list[list[str]] = [[]]
    for field in listed.decode("utf-8", "surrogateescape").split("\0"):
        if field == marker:
            parts.append([])
        else:
            parts[-1].append(field)
    changes, paths, installed, (linked, *texts), (conftests, *_), *rest = parts
    helpers, data, texts_of_examples, mentions = rest
    return Prepared(
        outcome=outcome,
        added=added,
        trees=Trees(model=model.decode(), final=final.decode()),
        changes=tuple(
            Change(path=path, in_model=status != "A", in_final=status != "D")
            for status, path in zip(changes[::2], changes[1::2], strict=True)
        ),
        final_paths=frozenset(paths),
        installed=tuple(installed),
        linked=tuple(_inside(line) for line in linked.splitlines()),
        configurations=tuple(zip(texts[::2], texts[1::2], strict=True)),
        conftests=conftests,
        helpers=tuple(each.partition(":")[2] for each in helpers),
        data=tuple(data),
        mentions=tuple(_mentions(mentions)),
        examples=tuple(zip(*[iter(texts_of_examples)] * 4, strict=True)),
    )


def _mentions(fields: Sequence[str]) -> Iterator[tuple[str, str]]:
    """From what `git grep -z` prints: TREE:PATH, NUL, name, newline. The last one may be cut."""
    place = fields[0] if fields else ""
    for field in fields[1:]:
        name, ended, following = field.partition("\n")
        if ended:
            yield place.partition(":")[2], name
        place = following


def surroundings_of(
    task: GradingTask, environment: Environment, prepared: Prepared
) -> Surroundings:
    """What restoring needs to know."""
    recipe = environment.recipe
    given = dict(recipe.env_vars).get("PYTHONPATH", "").split(":")
    names = configured(dict(prepared.configurations), prepared.conftests)
    roots = (
        *(*recipe.source_paths, *prepared.linked),
        *(_inside(each) for each in (*given, *names.folders, *folders(recipe.test_cmd)) if each),
    )
    fixed = frozenset(touched_paths(task.patch))
    ids = (*task.fail_to_pass, *task.pass_to_pass)
    told = files_of_tests(ids, prepared.final_paths, {"", *roots})
    return Surroundings(
        language=LANGUAGES[recipe.language],
        packages=environment.packages,
        installed=prepared.installed,
        final_paths=prepared.final_paths,
        source_paths=roots,
        python=recipe.python,
        test_cmd=recipe.test_cmd,
        env_vars=recipe.env_vars,
        plugins=names.plugins,
        files=names.files,
        early=(*names.early, *_loaded_by(recipe)),
        fixed=fixed,
        held=told.union(touched_paths(task.test_patch)) - fixed,
    )


def places_of_tests(
    prepared: Prepared, surroundings: Surroundings
) -> tuple[Sequence[str], Sequence[str]]:
    """Folders that pytest puts first on the import path to import tests, and those of them that
    are there by the patch alone, which made a package a mere folder."""
    kept = [
        path
        for path in prepared.final_paths
        if path.endswith(".py") and is_kept(path, surroundings)
    ]
    final = import_bases(kept, prepared.final_paths)
    model = import_bases(kept, prepared.model_paths)
    return sorted(final | model), sorted(model - final - import_roots(surroundings))


def _loaded_by(recipe: Recipe) -> Iterator[str]:
    """What the command and its variables load before our reporter: plug-ins, categories of
    warnings, and what starts pytest in its place."""
    given, variables = words(recipe.test_cmd), dict(recipe.env_vars)
    of_pytest = [*dropwhile(lambda word: not word.endswith(PYTEST), given)]
    before = given[: len(given) - len(of_pytest)]
    yield from plugins_in(of_pytest)
    yield from plugins_in(words(variables.get("PYTEST_ADDOPTS", "")))
    yield from _categories(before, variables.get("PYTHONWARNINGS", ""))
    if recipe.runner == "pytest":
        yield from _starters(before)


def _categories(options: Sequence[str], variable: str) -> Iterator[str]:
    """Modules that Python imports as it starts, for `-W error::calc.Slow`."""
    filters = variable.split(",")
    for word, following in pairwise([*options, ""]):
        if word.startswith("-W"):
            filters.append(word[2:] or following)
    for each in filters:
        module, _, name = "".join(each.split(":")[2:3]).strip().rpartition(".")
        if module and name:
            yield module.replace(".", "/")


def _starters(options: Sequence[str]) -> Iterator[str]:
    """Modules by which a command starts pytest: scripts and `-m tools.run`."""
    for word, following in pairwise([*options, ""]):
        if word.endswith(".py"):
            yield _inside(word).removesuffix(".py")
        elif word == "-m":
            yield following.replace(".", "/")


def _inside(path: str) -> str:
    """Relative to the tree; "" is the tree itself."""
    found = normpath(path.removeprefix(TREE).strip("/") or ".")
    return "" if found == "." else found
