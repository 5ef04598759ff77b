"""What a setup.py says, read as a syntax tree and never run."""

import ast
from collections.abc import Iterator, Mapping

from validators.languages.python.syntax import syntax_tree

Value = str | bool | float | None | list["Value"] | dict[str, "Value"]
"""What can be told without running: constants, lists and dictionaries of them."""


class _Unknown:
    """An expression whose value only running it would tell."""


_UNKNOWN = _Unknown()

_MOST = 10_000
"""No project asks for more; a sum of sums of sums could grow without end."""


def setup_arguments(text: str) -> Mapping[str, Value]:
    """The keyword arguments of the `setup()` call, as far as they can be told; else nothing."""
    module = syntax_tree(text)
    if module is None:
        return {}
    names = _assigned(module)
    arguments: dict[str, Value] = {}
    for call in _setup_calls(module):
        for keyword in call.keywords:
            value = _value(keyword.value, names)
            if isinstance(value, _Unknown):
                continue
            if keyword.arg is not None:
                arguments[keyword.arg] = value
            elif isinstance(value, dict):
                arguments.update(value)
    return arguments


def is_told(text: str, argument: str) -> bool:
    """Whether a setup.py speaks of `argument` at all, even of one that cannot be told."""
    module = syntax_tree(text)
    if module is None:
        return argument in text  # Python 2 syntax
    return any(
        (isinstance(node, ast.keyword) and node.arg == argument)
        or (isinstance(node, ast.Constant) and node.value == argument)
        for node in ast.walk(module)
    )


def strings(value: Value | None) -> tuple[str, ...]:
    """The strings of a list, or of text with one a line."""
    if isinstance(value, str):
        return tuple(line.strip() for line in value.splitlines() if line.strip())
    if isinstance(value, list):
        return tuple(item for item in value if isinstance(item, str))
    return ()


def _setup_calls(module: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name == "setup":
            yield node


def _assigned(module: ast.Module) -> dict[str, Value]:
    """Names of the module's top level (and its if-branches) with values that can be told."""
    names: dict[str, Value] = {}
    for node in _statements(module.body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            _remember(names, node.targets[0].id, node.value)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Subscript)
            and isinstance(node.targets[0].value, ast.Name)
        ):
            _put(names, node.targets[0], node.value)
    return names


def _remember(names: dict[str, Value], name: str, expression: ast.expr) -> None:
    value = _value(expression, names)
    if isinstance(value, _Unknown):
        names.pop(name, None)
    else:
        names[name] = value


def _put(names: dict[str, Value], target: ast.Subscript, expression: ast.expr) -> None:
    """`extras["test"] = [...]`."""
    assert isinstance(target.value, ast.Name)  # noqa: S101  # narrowed by the caller
    holder, key = names.get(target.value.id), _value(target.slice, names)
    value = _value(expression, names)
    if isinstance(holder, dict) and isinstance(key, str) and not isinstance(value, _Unknown):
        holder[key] = value


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.FunctionDef):
            yield from _statements(node.body)


def _value(node: ast.expr, names: Mapping[str, Value]) -> Value | _Unknown:
    try:
        return _evaluated(node, names)
    except RecursionError:  # a sum of a thousand pieces
        return _UNKNOWN


def _evaluated(node: ast.expr, names: Mapping[str, Value]) -> Value | _Unknown:
    found: Value | _Unknown = _UNKNOWN
    match node:
        case ast.Constant(value=str() | bool() | int() | float() | None as constant):
            found = constant
        case ast.Name(id=name):
            found = names.get(name, _UNKNOWN)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            found = _items(items, names)
        case ast.Dict():
            found = _dict(node, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            found = _sum(_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            found = _keywords(keywords, names)
        case ast.Call(func=ast.Name(id="list" | "sorted" | "set" | "tuple"), args=[only]):
            found = _value(only, names)
        case _:
            pass
    return found


def _keywords(keywords: list[ast.keyword], names: Mapping[str, Value]) -> Value:
    pairs = {keyword.arg: _value(keyword.value, names) for keyword in keywords}
    return {
        name: value
        for name, value in pairs.items()
        if name is not None and not isinstance(value, _Unknown)
    }


def _items(items: list[ast.expr], names: Mapping[str, Value]) -> Value:
    """The elements that can be told: a partly known list is still a list of needs."""
    found: list[Value] = []
    for item in items:
        if isinstance(item, ast.Starred):
            value = _value(item.value, names)
            found += value if isinstance(value, list) else []
            continue
        value = _value(item, names)
        if not isinstance(value, _Unknown):
            found.append(value)
    return found[:_MOST]


def _dict(node: ast.Dict, names: Mapping[str, Value]) -> Value:
    found: dict[str, Value] = {}
    for key, item in zip(node.keys, node.values, strict=True):
        value = _value(item, names)
        if key is None:
            found.update(value if isinstance(value, dict) else {})
            continue
        name = _value(key, names)
        if isinstance(name, str) and not isinstance(value, _Unknown):
            found[name] = value
        elif isinstance(name, str):
            found[name] = []  # the key alone is worth knowing: an extra of that name exists
    return found


def _sum(left: Value | _Unknown, right: Value | _Unknown) -> Value | _Unknown:
    if isinstance(left, str) and isinstance(right, str):
        return (left + right)[:_MOST]
    lists = [side for side in (left, right) if isinstance(side, list)]
    return [item for side in lists for item in side][:_MOST] if lists else _UNKNOWN
