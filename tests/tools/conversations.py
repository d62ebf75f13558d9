"""Conversations that every chat template is rendered with, as the variables of the template."""


def tool(name: str, description: str, properties: dict, required: list[str]) -> dict:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


WEATHER = tool(
    "get_weather",
    "Get the weather of a city.",
    {
        "city": {"type": "string", "description": "The city's name, e.g. \"Zürich\""},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": "integer", "minimum": 1, "maximum": 18446744073709551615},
    },
    ["city"],
)
EDIT = tool(
    "edit_file",
    "Change a file.\nSeveral lines <b>of</b> text & 'quotes'.",
    {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "description": "What to change",
            "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}, "new": {"type": ["string", "null"]}, "all": {"type": "boolean"}},
                "required": ["old"],
                "additionalProperties": False,
            },
        },
        "mode": {"anyOf": [{"type": "string"}, {"type": "number"}], "nullable": True},
        "options": {"type": "object", "properties": {"deep": {"type": "object", "properties": {"x": {"type": "number"}}}}},
        "ratio": {"type": "number", "default": 0.1},
        "flags": {"type": "array", "items": {"type": "string"}, "default": []},
    },
    ["path", "edits"],
)
EMPTY = {"type": "function", "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}}}
NO_PARAMETERS = {"type": "function", "function": {"name": "ping", "description": "Answer."}}


def call(identifier: str, name: str, arguments) -> dict:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def system(text="You are helpful.") -> dict:
    return {"role": "system", "content": text}


def user(content="Hello, who are you?") -> dict:
    return {"role": "user", "content": content}


def assistant(content="I am a model.", **more) -> dict:
    return {"role": "assistant", "content": content, **more}


def result(content="{\"temperature\": 21.5}", identifier="abcdefgh1", name="get_weather") -> dict:
    return {"role": "tool", "content": content, "tool_call_id": identifier, "name": name}


ONE_CALL = [call("abcdefgh1", "get_weather", {"city": "Zürich", "days": 3})]
TWO_CALLS = [*ONE_CALL, call("abcdefgh2", "edit_file", {"path": "/tmp/a b.txt", "edits": [{"old": "x\n\"y\"", "new": None, "all": True}], "ratio": 1e-7})]  # fmt: skip
ODD = "  <|im_end|> {{ 7 }} {% x %} \\n é 漢字 👩‍👩‍👧 \u2028 \t</think> [INST] ' \" & <b>\n\n"

MESSAGES = {
    "user": [user()],
    "system": [system(), user()],
    "several turns": [system(), user("One"), assistant("1"), user("Two"), assistant("2"), user("Three")],
    "ends with assistant": [user("One"), assistant("Two")],
    "reasoning": [user("Q"), assistant("A", reasoning_content="Because."), user("Again")],
    "reasoning, alias": [user("Q"), assistant("A", thinking="Because.", reasoning_content="Because."), user("Again")],
    "reasoning in text": [user("Q"), assistant("<think>\nHm.\n</think>\n\nA"), user("Again")],
    "call": [user("Weather?"), assistant("", tool_calls=ONE_CALL)],
    "call, content absent": [user("Weather?"), {"role": "assistant", "tool_calls": ONE_CALL}, result()],
    "call, content none": [user("Weather?"), assistant(None, tool_calls=ONE_CALL), result()],
    "call and text": [system(), user("Weather?"), assistant("Let me see.", tool_calls=ONE_CALL), result()],
    "call, arguments text": [user("Weather?"), assistant("", tool_calls=[call("abcdefgh1", "get_weather", "{\"city\": \"Bern\"}")]), result()],  # fmt: skip
    "call and reasoning": [user("Weather?"), assistant("", reasoning_content="Ask the tool.", tool_calls=ONE_CALL), result(), assistant("21.5")],  # fmt: skip
    "result": [user("Weather?"), assistant("", tool_calls=ONE_CALL), result(), assistant("It is 21.5."), user("Thanks")],
    "parallel calls": [user("Do both"), assistant("", tool_calls=TWO_CALLS), result(), result("done", "abcdefgh2", "edit_file")],  # fmt: skip
    "calls in a row": [user("Do"), assistant("", tool_calls=ONE_CALL), result(), assistant("", tool_calls=TWO_CALLS[1:]), result("ok", "abcdefgh2", "edit_file"), assistant("Done."), user("More")],  # fmt: skip
    "result without id": [user("W?"), assistant("", tool_calls=ONE_CALL), {"role": "tool", "content": "cold"}],
    "result as list": [user("W?"), assistant("", tool_calls=ONE_CALL), result([{"type": "text", "text": "cold"}])],
    "user after result": [user("W?"), assistant("", tool_calls=ONE_CALL), result(), user("And tomorrow?")],
    "odd call ids": [user("W?"), assistant("", tool_calls=[call("call_1", "get_weather", {})]), result("", "call_1")],
    "two users": [user("One"), user("Two")],
    "two assistants": [user("One"), assistant("Two"), assistant("Three"), user("Four")],
    "later system": [system("S1"), user("One"), assistant("Two"), system("S2"), user("Three")],
    "system last": [user("One"), assistant("Two"), system("Summarise.")],
    "developer": [{"role": "developer", "content": "Be brief."}, user()],
    "unknown role": [user(), {"role": "critic", "content": "Hm."}],
    "no messages": [],
    "only system": [system()],
    "assistant first": [assistant("Hello!"), user("Hi")],
    "empty contents": [system(""), user(""), assistant(""), user(" ")],
    "odd contents": [system(ODD), user(ODD), assistant(ODD), user(ODD)],
    "parts": [system([{"type": "text", "text": "Sys"}]), user([{"type": "text", "text": "Part one."}, {"type": "text", "text": "Two."}])],  # fmt: skip
    "image": [user([{"type": "image"}, {"type": "text", "text": "What is this?"}])],
    "two images": [system(), user([{"type": "text", "text": "Left"}, {"type": "image"}, {"type": "text", "text": "and right"}, {"type": "image"}])],  # fmt: skip
    "image in an earlier turn": [user([{"type": "image"}, {"type": "text", "text": "Who?"}]), assistant("Nobody."), user("Sure?")],  # fmt: skip
    "image in a result": [user("Look"), assistant("", tool_calls=ONE_CALL), result([{"type": "image"}, {"type": "text", "text": "done"}])],  # fmt: skip
    "image in the system message": [system([{"type": "image"}]), user()],
    "image and reply in parts": [user([{"type": "image"}]), assistant([{"type": "text", "text": "A cat."}]), user([{"type": "text", "text": "More"}])],  # fmt: skip
    "image url": [user([{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "data:,"}}])],
    "number as content": [user(42)],
    "unknown part": [user([{"type": "hologram", "data": 1}])],
}

# Further variables that each conversation is rendered with.
SETTINGS = {
    "plain": {"add_generation_prompt": True},
    "no prompt": {"add_generation_prompt": False},
    "tools": {"add_generation_prompt": True, "tools": [WEATHER, EDIT]},
    "odd tools": {"add_generation_prompt": True, "tools": [EMPTY, NO_PARAMETERS]},
    "thinking": {"add_generation_prompt": True, "enable_thinking": True, "thinking": True, "reasoning_effort": "high", "tools": [WEATHER]},  # fmt: skip
    "no thinking": {"add_generation_prompt": True, "enable_thinking": False, "thinking": False, "reasoning_effort": "low"},
}


def variables(messages: list[dict], setting: dict) -> dict:
    special = {"bos_token": "<s>", "eos_token": "</s>", "tools": None, "documents": None}
    return {"messages": messages, **special, **setting}


def all_cases() -> list[tuple[str, str, dict]]:
    return [
        (name, setting, variables(messages, more))
        for name, messages in MESSAGES.items()
        for setting, more in SETTINGS.items()
    ]
