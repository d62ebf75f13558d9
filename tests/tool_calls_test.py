"""Tool calls in every dialect as the official Python clients see them: with tempo9-tiny, which has learnt to call tools, and
with models whose replies are written down beforehand.
"""

import json
import re

import anthropic
import pytest
import scripted_model
from conftest import TINY_MODEL, Server
from tool_clients import CLIENTS, Chat, Messages, Reply, Responses

EXAMPLES = {example["name"]: example for example in json.loads((TINY_MODEL.parent / "examples.json").read_text())}
WITH_TOOLS = [name for name, example in EXAMPLES.items() if example.get("tools")]


@pytest.fixture(params=CLIENTS)
def connect(request):
    """connect(server) gives a client of one dialect."""
    return lambda server: CLIENTS[request.param](server.url)


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def stream(request) -> bool:
    return request.param


# With a model that calls tools.


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_what_the_model_calls_comes_back(name, connect, stream, tiny_server):
    example, client = EXAMPLES[name], connect(tiny_server)
    think = example.get("chat_template_kwargs", {}).get("enable_thinking", False)
    reply = client.ask(client.history(example["messages"]), example["tools"], stream, think=think)
    answer = example["answer"]
    calls = [(call["name"], call["arguments"]) for call in answer.get("tool_calls", [])]
    assert [call.shown() for call in reply.calls] == calls
    assert reply.text == answer.get("content", "")
    assert reply.reasoning == answer.get("reasoning_content", "")
    assert reply.finish == ("calls" if calls else "stop")
    assert reply.tokens == example["completion_tokens"]


FILES = {
    "src": "main.py\nnotes.txt\nconfig.yaml",
    "src/main.py": "print('hello world')",
    "src/notes.txt": "buy milk",
    "src/config.yaml": "host: local\nport: 8042\nname: test",
}


TASKS = [
    ("List the files in src.", "main.py, notes.txt, config.yaml"),
    ("Read src/notes.txt.", "buy milk"),
    ("Read src/config.yaml and tell me the port.", "8042"),
    ("List src, then read main.py.", "The file src/main.py contains"),
    ("List the files in src.", "main.py, notes.txt, config.yaml"),
]


def run_tool(name: str, arguments: dict) -> str:
    assert name in ("ls", "read_file"), name
    return FILES[arguments["path"]]


def test_an_agent_works_by_itself_for_ten_turns(connect, stream, tiny_server):
    """It lists, reads and answers; nobody tells it which step comes next."""
    client, tools = connect(tiny_server), EXAMPLES["agent: list"]["tools"]
    talk, turns = [], 0
    for task, expected in TASKS:
        talk += client.history([{"role": "user", "content": task}])
        for _ in range(5):
            reply = client.ask(talk, tools, stream)
            talk += reply.turn
            turns += 1
            if not reply.calls:
                break
            talk += client.results(reply.calls, [run_tool(*call.shown()) for call in reply.calls])
        assert reply.finish == "stop"
        assert expected in reply.text
    assert turns >= 10


# With replies that are written down.

WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "Get the weather.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}  # fmt: skip
NOW = {"type": "function", "function": {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}}}  # fmt: skip


def free_form(name: str, grammar: str) -> dict:
    form = {"type": "grammar", "grammar": {"syntax": "lark", "definition": grammar}}
    return {"type": "custom", "custom": {"name": name, "description": "Takes text.", "format": form}}


PATCH = free_form("apply_patch", r"""start: "*** Begin Patch" LF hunk+ "*** End Patch" LF
hunk: add | delete | update
add: "*** Add File: " NAME LF ("+" REST LF)+
delete: "*** Delete File: " NAME LF
update: "*** Update File: " NAME LF ("@@" REST LF)? (/[-+ ]/ REST LF)+
NAME: /[^\n]+/
REST: /[^\n]*/
LF: "\n"
""")  # fmt: skip
MOVE = free_form("move", 'start: "go " side " by " /[1-9][0-9]?/\nside: "left" | "right"\n')
PATCH_TEXT = '*** Begin Patch\n*** Add File: a "quoted" name.txt\n+Grüße, \\n is no line break, 🙂\n*** End Patch\n'
TOOLS = [WEATHER, NOW]


