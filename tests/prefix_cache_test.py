"""What was computed before is not computed again, and nobody can tell from the answer.

Prompts are token ids, so that lengths are exact. tempo9-tiny has recurrent layers, which continue only where their state
was saved; the small model has full attention alone.
"""

import json
import random
import urllib.request

import pytest
from conftest import TINY_MODEL

REPLY = 8


def complete(server, prompt: list[int], tokens: int = REPLY) -> dict:
    body = {"prompt": prompt, "temperature": 0, "max_tokens": tokens, "logprobs": 5}
    request = urllib.request.Request(
        server.url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)


def cached(answer: dict) -> int:
    return answer["usage"]["prompt_tokens_details"]["cached_tokens"]


def ids(seed: int, count: int) -> list[int]:
    generator = random.Random(seed)
    return [generator.randrange(300, 5000) for _ in range(count)]


@pytest.fixture(params=["tempo9-tiny", "the small model"])
def start(request, start_server, model_path):
    """Starts servers with nothing in the cache."""
    model = TINY_MODEL if request.param == "tempo9-tiny" else model_path
    return lambda: start_server(model=model)


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
        prompts = [ids(length, length) + [400 + i] + ids(1000 + i, 20) for i in range(10)]
        answers = [complete(server, prompt, 2) for prompt in prompts]
        for answer in answers[2:]:
            assert cached(answer) >= length - 1
        assert answers[-1]["choices"] == complete(start(), prompts[-1], 2)["choices"]


def test_a_branch_does_not_forget_the_rest(start):
    server = start()
    whole = ids(1, 1600)
    complete(server, whole)
    complete(server, whole[:800] + ids(2, 100))
    back = complete(server, whole + ids(3, 10))
    assert cached(back) >= 1599


def test_a_repeated_prompt_computes_one_token(start):
    server = start()
    first, second = (complete(server, ids(1, 500)) for _ in range(2))
    assert cached(second) == 499
    assert first["choices"] == second["choices"]
