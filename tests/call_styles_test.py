"""Calls that models of every family write, each in its own way, as a client of the server gets them, whole and streamed;
and sent back by the client, as the model sees them the next time.
"""

import json
import pathlib
import urllib.request

import conftest
import public_templates
import pytest
import rendering
import scripted_model
from tool_clients import CLIENTS


def tool(name: str, properties: dict) -> dict:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": f"It does {name}.", "parameters": parameters}}


TOOLS = [
    tool("get_weather", {"city": {"type": "string"}, "days": {"type": "integer"}, "metric": {"type": "boolean"}}),
    tool("write_file", {"path": {"type": "string"}, "content": {"type": "string"}}),
    tool("plot", {"points": {"type": "array", "items": {"type": "number"}}, "style": {"type": "object"}}),
]
CODE = 'if (a < b) {\n  x("</", \'}\');\n}\n'
CALLS = [
    ("get_weather", {"city": "Zürich", "days": 3, "metric": True}),
    ("write_file", {"content": CODE, "path": "a.cpp"}),
    ("plot", {"points": [1, 2.5, -3], "style": {"color": "red", "grid": {"on": False}}}),
]


def hermes(calls):
    body = "\n".join(f'<tool_call>\n{{"name": "{n}", "arguments": {json.dumps(a, ensure_ascii=False)}}}\n</tool_call>' for n, a in calls)
    return body  # fmt: skip


def qwen_xml(calls):
    def value(v):
        return v if isinstance(v, str) else json.dumps(v) if isinstance(v, (list, dict)) else str(v)

    def call(name, arguments):
        parameters = "".join(f"<parameter={k}>\n{value(v)}\n</parameter>\n" for k, v in arguments.items())
        return f"<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>"

    return "\n".join(call(*c) for c in calls)


def gemma(calls):
    def value(v):
        if isinstance(v, str):
            return f'<|"|>{v}<|"|>'
        if isinstance(v, dict):
            return "{" + ",".join(f"{k}:{value(v[k])}" for k in sorted(v)) + "}"
        if isinstance(v, list):
            return "[" + ",".join(map(value, v)) + "]"
        return json.dumps(v)

    return "".join(f"<|tool_call>call:{n}{value(a)}<tool_call|>" for n, a in calls)


def mistral(calls):
    return "".join(f"[TOOL_CALLS]{n}[ARGS]{json.dumps(a, ensure_ascii=False)}" for n, a in calls)


def llama_json(calls):
    return "; ".join(f'{{"name": "{n}", "parameters": {json.dumps(a, ensure_ascii=False)}}}' for n, a in calls)


def pythonic(calls):
    def call(name, arguments):
        return f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"

    return f"[{', '.join(call(*c) for c in calls)}]"


def harmony(calls):
    header = "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>"
    return "<|end|><|start|>assistant".join(header.format(n) + json.dumps(a, ensure_ascii=False) for n, a in calls)


SPELLINGS = {
    "llama3": llama_json,
    "qwen3": hermes,
    "qwen3.5": qwen_xml,
    "gemma4": gemma,
    "mistral": mistral,
    "gpt-oss": harmony,
}


def post(server, body: dict):
    request = urllib.request.Request(server.url + "/v1/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})  # fmt: skip
    return urllib.request.urlopen(request, timeout=120)


def ask(server, content: str, **options) -> tuple[dict, str]:
    """The message and why it ended; whole and streamed must say the same."""
    body = {"messages": [{"role": "user", "content": content}], "temperature": 0, **options}
    with post(server, body) as answer:
        choice = json.load(answer)["choices"][0]
    message, finish = choice["message"], choice["finish_reason"]
    assert streamed(server, body) == (simple(message), finish)
    return message, finish


def simple(message: dict) -> dict:
    calls = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or []]
    return {"content": message.get("content") or "", "reasoning": message.get("reasoning_content") or "", "calls": calls}


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def streamed(server, body: dict) -> tuple[dict, str]:
    with post(server, {**body, "stream": True}) as answer:
        events = [line[6:] for line in answer.read().decode().split("\n") if line.startswith("data: ")]
    assert events.pop() == "[DONE]"
    content, reasoning, finish, calls, ids = "", "", None, {}, set()
    for choice in (choice for event in events for choice in json.loads(event)["choices"]):
        delta = choice["delta"]
        content += delta.get("content") or ""
        reasoning += delta.get("reasoning_content") or ""
        finish = choice["finish_reason"] or finish
        for call in delta.get("tool_calls") or []:
            if call["index"] not in calls:
                assert call["type"] == "function" and call["id"] not in ids
                ids.add(call["id"])
                calls[call["index"]] = [call["function"]["name"], ""]
            calls[call["index"]][1] += call["function"].get("arguments") or ""
    # A call that was withdrawn, since the reply was cut in it, is no JSON; its text is content by then.
    whole = [tuple(calls[i]) for i in sorted(calls) if is_json(calls[i][1])]
    return {"content": content, "reasoning": reasoning, "calls": whole}, finish


