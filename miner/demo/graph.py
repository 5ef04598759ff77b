"""Answers GraphQL: cost first, then the budget, then graphql-core runs the query itself."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    build_schema,
    execute_sync,
    parse,
    validate,
    value_from_ast_untyped,
)
from graphql.execution import ExecutionResult

from miner.demo.cost import Cost, query_cost
from miner.demo.issue_objects import comment_node, issue_node
from miner.demo.nodes import Arguments, Node, connection, lazy, moment
from miner.demo.objects import Objects, not_found
from miner.demo.pull_objects import pull_node
from miner.demo.pulls import Person
from miner.demo.quota import Balance
from miner.demo.search import MAX_RESULTS, find_pulls, find_repositories

MAX_PROBLEMS = 20


@functools.cache
def schema() -> GraphQLSchema:
    """The subset of GitHub's schema in schema.graphql."""
    return build_schema(files("miner.demo").joinpath("schema.graphql").read_text("utf-8"))


@functools.lru_cache(maxsize=64)
def _checked(query: str) -> tuple[DocumentNode, Sequence[GraphQLError]]:
    """A crawler sends the same few texts over and over."""
    document = parse(query)
    return document, validate(schema(), document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`body` is JSON; `points` what the query cost, 0 when it was refused."""

    body: Mapping[str, object]
    points: int = 0


Charge = Callable[[int], tuple[bool, Balance]]


class Graph:
    """Runs queries over the objects of a world."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def answer(self, query: str, variables: Mapping[str, object], *, charge: Charge) -> Answer:
        """Parse, validate, price, charge, run."""
        try:
            document, problems = _checked(query)
        except GraphQLError as error:
            return _refused([_problem(error, "PARSE_ERROR")])
        if problems:
            return _refused([_problem(error, None) for error in problems[:MAX_PROBLEMS]])
        operations = [
            node for node in document.definitions if isinstance(node, OperationDefinitionNode)
        ]
        if len(operations) != 1 or operations[0].operation.value != "query":
            return _refused([{"message": "The forge runs exactly one query operation."}])
        known = _with_defaults(operations[0], variables)
        cost = query_cost(schema(), document, operations[0], known)
        if cost.refusals:
            return _refused(
                [
                    {"type": r.type, "path": list(r.path), "message": r.message}
                    for r in cost.refusals
                ]
            )
        enough, balance = charge(cost.points)
        if not enough:
            return Answer(body=rate_limited())
        return self._run(document, variables, cost, balance)

    def _run(
        self,
        document: DocumentNode,
        variables: Mapping[str, object],
        cost: Cost,
        balance: Balance,
    ) -> Answer:
        result = execute_sync(
            schema(),
            document,
            root_value=self._root(cost, balance),
            variable_values=dict(variables),
        )
        assert isinstance(result, ExecutionResult)  # noqa: S101  no resolver is asynchronous
        body: dict[str, object] = {"data": result.data}
        if result.errors:
            body["errors"] = [_problem(error, None) for error in result.errors]
        return Answer(body=body, points=cost.points)

    def _root(self, cost: Cost, balance: Balance) -> Node:
        return {
            "rateLimit": {
                "cost": cost.points,
                "limit": balance.limit,
                "remaining": balance.remaining,
                "used": balance.used,
                "nodeCount": cost.nodes,
                "resetAt": moment(balance.reset_at),
            },
            "viewer": self._objects.person(Person(login="miner")),
            "repository": lazy(self._repository),
            "node": lazy(lambda arguments: self._node(str(arguments["id"]))),
            "nodes": lazy(self._nodes),
            "search": lazy(self._search),
        }

    def _repository(self, arguments: Arguments) -> Node:
        name = f"{arguments['owner']}/{arguments['name']}"
        found = self._objects.world.repository(
            name, follow_renames=arguments.get("followRenames") is not False
        )
        if found is None:
            raise not_found(f"Could not resolve to a Repository with the name '{name}'.")
        return self._objects.repository(found)

    def _nodes(self, arguments: Arguments) -> Sequence[Node | GraphQLError]:
        ids = arguments["ids"]
        assert isinstance(ids, list)  # noqa: S101  as the schema says
        return [self._node_or_problem(str(name)) for name in ids]

    def _node_or_problem(self, name: str) -> Node | GraphQLError:
        try:
            return self._node(name)
        except GraphQLError as error:
            return error

    def _node(self, name: str) -> Node:
        """An object by its id: `R_1`, `PR_1_2`, `I_1_2`, `IC_1_2_0`, `C_1_oid`."""
        kind, *rest = name.split("_")
        numbers = [int(part) for part in rest if part.isdecimal()]
        repository = self._objects.world.by_database_id(numbers[0]) if numbers else None
        try:
            if repository is not None:
                match kind:
                    case "R":
                        return self._objects.repository(repository)
                    case "PR":
                        return pull_node(self._objects, repository, repository.pulls[numbers[1]])
                    case "I":
                        return issue_node(self._objects, repository, repository.issues[numbers[1]])
                    case "IC":
                        issue = repository.issues[numbers[1]]
                        return comment_node(self._objects, repository, issue, numbers[2])
                    case "C":
                        return self._objects.commit(repository, rest[1])
                    case _:
                        pass  # answered below
        except LookupError:
            pass  # the same answer as for an id of no known shape
        raise not_found(f"Could not resolve to a node with the global id of '{name}'.")

    def _search(self, arguments: Arguments) -> Node:
        world, query = self._objects.world, str(arguments["query"])
        if arguments["type"] == "REPOSITORY":
            repositories = find_repositories(world, query)
            shown = connection(repositories[:MAX_RESULTS], arguments, self._objects.repository)
            return {**shown, "repositoryCount": len(repositories), "issueCount": 0}
        pulls = find_pulls(world, query)
        shown = connection(
            pulls[:MAX_RESULTS], arguments, lambda item: pull_node(self._objects, *item)
        )
        return {**shown, "issueCount": len(pulls), "repositoryCount": 0}


def rate_limited() -> Mapping[str, object]:
    """GitHub's answer when the hour's points are spent: status 200, no data."""
    message = "API rate limit exceeded for user ID 1."
    return {"errors": [{"type": "RATE_LIMITED", "message": message}]}


def _refused(problems: list[Mapping[str, object]]) -> Answer:
    return Answer(body={"data": None, "errors": problems})


def _with_defaults(
    operation: OperationDefinitionNode, variables: Mapping[str, object]
) -> Mapping[str, object]:
    defaults = {
        definition.variable.name.value: value_from_ast_untyped(definition.default_value)
        for definition in operation.variable_definitions or ()
        if definition.default_value is not None
    }
    return {**defaults, **variables}


def _problem(error: GraphQLError, kind: str | None) -> Mapping[str, object]:
    problem: dict[str, object] = {"message": error.message}
    kind = kind or (error.extensions or {}).get("type")
    if kind:
        problem["type"] = kind
    if error.path is not None:
        problem["path"] = list(error.path)
    if error.locations:
        problem["locations"] = [
            {"line": place.line, "column": place.column} for place in error.locations
        ]
    if error.original_error is not None and not isinstance(error.original_error, GraphQLError):
        raise error.original_error  # a fault of the forge itself: never dressed up as an answer
    return problem
