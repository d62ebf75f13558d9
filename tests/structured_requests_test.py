"""Structured output through HTTP with a real model: bounds that are kept, and schemas that cost too much."""

import json
import re
import time

import openai
import pytest
from structured_output_test import LARGE, nested_one_of


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
