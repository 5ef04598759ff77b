"""What a GraphQL query costs by GitHub's documented formula, from its text and variables alone.

One request per connection and parent, every parent counted at the `first` or `last` it was asked
for; the sum divided by 100, rounded, at least 1. Nodes are counted from the same limits.
Source: GitHub's "Rate limits and query limits for the GraphQL API".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    value_from_ast_untyped,
)

MAX_PAGE = 100
MAX_NODES = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a query is not run, in GitHub's words."""

    type: str
    message: str
    path: tuple[str, ...] = ()


@dataclass(slots=True)
class Cost:
    """Counted so far. `points` is what is charged."""

    requests: int = 0
    nodes: int = 0
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def points(self) -> int:
        """At least 1."""
        return max(1, int(self.requests / 100 + 0.5))


@dataclass(slots=True)
class _Walk:
    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, object]
    cost: Cost = field(default_factory=Cost)
    seen: set[tuple[str, ...]] = field(default_factory=set)


def query_cost(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, object],
) -> Cost:
    """Points and nodes of a valid operation; `variables` with their defaults filled in."""
    fragments = {
        node.name.value: node
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }
    walk = _Walk(schema, fragments, variables)
    query = schema.query_type
    assert query is not None  # noqa: S101  build_schema made it
    _selections(walk, operation.selection_set, query, parents=1, path=())
    if walk.cost.nodes > MAX_NODES:
        walk.cost.refusals.append(
            Refusal(
                type="MAX_NODE_LIMIT_EXCEEDED",
                message=f"This query requests up to {walk.cost.nodes:,} possible nodes which "
                f"exceeds the maximum limit of {MAX_NODES:,}.",
            )
        )
    return walk.cost


def _selections(
    walk: _Walk,
    selections: SelectionSetNode,
    parent: GraphQLNamedType,
    *,
    parents: int,
    path: tuple[str, ...],
) -> None:
    for node in selections.selections:
        if isinstance(node, FieldNode):
            _field(walk, node, parent, parents=parents, path=path)
            continue
        fragment = walk.fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
        assert isinstance(fragment, FragmentDefinitionNode | InlineFragmentNode)  # noqa: S101
        condition = fragment.type_condition
        inner = walk.schema.type_map[condition.name.value] if condition else parent
        _selections(walk, fragment.selection_set, inner, parents=parents, path=path)


def _field(
    walk: _Walk,
    node: FieldNode,
    parent: GraphQLNamedType,
    *,
    parents: int,
    path: tuple[str, ...],
) -> None:
    if not isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
        return  # __typename of a union
    definition = parent.fields.get(node.name.value)
    if definition is None or node.selection_set is None:
        return
    here = (*path, f"{parent.name}.{node.alias.value if node.alias else node.name.value}")
    inner = get_named_type(definition.type)
    arguments = {
        argument.name.value: value_from_ast_untyped(argument.value, dict(walk.variables))
        for argument in node.arguments or ()
    }
    limit = _limit(walk, node.name.value, inner, arguments, here)
    if limit is not None:
        if here not in walk.seen:
            walk.seen.add(here)
            walk.cost.requests += parents
            walk.cost.nodes += parents * limit
        parents *= limit
    _selections(walk, node.selection_set, inner, parents=parents, path=here)


def _limit(
    walk: _Walk,
    name: str,
    inner: GraphQLNamedType,
    arguments: Mapping[str, object],
    path: tuple[str, ...],
) -> int | None:
    """How many nodes a connection was asked for; None when the field is no connection."""
    plain = tuple(step.split(".", 1)[1] for step in path)
    refusals = walk.cost.refusals
    if name == "nodes" and isinstance(arguments.get("ids"), list | tuple):
        ids = arguments["ids"]
        assert isinstance(ids, list | tuple)  # noqa: S101  as just asked
        if len(ids) > MAX_PAGE:
            words = f"You may not provide more than {MAX_PAGE} node ids; you provided {len(ids)}."
            refusals.append(Refusal(type="ARGUMENT_LIMIT", message=words, path=plain))
        return len(ids)
    if not inner.name.endswith("Connection"):
        return None
    limits = {key: arguments[key] for key in ("first", "last") if arguments.get(key) is not None}
    for key, value in limits.items():
        if not isinstance(value, int) or not 1 <= value <= MAX_PAGE:
            words = (
                f"Requesting {value} records on the `{name}` connection exceeds the `{key}` "
                f"limit of {MAX_PAGE} records."
            )
            refusals.append(Refusal(type="EXCESSIVE_PAGINATION", message=words, path=plain))
    if not limits:
        words = (
            f"You must provide a `first` or `last` value to properly paginate the `{name}` "
            "connection."
        )
        refusals.append(Refusal(type="MISSING_PAGINATION_BOUNDARIES", message=words, path=plain))
        return 0
    value = next(iter(limits.values()))
    return value if isinstance(value, int) else 0
