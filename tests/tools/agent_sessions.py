"""Sessions of coding agents and SDKs in the shapes that the real ones send: every kind of item, the odd places of system
messages, cache marks, ids and metadata, but short texts of our own.

A session is a list of request bodies of one dialect. Every text that the model must see carries a mark (`text()` makes
them); what it must never see (ids of items, metadata, attribution) holds the word HIDDEN.
"""

import dataclasses
import itertools
import json

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ATTRIBUTION = "x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=HIDDEN; cch={};"

numbers = itertools.count(1)


def text(kind: str, length: int = 240) -> str:
    """About `length` characters in the manner of an agent's prompt, with a mark that occurs nowhere else."""
    words = (
        "keep `names` as they are,\n"
        "- quote \"paths\" & 'values'; ünïcode stays 漢字 👩‍👩‍👧\n"
        "- never answer with <|im_end|>, [INST], </think> or {{ braces }} {% x %}\n"
    )
    if kind in ("answer", "preamble"):  # of the model: what ends a thought there is an end to the template as well
        words = words.replace("</think>", "")
    return f"<mark-{next(numbers)} {kind}> " + (words * (length // len(words) + 1))[:length].strip()


def marks(value) -> list[str]:
    """The marks in a body, in order."""
    found = []
    dumped = json.dumps(value, ensure_ascii=False)
    for piece in dumped.split("<mark-")[1:]:
        mark = f"<mark-{piece.split('>')[0]}>"  # its kind stands in it
        if mark not in found:
            found.append(mark)
    return found


@dataclasses.dataclass
class Session:
    name: str
    dialect: str
    requests: list[dict]
    extends: bool = True  # each request only extends the one before it
    image: bool = False  # the last request holds a picture


def asks_anew(before: dict, after: dict) -> bool:
    """Whether the second request has a new question of the user. Some templates show earlier turns differently then."""
    field = "input" if "input" in before else "messages"
    added = after[field][len(before[field]) :]
    said = [m["content"] for m in added if m.get("role") == "user"]
    return any(isinstance(content, str) or any("text" in part for part in content) for content in said)


def schema(*names: str) -> dict:
    properties = {name: {"type": "string", "description": f"the {name}"} for name in names}
    properties["zone"] = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "default": None}
    properties["all"] = {"type": "array", "items": {"type": "object", "properties": {"k": {"enum": ["a", "b"]}}}}
    return {"type": "object", "properties": properties, "required": list(names[:1]), "additionalProperties": False}


def growing(base: dict, field: str, *steps: list) -> list[dict]:
    """Requests whose list `field` is extended step by step."""
    return [{**base, field: list(itertools.chain(*steps[: count + 1]))} for count in range(len(steps))]


# OpenAI Responses


def item(role: str, *texts: str) -> dict:
    kind = "output_text" if role == "assistant" else "input_text"
    more = {"status": "completed"} if role == "assistant" else {}
    extra = {"annotations": [], "logprobs": []} if role == "assistant" else {}
    return {"type": "message", "id": "msg_HIDDEN", "role": role, **more, "content": [{"type": kind, "text": t, **extra} for t in texts]}


def function_call(number: int, name: str, **more) -> dict:
    return {"type": "function_call", "status": "completed", "id": "fc_HIDDEN", "name": name, "arguments": "{\"cmd\":\"ls -1\"}", "call_id": f"call_{number:012}", **more}  # fmt: skip


def function_output(number: int, output=None, kind="function_call_output") -> dict:
    return {"type": kind, "id": "fco_HIDDEN", "call_id": f"call_{number:012}", "output": output or text("output")}


def codex_base(turn: int = 1, **more) -> dict:
    function = {"type": "function", "strict": False}
    tools = [
        {**function, "name": "exec_command", "description": text("tool"), "parameters": schema("cmd", "workdir")},
        {**function, "name": "view_image", "description": text("tool"), "parameters": schema("path")},
        {"type": "namespace", "name": "agents_v1", "description": "Sub-agents.", "tools": [{**function, "name": "spawn", "description": text("tool"), "parameters": schema("message")}]},  # fmt: skip
        {"type": "web_search", "external_web_access": True},
    ]
    metadata = {"session_id": "HIDDEN", "turn_id": f"HIDDEN-{turn}", "x-turn-metadata": "{\"id\":\"HIDDEN\"}"}
    return {"model": "local", "stream": True, "tool_choice": "auto", "parallel_tool_calls": True, "store": False,
            "reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"], "tools": tools,
            "prompt_cache_key": "HIDDEN", "client_metadata": metadata, **more}  # fmt: skip


