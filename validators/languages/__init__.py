"""The languages this version knows, by name. A new one is a module and its line here."""

from collections.abc import Mapping

from validators.languages import python
from validators.languages.base import FileClass, Language

__all__ = ["LANGUAGES", "FileClass", "Language"]

LANGUAGES: Mapping[str, Language] = {language.name: language for language in (python.LANGUAGE,)}
