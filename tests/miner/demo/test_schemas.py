"""The forge answers in GitHub's shapes: held against GitHub's own descriptions."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLUnionType,
    parse,
    validate,
    validate_schema,
)
from jsonschema import Draft202012Validator

from miner.crawl.github import queries
from miner.demo import Forge
from miner.demo.graph import schema
from tests import schemas
from tests.miner.demo.conftest import ask

BUILT_IN = {"Int", "Float", "String", "Boolean", "ID"}


def own_types() -> list[str]:
    return [
        name for name in schema().type_map if not name.startswith("__") and name not in BUILT_IN
    ]


@pytest.mark.network
@pytest.mark.parametrize("name", own_types())
def test_every_type_is_part_of_github_s(name: str) -> None:
    ours, theirs = schema().type_map[name], schemas.graphql_schema().type_map[name]
    assert type(ours) is type(theirs)
    if isinstance(ours, GraphQLObjectType | GraphQLInterfaceType):
        assert isinstance(theirs, GraphQLObjectType | GraphQLInterfaceType)
        assert {i.name for i in ours.interfaces} <= {i.name for i in theirs.interfaces}
        for field_name, field in ours.fields.items():
            official = theirs.fields[field_name]
            assert str(field.type) == str(official.type), field_name
            for argument_name, argument in field.args.items():
                expected = official.args[argument_name]
                assert str(argument.type) == str(expected.type)
                assert argument.default_value == expected.default_value
            required = {n for n, a in official.args.items() if str(a.type).endswith("!")}
            assert required <= field.args.keys()
    if isinstance(ours, GraphQLUnionType):
        assert isinstance(theirs, GraphQLUnionType)
        assert {t.name for t in ours.types} <= {t.name for t in theirs.types}
    if isinstance(ours, GraphQLEnumType):
        assert isinstance(theirs, GraphQLEnumType)
        assert set(ours.values) == set(theirs.values)
    if isinstance(ours, GraphQLInputObjectType):
        assert isinstance(theirs, GraphQLInputObjectType)
        assert {n: str(f.type) for n, f in ours.fields.items()} == {
            n: str(f.type) for n, f in theirs.fields.items()
        }


def test_the_forge_s_own_schema_is_sound() -> None:
    assert validate_schema(schema()) == []


@pytest.mark.parametrize("name", queries.names())
def test_every_query_of_the_crawler_can_be_asked(name: str) -> None:
    assert validate(schema(), parse(queries.query(name))) == []


@pytest.mark.network
@pytest.mark.parametrize(
    ("path", "described"),
    [
        ("/repos/demo/tally", "/repos/{owner}/{repo}"),
        ("/repos/demo/tally/languages", "/repos/{owner}/{repo}/languages"),
        ("/repos/demo/tally/license", "/repos/{owner}/{repo}/license"),
        ("/repos/demo/tally/pulls?state=all", "/repos/{owner}/{repo}/pulls"),
        ("/users/demo/repos", "/users/{username}/repos"),
        ("/search/repositories?q=stars:>1", "/search/repositories"),
        ("/rate_limit", "/rate_limit"),
    ],
)
def test_rest_answers_have_the_described_shape(forge: Forge, path: str, described: str) -> None:
    answer = ask(forge, path)
    assert answer.status == 200
    api = schemas.openapi()
    response = api["paths"][described]["get"]["responses"]["200"]
    shape = response["content"]["application/json"]["schema"]
    document = {**shape, "components": json_schema(api["components"])}
    problems = [
        f"{'/'.join(map(str, problem.absolute_path))}: {problem.message}"
        for problem in Draft202012Validator(document).iter_errors(answer.json)
    ]
    assert problems == []
    assert answer.json


def json_schema(value: object) -> Any:
    """OpenAPI 3.0's `nullable` as JSON Schema has it."""
    if isinstance(value, list):
        return [json_schema(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    plain = {key: json_schema(item) for key, item in value.items() if key != "nullable"}
    if value.get("nullable") is True:
        return {"anyOf": [plain, {"type": "null"}]}
    return plain


def test_nullable_is_understood() -> None:
    shape = json_schema({"properties": {"a": {"type": "string", "nullable": True}}})
    validator = Draft202012Validator(shape)
    assert not list(errors(validator, {"a": None}))
    assert list(errors(validator, {"a": 1}))


def errors(validator: Draft202012Validator, value: object) -> Iterator[object]:
    return cast(Iterator[object], validator.iter_errors(cast(Any, value)))