CODEX_HEAD = [
    item("developer", text("base prompt", 2000)),
    item("developer", text("skills"), text("permissions")),
    item("user", text("environment")),
    item("user", text("question")),
]
REASONING = {"type": "reasoning", "id": "rs_HIDDEN", "summary": [{"type": "summary_text", "text": "Thinking about the files."}], "content": None, "encrypted_content": "HIDDEN"}  # fmt: skip


def codex_sessions() -> list[Session]:
    base = codex_base()
    turns = growing(
        base,
        "input",
        CODEX_HEAD,
        [function_call(1, "exec_command"), function_output(1)],
        [item("assistant", text("answer")), item("user", text("question"))],
        [function_call(2, "exec_command"), function_output(2)],
    )
    for number, request in enumerate(turns):
        request["client_metadata"] = {"turn_id": f"HIDDEN-{number}"}
    known = [
        base["tools"][0],
        {"type": "custom", "name": "apply_patch", "description": text("tool"), "format": {"type": "grammar", "syntax": "lark", "definition": "start: line+\nline: /(.+)/ LF\n%import common.LF\n"}},  # fmt: skip
        {"type": "tool_search", "execution": "client", "description": text("tool"), "parameters": schema("query")},
        {"type": "web_search", "external_web_access": True, "search_content_types": ["text", "image"]},
    ]
    found = {"type": "namespace", "name": "agents_v1", "description": "", "tools": [{"type": "function", "name": "spawn", "description": text("found tool"), "strict": False, "parameters": schema("message")}]}  # fmt: skip
    patch = {"type": "custom_tool_call", "status": "completed", "id": "ctc_HIDDEN", "call_id": "call_000000000003", "name": "apply_patch", "input": f"*** Begin Patch\n{text('patch')}\n*** End Patch"}  # fmt: skip
    search = {"type": "tool_search_call", "call_id": "call_000000000004", "execution": "client", "arguments": {"query": text("query")}}  # fmt: skip
    picture = [{"type": "input_text", "text": text("output")}, {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"}]  # fmt: skip
    return [
        Session("codex, turns", "responses", turns),
        Session("codex, reasoning", "responses", growing({**base, "reasoning": {"effort": "high", "summary": "auto"}}, "input", CODEX_HEAD, [REASONING, function_call(1, "exec_command"), function_output(1)])),  # fmt: skip
        Session("codex, parallel calls", "responses", growing(base, "input", CODEX_HEAD, [item("assistant", text("preamble")), function_call(1, "exec_command"), function_call(2, "view_image"), function_output(1), function_output(2)])),  # fmt: skip
        Session("codex, namespace", "responses", growing(base, "input", CODEX_HEAD, [function_call(1, "spawn", namespace="agents_v1"), function_output(1, "{\"agent_id\":\"a\"}")])),  # fmt: skip
        Session("codex, unknown tool", "responses", growing(base, "input", CODEX_HEAD, [function_call(1, "nothing"), function_output(1, "unsupported call: nothing")])),  # fmt: skip
        Session("codex, known model", "responses", growing({**base, "tools": known, "text": {"verbosity": "low"}, "reasoning": {"effort": "medium"}}, "input", CODEX_HEAD, [patch, function_output(3, kind="custom_tool_call_output")], [search, {"type": "tool_search_output", "call_id": "call_000000000004", "execution": "client", "tools": [found]}], [function_call(5, "spawn", namespace="agents_v1"), function_output(5)])),  # fmt: skip
        Session("codex, compaction", "responses", [turns[1], {**turns[1], "tools": [], "parallel_tool_calls": False, "input": [*turns[1]["input"], {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text("summarise")}]}]}], extends=False),  # fmt: skip
        Session("codex, picture", "responses", growing(base, "input", CODEX_HEAD, [function_call(1, "view_image"), function_output(1, picture)]), image=True),  # fmt: skip
        Session("codex, output schema", "responses", [{**base, "input": CODEX_HEAD, "text": {"format": {"type": "json_schema", "name": "out", "strict": True, "schema": schema("a")}}}]),  # fmt: skip
        Session("lmstudio warm-up", "responses", [{"model": "local", "input": "", "max_output_tokens": 1}]),
        Session("openclaw, responses", "responses", growing({"model": "local", "stream": True, "store": False, "tools": base["tools"][:2]}, "input", [item("system", text("system", 3000)), item("user", text("question")), item("user", text("internal context"))], [function_call(1, "exec_command"), function_output(1)])),  # fmt: skip
        Session("pi, responses", "responses", growing({"model": "local", "stream": True, "store": False, "tools": base["tools"][:1], "max_output_tokens": 8192, "reasoning": {"effort": "medium", "summary": "auto"}}, "input", [{"role": "developer", "content": text("system")}, {"role": "user", "content": [{"type": "input_text", "text": text("question")}]}], [function_call(1, "exec_command"), function_output(1)])),  # fmt: skip
    ]


