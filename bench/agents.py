"""Several agents at once with growing conversations: time to first token and throughput, ours and llama.cpp's server.

Each agent talks in turns: the shared system prompt, everything said so far, a new question. The servers run one after the
other on the same file with the same threads and their own defaults; llama.cpp's gets as many slots as there are agents.
Time to first token is until the first piece of text. Prints a table and writes every turn to bench/results/.

    python bench/agents.py --model M.gguf --agents 4 --turns 20 --system-tokens 1100
"""

import argparse
import contextlib
import csv
import http.client
import json
import pathlib
import socket
import statistics
import subprocess
import threading
import time
import typing

from machine import PEERS, ROOT, cpu_name, header_lines, markdown_table, results_file, warn_if_busy

START_SECONDS = 120
WORDS = "the quick survey of every harbour shows that boats wait for calm weather before they leave".split()


class Turn(typing.NamedTuple):
    agent: int
    number: int
    first_token_seconds: float
    seconds: float
    prompt_tokens: int
    cached_tokens: int
    tokens: int


def filler(tokens: int, salt: int) -> str:
    """Plain words, about one token each, different for each salt."""
    return " ".join(WORDS[(i * (salt + 3) + i // 7) % len(WORDS)] for i in range(tokens))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command: list[str], port: int) -> typing.Iterator[None]:
    """A server, from the moment it is healthy."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{command[0]} did not start")
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    break
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def ask(port: int, messages: list[dict], tokens: int) -> tuple[str, float, float, dict]:
    """A streamed reply: its text, the seconds to its first piece and in all, its usage."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
    body = {"messages": messages, "max_tokens": tokens, "temperature": 0, "stream": True,
            "stream_options": {"include_usage": True}}  # fmt: skip
    start = time.monotonic()
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        raise SystemExit(f"status {response.status}: {response.read().decode()}")
    text, first, usage = "", None, {}
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        usage = event.get("usage") or usage
        piece = (event["choices"][0]["delta"].get("content") or "") if event["choices"] else ""
        if piece and first is None:
            first = time.monotonic() - start
        text += piece
    seconds = time.monotonic() - start
    return text, first if first is not None else seconds, seconds, usage


def converse(port: int, agent: int, args: argparse.Namespace, turns: list[Turn]) -> None:
    messages = [{"role": "system", "content": filler(args.system_tokens, 0)}]
    for number in range(args.turns):
        messages.append({"role": "user", "content": f"Agent {agent}, {number}: {filler(args.question_tokens, agent + 1)}?"})
        text, first, seconds, usage = ask(port, messages, args.reply_tokens)
        messages.append({"role": "assistant", "content": text})
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        turns.append(Turn(agent, number, first, seconds, usage["prompt_tokens"], cached, usage["completion_tokens"]))


def measure(command: list[str], port: int, args: argparse.Namespace) -> tuple[list[Turn], float]:
    turns: list[Turn] = []
    with running(command, port):
        threads = [threading.Thread(target=converse, args=(port, agent, args, turns)) for agent in range(args.agents)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return turns, time.monotonic() - start


def spread(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f} ({statistics.median(values):.2f})" if values else "-"


def summary(name: str, turns: list[Turn], seconds: float) -> list[str]:
    later = [t for t in turns if t.number > 0]
    share = sum(t.cached_tokens for t in later) / max(1, sum(t.prompt_tokens for t in later))
    return [name, str(len(turns)), spread([t.first_token_seconds for t in turns if t.number == 0]),
            spread([t.first_token_seconds for t in later]), f"{sum(t.tokens for t in turns) / seconds:.1f}",
            f"{100 * share:.1f}%", f"{seconds:.1f}"]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--system-tokens", type=int, default=1100)
    parser.add_argument("--question-tokens", type=int, default=30)
    parser.add_argument("--reply-tokens", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--context", type=int, default=8192, help="of one agent")
    parser.add_argument("--ours", type=pathlib.Path, default=ROOT / "build/release/apps/tempo9")
    parser.add_argument("--peer", type=pathlib.Path, default=PEERS / "bin/llama-server")
    args = parser.parse_args()

    warn_if_busy()
    ports = free_port(), free_port()
    threads = str(args.threads)
    commands = {
        "tempo9": [args.ours, "--gguf", args.model, "--port", ports[0], "--threads", threads],
        "llama.cpp": [args.peer, "-m", args.model, "--port", ports[1], "-t", threads, "-np", args.agents, "-c",
                      args.agents * args.context],
    }  # fmt: skip
    rows = []
    path = results_file(f"agents-{args.system_tokens}")
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        writer = csv.writer(file)
        writer.writerow(["model", "program", *Turn._fields])
        for (name, command), port in zip(commands.items(), ports):
            turns, seconds = measure(command, port, args)
            writer.writerows([args.model.name, name, *turn] for turn in turns)
            rows.append(summary(name, turns, seconds))
            print(f"  {name}: {len(turns)} turns in {seconds:.0f} s", flush=True)

    print(f"\n{args.agents} agents, {args.turns} turns, {args.model.name} on {cpu_name()}, {threads} threads:\n")
    print(markdown_table(["Server", "Turns", "First turn: s to first token", "Later turns: s to first token",
                          "Tokens/s in all", "Cached of later prompts", "Seconds"], rows))  # fmt: skip
    print(f"\nEvery turn: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
