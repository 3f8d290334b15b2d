"""The arguments of one tool call, held against the function's schema: repaired where the call is clear, else refused.

Only what function schemas of tools use is checked (required, types, enumerations, unknown names), at the top level. The
rest is the tool's own to judge, and whatever it raises becomes an error text.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

__all__ = ["count_characters", "example_arguments", "function_of", "prepare_arguments"]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


def function_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the function in OpenAI function JSON, which providers write with or without the outer `function`."""
    function = schema.get("function")
    return function if isinstance(function, Mapping) else schema


def prepare_arguments(arguments: Mapping[str, Any], function: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Make the arguments of a call fit for the function.

    A null for an optional parameter that does not take null, and a parameter that is left out, become the schema's
    default where it has one and are left out where it has none. A whole float becomes the integer that is asked for.

    Args:
        arguments: What the model sent; it is not changed.
        function: The OpenAI function JSON: `{"name": ..., "parameters": {"properties": ..., "required": ...}}`.

    Returns:
        The arguments and None, or `{}` and a sentence from which the model can repair the call. The sentence never
        repeats a value.
    """
    parameters = function.get("parameters") or {}
    properties: Mapping[str, Any] | None = parameters.get("properties")
    if properties is None:
        return dict(arguments), None
    required = parameters.get("required") or ()
    problems = [f"it needs {name!r}" for name in required if name not in arguments]
    prepared = {}
    for name, value in arguments.items():
        schema = properties.get(name)
        if schema is None:
            if parameters.get("additionalProperties"):
                prepared[name] = value
            else:
                problems.append(f"it has no parameter {name[:100]!r}")
            continue
        types = _types(schema)
        if value is None and name not in required and (types is None or "null" not in types):
            continue
        if isinstance(value, float) and value.is_integer() and types and "integer" in types and "number" not in types:
            value = int(value)
        problem = _problem(name, value, schema, types)
        if problem:
            problems.append(problem)
        prepared[name] = value
    if problems:
        known = ", ".join(name if name in required else f"{name} (optional)" for name in properties) or "none"
        return {}, f"{function.get('name')} was not run: {'; '.join(problems[:5])}. Its parameters: {known}."
    for name, schema in properties.items():
        if name not in prepared and isinstance(schema, Mapping) and schema.get("default") is not None:
            prepared[name] = copy.deepcopy(schema["default"])
    return prepared, None


def example_arguments(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that the function takes: its required ones, each with the plainest value of its type."""
    parameters = function.get("parameters") or {}
    properties = parameters.get("properties") or {}
    plainest = {"string": "...", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}, "null": None}
    example = {}
    for name in parameters.get("required") or ():
        schema = properties.get(name)
        types = _types(schema) or {"string"}
        stated = schema if isinstance(schema, Mapping) else {}
        plain = next(value for kind, value in plainest.items() if kind in types or not types & plainest.keys())
        example[name] = stated.get("default", (stated.get("enum") or [plain])[0])
    return example


def count_characters(value: Any) -> int:
    """Count the characters of all texts in a JSON value, keys included."""
    count, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            count += len(item)
        elif isinstance(item, Mapping):
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple)):
            waiting.extend(item)
    return count


def _types(schema: Any) -> set[str] | None:
    """Return the JSON types that a parameter takes, or None where the schema does not say."""
    if not isinstance(schema, Mapping):
        return None
    stated = schema.get("type")
    if stated is not None:
        types = {stated} if isinstance(stated, str) else set(stated)
        return types | {"null"} if schema.get("nullable") else types
    branches = schema.get("anyOf") or schema.get("oneOf")
    if not branches:
        return None
    found: set[str] = set()
    for branch in branches:
        types_of_branch = _types(branch)
        if types_of_branch is None:
            return None
        found |= types_of_branch
    return found


def _problem(name: str, value: Any, schema: Any, types: set[str] | None) -> str | None:
    """Say what is wrong with one value, without repeating it."""
    if types is not None and not any(_is(value, kind) for kind in types):
        return f"{name!r} must be of type {' or '.join(sorted(types))}, not {_kind(value)}"
    choices = schema.get("enum") if isinstance(schema, Mapping) else None
    if choices is not None and value not in choices:
        shown = ", ".join(repr(choice) for choice in choices[:20])
        return f"{name!r} must be one of {shown}"
    return None


def _is(value: Any, kind: str) -> bool:
    if kind not in _TYPES:
        return True
    if isinstance(value, bool):  # an int to Python, not to JSON
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _kind(value: Any) -> str:
    return next((kind for kind in _TYPES if kind != "number" and _is(value, kind)), "number")
