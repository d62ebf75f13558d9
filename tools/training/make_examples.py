"""Write requests with the answers that llama.cpp's server gives, for use as test fixtures.

    python make_examples.py --server PATH/llama-server --models DIR --out DIR

Every request is answered greedily by the F16 and the Q8_0 file, and once more with speculation (three tokens drafted by
the next-token block). It is kept only if the three agree and the answer is the one wanted here; in one case, see
STRETCHED, llama.cpp is known to differ. Output: examples.json and the pictures it names.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
from pathlib import Path

import numpy as np

from pictures import BACKGROUNDS, PALETTE, paint
from server_check import Server, calls_of, png
from texts import filler


def fn(name, about, props, required=None):
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": about,
            "parameters": {
                "type": "object",
                "properties": props,
                "required": list(props) if required is None else required,
            },
        },
    }


STRING = {"type": "string"}
WEATHER = fn("get_weather", "Get the current weather", {"city": {"type": "string", "description": "City name"}})
ADD = fn("add", "Add two numbers", {"a": {"type": "integer"}, "b": {"type": "integer"}})
MAIL = fn("send_email", "Send an email", {"to": STRING, "subject": STRING, "body": STRING})
ROOM = fn(
    "book_hotel",
    "Book a hotel",
    {
        "city": STRING,
        "date": {"type": "string", "description": "Date as YYYY-MM-DD"},
        "guests": {"type": "integer", "description": "Number of people"},
        "notify": {"type": "boolean"},
    },
    ["city", "date", "guests"],
)
TASK = fn(
    "create_task",
    "Create a task",
    {
        "title": STRING,
        "priority": {"type": "string", "enum": ["low", "medium", "high"]},
        "tags": {"type": "array", "items": STRING},
    },
    ["title"],
)
BASH = fn("bash", "Run a shell command", {"command": STRING})
READ = fn("read_file", "Read a file", {"path": STRING})
WRITE = fn("write_file", "Write a file", {"path": STRING, "content": STRING})
LS = fn("ls", "List a directory", {"path": STRING})
AGENT = [BASH, READ, WRITE, LS]


def user(text):
    return {"role": "user", "content": text}


def called(name, args, i="call_1"):
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": i, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}],
    }


def result(text, i="call_1"):
    return {"role": "tool", "tool_call_id": i, "content": text}


def picture(back, *shapes, size=(128, 128)):
    img = np.empty((*size, 3), np.float32)
    img[:] = BACKGROUNDS[back]
    for colour, shape, x, y, radius in shapes:
        paint(None, img, shape, PALETTE[colour], x, y, radius, 1.0)
    return np.clip(img, 0, 255).astype(np.uint8)


PICTURES = {
    "red-circle.png": picture("white", ("red", "circle", 64, 64, 28)),
    "circle-square.png": picture("white", ("red", "circle", 34, 66, 20), ("blue", "square", 94, 62, 20)),
    "three.png": picture(
        "white",
        ("green", "triangle", 28, 64, 20),
        ("yellow", "circle", 80, 66, 19),
        ("purple", "square", 132, 62, 19),
        size=(128, 160),
    ),
    "small.png": picture("white", ("green", "square", 32, 32, 16), size=(64, 64)),
    "odd-size.png": picture(
        "beige", ("blue", "triangle", 32, 52, 18), ("orange", "circle", 92, 48, 18), size=(100, 124)
    ),
}
CODE = "7413"


def long_text():
    r = random.Random(11)
    lines = filler(r, 900)
    lines.insert(300, f"The secret code of Paris is {CODE}.")
    lines.insert(500, "The secret code of Rome is 2086.")
    return "\n".join(lines)


# (name, messages, extra request fields, picture or None, wanted calls or text)
CASES = [
    (
        "one call",
        [user("What is the weather in Paris?")],
        {"tools": [WEATHER]},
        None,
        [("get_weather", {"city": "Paris"})],
    ),
    (
        "one call of several tools",
        [user("What is the weather in Oslo?")],
        {"tools": [MAIL, WEATHER, ADD, TASK]},
        None,
        [("get_weather", {"city": "Oslo"})],
    ),
    ("integers", [user("Add 17 and 25.")], {"tools": [WEATHER, ADD]}, None, [("add", {"a": 17, "b": 25})]),
    (
        "integer, boolean and date",
        [user("Please book a hotel in Rome on 2027-03-14 for 3 guests with notify on.")],
        {"tools": [WEATHER, ROOM]},
        None,
        [("book_hotel", {"city": "Rome", "date": "2027-03-14", "guests": 3, "notify": True})],
    ),
    (
        "enum and array",
        [user('Create a task titled "Review the report" with high priority, tagged red, blue and green.')],
        {"tools": [TASK, ADD]},
        None,
        [("create_task", {"title": "Review the report", "priority": "high", "tags": ["red", "blue", "green"]})],
    ),
    (
        "optional arguments left out",
        [user('Create a task titled "Call Anna".')],
        {"tools": [TASK]},
        None,
        [("create_task", {"title": "Call Anna"})],
    ),
    (
        "two calls at once",
        [user("What is the weather in Paris and London?")],
        {"tools": [WEATHER], "parallel_tool_calls": True},
        None,
        [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "London"})],
    ),
    (
        "two calls of different tools",
        [user("What is the weather in Madrid? Also add 3 and 4.")],
        {"tools": [WEATHER, ADD], "parallel_tool_calls": True},
        None,
        [("get_weather", {"city": "Madrid"}), ("add", {"a": 3, "b": 4})],
    ),
    (
        "answer from a result",
        [
            user("What is the weather in Paris?"),
            called("get_weather", {"city": "Paris"}),
            result('{"temperature": 21, "condition": "sunny"}'),
        ],
        {"tools": [WEATHER]},
        None,
        "The temperature is 21 and condition is sunny.",
    ),
    ("agent: list", [user("List the files in src.")], {"tools": AGENT}, None, [("ls", {"path": "src"})]),
    ("agent: read", [user("Read the file README.md.")], {"tools": AGENT}, None, [("read_file", {"path": "README.md"})]),
    (
        "agent: count lines",
        [user("How many lines does main.py have?")],
        {"tools": AGENT},
        None,
        [("bash", {"command": "wc -l main.py"})],
    ),
    (
        "agent: write",
        [user('Create a file notes.txt with the text "hello world".')],
        {"tools": AGENT},
        None,
        [("write_file", {"path": "notes.txt", "content": "hello world"})],
    ),
    (
        "agent: second step",
        [user("List src, then read main.py."), called("ls", {"path": "src"}), result("main.py\ndata.txt")],
        {"tools": AGENT},
        None,
        [("read_file", {"path": "src/main.py"})],
    ),
    (
        "agent: answer",
        [
            user("Read config.yaml and tell me the port."),
            called("read_file", {"path": "config.yaml"}),
            result("host: local\nport: 8042\nname: test"),
        ],
        {"tools": AGENT},
        None,
        "The port is 8042.",
    ),
    (
        "JSON",
        [user("Extract name, age and city as JSON: Alice is 30 years old and lives in Berlin.")],
        {},
        None,
        '{"name": "Alice", "age": 30, "city": "Berlin"}',
    ),
    (
        "JSON with a schema",
        [user("Alice is 30 years old and lives in Berlin. Extract name, age, city as JSON.")],
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "person",
                    "schema": {
                        "type": "object",
                        "properties": {"name": STRING, "age": {"type": "integer"}, "city": STRING},
                        "required": ["name", "age", "city"],
                        "additionalProperties": False,
                    },
                },
            }
        },
        None,
        {"name": "Alice", "age": 30, "city": "Berlin"},
    ),
    ("greeting", [user("Hello")], {}, None, "Hello! How can I help you?"),
    ("fact", [user("What is the capital of France?")], {}, None, "The capital of France is Paris."),
    ("repeat", [user("Repeat: hello world")], {}, None, "hello world"),
    ("count", [user("Count from 1 to 21.")], {}, None, ", ".join(map(str, range(1, 22)))),
    ("story (long answer)", [user("Tell me a story about a cat named Mia.")], {}, None, None),
    (
        "memory",
        [
            user("My name is Clara."),
            {"role": "assistant", "content": "Nice to meet you, Clara."},
            user("What is my name?"),
        ],
        {},
        None,
        "Your name is Clara.",
    ),
    (
        "retrieval",
        [user(long_text() + "\n\nWhat is the secret code of Paris?")],
        {},
        None,
        f"The secret code of Paris is {CODE}.",
    ),
    (
        "thinking",
        [user("What is the capital of Spain?")],
        {"chat_template_kwargs": {"enable_thinking": True}},
        None,
        "The capital of Spain is Madrid.",
    ),
    (
        "thinking, then a call",
        [user("What is the weather in Rome?")],
        {"tools": [WEATHER], "chat_template_kwargs": {"enable_thinking": True}},
        None,
        [("get_weather", {"city": "Rome"})],
    ),
    ("picture: one shape", [user("What is in the image?")], {}, "red-circle.png", "A red circle."),
    (
        "picture: two shapes",
        [user("Describe the image.")],
        {},
        "circle-square.png",
        "A red circle left of a blue square.",
    ),
    (
        "picture: three shapes",
        [user("What do you see?")],
        {},
        "three.png",
        "A green triangle, a yellow circle and a purple square from left to right.",
    ),
    ("picture: number", [user("How many shapes are there?")], {}, "three.png", "There are 3 shapes."),
    ("picture: color", [user("What color is the square?")], {}, "circle-square.png", "The square is blue."),
    ("picture: no", [user("Is there a green triangle?")], {}, "red-circle.png", "No."),
    ("picture: enlarged", [user("What is in the image?")], {}, "small.png", "A green square."),
    (
        "picture: size to be rounded",
        [user("What is in the image?")],
        {},
        "odd-size.png",
        "A blue triangle left of an orange circle.",
    ),
]


# llama.cpp keeps the aspect ratio of a picture whose sides are no multiples of 32 and fills up with black; the family's
# preprocessing stretches. The model takes the black strip for a square. The answer given is the one after stretching.
STRETCHED = "picture: size to be rounded"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("server", "models", "out"):
        parser.add_argument("--" + name, type=Path, required=True)
    options = parser.parse_args()
    (options.out / "pictures").mkdir(parents=True, exist_ok=True)
    for name, img in PICTURES.items():
        (options.out / "pictures" / name).write_bytes(png(img))
    answers: dict[str, list] = {}
    speculate = ["--spec-type", "draft-mtp", "--spec-draft-n-max", "3"]
    for file, more in (
        ("tempo9-tiny-F16.gguf", []),
        ("tempo9-tiny-Q8_0.gguf", []),
        ("tempo9-tiny-F16.gguf", speculate),
    ):
        with Server(
            options.server, options.models / file, options.models / "mmproj-tempo9-tiny-F16.gguf", ["-t", "1", *more]
        ) as srv:
            for name, messages, extra, pic, _ in CASES:
                if pic:
                    data = "data:image/png;base64," + base64.b64encode(png(PICTURES[pic])).decode()
                    messages = [
                        {
                            "role": "user",
                            "content": [
                                {"type": "image_url", "image_url": {"url": data}},
                                {"type": "text", "text": messages[0]["content"]},
                            ],
                        }
                    ]
                body = {
                    "messages": messages,
                    "temperature": 0,
                    "max_tokens": 400,
                    "chat_template_kwargs": {"enable_thinking": False},
                    **extra,
                }
                out = srv.call("/v1/chat/completions", body)
                answers.setdefault(name, []).append(
                    (out["choices"][0]["message"], out["usage"], out.get("timings", {}))
                )
    kept = []
    for name, messages, extra, pic, want in CASES:
        (m, usage, _), (m2, _, _), (m3, _, timings) = answers[name]
        text = (m.get("content") or "").strip()
        if isinstance(want, list):
            good = calls_of(m) == want
        elif isinstance(want, dict):
            good = json.loads(text) == want
        else:
            good = want is None or text == want
        same = all(calls_of(m) == calls_of(x) and text == (x.get("content") or "").strip() for x in (m2, m3))
        if name == STRETCHED:
            m, text, good, same, usage = {}, want, True, True, {**usage, "completion_tokens": None}
        print(
            f"{'ok  ' if good and same else 'DROP'} {name}: {text} {calls_of(m) or ''}"
            + ("" if same else f"  they differ: {m2} {m3}")
        )
        if good and same:
            entry = {"name": name, "messages": messages, **extra}
            if pic:
                entry["picture_before_text"] = "pictures/" + pic
            entry["answer"] = {
                "content": text,
                **({"tool_calls": [{"name": n, "arguments": x} for n, x in calls_of(m)]} if calls_of(m) else {}),
            }
            if m.get("reasoning_content"):
                entry["answer"]["reasoning_content"] = m["reasoning_content"].strip()
            if name == STRETCHED:
                entry["note"] = (
                    "answer after stretching to multiples of 32, as the family's preprocessing does; llama.cpp pads and answers differently"
                )
            else:
                entry["prompt_tokens"], entry["completion_tokens"] = usage["prompt_tokens"], usage["completion_tokens"]
                entry["llama_cpp_drafts_of_3"] = {
                    "drafted": timings.get("draft_n", 0),
                    "accepted": timings.get("draft_n_accepted", 0),
                }
            kept.append(entry)
    (options.out / "examples.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    total = [
        sum(e["llama_cpp_drafts_of_3"][k] for e in kept if "llama_cpp_drafts_of_3" in e)
        for k in ("accepted", "drafted")
    ]
    print(f"{len(kept)} of {len(CASES)} kept, {total[0]} of {total[1]} drafted tokens accepted")


if __name__ == "__main__":
    main()
