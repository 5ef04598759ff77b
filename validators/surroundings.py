"""What rules on a model's tree need to know of the final state and how it is tested. Pure."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import PurePosixPath
from posixpath import normpath

from validators.languages.base import Language
from validators.naming import PYTEST, named

_ENDS = (".py", "/__init__.py")
_OF_RUNNER = (
    *("pytest", "_pytest", "pluggy", "py", "iniconfig", "packaging", "attr", "attrs", "pygments"),
    *("exceptiongroup", "tomli", "colorama", "coverage", "typing_extensions", "importlib_metadata"),
)
"""What pytest, of some version, imports as it starts, and what may start pytest."""

_ROOTS = ("", "src", "lib", "python")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the rules need to know: the language, installed packages, the final state's paths.

    `installed` is what lies in site-packages (and what in folders there that are no packages of
    themselves, `zope/interface`): modules are often not called like their distribution.
    `source_paths` are the folders on the import path, relative to the tree. `python` is the
    environment's version, "3.12". `test_cmd` may name a script of the tree: that runs the tests;
    `env_vars` are the variables it is given. `plugins` are modules, with slashes, that pytest's
    configuration names, `files` other files that it names, `early` modules that are imported before
    our reporter. `fixed` is what the gold patch touches; `held` are more files of the tests: what
    the test patch touches, and where the required tests are.
    """

    language: Language
    packages: tuple[str, ...]
    installed: tuple[str, ...] = ()
    final_paths: frozenset[str]
    source_paths: tuple[str, ...] = ()
    python: str = ""
    test_cmd: str = ""
    env_vars: tuple[tuple[str, str], ...] = ()
    plugins: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    early: tuple[str, ...] = ()
    fixed: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()

    @property
    def scripts(self) -> frozenset[str]:
        """Files of the final state that the test command starts, as paths in the tree.

        What comes after `pytest` is what it tests.
        """
        words = takewhile(lambda word: not word.endswith(PYTEST), self.test_cmd.split())
        return frozenset({normpath(word) for word in words} & self.final_paths)

    @property
    def named(self) -> frozenset[str]:
        """Files of the final state that options of the test command, variables and pytest's own
        configuration name, as paths in the tree.

        Configuration, plug-ins and settings. A module that the fix changes is what is tested.
        """
        files, modules = _named(
            self.test_cmd, self.env_vars, self.source_paths, self.scripts, self.plugins
        )
        return (files.union(self.files) | (modules - self.fixed)) & self.final_paths

    @property
    def runs_early(self) -> bool:
        """Whether code of the tree is imported before our reporter, by which it could read our
        first line: plug-ins that options name, categories of warnings that Python is told of, a
        script that starts pytest, or what the runner itself imports."""
        _, places = _named("", (), self.source_paths, self.scripts, (*self.early, *_OF_RUNNER))
        return not places.isdisjoint(self.final_paths)


@lru_cache(maxsize=64)
def _named(
    test_cmd: str,
    env_vars: tuple[tuple[str, str], ...],
    source_paths: tuple[str, ...],
    scripts: frozenset[str],
    plugins: tuple[str, ...],
) -> tuple[frozenset[str], frozenset[str]]:
    """Files, and where modules would be, that options and variables name."""
    names = named(test_cmd, env_vars)
    roots = [f"{root}/" if root else "" for root in _roots(source_paths, scripts)]
    modules = names.modules.union(plugins)
    places = (f"{root}{module}{end}" for root in roots for module in modules for end in _ENDS)
    return names.files, frozenset(places)


def import_roots(surroundings: Surroundings) -> frozenset[str]:
    """Folders whose modules can be imported by name, "" for the tree itself."""
    return _roots(surroundings.source_paths, surroundings.scripts)


@lru_cache(maxsize=64)
def _roots(source_paths: tuple[str, ...], scripts: frozenset[str]) -> frozenset[str]:
    """Python finds what lies beside a script that it starts."""
    beside = (str(PurePosixPath(each).parent) for each in scripts)
    return frozenset({*_ROOTS, *(each.strip("/.") for each in (*source_paths, *beside))})
