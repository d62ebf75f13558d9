"""What coding agents and SDKs send is answered, and a request that extends an earlier one finds it cached: the sessions of
agent_sessions.py through the running server, with a small trained model whose layers keep states.
"""

import json
import urllib.error
import urllib.request

import pytest
from agent_sessions import SESSIONS, Session, asks_anew

ROUTES = {
    "openai_chat": ("/v1/chat/completions", {"max_tokens": 1, "max_completion_tokens": 1}),
    "responses": ("/v1/responses", {"max_output_tokens": 1, "store": False}),
    "anthropic": ("/v1/messages?beta=true", {"max_tokens": 1}),
    "ollama_chat": ("/api/chat", {"options": {"num_predict": 1}}),
    "ollama_generate": ("/api/generate", {"options": {"num_predict": 1}}),
}
# What this server cannot do yet is refused by the name of the field.
GAPS = ("this model does not take images", "is not supported yet", "it is not known how this model calls tools")


def post(server, session: Session, body: dict) -> tuple[int, dict]:
    route, limits = ROUTES[session.dialect]
    data = json.dumps({**body, **limits, "stream": False}).encode()
    request = urllib.request.Request(server.url + route, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def usage(reply: dict) -> tuple[int, int]:
    """Tokens of the prompt, and how many of them were cached."""
    counts = reply.get("usage", reply)
    if "cache_read_input_tokens" in counts:
        cached = counts["cache_read_input_tokens"]
        return counts["input_tokens"] + cached, cached
    if "input_tokens" in counts:
        return counts["input_tokens"], counts["input_tokens_details"]["cached_tokens"]
    if "prompt_tokens" in counts:
        return counts["prompt_tokens"], counts["prompt_tokens_details"]["cached_tokens"]
    return counts["prompt_eval_count"], counts["prompt_eval_cached_count"]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_session(session, tiny_server):
    before = 0
    for number, body in enumerate(session.requests):
        status, reply = post(tiny_server, session, body)
        if status == 400:
            message = reply["error"] if isinstance(reply["error"], str) else reply["error"]["message"]
            assert any(gap in message for gap in GAPS), message
            return
        assert status == 200, reply
        tokens, cached = usage(reply)
        # This model's template leaves out thinking before the last question, so a new one changes the turns before it.
        if number > 0 and session.extends and not asks_anew(session.requests[number - 1], body):
            # All but what opens the reply, which the reply itself has replaced.
            assert cached >= 0.97 * before - 8, f"request {number}: {cached} of {before} tokens"
        before = tokens
