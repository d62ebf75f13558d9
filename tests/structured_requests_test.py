"""Structured output through HTTP: bounds that are kept, and schemas that cost too much. With a real model, and with one that
wants to write more than it may.
"""

import json
import re
import time

import openai
import pytest
import scripted_model
from conftest import Server
from dialects import DIALECTS, post
from structured_output_test import LARGE, nested_one_of, tool_schemas
from tool_clients import CLIENTS


@pytest.fixture(scope="module")
def client(tiny_server):
    return openai.OpenAI(base_url=f"{tiny_server.url}/v1", api_key="none", max_retries=0)


def ask(client, schema: dict, **more):
    form = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}
    messages = [{"role": "user", "content": "List the files in src."}]
    return client.chat.completions.create(model="tempo9", messages=messages, response_format=form, **more)


def test_a_pattern_and_a_length_are_kept_together(client):
    """Twenty drawn replies: every string matches, and none is longer."""
    item = {"type": "string", "pattern": "^[ -~]*$", "maxLength": 8}
    schema = {"type": "array", "items": item, "minItems": 1, "maxItems": 4}
    strings = []
    for seed in range(20):
        choice = ask(client, schema, temperature=1, seed=seed, max_tokens=200).choices[0]
        assert choice.finish_reason == "stop"
        strings += json.loads(choice.message.content)
    assert len(strings) >= 20
    assert all(len(string) <= 8 and re.fullmatch("[ -~]*", string) for string in strings)


@pytest.mark.parametrize("schema", LARGE[:5], ids=["2000", "65536", "pattern", "unanchored", "1998 items"])
def test_large_bounds_of_a_tool_are_taken(client, schema):
    """Nested in a tool's parameters: a call under them is complete JSON, or the length cuts it."""
    parameters = {"type": "object", "properties": {"deep": schema}, "required": ["deep"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": True}}
    body = {"model": "tempo9", "messages": [{"role": "user", "content": "Call f."}], "max_tokens": 60, "seed": 1}
    choice = client.chat.completions.create(**body, tools=[tool], tool_choice="required").choices[0]
    assert choice.finish_reason in ("tool_calls", "length")
    for call in choice.message.tool_calls or []:
        assert set(json.loads(call.function.arguments)) == {"deep"}


LONGEST = 40


@pytest.fixture(scope="module")
def eager(program, tmp_path_factory):
    """A server of a model that writes a longer text into a call than its tool takes, and the marker that makes it do so."""
    folder = tmp_path_factory.mktemp("eager")
    call = {"name": "f", "arguments": {"deep": {"a": "x y " * (LONGEST // 4 + 10)}}}
    script = f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
    (marker,) = scripted_model.write_scripted_model(folder / "scripted.gguf", "qwen3", [script])
    running = Server(program, folder / "scripted.gguf", folder / "log")
    yield running, marker
    assert running.stop() == 0, running.log.read_text()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", ["chat", "responses", "messages"])
def test_a_length_inside_of_a_tools_parameters_is_kept(name, stream, eager):
    """What the model writes arrives up to the bound, and nothing beyond it."""
    server, marker = eager
    deep = {"type": "object", "properties": {"a": {"type": "string", "maxLength": LONGEST}}, "required": ["a"]}
    parameters = {"type": "object", "properties": {"deep": deep}, "required": ["deep"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": True}}
    client = CLIENTS[name](server.url)
    reply = client.ask(client.history([{"role": "user", "content": marker}]), [tool], stream, one=True)
    (call,) = reply.calls
    assert call.shown() == ("f", {"deep": {"a": "x y " * (LONGEST // 4)}})


STRICT_TOOLS = {
    "chat": lambda name, schema: {"type": "function", "function": {"name": name, "parameters": schema, "strict": True}},
    "responses": lambda name, schema: {"type": "function", "name": name, "parameters": schema, "strict": True},
    "messages": lambda name, schema: {"name": name, "input_schema": schema, "strict": True},
}


@pytest.mark.parametrize("name", STRICT_TOOLS)
def test_of_many_tools_the_one_that_cannot_be_kept_is_named(name, eager, tiny_server):
    """With the place in its schema, as a JSON pointer, and the keyword. Where calls are written parameter by parameter, the
    pointer is into that parameter's schema.
    """
    odd = {"type": "object", "properties": {"all/any": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}}
    schemas = {f"tool_{number}": schema for number, schema in enumerate(tool_schemas()[:33])}
    schemas = dict(list(schemas.items())[:20]) | {"odd_one": odd} | dict(list(schemas.items())[20:])
    tools = [STRICT_TOOLS[name](tool, schema) for tool, schema in schemas.items()]
    assert len(tools) == 34
    dialect = DIALECTS[name]
    body = {"model": "tempo9", dialect.conversation: [{"role": "user", "content": "Hello."}], "tools": tools, **dialect.limit(5)}
    places = {
        eager[0]: "tool 'odd_one': the keyword 'uniqueItems' at /properties/all~1any/uniqueItems ",
        tiny_server: "tool 'odd_one', parameter 'all/any': the keyword 'uniqueItems' at /uniqueItems ",
    }
    for server, place in places.items():
        status, refusal = post(server.url, dialect.path, body)
        assert status == 400
        assert place in refusal["error"]["message"]


def test_a_schema_that_explodes_is_refused_in_time(client):
    def nested(depth: int) -> dict:
        if depth == 0:
            return {"type": "string"}
        branches = [
            {"type": "object", "properties": {"kind": {"const": f"k{branch}"}, "next": nested(depth - 1)},
             "required": ["kind", "next"]}
            for branch in range(6)
        ]  # fmt: skip
        return {"oneOf": branches}

    begin = time.monotonic()
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client, nested(6))  # 6^6 branches; two levels more are larger than any request may be
    assert time.monotonic() - begin < 6
    assert "response_format" in refused.value.message


def test_levels_that_are_defined_once_are_taken(client):
    reply = ask(client, nested_one_of(8, 6), temperature=1, seed=1, max_tokens=400)
    value, depth = json.loads(reply.choices[0].message.content), 0
    while isinstance(value, dict):
        value, depth = value["next"], depth + 1
    assert depth == 8