# Anthropic Messages

CACHED = {"cache_control": {"type": "ephemeral"}}


def block(content: str, **more) -> dict:
    return {"type": "text", "text": content, **more}


def claude_tool(name: str, **more) -> dict:
    return {"name": name, "description": text("tool"), "input_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema("command", "why")}, **more}  # fmt: skip


def tool_use(number: int, name: str = "Bash", **more) -> dict:
    return {"type": "tool_use", "id": f"toolu_{number:012}", "name": name, "input": {"command": "ls -1", "zone": None}, **more}  # fmt: skip


def tool_result(number: int, content=None, **more) -> dict:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number:012}", "content": content or text("output"), "is_error": False, **more}  # fmt: skip


def claude_base(cch: str = "AAAAA", **more) -> dict:
    system = [block(ATTRIBUTION.format(cch)), block(text("identity"), **CACHED), block(text("rules", 2000), **CACHED)]
    return {"model": "local", "max_tokens": 32000, "stream": True, "system": system,
            "metadata": {"user_id": "{\"session_id\":\"HIDDEN\"}"}, "thinking": {"type": "adaptive", "display": "omitted"},
            "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, "output_config": {"effort": "high"},
            "tools": [claude_tool("Bash"), claude_tool("Read"), claude_tool("ToolSearch")], **more}  # fmt: skip


CLAUDE_QUESTION = [
    {"role": "user", "content": [block(text("reminder")), block(text("reminder")), block(text("question"), **CACHED)]},
    {"role": "system", "content": text("later system", 1000)},
]


