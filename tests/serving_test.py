"""Many clients at once, as they really behave: they leave, they come all together, they ask for more than there is."""

import concurrent.futures
import http.client
import json
import random
import time
import urllib.error
import urllib.request

import crowd
import pytest
from conftest import TINY_MODEL

MIB = 2**20
STEP_ROWS = 512  # of one step at most


def ids(seed: int, count: int) -> list[int]:
    generator = random.Random(seed)
    return [generator.randrange(300, 5000) for _ in range(count)]


def connect(server) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=300)


def begin(server, prompt: list[int], tokens: int, **fields) -> http.client.HTTPConnection:
    """Sends a request and leaves the answer unread."""
    body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, **fields}
    connection = connect(server)
    connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
    return connection


def answer(connection: http.client.HTTPConnection) -> tuple[int, dict]:
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def complete(server, prompt: list[int], tokens: int, **fields) -> dict:
    status, body = answer(begin(server, prompt, tokens, **fields))
    assert status == 200, body
    return body


def status_of(server) -> dict:
    with urllib.request.urlopen(server.url + "/v1/status", timeout=30) as response:
        return json.load(response)


def measures(server) -> dict[str, float]:
    with urllib.request.urlopen(server.url + "/metrics", timeout=30) as response:
        lines = response.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))}


def wait_until_quiet(server, seconds: float) -> dict[str, float]:
    """The measures as soon as nothing runs or waits any more."""
    deadline = time.monotonic() + seconds
    while True:
        now = measures(server)
        if now['tempo9_requests{state="running"}'] + now['tempo9_requests{state="queued"}'] == 0:
            return now
        assert time.monotonic() < deadline, now
        time.sleep(0.02)


def anonymous_bytes(server) -> int:
    with open(f"/proc/{server.process.pid}/status") as file:
        line = next(line for line in file if line.startswith("RssAnon:"))
    return 1024 * int(line.split()[1])


@pytest.fixture
def tiny(start_server):
    return lambda *options: start_server(*options, model=TINY_MODEL)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("moment", ["prompt", "queue", "reply"])
def test_a_client_that_leaves_frees_everything(start_server, moment, stream):
    server = start_server("--kv-memory", "96M" if moment == "queue" else "256M")
    others = []
    if moment == "queue":  # the memory holds one of these at a time
        others = [begin(server, ids(1, 3500), 60)]
        time.sleep(0.1)
    connection = begin(server, ids(2, {"prompt": 8000, "queue": 3500, "reply": 5}[moment]), 3000, stream=stream)
    time.sleep(0.1 if moment != "reply" else 1)
    before = measures(server)
    assert before["tempo9_requests_finished_total"] == 0
    connection.close()
    if moment != "queue":
        quiet = wait_until_quiet(server, 10)
        assert quiet['tempo9_kv_pages{state="used"}'] == 0
        # The step that runs when it leaves, and one that has not been counted yet; of a reply, steps of a row each.
        rows = quiet["tempo9_tokens_computed_total"] - before["tempo9_tokens_computed_total"]
        assert rows <= (2 * STEP_ROWS if moment == "prompt" else 100)
        return
    status, body = answer(others[0])
    assert status == 200 and body["usage"]["completion_tokens"] == 60
    # The one that left in the queue never ran.
    assert wait_until_quiet(server, 10)["tempo9_prompt_tokens_total"] == 3500


def test_more_than_the_memory_holds_is_queued_and_finishes(start_server):
    server = start_server("--kv-memory", "96M")  # about two of these
    connections = [begin(server, ids(seed, 1500), 100) for seed in range(8)]
    answers = [answer(connection) for connection in connections]
    assert [status for status, _ in answers] == [200] * 8
    assert [body["usage"]["completion_tokens"] for _, body in answers] == [100] * 8
    alone = complete(server, ids(3, 1500), 100)
    assert alone["choices"] == answers[3][1]["choices"]
    assert measures(server)['tempo9_kv_pages{state="used"}'] == 0


def test_a_short_prompt_does_not_wait_for_long_ones(start_server):
    server = start_server()
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        def timed(seed: int, length: int) -> float:
            start = time.monotonic()
            complete(server, ids(seed, length), 1)
            return time.monotonic() - start

        long = [pool.submit(timed, seed, 4000) for seed in range(4)]
        time.sleep(0.2)
        short = pool.submit(timed, 9, 50)
        assert short.result() < 0.25 * min(one.result() for one in long)


