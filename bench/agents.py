"""Several agents at once with growing conversations: time to first token and throughput, ours and llama.cpp's server.

Each agent talks in turns: the shared system prompt, everything said so far, a new question. The servers run one after the
other on the same file with the same threads and their own defaults; llama.cpp's gets as many slots as there are agents.
Time to first token is until the first piece of text. Prints a table and writes every turn to bench/results/.

    python bench/agents.py --model M.gguf --agents 4 --turns 20 --system-tokens 1100
"""

import argparse
import csv
import pathlib
import statistics
import threading
import time
import typing

from machine import ROOT, cpu_name, header_lines, markdown_table, results_file, warn_if_busy
from servers import Filler, Server, ask, both, filler_for, running


class Turn(typing.NamedTuple):
    agent: int
    number: int
    first_token_seconds: float
    seconds: float
    prompt_tokens: int
    cached_tokens: int
    tokens: int


def converse(port: int, agent: int, filler: Filler, args: argparse.Namespace, turns: list[Turn]) -> None:
    messages = [{"role": "system", "content": filler(args.system_tokens, 0)}]
    for number in range(args.turns):
        messages.append({"role": "user", "content": f"Agent {agent}, {number}: {filler(args.question_tokens, agent + 1)}?"})
        reply = ask(port, messages, args.reply_tokens)
        messages.append({"role": "assistant", "content": reply.text})
        turns.append(Turn(agent, number, reply.first, reply.seconds, reply.prompt_tokens, reply.cached_tokens, reply.tokens))


def measure(server: Server, args: argparse.Namespace) -> tuple[list[Turn], float]:
    turns: list[Turn] = []
    with running(server):
        filler = filler_for(server)
        threads = [
            threading.Thread(target=converse, args=(server.port, agent, filler, args, turns)) for agent in range(args.agents)
        ]
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
    args = parser.parse_args()

    warn_if_busy()
    rows = []
    path = results_file(f"agents-{args.model.stem}-{args.system_tokens}")
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        writer = csv.writer(file)
        writer.writerow(["model", "program", *Turn._fields])
        for server in both(args.model, args.threads, args.agents, args.context):
            turns, seconds = measure(server, args)
            writer.writerows([args.model.name, server.name, *turn] for turn in turns)
            rows.append(summary(server.name, turns, seconds))
            print(f"  {server.name}: {len(turns)} turns in {seconds:.0f} s", flush=True)

    print(f"\n{args.agents} agents, {args.turns} turns, {args.model.name} on {cpu_name()}, {args.threads} threads:\n")
    print(markdown_table(["Server", "Turns", "First turn: s to first token", "Later turns: s to first token",
                          "Tokens/s in all", "Cached of later prompts", "Seconds"], rows))  # fmt: skip
    print(f"\nEvery turn: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