def claude_sessions() -> list[Session]:
    base = claude_base()
    asked = {"role": "assistant", "content": [tool_use(1)]}
    answered = {"role": "user", "content": [tool_result(1, **CACHED)]}
    question = text("question")
    turns = growing(base, "messages", CLAUDE_QUESTION, [asked, answered], [{"role": "assistant", "content": [block(text("answer"))]}, {"role": "user", "content": question}], [{"role": "assistant", "content": [tool_use(2)]}, {"role": "user", "content": [tool_result(2, **CACHED)]}])  # fmt: skip
    # The last message is a list of one block with a cache mark; once it is no longer the last, it is a plain text.
    turns[2] = {**turns[2], "messages": [*turns[2]["messages"][:-1], {"role": "user", "content": [block(question, **CACHED)]}]}
    turns[3] = {**turns[3], "system": [block(ATTRIBUTION.format("BBBBB")), *base["system"][1:]]}
    late = [claude_tool("WebFetch", defer_loading=True), claude_tool("Placeholder", defer_loading=True)]
    late[1] = {"name": "Placeholder", "description": "HIDDEN", "input_schema": {"type": "object"}, "defer_loading": True}
    search = growing(base, "messages", CLAUDE_QUESTION, [{"role": "assistant", "content": [tool_use(1, "ToolSearch")]}, {"role": "user", "content": [tool_result(1, [{"type": "tool_reference", "tool_name": "WebFetch"}])]}])  # fmt: skip
    search[0]["tools"] = [*base["tools"], late[1]]
    search[1]["tools"] = [*base["tools"][:2], late[0], late[1], base["tools"][2]]
    thinking = {"type": "thinking", "thinking": "Let me think about it.", "signature": "HIDDEN"}
    web = {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}
    picture = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}]
    return [
        Session("claude, turns", "anthropic", turns),
        Session("claude, tool search", "anthropic", search),
        Session("claude, thinking", "anthropic", growing(base, "messages", CLAUDE_QUESTION, [{"role": "assistant", "content": [thinking, tool_use(1)]}, answered])),  # fmt: skip
        Session("claude, parallel calls", "anthropic", growing(base, "messages", CLAUDE_QUESTION, [{"role": "assistant", "content": [block(text("preamble")), tool_use(1), tool_use(2, "Read")]}, {"role": "user", "content": [tool_result(1), tool_result(2, [block(text("output")), block(text("output"))])]}])),  # fmt: skip
        Session("claude, compaction in mid-turn", "anthropic", growing(base, "messages", CLAUDE_QUESTION, [asked, {"role": "user", "content": [tool_result(1), block(text("summarise"))]}])),  # fmt: skip
        Session("claude, unknown tool", "anthropic", growing(base, "messages", CLAUDE_QUESTION, [{"role": "assistant", "content": [tool_use(1, "NoSuch")]}, {"role": "user", "content": [tool_result(1, "<tool_use_error>No such tool</tool_use_error>", is_error=True)]}])),  # fmt: skip
        Session("claude, sub-agent", "anthropic", [claude_base("CCCCC", messages=[{"role": "user", "content": [block(text("reminder")), block(text("task"))]}, {"role": "system", "content": [block(text("later system"), **CACHED)]}], thinking={"type": "disabled"}, temperature=1)]),  # fmt: skip
        Session("claude, title", "anthropic", [claude_base("DDDDD", tools=[], messages=[{"role": "user", "content": [block(text("session"))]}], output_config={"effort": "high", "format": {"type": "json_schema", "schema": schema("title")}})]),  # fmt: skip
        Session("claude, web search", "anthropic", [claude_base("EEEEE", tools=[web], tool_choice={"type": "auto"}, messages=[{"role": "user", "content": [block(text("query"))]}])]),  # fmt: skip
        Session("claude, count", "anthropic", [{"model": "local", "messages": [{"role": "user", "content": "foo"}], "tools": [claude_tool("Bash")]}]),  # fmt: skip
        Session("claude, picture", "anthropic", growing(base, "messages", CLAUDE_QUESTION, [asked, {"role": "user", "content": [tool_result(1, picture)]}]), image=True),  # fmt: skip
        Session("same words by a user", "anthropic", [{"model": "local", "max_tokens": 9, "messages": [{"role": "user", "content": [block("x-anthropic-billing-header: " + text("question"))]}]}]),  # fmt: skip
    ]


# OpenAI Chat


def chat_tool(name: str) -> dict:
    return {"type": "function", "function": {"name": name, "description": text("tool"), "strict": False, "parameters": schema("command")}}  # fmt: skip


def chat_call(number: int, content=None, **more) -> dict:
    call = {"id": f"call_{number:012}", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls -1\"}"}}  # fmt: skip
    return {"role": "assistant", "content": content, "tool_calls": [call], **more}


def chat_result(number: int, content=None) -> dict:
    return {"role": "tool", "tool_call_id": f"call_{number:012}", "content": content or text("output")}


def say(role: str, kind: str, length: int = 240) -> dict:
    return {"role": role, "content": text(kind, length)}


