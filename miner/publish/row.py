"""ExportRow: an instance under the field's column names; the only place that spells them.

The columns up to PASS_TO_PASS are SWE-bench's; the rest are ours. A row is also what `evaluate`
reads back from a file of someone else, so pydantic checks it at the door.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from miner.jsontext import parsed
from miner.model import Instance, Split
from validators.model import POLICIES, Recipe

Encoding = str
UTF_8, LATIN_1 = "utf-8", "latin-1"

_RECIPE: TypeAdapter[Recipe] = TypeAdapter(Recipe)


def _listed(value: object) -> object:
    """SWE-bench's own files hold these lists as JSON text."""
    return parsed(value) if isinstance(value, str) else value


def _aware(recipe: Recipe) -> Recipe:
    """ValueError when a time has no zone: it cannot be compared with any other."""
    times = (recipe.cutoff_at, *(moment for _, moment in recipe.cutoff_exempt))
    if any(moment is not None and moment.tzinfo is None for moment in times):
        raise ValueError("cutoff_at and cutoff_exempt need a time zone, as 2024-05-01T00:00:00Z")
    return recipe


TestIds = Annotated[tuple[str, ...], BeforeValidator(_listed)]
GivenRecipe = Annotated[Recipe, AfterValidator(_aware)]
"""A recipe that came from a file."""


