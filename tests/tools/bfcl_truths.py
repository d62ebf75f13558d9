"""What a perfect model would call in a case of the function calling leaderboard, out of the answers that its judge takes."""

import json
import typing

import official


LEFT_OUT = object()

# What the judge never takes, whatever is called: elements of a Java list that are no texts, values for which the function
# has no parameter, parameters for which the answer has no value.
UNANSWERABLE = {
    "simple_java_36", "simple_java_65", "live_simple_106-63-0", "live_simple_112-68-0", "live_multiple_862-181-3",
    "live_multiple_964-207-0",
}  # fmt: skip


TYPES = {"string": str, "integer": int, "float": (int, float), "boolean": bool, "array": list, "tuple": list, "dict": dict}


def _fits(value: typing.Any, kind: str) -> bool:
    return isinstance(value, TYPES.get(kind, object)) and (kind == "boolean" or not isinstance(value, bool))


def _value(options: list, kind: str = "") -> typing.Any:
    """The first option of the type that is one at all: the empty text stands for leaving an optional value out."""
    given = [option for option in options if option != ""]
    fitting = [option for option in given if _fits(option, kind)]
    if not fitting and "" in options:
        fitting = [LEFT_OUT]
    return _plain((fitting or given or [LEFT_OUT])[0])


def _plain(option: typing.Any) -> typing.Any:
    """Members of an object, and of objects in a list, are mostly options themselves. Where one is a text instead, the judge
    takes its letters for the options, and its beginning for the empty one."""
    if isinstance(option, dict):
        members = {key: _value(value) if isinstance(value, list) else value for key, value in option.items()}
        return {key: v for key, v in members.items() if v is not LEFT_OUT and not isinstance(option[key], str)}
    if isinstance(option, list):
        return [_plain(item) for item in option]
    return option


def _java(value: typing.Any, kind: str, items: str) -> str:
    """The value as Java source, from which the judge reads it again."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        suffix = {"long": "L", "float": "f"}.get(kind, "")
        return f"{value}{suffix}"
    if isinstance(value, list):
        quoted = ", ".join(_java_item(item, "any" if kind == "Array" else items) for item in value)
        if kind == "Array":  # whose texts the judge wants without quotes
            return f"new {items or 'Object'}[]{{{quoted}}}"
        return f"new ArrayList<>(Arrays.asList({quoted}))" if value else "new ArrayList<>()"
    if isinstance(value, dict):
        puts = "".join(f'put("{key}", {_java_item(item, "")}); ' for key, item in value.items())
        return f"new HashMap<String, Object>() {{{{ {puts}}}}}"
    return value


def _java_item(value: typing.Any, kind: str) -> str:
    if isinstance(value, str) and kind != "any":
        return f'"{value}"'
    return _java(value, kind, "")


def _javascript(value: typing.Any, kind: str) -> str:
    if isinstance(value, str):
        return value
    return f"{value}n" if kind == "Bigint" else json.dumps(value, ensure_ascii=False)


def _written(value: typing.Any, parameter: dict, group: str) -> typing.Any:
    """Functions of other languages take the source of a value, as text."""
    kind, items = parameter["type"], parameter.get("items", {}).get("type", "")
    if group == "simple_java":
        return _java(value, kind, items)
    if group == "simple_javascript":
        return _javascript(value, kind)
    return value


def _arguments(schema: dict, options: dict, group: str) -> dict:
    arguments = {}
    for name, parameter in schema["properties"].items():
        value = _value(options.get(name, []), parameter["type"])
        if value is not LEFT_OUT:
            arguments[name] = _written(value, parameter, group)
        elif name in schema["required"]:
            arguments[name] = ""
    return arguments


def fits_its_schema(case: official.Case) -> bool:
    """Some answers are of another type than the function says. A family whose calls say nothing of types cannot write them."""
    if case.truth is None or case.group in ("simple_java", "simple_javascript"):
        return True
    schemas = {function["name"].replace(".", "_"): function["parameters"]["properties"] for function in case.functions}
    values = [(schemas[name][key]["type"], value) for name, arguments in truth(case) for key, value in arguments.items()]
    return all(_fits(value, kind) for kind, value in values)


def truth(case: official.Case) -> list[tuple[str, dict]]:
    """The calls; one of the first function without arguments where only its presence counts; none where no function fits."""
    if case.truth is None:
        names = [tool["function"]["name"] for tool in case.tools]
        return [] if "irrelevance" in case.group else [(names[0], {})]
    calls = []
    for answer in case.truth:
        ((name, options),) = answer.items()
        function = next(function for function in case.functions if function["name"] == name)
        calls.append((name.replace(".", "_"), _arguments(function["parameters"], options, case.group)))
    return calls
