"""What was computed before is not computed again, and nobody can tell from the answer.

Prompts are token ids, so that lengths are exact. tempo9-tiny has recurrent layers, which continue only where their state
was saved; the small model has full attention alone; a tiny random Gemma has layers that see a window of 16 tokens.
"""

import json
import random
import subprocess
import urllib.request

import pytest
from conftest import ROOT, TINY_MODEL
from dialects import answer

REPLY = 8
WINDOWS = ROOT / "tests" / "golden" / "gemma3.gguf"
GEMMA = ROOT / "models" / "gemma-3-270m-q4_k_m.gguf"
MODELS = {"tempo9-tiny": TINY_MODEL, "the small model": None, "windows": WINDOWS}


def complete(server, prompt: list[int], tokens: int = REPLY) -> dict:
    body = {"prompt": prompt, "temperature": 0, "max_tokens": tokens, "logprobs": 5, "ignore_eos": True}
    request = urllib.request.Request(
        server.url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)


def cached(answer: dict) -> int:
    return answer["usage"]["prompt_tokens_details"]["cached_tokens"]


def ids(seed: int, count: int) -> list[int]:
    generator = random.Random(seed)
    return [generator.randrange(20, 250) for _ in range(count)]


def tokens_computed(server) -> int:
    with urllib.request.urlopen(server.url + "/metrics", timeout=30) as response:
        lines = response.read().decode().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("tempo9_tokens_computed_total ")))


@pytest.fixture
def start_model(start_server):
    """start_model(path) starts a server with nothing in the cache."""
    return lambda model: start_server("--max-context", "8192", **({"model": model} if model else {}))


@pytest.fixture(params=MODELS)
def start(request, start_model):
    """The same, of each model."""
    return lambda: start_model(MODELS[request.param])


def test_a_long_conversation_goes_on(start):
    server = start()
    turn = ids(1, 1500)
    first = complete(server, turn)
    assert cached(first) == 0
    following = turn + ids(2, 30)
    second = complete(server, following)
    assert cached(second) >= 0.95 * len(turn)
    fresh = complete(start(), following)
    assert cached(fresh) == 0
    assert second["choices"] == fresh["choices"]


def test_the_turn_after_a_long_one_computes_what_is_new(start_model):
    """The new question and what opens the reply: a small part of what the first turn took, so its first token comes soon."""
    server = start_model(TINY_MODEL)
    talk = [{"role": "user", "content": " a" * 3000}]
    first = answer(server.url, "chat", talk, 40)
    before = tokens_computed(server)
    talk += [{"role": "assistant", "content": first.text}, {"role": "user", "content": " b" * 30}]
    second = answer(server.url, "chat", talk, 1)
    assert second.cached_tokens >= 0.95 * first.prompt_tokens
    assert tokens_computed(server) - before <= 0.1 * first.prompt_tokens
    assert second.text == answer(start_model(TINY_MODEL).url, "chat", talk, 1).text


@pytest.mark.parametrize("model", [WINDOWS, pytest.param(GEMMA, marks=pytest.mark.slow)], ids=lambda path: path.stem)
def test_behind_an_edited_message_all_is_computed_and_nothing_before(model, start_model):
    """Although the window of the reply's end has long left the place where the prompts part."""
    if model == GEMMA:
        subprocess.run([ROOT / "scripts" / "get_gemma.sh"], check=True)
    server, head, edited = start_model(model), ids(1, 4000), ids(3, 40)
    complete(server, head + ids(2, 40), 600)
    before = tokens_computed(server)
    again = complete(server, head + edited)
    assert cached(again) == len(head)
    assert tokens_computed(server) - before <= len(edited) + REPLY
    assert again["choices"] == complete(start_model(model), head + edited)["choices"]


def test_a_short_prompt_is_found(start):
    server = start()
    complete(server, ids(1, 40))
    longer = ids(1, 40) + ids(2, 10)
    answer = complete(server, longer)
    assert cached(answer) >= 39
    assert answer["choices"] == complete(start(), longer)["choices"]


def test_shared_beginnings_of_any_length(start):
    server = start()
    for length in (100, 300, 500, 700):
        prompts = [ids(length, length) + [20 + i] + ids(1000 + i, 20) for i in range(10)]
        answers = [complete(server, prompt, 2) for prompt in prompts]
        for answer in answers[2:]:
            assert cached(answer) >= length - 1
        assert answers[-1]["choices"] == complete(start(), prompts[-1], 2)["choices"]


@pytest.mark.parametrize("model, length", [("tempo9-tiny", 6000), ("the small model", 1600), ("windows", 6000)])
def test_a_branch_does_not_forget_the_rest(model, length, start_model):
    server = start_model(MODELS[model])
    whole = ids(1, length)
    complete(server, whole)
    complete(server, whole[: length // 2] + ids(2, 100))
    back = complete(server, whole + ids(3, 10))
    assert cached(back) >= length - 1


def test_a_repeated_prompt_computes_one_token(start):
    server = start()
    first, second = (complete(server, ids(1, 500)) for _ in range(2))
    assert cached(second) == 499
    assert first["choices"] == second["choices"]
