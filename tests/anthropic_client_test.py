"""Anthropic's Messages as the official Python client sees them, with a small trained model."""

import anthropic
import pytest

QUESTION = [{"role": "user", "content": "What is the capital of Spain?"}]
ANSWER = "The capital of Spain is Madrid."
GREEDY = {"model": "claude-tempo9", "messages": QUESTION, "max_tokens": 64, "extra_body": {"temperature": 0}}
THINKING = {"thinking": {"type": "adaptive"}}
TOOL = {"name": "get_weather", "description": "Get the weather.", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}  # fmt: skip


@pytest.fixture
def client(tiny_server):
    return anthropic.Anthropic(base_url=tiny_server.url, api_key="none", max_retries=0)


def shown(block) -> tuple:
    return block.type, getattr(block, "text", None), getattr(block, "thinking", None), getattr(block, "signature", None)


def test_a_reply_has_every_part(client):
    reply = client.messages.create(**GREEDY)
    assert [(block.type, block.text) for block in reply.content] == [("text", ANSWER)]
    assert reply.role == "assistant"
    assert reply.stop_reason == "end_turn"
    assert reply.usage.input_tokens + reply.usage.cache_read_input_tokens > 5
    assert reply.usage.output_tokens > 5
    assert reply._request_id.startswith("req_")


def test_thinking_comes_in_a_block_of_its_own(client):
    reply = client.messages.create(**GREEDY, **THINKING)
    thinking, text = reply.content
    assert (thinking.type, thinking.thinking) == ("thinking", "I can answer this directly.")
    assert thinking.signature
    assert (text.type, text.text) == ("text", ANSWER)


@pytest.mark.parametrize("options", [{}, THINKING, {"stop_sequences": [" Spain"]}, {"max_tokens": 3}])
def test_the_streaming_helper_puts_the_same_reply_together(client, options):
    whole = client.messages.create(**{**GREEDY, **options})
    with client.messages.stream(**{**GREEDY, **options}) as stream:
        text = "".join(stream.text_stream)
        reply = stream.get_final_message()
    assert text == "".join(block.text for block in reply.content if block.type == "text")
    assert [shown(block) for block in reply.content] == [shown(block) for block in whole.content]
    assert (reply.stop_reason, reply.stop_sequence) == (whole.stop_reason, whole.stop_sequence)
    assert reply.usage.output_tokens == whole.usage.output_tokens


def test_the_raw_stream_has_the_protocols_events(client):
    types = [event.type for event in client.messages.create(**GREEDY, stream=True)]
    assert types[0] == "message_start"
    assert types[-2:] == ["message_delta", "message_stop"]
    assert types.count("content_block_start") == types.count("content_block_stop") == 1


def test_a_turn_that_was_thought_about_can_be_sent_back(client):
    reply = client.messages.create(**GREEDY, **THINKING)
    more = [*QUESTION, {"role": "assistant", "content": reply.content}, {"role": "user", "content": "Hello"}]
    assert client.messages.create(**{**GREEDY, "messages": more}).content


def test_counting_agrees_with_a_reply(client):
    options = {"model": "claude-tempo9", "messages": QUESTION, "tools": [TOOL]}
    usage = client.messages.create(**options, max_tokens=1).usage
    counted = client.messages.count_tokens(**options)
    assert counted.input_tokens == usage.input_tokens + usage.cache_read_input_tokens
    assert client.messages.count_tokens(model="m", messages=QUESTION).input_tokens < counted.input_tokens


def test_the_beta_client_is_answered_too(client):
    options = {**GREEDY, "extra_body": {"temperature": 0, "brand_new": [1]}}
    reply = client.beta.messages.create(**options, betas=["brand-new-2027-01-01"])
    assert reply.content[0].text == ANSWER


def test_a_prefix_is_reported_as_cached(client):
    system = "Rules: " + "be brief. " * 400
    first = client.messages.create(**GREEDY, system=system).usage
    again = client.messages.create(**GREEDY, system=[{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]).usage  # fmt: skip
    total = first.input_tokens + first.cache_read_input_tokens
    assert again.input_tokens + again.cache_read_input_tokens == total
    assert again.cache_read_input_tokens >= 0.95 * total


def test_an_attribution_line_does_not_cost_the_prefix(client):
    """It changes with each request and is not part of the prompt."""

    def ask(mark):
        line = f"x-anthropic-billing-header: cc_version=1; cc_entrypoint=cli; cch={mark};"
        system = [{"type": "text", "text": line}, {"type": "text", "text": "Keep to these rules. " * 500}]
        return client.messages.create(**{**GREEDY, "max_tokens": 1}, system=system).usage

    ask("AAAAA")
    usage = ask("BBBBB")
    assert usage.cache_read_input_tokens >= 0.95 * (usage.input_tokens + usage.cache_read_input_tokens)


def test_models_are_listed_and_found(client):
    listed = list(client.models.list(limit=1000))
    assert len(listed) == 1
    assert client.models.retrieve(listed[0].id).display_name == listed[0].display_name
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("something-else")


@pytest.mark.parametrize(
    "change, words",
    [
        ({"extra_body": {"temperature": "hot"}}, "temperature: expected a number"),
        ({"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}, "messages[0].content[0].type"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "gone"}}, "tool_choice"),
        ({"messages": [{"role": "user", "content": "word " * 70000}]}, "prompt is too long: "),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_what_is_wrong_is_named(client, change, words, streamed):
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(**{**GREEDY, **change}, stream=streamed)
    assert caught.value.body["error"]["type"] == "invalid_request_error"
    assert words in caught.value.body["error"]["message"]
    assert caught.value.request_id == caught.value.body["request_id"]


def test_a_key_is_wanted_where_one_is_set(start_server, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    url = start_server("--api-key-file", keys).url
    assert list(anthropic.Anthropic(base_url=url, api_key="secret").models.list())
    assert list(anthropic.Anthropic(base_url=url, api_key=None, auth_token="secret").models.list())
    with pytest.raises(anthropic.AuthenticationError):
        anthropic.Anthropic(base_url=url, api_key="wrong", max_retries=0).messages.create(**GREEDY)


def test_other_models_are_refused_when_strict(start_server):
    strict = anthropic.Anthropic(base_url=start_server("--strict-model").url, api_key="none", max_retries=0)
    with pytest.raises(anthropic.NotFoundError) as caught:
        strict.messages.create(**GREEDY)
    assert caught.value.body["error"]["type"] == "not_found_error"