def test_four_agents_keep_their_hits_under_pressure(tiny):
    """Snapshots and pages of earlier turns give way, those of the latest stay: there is room for four conversations of the
    length that they have in the end, and half of one for the turn that is computed.
    """
    probe = tiny()
    complete(probe, ids(0, 600 + 30 * 80), 8)
    one = wait_until_quiet(probe, 5)['tempo9_kv_bytes{state="cached"}']
    server = tiny("--kv-memory", str(int(4.5 * one)))
    conversations = [ids(seed, 600) for seed in range(4)]
    shares = []
    for turn in range(30):
        hits = total = 0
        for agent, conversation in enumerate(conversations):
            conversation += ids(1000 * turn + agent, 80)
            body = complete(server, conversation, 8, return_token_ids=False)
            hits += body["usage"]["prompt_tokens_details"]["cached_tokens"]
            total += len(conversation)
        shares.append(hits / total)
    now = measures(server)
    assert now["tempo9_kv_evictions_total"] > 0
    assert sum(shares[1:11]) / 10 > 0.8
    assert sum(shares[-10:]) / 10 >= sum(shares[1:11]) / 10 - 0.05
    assert now["tempo9_snapshot_bytes"] <= 0.5 * now["tempo9_kv_limit_bytes"]


def test_what_the_cache_holds_is_counted(start_server):
    server = start_server("--kv-memory", "400M")
    complete(server, ids(999, 300), 2)  # what a step needs is there from now on
    before, counted_before = anonymous_bytes(server), measures(server)["tempo9_kv_touched_bytes"]
    for seed in range(200):
        complete(server, ids(seed, 63), 2)  # a page each
    grown = anonymous_bytes(server) - before
    counted = measures(server)["tempo9_kv_touched_bytes"] - counted_before
    assert counted > 100 * MIB
    assert abs(grown - counted) <= 0.05 * counted


def test_a_crowd_is_served(tiny):
    server = tiny("--kv-memory", "64M")
    counts = crowd.let_in(server.url, seconds=4, clients=12)
    assert counts["wrong"] == 0 and sum(counts.values()) > 50, counts
    assert wait_until_quiet(server, 5)['tempo9_kv_pages{state="used"}'] == 0
    assert server.stop() == 0, server.log.read_text()


def test_a_declared_context_costs_nothing(start_server):
    def besides_weights(context: int) -> int:
        server = start_server("--max-context", str(context), "--kv-memory", "1T")
        assert status_of(server)["context_length"] == context
        return anonymous_bytes(server) - int(measures(server)["tempo9_weight_bytes"])

    short, long = besides_weights(8192), besides_weights(1048576)
    assert short < 64 * MIB
    assert long - short <= 4.5 * MIB  # the step's page tables: 64 requests x 16,384 pages x 4 bytes, mostly untouched


def test_one_conversation_larger_than_the_memory_is_refused_with_numbers(start_server):
    server = start_server("--kv-memory", "24M")
    context = status_of(server)["context_length"]
    status, body = answer(begin(server, ids(1, 7000), 10))
    assert status == 400
    assert "7000" in body["error"]["message"]
    assert str(context) in body["error"]["message"]
    assert measures(server)["tempo9_kv_touched_bytes"] <= 24 * MIB
    complete(server, ids(1, 300), 5)


def test_another_order_of_keys_is_another_prompt(tiny):
    """Tools are rendered in the client's order, so shuffled keys are a miss that shows in the usage, never a wrong answer."""
    server = tiny()
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in ("path", "mode", "text", "owner")}}
    shuffled = {"properties": dict(reversed(schema["properties"].items())), "type": "object"}

    def ask(parameters: dict) -> dict:
        body = {
            "messages": [{"role": "user", "content": "Hello."}],
            "max_tokens": 4,
            "temperature": 0,
            "tools": [{"type": "function", "function": {"name": "write", "description": "Writes.", "parameters": parameters}}],
        }
        connection = connect(server)
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        return answer(connection)

    status, first = ask(schema)
    assert status == 200, first
    again, other = ask(schema)[1], ask(shuffled)[1]
    whole = first["usage"]["prompt_tokens"]
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == whole - 1
    assert other["usage"]["prompt_tokens_details"]["cached_tokens"] < whole - 1
