"""The end of the context: what does not fit is refused in words that clients know, what fits is never cut in silence."""

import re

import pytest
from conftest import TINY_MODEL, Server
from dialects import DIALECTS, answer, ask

CONTEXT = 256


@pytest.fixture(scope="module")
def small(program, tmp_path_factory):
    """A server whose context is short."""
    log = tmp_path_factory.mktemp("small") / "log"
    running = Server(program, TINY_MODEL, log, "--max-context", str(CONTEXT))
    yield running
    assert running.stop() == 0, running.log.read_text()


@pytest.fixture(params=DIALECTS)
def dialect(request) -> str:
    return request.param


def conversation_of(server, dialect: str, tokens: int) -> list[dict]:
    """One whose prompt has so many tokens: each further letter after a space is one."""

    def said(words: int) -> list[dict]:
        return [{"role": "user", "content": " a" * words}]

    frame = answer(server.url, dialect, said(10), 1).prompt_tokens - 10
    return said(tokens - frame)


def test_a_prompt_up_to_the_last_token_but_one_is_answered(dialect, small):
    """Its reply may be as long as there is room, says so, and has the whole prompt before it."""
    got = answer(small.url, dialect, conversation_of(small, dialect, CONTEXT - 1), 1000)
    assert (got.prompt_tokens, got.tokens, got.end) == (CONTEXT - 1, 1, "length")


@pytest.mark.parametrize("tokens", [CONTEXT, CONTEXT + 1])
def test_a_prompt_without_room_is_refused_with_both_numbers(dialect, tokens, small):
    status, refusal = ask(small.url, dialect, conversation_of(small, dialect, tokens), 1000)
    assert status == 400
    longest = CONTEXT - 1 if dialect == "messages" else CONTEXT  # Messages names the longest prompt, the others the context
    assert {str(longest), str(tokens)} <= set(re.findall(r"\d+", str(refusal)))


# By what clients tell that they should shorten the conversation: texts of the error that they search for.
KNOWN_BY = {
    "pi": r"(?i)prompt is too long|maximum context length is \d+ tokens|reduce the length of the messages",
    "cline": r"(?i)prompt is too long|maximum context length|tokens?\s*>\s*[\d,]+\s*(maximum|limit)",
    "jan": r"(?i)prompt is too long|(?s:context.*(size|length|limit))",
    "opencode": r"(?i)prompt is too long|maximum context length is \d+ tokens|context[_ ]length[_ ]exceeded",
}


@pytest.mark.parametrize("client", KNOWN_BY)
def test_clients_know_a_prompt_that_is_too_long(dialect, client, small):
    _, refusal = ask(small.url, dialect, conversation_of(small, dialect, CONTEXT + 1), 10)
    error = refusal["error"]
    message = error if isinstance(error, str) else error["message"]
    assert re.search(KNOWN_BY[client], message), message


def test_type_and_code_say_it_too(dialect, small):
    _, refusal = ask(small.url, dialect, conversation_of(small, dialect, CONTEXT + 1), 10)
    if dialect == "ollama":  # its errors are one sentence; what else there is stands beside it
        assert refusal["code"] == "context_length_exceeded"
        return
    assert refusal["error"]["type"] == "invalid_request_error"
    assert refusal["error"]["code"] == "context_length_exceeded"