def written(name: str, arguments: dict) -> str:
    """A call as Qwen3 writes it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"


ONE = written("get_weather", {"city": "São Paulo"})
TWO = "Let me look.\n" + ONE + "\n" + written("now", {})
SCRIPTS = {
    "one": ONE,
    "two": TWO,
    "patch": written("apply_patch", {"input": PATCH_TEXT}),
    "move": written("move", {"input": "go straight by nothing at all"}),
    "spawn": written("agents__spawn", {"message": "Look around."}),
    "tags": "Write `<think>x</think>` for that, and no <tool_call>.",
    "wondering": "<think>\nI wonder" + " and wonder" * 60 + ".\n</think>\n\nYes.",
    "malformed": '<tool_call>\n{"name": "get_weather", "arguments": {"city": }}\n</tool_call> is how to call it.',
    "answer": "It is sunny.",  # the last: of several markers the one with the greatest number counts
}


@pytest.fixture(scope="module")
def qwen(program, tmp_path_factory):
    """A server, and the marker of each script."""
    folder = tmp_path_factory.mktemp("scripted")
    path = folder / "scripted.gguf"
    markers = scripted_model.write_scripted_model(path, "qwen3", list(SCRIPTS.values()))
    running = Server(program, path, folder / "log")
    yield running, dict(zip(SCRIPTS, markers, strict=True))
    assert running.stop() == 0, running.log.read_text()


def user(text: str) -> list[dict]:
    return [{"role": "user", "content": text}]


def test_parallel_calls_stay_apart(connect, stream, qwen):
    server, markers = qwen
    client = connect(server)
    reply = client.ask(client.history(user(markers["two"])), TOOLS, stream)
    assert [call.shown() for call in reply.calls] == [("get_weather", {"city": "São Paulo"}), ("now", {})]
    assert reply.text.strip() == "Let me look."
    assert reply.finish == "calls"
    assert len({call.id for call in reply.calls}) == 2 or CLIENTS["ollama"] is type(client)


def test_a_call_its_result_and_the_answer(connect, stream, qwen):
    """Results say what the model is to say next: it sees what it is sent."""
    server, markers = qwen
    client = connect(server)
    talk = client.history(user(markers["one"]))
    steps: list[Reply] = []
    for results in (["and " + markers["two"]], ["21 degrees", "at noon " + markers["answer"]]):
        steps.append(client.ask(talk, TOOLS, stream))
        talk += steps[-1].turn + client.results(steps[-1].calls, results)
    final = client.ask(talk, TOOLS, stream)
    assert [len(step.calls) for step in steps] == [1, 2]
    assert (final.text, final.calls, final.finish) == ("It is sunny.", [], "stop")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_stream_says_the_same(script, connect, qwen):
    server, markers = qwen
    client = connect(server)
    talk = client.history(user(markers[script]))
    whole, streamed = (client.ask(talk, TOOLS, stream) for stream in (False, True))
    assert streamed.shown() == whole.shown()


def test_what_is_no_call_is_text(connect, stream, qwen):
    server, markers = qwen
    client = connect(server)
    reply = client.ask(client.history(user(markers["malformed"])), TOOLS, stream)
    assert (reply.calls, reply.finish) == ([], "stop")
    assert reply.text == SCRIPTS["malformed"]


def test_nothing_is_a_call_without_tools(connect, stream, qwen):
    server, markers = qwen
    client = connect(server)
    reply = client.ask(client.history(user("Print <tool_call> and so on: " + markers["two"])), [], stream)
    assert (reply.text, reply.calls, reply.finish) == (SCRIPTS["two"], [], "stop")


def test_tags_inside_an_answer_are_text(connect, stream, qwen):
    server, markers = qwen
    client = connect(server)
    reply = client.ask(client.history(user(markers["tags"])), [], stream)
    assert (reply.text, reply.reasoning, reply.finish) == (SCRIPTS["tags"], "", "stop")


def test_thinking_that_the_length_cuts_is_no_answer(connect, stream, qwen, tiny_server):
    """Whether the model opens its thoughts itself, or the template does."""
    server, markers = qwen
    for client, question in ((connect(server), markers["wondering"]), (connect(tiny_server), "What is the capital of Spain?")):
        talk = client.history(user(question))
        whole = client.ask(talk, [], stream, think=True)
        cut = client.ask(talk, [], stream, think=True, tokens=5)
        assert (cut.text, cut.finish, cut.tokens) == ("", "length", 5)
        assert cut.reasoning and whole.reasoning.startswith(cut.reasoning) and whole.text


@pytest.mark.parametrize("name", ["chat", "responses", "messages"])
def test_none_may_be_called(name, stream, qwen):
    server, markers = qwen
    client = CLIENTS[name](server.url)
    reply = client.ask(client.history(user(markers["two"])), TOOLS, stream, none=True)
    assert (reply.text, reply.calls, reply.finish) == (SCRIPTS["two"], [], "stop")


@pytest.mark.parametrize("name", ["chat", "responses", "messages"])
def test_one_may_be_called(name, stream, qwen):
    server, markers = qwen
    client = CLIENTS[name](server.url)
    talk = client.history(user(markers["two"]))
    reply = client.ask(talk, TOOLS, stream, one=True)
    assert [call.name for call in reply.calls] == ["get_weather"]
    assert reply.finish == "calls"
    assert reply.tokens < client.ask(talk, TOOLS, stream).tokens


def test_a_call_that_the_length_cuts_is_none(connect, stream, qwen):
    server, markers = qwen
    client = connect(server)
    talk = client.history(user(markers["one"]))
    tokens = client.ask(talk, TOOLS, stream).tokens
    for most in range(1, tokens - 1, 3):
        reply = client.ask(talk, TOOLS, False, tokens=most)
        assert (reply.calls, reply.finish, reply.tokens) == ([], "length", most)
        assert SCRIPTS["one"].startswith(reply.text)


def test_choices_have_their_own_calls(qwen):
    server, markers = qwen
    client = Chat(server.url).client
    body = {"model": "tempo9", "messages": user(markers["two"]), "tools": TOOLS, "n": 2, "temperature": 0}
    choices = client.chat.completions.create(**body).choices
    assert [choice.finish_reason for choice in choices] == ["tool_calls"] * 2
    ids = [call.id for choice in choices for call in choice.message.tool_calls]
    assert len(set(ids)) == 4
    chunks = list(client.chat.completions.create(**body, stream=True, stream_options={"include_usage": True}))
    for index, choice in enumerate(choices):
        own = [chunk.model_copy(update={"choices": [c for c in chunk.choices if c.index == index]}) for chunk in chunks]
        message, finish, _ = Chat.put_together(own)
        assert finish == "tool_calls"
        said = [call.function.model_dump() for call in choice.message.tool_calls]
        assert [call["function"] for call in message["tool_calls"]] == said
        assert {call["id"] for call in message["tool_calls"]} <= set(ids) or ids  # another request has other ids


@pytest.mark.parametrize("name", ["chat", "responses"])
def test_a_free_form_tool_gets_text(name, stream, qwen):
    server, markers = qwen
    client = CLIENTS[name](server.url)
    tools = [WEATHER, PATCH]
    talk = client.history(user(markers["patch"]))
    reply = client.ask(talk, tools, stream)
    assert [call.shown() for call in reply.calls] == [("apply_patch", PATCH_TEXT)]
    talk += reply.turn + client.results(reply.calls, ["Done. " + markers["answer"]])
    assert client.ask(talk, tools, stream).text == "It is sunny."


@pytest.mark.parametrize("name", ["chat", "responses"])
def test_the_grammar_of_a_free_form_tool_is_kept(name, stream, qwen):
    """The model wants to write something else; what it may not write does not arrive, and the call can be answered."""
    server, markers = qwen
    client = CLIENTS[name](server.url)
    talk = client.history(user(markers["move"]))
    reply = client.ask(talk, [WEATHER, MOVE], stream)
    ((tool, text),) = [call.shown() for call in reply.calls]
    assert tool == "move"
    assert re.fullmatch("go (left|right) by [1-9][0-9]?", text)
    talk += reply.turn + client.results(reply.calls, ["Moved. " + markers["answer"]])
    assert client.ask(talk, [WEATHER, MOVE], stream).text == "It is sunny."


def test_the_text_of_a_free_form_tool_comes_as_it_is_written(qwen):
    server, markers = qwen
    client = Responses(server.url).client
    tool = {"type": "custom", "name": "apply_patch"}
    body = {"model": "tempo9", "input": markers["patch"], "tools": [tool], "temperature": 0}
    events = list(client.responses.create(**body, stream=True))
    added = next(event for event in events if event.type == "response.output_item.added")
    assert (added.item.type, added.item.name, added.item.input) == ("custom_tool_call", "apply_patch", "")
    deltas = [event.delta for event in events if event.type == "response.custom_tool_call_input.delta"]
    assert "".join(deltas) == PATCH_TEXT
    assert len(deltas) > 10
    (done,) = [event for event in events if event.type == "response.custom_tool_call_input.done"]
    assert done.input == PATCH_TEXT
    last = events[-1].response.output[-1]
    assert (last.type, last.input, last.call_id) == ("custom_tool_call", PATCH_TEXT, added.item.call_id)


def test_a_function_of_a_namespace_is_called_by_both_names(stream, qwen):
    """Beside tools of every other kind that coding agents declare; those of OpenAI's own servers are left out."""
    server, markers = qwen
    client = Responses(server.url).client
    spawn = {"type": "function", "name": "spawn", "strict": False, "parameters": {"type": "object", "properties": {"message": {"type": "string"}}}}  # fmt: skip
    tools = [Responses._tool(WEATHER), Responses._tool(PATCH), {"type": "namespace", "name": "agents", "description": "Others.", "tools": [spawn]},
             {"type": "web_search", "external_web_access": True}, {"type": "image_generation"}]  # fmt: skip
    body = {"model": "tempo9", "tools": tools, "temperature": 0, "store": False}
    asked = user(markers["spawn"])

    def respond(conversation: list):
        if not stream:
            return client.responses.create(**body, input=conversation)
        return list(client.responses.create(**body, input=conversation, stream=True))[-1].response

    (call,) = respond(asked).output
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "spawn", {"message": "Look around."})
    assert call.model_dump()["namespace"] == "agents"
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "Nothing here. " + markers["answer"]}
    assert respond([*asked, call.model_dump(exclude_none=True), result]).output_text == "It is sunny."


