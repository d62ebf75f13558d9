"""The four protocols without their clients: for statuses, errors and usage, which clients hide.

    status, reply = ask(server.url, "messages", [{"role": "user", "content": "Hello"}], tokens=10)
"""

import json
import typing
import urllib.error
import urllib.request


class Answer(typing.NamedTuple):
    """What every protocol says of a reply."""

    text: str
    end: str  # "stop" or "length"
    prompt_tokens: int
    cached_tokens: int
    tokens: int


class Dialect(typing.NamedTuple):
    path: str
    conversation: str  # the field of its messages
    limit: typing.Callable[[int], dict]  # of a reply's tokens
    greedy: dict
    read: typing.Callable[[dict], Answer]


def _read_chat(reply: dict) -> Answer:
    choice, usage = reply["choices"][0], reply["usage"]
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return Answer(choice["message"]["content"] or "", choice["finish_reason"], usage["prompt_tokens"], cached,
                  usage["completion_tokens"])  # fmt: skip


def _read_response(reply: dict) -> Answer:
    usage = reply["usage"]
    text = "".join(part["text"] for item in reply["output"] if item["type"] == "message" for part in item["content"])
    end = "stop" if reply["status"] == "completed" else {"max_output_tokens": "length"}[reply["incomplete_details"]["reason"]]
    cached = usage["input_tokens_details"]["cached_tokens"]
    return Answer(text, end, usage["input_tokens"], cached, usage["output_tokens"])


def _read_message(reply: dict) -> Answer:
    usage = reply["usage"]
    text = "".join(block["text"] for block in reply["content"] if block["type"] == "text")
    end = {"end_turn": "stop", "max_tokens": "length"}[reply["stop_reason"]]
    cached = usage["cache_read_input_tokens"]
    return Answer(text, end, usage["input_tokens"] + cached, cached, usage["output_tokens"])


def _read_ollama(reply: dict) -> Answer:
    return Answer(reply["message"]["content"], reply["done_reason"], reply["prompt_eval_count"],
                  reply["prompt_eval_cached_count"], reply["eval_count"])  # fmt: skip


DIALECTS = {
    "chat": Dialect("/v1/chat/completions", "messages", lambda tokens: {"max_tokens": tokens},
                    {"temperature": 0, "chat_template_kwargs": {"enable_thinking": False}}, _read_chat),
    "responses": Dialect("/v1/responses", "input", lambda tokens: {"max_output_tokens": tokens},
                         {"temperature": 0, "reasoning": {"effort": "none"}}, _read_response),
    "messages": Dialect("/v1/messages", "messages", lambda tokens: {"max_tokens": tokens}, {"temperature": 0}, _read_message),
    "ollama": Dialect("/api/chat", "messages", lambda tokens: {"options": {"num_predict": tokens, "temperature": 0}},
                      {"think": False}, _read_ollama),
}  # fmt: skip


def post(url: str, path: str, body: dict) -> tuple[int, dict]:
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def ask(url: str, name: str, conversation: list[dict], tokens: int) -> tuple[int, dict]:
    """The status and the whole reply to a conversation of roles and texts, as Chat Completions has them."""
    dialect = DIALECTS[name]
    body = {"model": "tempo9", dialect.conversation: conversation, "stream": False, **dialect.greedy, **dialect.limit(tokens)}
    return post(url, dialect.path, body)


def answer(url: str, name: str, conversation: list[dict], tokens: int) -> Answer:
    status, reply = ask(url, name, conversation, tokens)
    assert status == 200, reply
    return DIALECTS[name].read(reply)
