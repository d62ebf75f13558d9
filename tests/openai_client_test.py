"""The OpenAI dialect as the official Python client sees it, with the real model."""

import asyncio
import json
import time
import urllib.request

import openai
import pytest

QUESTION = [{"role": "user", "content": "Name three colours."}]
GREEDY = {"model": "tempo9", "messages": QUESTION, "temperature": 0, "max_tokens": 24}


@pytest.fixture
def client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)


def health(server) -> dict:
    with urllib.request.urlopen(server.url + "/health", timeout=10) as answer:
        return json.load(answer)


def wait_until_idle(server) -> float:
    """Seconds until nothing runs or waits any more."""
    begin = time.monotonic()
    while True:
        state = health(server)
        if state["running"] == state["queued"] == 0:
            return time.monotonic() - begin
        assert time.monotonic() - begin < 30, state
        time.sleep(0.02)


def refusal(client, **changes) -> openai.BadRequestError:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**{**GREEDY, **changes})
    return caught.value


def test_a_reply_has_every_part(client):
    reply = client.chat.completions.create(**GREEDY)
    assert reply.object == "chat.completion"
    assert reply.id.startswith("chatcmpl-")
    assert reply.choices[0].message.role == "assistant"
    assert reply.choices[0].message.content
    assert reply.usage.completion_tokens <= 24
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.usage.prompt_tokens_details.cached_tokens >= 0


def test_a_stream_gives_the_same_text_and_usage(client):
    whole = client.chat.completions.create(**GREEDY)
    chunks = list(client.chat.completions.create(**GREEDY, stream=True, stream_options={"include_usage": True}))
    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert choices[0].delta.role == "assistant"
    assert "".join(choice.delta.content or "" for choice in choices) == whole.choices[0].message.content
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == [whole.choices[0].finish_reason]
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens


def test_the_streaming_helper_puts_the_reply_together(client):
    text = client.chat.completions.create(**GREEDY).choices[0].message.content
    with client.chat.completions.stream(**GREEDY, stop=text[-4:]) as stream:  # it takes a reply cut short for an error
        stream.until_done()
        choice = stream.get_final_completion().choices[0]
    assert choice.message.content == text[: text.index(text[-4:])]
    assert choice.finish_reason == "stop"


def test_the_length_ends_a_reply(client):
    reply = client.chat.completions.create(**{**GREEDY, "max_tokens": 3})
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage.completion_tokens == 3
    del (other := dict(GREEDY))["max_tokens"]
    again = client.chat.completions.create(**other, max_completion_tokens=3)
    assert again.choices[0].message.content == reply.choices[0].message.content


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_stop_string_ends_a_reply(client, as_list, streamed):
    text = client.chat.completions.create(**GREEDY).choices[0].message.content
    stop = text[len(text) // 2 : len(text) // 2 + 4]
    options = {**GREEDY, "stop": ["never said", stop] if as_list else stop}
    if streamed:
        chunks = [chunk.choices[0] for chunk in client.chat.completions.create(**options, stream=True)]
        got, reason = "".join(chunk.delta.content or "" for chunk in chunks), chunks[-1].finish_reason
    else:
        choice = client.chat.completions.create(**options).choices[0]
        got, reason = choice.message.content, choice.finish_reason
    assert got == text[: text.index(stop)]
    assert reason == "stop"


def test_logprobs_spell_the_reply(client):
    reply = client.chat.completions.create(**GREEDY, logprobs=True, top_logprobs=5)
    entries = reply.choices[0].logprobs.content
    assert b"".join(bytes(entry.bytes) for entry in entries).decode() == reply.choices[0].message.content
    for entry in entries:
        assert entry.logprob <= 0
        assert len(entry.top_logprobs) == 5
        assert entry.top_logprobs[0].token == entry.token  # greedy: the most probable was chosen
        values = [top.logprob for top in entry.top_logprobs]
        assert values == sorted(values, reverse=True)
    streamed = client.chat.completions.create(**GREEDY, logprobs=True, top_logprobs=5, stream=True)
    pieces = [e for chunk in streamed for choice in chunk.choices if choice.logprobs for e in choice.logprobs.content]
    assert pieces == entries


def test_a_seed_makes_a_reply_repeatable(client):
    options = {**GREEDY, "temperature": 1.5, "max_tokens": 16}

    def text(seed):
        return client.chat.completions.create(**options, seed=seed).choices[0].message.content

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(5)}) > 1


