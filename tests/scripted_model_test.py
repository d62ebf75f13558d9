"""Models whose replies are written down beforehand (tools/scripted_model.py), as clients of the server see them."""

import concurrent.futures
import json
import pathlib
import urllib.request

import conftest
import pytest
import scripted_model

LONG = " ".join(f"word{i} of many" for i in range(130))
SCRIPTS = [
    "Hello, world!",
    "again and again and again and again, and again",
    "aaaaaaaaaaaaaaaaaaaaaaaa\n\n\n\n    x\n",
    "Grüße, 漢字, 👋🏽 and 👩‍👩‍👧: bytes.",
    LONG,
    '{"k": [1, 2.5, null], "text": "a\\nb"}',
    "the end of one is\nthe end of one is\nthe end of another",
    "<<script:0>>",
]
NOT_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}  # some templates open the reply with thoughts


def ask(server, content: str, **options) -> dict:
    body = {"messages": [{"role": "user", "content": content}], "temperature": 0, **NOT_THINKING, **options}
    request = urllib.request.Request(server.url + "/v1/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})  # fmt: skip
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def stream(server, content: str) -> str:
    body = {"messages": [{"role": "user", "content": content}], "temperature": 0, "stream": True, **NOT_THINKING}
    request = urllib.request.Request(server.url + "/v1/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})  # fmt: skip
    with urllib.request.urlopen(request, timeout=120) as answer:
        events = [line[6:] for line in answer.read().decode().split("\n") if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    return "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])


def text_of(reply: dict) -> str:
    choice = reply["choices"][0]
    assert choice["finish_reason"] == "stop"
    return choice["message"]["content"]


@pytest.fixture
def served(start_server, tmp_path):
    """served(family, scripts) gives a server and the scripts' markers."""

    def serve(family: str | pathlib.Path, scripts: list):
        path = tmp_path / "scripted.gguf"
        markers = scripted_model.write_scripted_model(path, family, scripts)
        assert path.stat().st_size < 16 << 20
        return start_server(model=path), markers

    return serve


def check(server, markers: list[str]) -> None:
    for script, marker in zip(SCRIPTS, markers, strict=True):
        reply = ask(server, f"Please say {marker} now.")
        assert text_of(reply) == script
        assert stream(server, f"Please say {marker} now.") == script
    assert ask(server, markers[4])["usage"]["completion_tokens"] > 300
    # Two in turn, on what the other has left in the cache; and one that nobody has asked for.
    for _ in range(3):
        for which in (0, 6):
            assert text_of(ask(server, "Once more: " + markers[which])) == SCRIPTS[which]
    assert text_of(ask(server, "Nothing in particular.")) == ""
    # The newest of several, whatever is behind it, and sampled.
    assert text_of(ask(server, f"{markers[1]} {markers[3]} {markers[0]} {'and so on ' * 500}")) == SCRIPTS[3]
    assert text_of(ask(server, markers[5], temperature=1.0, seed=7)) == SCRIPTS[5]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda which: text_of(ask(server, f"{markers[which]} {which}")), range(8)))
    assert together == SCRIPTS


def test_the_small_models_own_tokenizer(served, model_path):
    check(*served(model_path, SCRIPTS))


def test_the_tiny_models_own_tokenizer(served):
    check(*served(conftest.TINY_MODEL, SCRIPTS))


@pytest.mark.slow
@pytest.mark.parametrize("family", scripted_model.FAMILIES)
def test_families(served, family):
    check(*served(family, SCRIPTS))


@pytest.mark.slow
def test_special_tokens_are_said_like_others(served):
    """They lead on like any token; what a client sees of them is the server's business."""
    server, markers = served("qwen3", ["<think>\nhm\n</think>\n\nSo <tool_call>\n{}\n</tool_call>", "a<|im_start|>b"])
    reply = ask(server, markers[0])
    assert "hm" in json.dumps(reply) and "So " in text_of(reply)
    assert reply["usage"]["completion_tokens"] > 10
    assert text_of(ask(server, markers[1])) == "ab"  # a control token is not text


@pytest.mark.slow
def test_scripts_of_ids(served):
    metadata, _ = scripted_model.family_metadata("qwen3")
    tokens = metadata["tokenizer.ggml.tokens"]
    ids = [tokens.index(text) for text in ("Ġextraordinary".encode(), b"a", b"a", "Ġextraordinary".encode())]
    server, markers = served("qwen3", [ids, "b"])
    assert text_of(ask(server, markers[0])) == " extraordinaryaa extraordinary"
