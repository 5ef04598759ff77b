"""JSON from a person or a stranger: what is odd in it is a ValueError in few words, no crash."""

import json


def parsed(text: str | bytes) -> object:
    """The value. ValueError, whose words go into brackets, for what is no JSON or would be lost:
    keys given twice, NaN, nesting and numbers that this machine has no room for.
    """
    try:
        value: object = json.loads(text, object_pairs_hook=_each_once, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("no UTF-8 text") from None
    except json.JSONDecodeError as error:
        where = f" in line {error.lineno}" if "\n" in error.doc.strip() else ""
        raise ValueError(f"{error.msg}{where}, column {error.colno}") from None
    except ValueError as error:
        raise ValueError("a number is too long" if "digits" in str(error) else str(error)) from None
    return value


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError("it has the key twice: " + max(keys, key=keys.count))
    return found


def _refused(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