def test_blocks_of_parallel_calls_follow_each_other(qwen):
    """Messages: each block begins, goes on and ends before the next; a call's begins with its name."""
    server, markers = qwen
    client = Messages(server.url).client
    tools = list(map(Messages._tool, TOOLS))
    body = {"model": "tempo9", "messages": user(markers["two"]), "tools": tools, "max_tokens": 200}
    events = [event for event in client.messages.create(**body, stream=True) if event.type.startswith("content_block_")]
    assert [event.index for event in events] == sorted(event.index for event in events)
    names = []
    for index in range(3):
        first, *deltas, last = [event for event in events if event.index == index]
        assert (first.type, last.type) == ("content_block_start", "content_block_stop")
        assert {event.type for event in deltas} == {"content_block_delta"}
        if first.content_block.type == "tool_use":
            names.append(first.content_block.name)
            assert isinstance(json.loads("".join(event.delta.partial_json for event in deltas)), dict)
    assert names == ["get_weather", "now"]


def test_a_kept_response_goes_on_with_results_alone(qwen):
    server, markers = qwen
    client = Responses(server.url).client
    tools = [Responses._tool(tool) for tool in TOOLS]
    first = client.responses.create(model="tempo9", input=markers["one"], tools=tools, temperature=0)
    (call,) = first.output
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny " + markers["answer"]}
    second = client.responses.create(
        model="tempo9", input=[result], tools=tools, temperature=0, previous_response_id=first.id
    )
    assert second.output_text == "It is sunny."
    kept = list(client.responses.input_items.list(second.id, order="asc"))
    assert [item.type for item in kept] == ["message", "function_call", "function_call_output"]


