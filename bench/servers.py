"""Starting the two servers alike, and asking them as a client does. For the benches that go through HTTP."""

import contextlib
import http.client
import json
import pathlib
import socket
import subprocess
import threading
import time
import typing

from machine import OURS, PEER_PROGRAMS

START_SECONDS = 300
WORDS = "the quick survey of every harbour shows that boats wait for calm weather before they leave".split()


class Reply(typing.NamedTuple):
    text: str
    first: float  # seconds to the first piece of text
    seconds: float  # to the end
    pieces: list[float]  # when each piece came, by time.monotonic()
    prompt_tokens: int
    cached_tokens: int
    tokens: int


class Server(typing.NamedTuple):
    name: str
    port: int
    command: list[str]


Filler = typing.Callable[[int, int], str]


def write_words(count: int, salt: int) -> str:
    """Plain words, different for each salt."""
    return " ".join(WORDS[(i * (salt + 3) + i // 7) % len(WORDS)] for i in range(count))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def both(model: pathlib.Path, threads: int, slots: int, context: int) -> list[Server]:
    """Ours and the peer's on one file: the same threads, their own defaults, a slot of the peer's for each client."""
    ports = free_port(), free_port()
    ours = [OURS, "--gguf", model, "--port", ports[0], "--threads", threads]
    peer = [PEER_PROGRAMS / "llama-server", "-m", model, "--port", ports[1], "-t", threads, "-np", slots, "-c", slots * context]
    return [Server("tempo9", ports[0], list(map(str, ours))), Server("llama.cpp", ports[1], list(map(str, peer)))]


@contextlib.contextmanager
def running(server: Server) -> typing.Iterator[subprocess.Popen]:
    """The server, from the moment it is healthy."""
    process = subprocess.Popen(server.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{server.command[0]} did not start")
            with contextlib.suppress(OSError, http.client.HTTPException):
                if get(server.port, "/health")[0] == 200:
                    break
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


def get(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", path)
    response = connection.getresponse()
    return response.status, response.read().decode()


def post(port: int, path: str, body: bytes) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, response.read().decode()


def counter(port: int, name: str) -> float:
    """One of our server's measures."""
    for line in get(port, "/metrics")[1].splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise KeyError(name)


def ask(port: int, messages: list[dict], tokens: int, **fields: object) -> Reply:
    """A streamed reply."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
    body = {"messages": messages, "max_tokens": tokens, "temperature": 0, "stream": True,
            "stream_options": {"include_usage": True}, **fields}  # fmt: skip
    start = time.monotonic()
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        raise SystemExit(f"status {response.status}: {response.read().decode()}")
    text, pieces, usage = "", [], {}
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        usage = event.get("usage") or usage
        piece = (event["choices"][0]["delta"].get("content") or "") if event["choices"] else ""
        if piece:
            pieces.append(time.monotonic())
        text += piece
    end = time.monotonic()
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Reply(text, (pieces[0] if pieces else end) - start, end - start, pieces, usage.get("prompt_tokens", 0), cached,
                 usage.get("completion_tokens", 0))  # fmt: skip


def at_once(calls: list[typing.Callable[[], Reply]]) -> list[Reply]:
    """What they give, all started in the same moment."""
    replies: list[Reply | None] = [None] * len(calls)

    def run(i: int) -> None:
        replies[i] = calls[i]()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies


def filler_for(server: Server) -> Filler:
    """Gives texts of about so many tokens of the server's model: a small vocabulary takes several for a word."""
    few, many = (ask(server.port, [{"role": "user", "content": write_words(n, 1)}], 1).prompt_tokens for n in (50, 250))
    per_word = (many - few) / 200
    return lambda tokens, salt: write_words(round(tokens / per_word), salt)