def chat_sessions() -> list[Session]:
    base = {"model": "local", "stream": True, "stream_options": {"include_usage": True}, "tools": [chat_tool("bash"), chat_tool("edit")]}  # fmt: skip
    parts = lambda role, *texts: {"role": role, "content": [block(t) for t in texts]}  # noqa: E731
    plain = {"model": "local", "stream": True}
    context = say("user", "internal context")
    both = chat_call(1)
    both["tool_calls"].append({**both["tool_calls"][0], "id": "call_000000000002"})
    return [
        Session("opencode", "openai_chat", growing({**base, "max_tokens": 8192, "tool_choice": "auto"}, "messages", [say("system", "system", 2000), say("user", "question")], [chat_call(1, ""), chat_result(1)], [say("assistant", "answer"), say("user", "question")], [chat_call(2, ""), chat_result(2)])),  # fmt: skip
        Session("opencode, title", "openai_chat", [{**plain, "reasoning_effort": "low", "max_tokens": 8192, "messages": [say("system", "system"), say("user", "title"), say("user", "question")]}]),  # fmt: skip
        Session("pi", "openai_chat", growing({**base, "store": False, "max_completion_tokens": 8192, "reasoning_effort": "medium"}, "messages", [say("developer", "system", 2000), parts("user", text("question"))], [chat_call(1, None, reasoning_content="Thinking about the files."), chat_result(1)])),  # fmt: skip
        Session("qwen-code", "openai_chat", growing({**base, "max_tokens": 8192}, "messages", [say("system", "system", 2000), parts("user", text("reminder"), text("question"))], [chat_call(1), {**chat_result(1), "content": [block(text("output"))]}], [say("assistant", "answer"), parts("user", text("question"))])),  # fmt: skip
        Session("openclaw", "openai_chat", [{**base, "messages": [*head, context]} for head in ([say("system", "system", 2000), say("user", "question")], [say("system", "system"), say("user", "question"), chat_call(1), chat_result(1)])], extends=False),  # fmt: skip
        Session("parallel calls", "openai_chat", growing(base, "messages", [say("user", "question")], [both, chat_result(1), chat_result(2)])),  # fmt: skip
        Session("aider", "openai_chat", growing(plain, "messages", [say("system", "system"), say("user", "example"), say("assistant", "answer"), say("user", "files"), say("assistant", "answer"), say("user", "question")], [say("assistant", "answer"), say("user", "question")])),  # fmt: skip
        Session("smolagents", "openai_chat", [{**base, "stream": False, "tool_choice": "required", "stop": ["Observation:", "Calling tools:"], "messages": [parts("system", text("system")), parts("user", text("question"))]}]),  # fmt: skip
        Session("langchain", "openai_chat", [{**plain, "response_format": {"type": "json_schema", "json_schema": {"name": "W", "strict": True, "schema": schema("a")}}, "messages": [say("user", "question")]}]),  # fmt: skip
        Session("later system", "openai_chat", growing(base, "messages", [say("user", "question")], [say("assistant", "answer"), say("system", "later system"), say("user", "question")], [say("assistant", "answer"), say("user", "question"), say("developer", "later system")])),  # fmt: skip
        Session("proxy of claude", "openai_chat", growing(base, "messages", [parts("system", ATTRIBUTION.format("FFFFF"), text("rules")), say("user", "question")])),  # fmt: skip
        Session("picture", "openai_chat", [{**base, "messages": [{"role": "user", "content": [block(text("question")), {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}]}]}], image=True),  # fmt: skip
    ]


# Ollama


def ollama_sessions() -> list[Session]:
    base = {"model": "local", "stream": True, "options": {"num_ctx": 32768, "temperature": None}, "truncate": False, "shift": False, "think": False, "tools": [chat_tool("exec")]}  # fmt: skip
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "call_000000000001", "function": {"name": "exec", "arguments": {"command": "ls -1"}}}]}  # fmt: skip
    answer = {"role": "tool", "content": text("output"), "tool_call_id": "call_000000000001", "tool_name": "exec"}
    head = [say("system", "system", 2000), say("user", "question")]
    context = say("user", "internal context")
    return [
        Session("openclaw, ollama", "ollama_chat", [{**base, "messages": [*head, context]}, {**base, "messages": [*head, call, answer, context]}], extends=False),  # fmt: skip
        Session("ollama, tools", "ollama_chat", growing({**base, "think": "medium"}, "messages", head, [{**call, "thinking": "Which files?"}, answer])),  # fmt: skip
        Session("ollama, format", "ollama_chat", [{"model": "local", "stream": False, "format": schema("a"), "tools": [], "messages": [{**say("user", "question"), "images": []}]}]),  # fmt: skip
        Session("ollama, generate", "ollama_generate", [{"model": "local", "stream": True, "system": text("system"), "prompt": text("question")}]),  # fmt: skip
        Session("ollama, picture", "ollama_chat", [{"model": "local", "messages": [{**say("user", "question"), "images": [PICTURE]}]}], image=True),  # fmt: skip
    ]


SESSIONS = [*codex_sessions(), *claude_sessions(), *chat_sessions(), *ollama_sessions()]