def check_calls(message: dict, finish: str, calls: list) -> None:
    assert finish == "tool_calls"
    got = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in message["tool_calls"]]
    assert got == calls
    ids = [c["id"] for c in message["tool_calls"]]
    assert len(set(ids)) == len(ids) and all(ids)


@pytest.fixture
def served(start_server, tmp_path):
    def serve(family: str | pathlib.Path, scripts: list):
        path = tmp_path / "scripted.gguf"
        markers = scripted_model.write_scripted_model(path, family, scripts)
        return start_server(model=path), markers

    return serve


def check_family(served, family, spell) -> None:
    calls = spell(CALLS)
    scripts = [calls, spell(CALLS[:1]), calls.replace("plot", "plod"), calls[: len(calls) // 2]]
    server, (all_of_them, one, undeclared, cut) = served(family, scripts)
    think = {"chat_template_kwargs": {"enable_thinking": False}}
    check_calls(*ask(server, f"Say {all_of_them}.", tools=TOOLS, **think), CALLS)
    check_calls(*ask(server, f"Say {one}.", tools=TOOLS, **think), CALLS[:1])
    message, finish = ask(server, f"Say {undeclared}.", tools=TOOLS, **think)
    check_calls({**message}, finish, CALLS[:2])
    assert "plod" in message["content"]
    message, _ = ask(server, f"Say {cut}.", tools=TOOLS, max_tokens=40, **think)
    assert len(message.get("tool_calls") or []) <= 1
    # Without tools, or where none is wanted, nothing is a call.
    for options in ({}, {"tools": TOOLS, "tool_choice": "none"}):
        message, finish = ask(server, f"Say {one}.", **options, **think)
        assert not message.get("tool_calls") and finish == "stop"
        assert message["content"] == scripts[1]


def test_the_tiny_model(served):
    check_family(served, conftest.TINY_MODEL, qwen_xml)


@pytest.mark.slow
@pytest.mark.parametrize("family", SPELLINGS)
def test_families(served, family):
    check_family(served, family, SPELLINGS[family])


@pytest.mark.slow
def test_pythonic_calls(served):
    """The template of Llama 3 with its calls shown in Python's syntax."""
    server, (marker,) = served("llama3", [pythonic(CALLS)])
    check_calls(*ask(server, f"Say {marker}.", tools=TOOLS), CALLS)


# Arguments in the notations that Gemma mixes: its own quotes, JSON's, none; braces and brackets inside of texts.
NOTATIONS = [
    ('call:write_file{content:<|"|>has } brace<|"|>,path:<|"|>a<|"|>}', ("write_file", {"content": "has } brace", "path": "a"})),
    ('call:write_file{"content":"has } brace","path":"a"}', ("write_file", {"content": "has } brace", "path": "a"})),
    ('call:read{data_refs:["a"]}', ("read", {"data_refs": ["a"]})),
    ("call:read{data_refs:['a']}", ("read", {"data_refs": ["a"]})),
    ('call:put{rows:[{k:<|"|>two\nlines<|"|>,n:[1,2.5]},{k:<|"|>]}<|"|>,on:true}],place:{at:{x:-1,y:null}},code:<|"|>7<|"|>,count:<|"|>7<|"|>}',
     ("put", {"rows": [{"k": "two\nlines", "n": [1, 2.5]}, {"k": "]}", "on": True}], "place": {"at": {"x": -1, "y": None}},
              "code": "7", "count": 7})),
]  # fmt: skip


@pytest.mark.slow
def test_gemmas_notations(served):
    tools = [*TOOLS, tool("read", {"data_refs": {"type": "array", "items": {"type": "string"}}}),
             tool("put", {"rows": {"type": "array", "items": {"type": "object"}}, "place": {"type": "object"},
                          "code": {"type": "string"}, "count": {"type": "integer"}})]  # fmt: skip
    server, markers = served("gemma4", [f"<|tool_call>{written}<tool_call|>" for written, _ in NOTATIONS])
    for marker, (_, call) in zip(markers, NOTATIONS, strict=True):
        message, finish = ask(server, f"Say {marker}.", tools=tools)
        check_calls(message, finish, [call])
        assert not message["content"]


IN_ROME = {"city": "Rome", "days": 3, "metric": True}
BEHIND_THE_ROLE = " to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>" + json.dumps(IN_ROME)
MESSAGES = {  # what the model writes, and text, thinking and calls of it
    "Bare text, and no channel.": ("Bare text, and no channel.", "", []),
    BEHIND_THE_ROLE: ("", "", [("get_weather", IN_ROME)]),
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant" + BEHIND_THE_ROLE: ("", "Hm.", [("get_weather", IN_ROME)]),
}


@pytest.mark.slow
def test_channels_in_every_protocol(served):
    """Whole and streamed nothing of the channels' notation is text."""
    server, markers = served("gpt-oss", list(MESSAGES))
    for marker, expected in zip(markers, MESSAGES.values(), strict=True):
        for client in (connect(server.url) for connect in CLIENTS.values()):
            for stream in (False, True):
                reply = client.ask(client.history([{"role": "user", "content": f"Say {marker}."}]), TOOLS, stream, think=True)
                assert (reply.text, reply.reasoning, [call.shown() for call in reply.calls]) == expected
                assert reply.finish == ("calls" if reply.calls else "stop")


# A reply of each family in the form in which its template shows it later, and whether the model is to think.
# Llama's and gpt-oss's templates have one call in a turn.
SHOWN_AGAIN = {
    "llama3": (llama_json(CALLS[:1]), None),
    "qwen3": ("<think>\nHm.\n</think>\n\n" + hermes(CALLS), True),
    "qwen3, text": ("I look.\n" + hermes(CALLS), None),
    "qwen3.5": ("Hm.\n</think>\n\nI look.\n\n" + qwen_xml(CALLS), True),
    "gemma4": ("<|channel>thought\nHm.\n<channel|>" + gemma(CALLS), True),
    "gpt-oss": ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.get_weather<|channel|>"
                "commentary json<|message|>" + json.dumps(CALLS[0][1], ensure_ascii=False), None),
    # These come back otherwise: with an id that the model did not write; with the recipient in the other place.
    "mistral": (mistral(CALLS), None),
    "gpt-oss, other place": (harmony(CALLS[:1]), None),
}  # fmt: skip
COMES_BACK_OTHERWISE = {"mistral", "gpt-oss, other place"}


@pytest.mark.slow
@pytest.mark.parametrize("case", SHOWN_AGAIN)
def test_a_call_that_comes_back_is_what_the_model_wrote(served, case):
    """So a conversation that goes on finds all of it in the cache."""
    family, (script, thinks) = case.split(",")[0], SHOWN_AGAIN[case]
    server, (marker,) = served(family, [script])
    options = {"tools": TOOLS, **({} if thinks is None else {"chat_template_kwargs": {"enable_thinking": thinks}})}
    user = {"role": "user", "content": f"Say {marker}."}
    message, _ = ask(server, user["content"], **options)
    results = [{"role": "tool", "tool_call_id": c["id"], "content": "done"} for c in message["tool_calls"]]
    metadata, _ = scripted_model.family_metadata(family)
    template = metadata["tokenizer.chat_template"].decode()

    def render(messages):
        body = {"messages": messages, **options}
        return rendering.run([{"template": template, "dialect": "openai_chat", "body": body}])[0]["text"]

    before, after = render([user]), render([user, message, *results])
    same = after.startswith(before + script)
    assert same == (case not in COMES_BACK_OTHERWISE), rendering.difference(after, before + script)


STYLES = {
    "Llama 3.1": "llama json", "Llama 3.2": "llama json", "Llama 3.3": "llama json", "Mistral Nemo": "mistral array",
    "Mistral Small 3.2": "mistral", "Ministral 3": "mistral", "Qwen3": "hermes", "Qwen3 instruct": "hermes",
    "Qwen3-Coder": "qwen xml", "Qwen3-VL": "hermes", "Qwen3.5": "qwen xml", "Qwen3.5, no thinking": "qwen xml",
    "Qwen3.6": "qwen xml", "gpt-oss": "harmony", "Gemma 4": "gemma", "Gemma 4, interleaved": "gemma",
    "Gemma 4, newest": "gemma",
}  # fmt: skip


@pytest.mark.slow
def test_a_templates_style_is_recognised():
    families = public_templates.families()
    shown = rendering.run([{"template": source, "show": "traits"} for source in families.values()])
    assert {name: output["style"] for name, output in zip(families, shown, strict=True)} == STYLES
