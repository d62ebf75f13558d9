"""OpenAI's Responses as the official Python client sees them, with a small trained model."""

import openai
import pytest

ANSWER = "The capital of Spain is Madrid."
GREEDY = {"model": "tempo9", "input": "What is the capital of Spain?", "temperature": 0, "max_output_tokens": 64}
THINKING = {"reasoning": {"effort": "high"}}


@pytest.fixture
def client(tiny_server):
    return openai.OpenAI(base_url=tiny_server.url + "/v1", api_key="none", max_retries=0)


def test_a_response_has_every_part(client):
    response = client.responses.create(**GREEDY)
    assert response.output_text == ANSWER
    assert response.status == "completed"
    assert [item.type for item in response.output] == ["message"]
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert response.usage.input_tokens_details.cached_tokens >= 0
    assert response.usage.output_tokens_details.reasoning_tokens == 0


def test_thinking_is_an_item_of_its_own(client):
    for summary, field in ((None, "content"), ("auto", "summary")):
        response = client.responses.create(**GREEDY, reasoning={"effort": "high", "summary": summary})
        assert [item.type for item in response.output] == ["reasoning", "message"]
        assert getattr(response.output[0], field)[0].text == "I can answer this directly."
        assert response.output_text == ANSWER
        assert response.usage.output_tokens_details.reasoning_tokens > 0


@pytest.mark.parametrize("options", [{}, THINKING])
def test_the_streaming_helper_puts_the_same_response_together(client, options):
    whole = client.responses.create(**GREEDY, **options)
    text = ""
    with client.responses.stream(**GREEDY, **options) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                text += event.delta
        response = stream.get_final_response()
    assert text == response.output_text == ANSWER
    assert [item.type for item in response.output] == [item.type for item in whole.output]
    assert response.usage.output_tokens == whole.usage.output_tokens


def test_the_length_makes_a_response_incomplete(client):
    response = client.responses.create(**{**GREEDY, "max_output_tokens": 3})
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "max_output_tokens"
    events = list(client.responses.create(**{**GREEDY, "max_output_tokens": 3}, stream=True))
    assert events[-1].type == "response.incomplete"


def test_a_conversation_goes_on_from_a_response(client):
    first = client.responses.create(**{**GREEDY, "input": "My name is Clara."})
    second = client.responses.create(
        **{**GREEDY, "input": "What is my name?"}, previous_response_id=first.id, store=False
    )
    assert second.output_text == "Your name is Clara."
    assert second.usage.input_tokens_details.cached_tokens > 0
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(**GREEDY, previous_response_id=second.id)
    assert caught.value.code == "previous_response_not_found"


def test_responses_are_kept_until_deleted(client):
    response = client.responses.create(**GREEDY)
    assert client.responses.retrieve(response.id).output_text == ANSWER
    items = list(client.responses.input_items.list(response.id))
    assert items[0].content[0].text == GREEDY["input"]
    client.responses.delete(response.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_tokens_are_counted(client):
    counted = client.responses.input_tokens.count(model="tempo9", input=GREEDY["input"])
    assert counted.input_tokens == client.responses.create(**GREEDY).usage.input_tokens


@pytest.mark.parametrize(
    "change, param",
    [
        ({"temperature": -1}, "temperature"),
        ({"input": [{"type": "hologram"}]}, "input[0].type"),
        ({"text": {"format": {"type": "json_schema", "name": "x", "schema": {"uniqueItems": True}}}}, "text.format"),
        ({"background": True}, "background"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_what_is_wrong_is_named(client, change, param, streamed):
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(**{**GREEDY, **change}, stream=streamed)
    assert caught.value.param == param


def test_a_prompt_that_is_too_long_is_refused_with_numbers(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(**{**GREEDY, "input": "word " * 70000}, stream=True)
    assert caught.value.code == "context_length_exceeded"
    assert "maximum context length is" in caught.value.message
