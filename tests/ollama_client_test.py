"""Ollama's protocol as its Python client sees it, with a small trained model."""

import json
import urllib.request

import ollama
import pytest
from dialects import post

QUESTION = [{"role": "user", "content": "What is the capital of Spain?"}]
ANSWER = "The capital of Spain is Madrid."
GREEDY = {"model": "llama3", "messages": QUESTION, "options": {"temperature": 0, "num_predict": 64}}


@pytest.fixture
def client(tiny_server):
    return ollama.Client(host=tiny_server.url)


def test_a_reply_has_every_part(client):
    reply = client.chat(**GREEDY)
    assert reply.message.role == "assistant"
    assert reply.message.content == ANSWER
    assert reply.message.thinking is None
    assert reply.model == "llama3"
    assert reply.done and reply.done_reason == "stop"
    assert reply.prompt_eval_count > 5
    assert reply.eval_count > 5
    assert reply.total_duration >= reply.prompt_eval_duration + reply.eval_duration > 0


def test_a_stream_gives_the_same_text(client):
    parts = list(client.chat(**GREEDY, stream=True))
    assert "".join(part.message.content for part in parts) == ANSWER
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].eval_count == client.chat(**GREEDY).eval_count


def test_thinking_stands_beside_the_content(client):
    reply = client.chat(**GREEDY, think=True)
    assert reply.message.thinking == "I can answer this directly."
    assert reply.message.content == ANSWER
    parts = list(client.chat(**GREEDY, think=True, stream=True))
    assert "".join(part.message.thinking or "" for part in parts) == reply.message.thinking


def test_the_length_ends_a_reply(client):
    reply = client.chat(**{**GREEDY, "options": {"temperature": 0, "num_predict": 3}})
    assert reply.done_reason == "length"
    assert reply.eval_count == 3


def test_generate_answers_a_prompt(client):
    options = {"model": "llama3", "prompt": QUESTION[0]["content"], "options": GREEDY["options"]}
    assert client.generate(**options).response == ANSWER
    assert "".join(part.response for part in client.generate(**options, stream=True)) == ANSWER
    raw = client.generate(**{**options, "prompt": "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"}, raw=True)  # fmt: skip
    assert raw.response == "Hello! How can I help you?"


def test_models_are_described(client):
    listed = client.list().models[0]
    assert listed.size > 1_000_000
    assert listed.details.family == "qwen35"
    assert client.ps().models[0].model == listed.model
    shown = client.show(listed.model)
    assert shown.modelinfo["qwen35.context_length"] == 65536
    assert {"completion", "tools", "thinking"} <= set(shown.capabilities)
    assert client.pull("anything").status == "success"


def test_editors_find_what_they_look_at_first(tiny_server):
    """Those that use the protocol to choose a model, and Chat Completions on the same port to talk to it."""

    def get(path: str) -> dict:
        with urllib.request.urlopen(tiny_server.url + path, timeout=30) as response:
            return json.load(response)

    version = get("/api/version")["version"].split(".")
    assert len(version) == 3 and tuple(map(int, version)) >= (0, 6, 4)  # as editors compare it
    (listed,), (loaded,) = get("/api/tags")["models"], get("/api/ps")["models"]
    assert {"name", "model", "modified_at", "size", "digest", "details"} <= set(listed)
    assert {"name", "model", "size", "digest", "details", "expires_at"} <= set(loaded)
    status, shown = post(tiny_server.url, "/api/show", {"model": listed["name"]})
    assert status == 200 and "tools" in shown["capabilities"]
    family = shown["model_info"]["general.architecture"]
    assert shown["model_info"][f"{family}.context_length"] == 65536
    asked = {"model": listed["name"], "messages": QUESTION, "temperature": 0}
    status, reply = post(tiny_server.url, "/v1/chat/completions", asked)
    assert (status, reply["choices"][0]["message"]["content"]) == (200, ANSWER)


def test_what_is_wrong_is_said(client):
    with pytest.raises(ollama.ResponseError) as caught:
        client.chat(**{**GREEDY, "options": {"temperature": "hot"}})
    assert caught.value.status_code == 400
    assert caught.value.error.startswith("options.temperature: ")
    with pytest.raises(ollama.ResponseError, match="maximum context length is"):
        list(client.chat(**{**GREEDY, "messages": [{"role": "user", "content": "word " * 70000}]}, stream=True))


def test_other_models_are_refused_when_strict(start_server):
    strict = ollama.Client(host=start_server("--strict-model").url)
    with pytest.raises(ollama.ResponseError) as caught:
        strict.chat(**GREEDY)
    assert caught.value.status_code == 404
