"""A model's proposal of a recipe, where heuristics are spent. Optional: nothing else needs it.

Any endpoint that speaks the chat-completions dialect will do. It sees what the heuristics saw: the
manifests and the logs of what was tried. What it answers is checked into the same typed form.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from miner.errors import MinerError
from miner.http import HttpxTransport
from miner.wire import Request
from validators.errors import ValidatorError
from validators.languages.python.interpreters import RELEASED_AT
from validators.model import Attempt, ProjectInstall, Recipe
from validators.recognition import complaints, recognise

MANIFEST_CHARS = 20_000
LOG_CHARS = 3_000
TIMEOUT_S = 120.0

_PYTHONS = tuple(RELEASED_AT)
_TASK = (
    "You are given the manifests of a Python project and the logs of failed attempts to install it"
    " and run its tests in Debian. Answer with one JSON object and nothing else. Fields: python"
    f' ("{_PYTHONS[0]}" to "{_PYTHONS[-1]}"),'
    ' requirements (list; "." is the project, ".[extra]" with an extra), apt (list of Debian'
    ' packages), pre_install (list of shell commands), project_install ("editable",'
    ' "plain" or "none"), source_paths (list), build_requirements (list), build_cmd (string or'
    ' null), test_cmd (string), runner ("pytest", "unittest" or "django").'
)
_log = logging.getLogger(__name__)

_Word = Annotated[str, Field(max_length=2000, pattern=r"^[^\x00\r\n]+$")]
_Words = Annotated[tuple[_Word, ...], Field(max_length=200)]


class _Advice(BaseModel):
    """What an endpoint may say: a stranger's words, so nothing beyond these fields."""

    model_config = ConfigDict(extra="forbid")

    python: Annotated[str, Field(pattern=f"^({'|'.join(map(re.escape, _PYTHONS))})$")]
    requirements: _Words = ()
    apt: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")], ...], Field(max_length=50)
    ] = ()
    pre_install: _Words = ()
    project_install: ProjectInstall = ProjectInstall.EDITABLE
    source_paths: _Words = ()
    build_requirements: _Words = ()
    build_cmd: _Word | None = None
    test_cmd: _Word = "python -m pytest"
    runner: Literal["pytest", "unittest", "django"] = "pytest"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAdvisor:
    """Asks one endpoint: `url` is its base, such as "http://localhost:8000/v1". Picklable."""

    url: str
    model: str
    key: str | None = None
    ca_bundle: Path | None = None

    def __repr__(self) -> str:
        """Without the key."""
        return f"EndpointAdvisor(url={self.url!r}, model={self.model!r})"

    def __call__(
        self, manifests: Mapping[str, str], attempts: Sequence[Attempt]
    ) -> Sequence[Recipe]:
        """One recipe, or none when the endpoint fails or says something else."""
        try:
            said = self._ask(question(manifests, attempts))
            return (recipe_of(said),)
        except (MinerError, ValidatorError, ValueError, LookupError, TypeError,
                RecursionError) as error:  # fmt: skip
            _log.warning("The advisor gave no recipe: %s", type(error).__name__)
            return ()

    def _ask(self, text: str) -> str:
        body = {
            "model": self.model,
            "temperature": 0,
            "messages": [
                {"role": "system", "content": _TASK},
                {"role": "user", "content": text},
            ],
        }
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        request = Request(
            method="POST",
            url=f"{self.url.rstrip('/')}/chat/completions",
            headers=headers,
            body=json.dumps(body).encode(),
        )
        transport = HttpxTransport(ca_bundle=self.ca_bundle, timeout_s=TIMEOUT_S)
        try:
            response = transport.send(request)
        finally:
            transport.close()
        if response.status != 200:
            raise ValueError(f"the endpoint answered {response.status}")
        return str(json.loads(response.body)["choices"][0]["message"]["content"])


def question(manifests: Mapping[str, str], attempts: Sequence[Attempt]) -> str:
    """Manifests, then what was tried and how it ended; cut where it would be too long."""
    parts = [f"=== {path}\n{text}" for path, text in sorted(manifests.items(), key=_by_length)]
    text = "\n".join(parts)[:MANIFEST_CHARS]
    for number, attempt in enumerate(attempts, 1):
        recipe = attempt.recipe
        tried = {"python": recipe.python, "requirements": recipe.requirements, "apt": recipe.apt}
        log = b""
        if attempt.failure is not None:
            log = attempt.failure.outcome.output
        elif attempt.verdict is not None and attempt.verdict.runs:
            log = attempt.verdict.runs[-1].outcome.output
        end = log.decode("utf-8", "replace")[-LOG_CHARS:]
        text += f"\n=== attempt {number}: {json.dumps(tried)}: {attempt.reason}\n{end}"
    return text


def recipe_of(said: str) -> Recipe:
    """The recipe in an answer, whatever stands around its JSON.

    ValueError when there is none, or one that nobody could have set: it is held to the same words
    as a person's. UnknownRecipeError for a test command that nothing can report from inside.
    """
    start, end = said.find("{"), said.rfind("}")
    advice = _Advice.model_validate_json(said[start : end + 1] if start >= 0 else "")
    recipe = Recipe(
        language="python",
        python=advice.python,
        requirements=advice.requirements,
        apt=advice.apt,
        pre_install=advice.pre_install,
        project_install=advice.project_install,
        source_paths=advice.source_paths,
        build_requirements=advice.build_requirements,
        build_cmd=advice.build_cmd,
        test_cmd=advice.test_cmd,
        runner=advice.runner,
        origin="advisor",
    )
    recognise(recipe)
    for complaint in complaints(recipe):
        raise ValueError(complaint)
    return recipe


def _by_length(item: tuple[str, str]) -> int:
    return len(item[1])