def test_several_choices_come_with_their_index(client):
    options = {**GREEDY, "temperature": 1.5, "max_tokens": 8, "n": 3, "seed": 5}
    reply = client.chat.completions.create(**options)
    texts = [choice.message.content for choice in reply.choices]
    assert [choice.index for choice in reply.choices] == [0, 1, 2]
    assert len(set(texts)) > 1
    streamed = ["", "", ""]
    for chunk in client.chat.completions.create(**options, stream=True):
        for choice in chunk.choices:
            streamed[choice.index] += choice.delta.content or ""
    assert streamed == texts
    alone = client.chat.completions.create(**{**options, "n": 1})
    assert alone.choices[0].message.content == texts[0]


def test_roles_and_parts_of_real_clients_are_taken(client):
    messages = [
        {"role": "developer", "content": "Answer briefly."},
        {"role": "user", "content": [{"type": "text", "text": "Hello."}, {"type": "text", "text": "Who are you?"}]},
    ]
    reply = client.chat.completions.create(
        model="gpt-4o", messages=messages, max_tokens=8, user="someone", metadata={"k": "v"}, store=False,
        extra_body={"top_k": 20, "min_p": 0.05, "repetition_penalty": 1.1, "brand_new_field": {"x": [1]}},
    )  # fmt: skip
    assert reply.choices[0].message.content
    assert reply.model != "gpt-4o"


def test_logit_bias_can_force_a_token(client):
    options = {"model": "tempo9", "prompt": "The capital of France is", "temperature": 0, "max_tokens": 3, "logprobs": 0}
    usual = client.completions.create(**options).choices[0].logprobs.tokens
    forced = client.completions.create(**options, logit_bias={"1000": 100}).choices[0].logprobs.tokens
    assert forced[0] == forced[1] == forced[2] != usual[0]


@pytest.mark.parametrize(
    "change, param",
    [
        ({"temperature": -1}, "temperature"),
        ({"n": 0}, "n"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]}, "messages[0].content[0].text"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"uniqueItems": True}}}}, "response_format"),
        ({"logit_bias": {"99999999": 1}}, "logit_bias.99999999"),
    ],
)
def test_a_bad_field_is_named(client, change, param):
    error = refusal(client, **change)
    assert error.status_code == 400
    assert error.param == param
    assert error.type == "invalid_request_error"
    assert param in error.message


def test_a_prompt_that_is_too_long_is_refused_with_numbers(client):
    error = refusal(client, messages=[{"role": "user", "content": "word " * 20000}])
    assert error.code == "context_length_exceeded"
    assert "maximum context length is" in error.message
    streamed = refusal(client, messages=[{"role": "user", "content": "word " * 20000}], stream=True)
    assert streamed.code == "context_length_exceeded"


def test_models_are_listed_and_found(client):
    listed = client.models.list().data
    assert len(listed) == 1
    assert client.models.retrieve(listed[0].id) == listed[0]
    with pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("something-else")
    assert caught.value.code == "model_not_found"


def test_completions_go_on_from_texts(client):
    options = {"model": "tempo9", "temperature": 0, "max_tokens": 8}
    both = client.completions.create(**options, prompt=["Once upon a", "The sum of two and"])
    assert [choice.index for choice in both.choices] == [0, 1]
    one = client.completions.create(**options, prompt="The sum of two and", logprobs=2)
    assert one.choices[0].text == both.choices[1].text
    assert "".join(one.choices[0].logprobs.tokens) == one.choices[0].text
    streamed = client.completions.create(**options, prompt="The sum of two and", stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == one.choices[0].text
    with pytest.raises(openai.BadRequestError, match="echo"):
        client.completions.create(**options, prompt="x", echo=True)


def test_many_at_once_are_not_mixed_up(server, client):
    alone = client.chat.completions.create(**GREEDY).choices[0].message.content

    async def all_at_once():
        async with openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as together:
            return await asyncio.gather(*(together.chat.completions.create(**GREEDY) for _ in range(8)))

    assert {reply.choices[0].message.content for reply in asyncio.run(all_at_once())} == {alone}


def test_leaving_a_stream_ends_its_work(server, client):
    wait_until_idle(server)
    options = {**GREEDY, "max_tokens": 2000, "logit_bias": {}}
    stream = client.chat.completions.create(**options, stream=True, n=2)
    next(iter(stream))
    stream.close()
    assert wait_until_idle(server) < 5


def test_a_key_is_wanted_where_one_is_set(start_server, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    url = start_server("--api-key-file", keys).url + "/v1"
    assert openai.OpenAI(base_url=url, api_key="secret").models.list().data
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=url, api_key="wrong", max_retries=0).models.list()


def test_other_models_are_refused_when_strict(start_server):
    url = start_server("--strict-model", "--model-id", "mine").url + "/v1"
    strict = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    assert strict.chat.completions.create(**{**GREEDY, "model": "mine", "max_tokens": 1}).model == "mine"
    with pytest.raises(openai.NotFoundError) as caught:
        strict.chat.completions.create(**GREEDY)
    assert caught.value.code == "model_not_found"