class ExportRow(BaseModel):
    """One published instance.

    `patch` and `test_patch` are git's bytes as text: UTF-8 when they are, else Latin-1, which maps
    every byte to one character; `meta["encodings"]` says which, and `patch_bytes` undoes it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    instance_id: str = Field(pattern=r"^[\w.-]+__[\w.-]+-\d+$")
    repo: str = Field(pattern=r"^\w[\w.-]*/\.?[\w-][\w.-]*$")
    base_commit: str = Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")
    patch: str = Field(min_length=1)
    test_patch: str = Field(min_length=1)
    problem_statement: str = Field(min_length=1)
    hints_text: str = ""
    created_at: AwareDatetime
    version: str = ""
    environment_setup_commit: str
    FAIL_TO_PASS: TestIds = Field(min_length=1)
    PASS_TO_PASS: TestIds = ()

    language: str
    install_config: GivenRecipe
    image_name: str = ""
    dockerfile: str = ""
    license_name: str | None = None
    snapshot: str = ""
    split: Split = Split.TEST
    issue_numbers: tuple[int, ...] = ()
    issue_created_at: AwareDatetime
    merged_at: AwareDatetime
    meta: Mapping[str, JsonValue] = Field(default_factory=dict)

    @field_validator("repo")
    @classmethod
    def _of_the_instance(cls, value: str, given: ValidationInfo) -> str:
        """Its tree and its environment are the repository's, its grades the instance's.

        Case does not count: some datasets write their ids in lower case.
        """
        of = str(given.data.get("instance_id", "")).rpartition("-")[0]
        if of and of.lower() != value.replace("/", "__").lower():
            raise ValueError("instance_id names another one; of owner/name it is owner__name-123")
        return value

    @field_validator("PASS_TO_PASS")
    @classmethod
    def _in_one_list(cls, value: tuple[str, ...], given: ValidationInfo) -> tuple[str, ...]:
        """A test that both lists name failed before the fix and passed before it."""
        both = set(value) & set(given.data.get("FAIL_TO_PASS", ()))
        if both:
            raise ValueError(f"{min(both)!r} is in FAIL_TO_PASS too")
        return value

    @property
    def whole_suite(self) -> bool:
        """Its lists were made of the project's whole suite, which grading then has to run."""
        policy = POLICIES.get(str(self.meta.get("verification_policy")))
        return policy is not None and policy.whole_suite

    @property
    def patch_bytes(self) -> bytes:
        """The gold patch as git wrote it."""
        return self.patch.encode(self._encoding("patch"))

    @property
    def test_patch_bytes(self) -> bytes:
        """The test patch as git wrote it."""
        return self.test_patch.encode(self._encoding("test_patch"))

    @property
    def flags(self) -> tuple[str, ...]:
        """What a careful reader is warned of."""
        found = self.meta.get("flags")
        return tuple(str(flag) for flag in found) if isinstance(found, list) else ()

    def _encoding(self, column: str) -> Encoding:
        encodings = self.meta.get("encodings")
        found = encodings.get(column) if isinstance(encodings, dict) else None
        return LATIN_1 if found == LATIN_1 else UTF_8


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong: column and reason, never the value."""
    first = error.errors()[0]
    column = ".".join(str(part) for part in first["loc"]) or "line"
    return f"{column}: {first['msg'].removeprefix('Value error, ')}"


def canonical(row: ExportRow) -> str:
    """The row as one line of ASCII JSON, always the same for the same row.

    ASCII, since readers that split at U+2028 or U+0085 would cut a record that holds them raw.
    """
    return json.dumps(row.model_dump(mode="json"), ensure_ascii=True, separators=(",", ":"))


def row_hash(row: ExportRow) -> str:
    """sha256 of what decides a grade: not of snapshot, split, texts or meta flags."""
    deciding: dict[str, object] = {
        "instance_id": row.instance_id,
        "repo": row.repo,
        "base_commit": row.base_commit,
        "patch": row.patch,
        "test_patch": row.test_patch,
        "FAIL_TO_PASS": row.FAIL_TO_PASS,
        "PASS_TO_PASS": row.PASS_TO_PASS,
        "install_config": _RECIPE.dump_python(row.install_config, mode="json"),
        "encodings": row.meta.get("encodings"),
    }
    if row.whole_suite:
        deciding["whole_suite"] = True
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def export_row(
    instance: Instance,
    *,
    snapshot: str,
    split: Split,
    signals: Mapping[str, str],
    dockerfile: str,
) -> ExportRow:
    """An instance as a row; raises pydantic's ValidationError when a column is unfit.

    `signals`: name → JSON text.
    """
    candidate, verdict, environment = instance.candidate, instance.verdict, instance.environment
    patch, patch_encoding = _text(candidate.patch)
    test_patch, test_patch_encoding = _text(candidate.test_patch)
    return ExportRow(
        instance_id=candidate.instance_id,
        repo=candidate.repo,
        base_commit=candidate.base_commit,
        patch=patch,
        test_patch=test_patch,
        problem_statement=candidate.problem_statement,
        hints_text=candidate.hints_text,
        created_at=candidate.created_at,
        version=candidate.version,
        environment_setup_commit=candidate.base_commit,
        FAIL_TO_PASS=verdict.fail_to_pass,
        PASS_TO_PASS=verdict.pass_to_pass,
        language=candidate.language,
        install_config=environment.recipe,
        image_name=candidate.instance_id.lower(),
        dockerfile=dockerfile,
        license_name=candidate.license,
        snapshot=snapshot,
        split=split,
        issue_numbers=candidate.issue_numbers,
        issue_created_at=candidate.issue_created_at,
        merged_at=candidate.merged_at,
        meta={
            "pull_number": candidate.pull_number,
            "merge_tree": candidate.merge_tree,
            "patch_hash": candidate.patch_hash,
            "verification_policy": verdict.policy,
            "flags": _flags(instance, signals),
            "signals": {name: json.loads(value) for name, value in sorted(signals.items())},
            "encodings": {"patch": patch_encoding, "test_patch": test_patch_encoding},
            "left_out": [list(pair) for pair in verdict.left_out],
        },
    )


def _flags(instance: Instance, signals: Mapping[str, str]) -> list[JsonValue]:
    """What a careful reader should know at a glance: marks of text and verdict, raised signals."""
    raised = {name for name, value in signals.items() if _raised(json.loads(value))}
    return [*sorted({*instance.candidate.statement_marks, *instance.verdict.marks, *raised})]


def _raised(value: JsonValue) -> bool:
    return isinstance(value, dict) and value.get("flag") is True


def _text(patch: bytes) -> tuple[str, Encoding]:
    try:
        return patch.decode(UTF_8), UTF_8
    except UnicodeDecodeError:
        return patch.decode(LATIN_1), LATIN_1