def test_the_clients_own_helper_runs_tools(qwen):
    """Anthropic's tool runner: it calls functions and asks again until there is an answer."""
    server, markers = qwen

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Get the weather."""
        return f"{city}: 21 degrees {markers['answer']}"

    client = anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0)
    runner = client.beta.messages.tool_runner(
        model="tempo9", max_tokens=200, tools=[get_weather], messages=user(markers["one"])
    )
    messages = list(runner)
    assert [message.stop_reason for message in messages] == ["tool_use", "end_turn"]
    assert messages[-1].content[0].text == "It is sunny."


def test_the_streaming_helper_of_chat_puts_calls_together(qwen):
    server, markers = qwen
    client = Chat(server.url).client
    schema = WEATHER["function"]["parameters"] | {"additionalProperties": False}
    strict = {"type": "function", "function": {"name": "get_weather", "parameters": schema, "strict": True}}
    body = {"model": "tempo9", "messages": user(markers["one"]), "tools": [strict], "temperature": 0}
    with client.chat.completions.stream(**body) as events:
        done = [event for event in events if event.type == "tool_calls.function.arguments.done"]
        message = events.get_final_completion().choices[0].message
    assert [(event.name, event.parsed_arguments) for event in done] == [("get_weather", {"city": "São Paulo"})]
    assert message.tool_calls[0].function.parsed_arguments == {"city": "São Paulo"}
    assert message.content is None or message.content == ""
