"""What a client of a busy server feels, ours and llama.cpp's, on the same file in one go.

    throughput  short chats at 1, 4, 8 and 16 streams at once: tokens per second in all
    arrival     a reply is running when a prompt of 4K, then of 16K tokens arrives: the largest gap between two of its pieces
                beside the median gap before, in the whole time until the new prompt is answered
    schema      the same while a request comes whose schema takes too long to compile, and while one is answered whose
                text has a greatest length (ours)
    crowd       one prompt of 4K tokens, then four at once and a short one 0.2 s later: seconds to their first pieces, and
                prompt tokens per second in all
    together    one, then eight agents starting at the same moment on one long system prompt: seconds until all have their
                first piece, and the prompt rows that were computed in all (ours; the peer does not say)
    prefix      a second request behind a long shared beginning: tokens found in the cache, seconds to its first piece

Prints a table per scenario and writes all figures to bench/results/.

    python bench/streams.py --model M.gguf throughput
    python bench/streams.py --model long.gguf --context 32768 arrival together prefix
"""

import argparse
import csv
import json
import pathlib
import statistics
import threading
import time
import typing

from machine import ROOT, cpu_name, header_lines, markdown_table, results_file, warn_if_busy
from servers import Reply, Server, ask, at_once, both, counter, filler_for, post, running

MOST_STREAMS = 16
STREAMS = (1, 4, 8, MOST_STREAMS)
AGENTS = 8
CROWD = 4

T = typing.TypeVar("T")


class Figure(typing.NamedTuple):
    scenario: str
    what: str
    value: float
    unit: str


def system(text: str) -> dict:
    return {"role": "system", "content": text}


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def throughput(server: Server, args: argparse.Namespace) -> typing.Iterator[Figure]:
    for streams in STREAMS:
        rates = []
        for turn in range(args.turns):
            calls = [
                lambda i=i: ask(server.port, [user(f"Tell story {streams} {turn} {i}.")], args.tokens, ignore_eos=True)
                for i in range(streams)
            ]
            replies = at_once(calls)
            begin = min(r.pieces[0] for r in replies)
            rates.append(sum(r.tokens for r in replies) / (max(r.pieces[-1] for r in replies) - begin))
        yield Figure("throughput", f"{streams} streams", statistics.median(rates), "tokens/s")


def beside_a_reply(server: Server, args: argparse.Namespace, kind: str, act: typing.Callable[[], T]) -> tuple[list[Figure], T]:
    """Gaps between the pieces of a running reply before `act` begins and until it ends."""
    running_reply: list[Reply] = []
    talk = [user(f"Count to one million, beside {kind}.")]
    stream = threading.Thread(
        target=lambda: running_reply.append(ask(server.port, talk, args.long_tokens, ignore_eos=True))
    )
    stream.start()
    time.sleep(args.quiet_seconds)
    begun = time.monotonic()
    result = act()
    ended = time.monotonic()
    stream.join()
    pieces = running_reply[0].pieces
    gaps = [(b, 1000 * (b - a)) for a, b in zip(pieces, pieces[1:])]
    before = [gap for at, gap in gaps if at < begun]
    during = [gap for at, gap in gaps if begun <= at and at - gap / 1000 <= ended] or [float("nan")]
    figures = [
        Figure("gaps", f"{kind}: median gap before", statistics.median(before), "ms"),
        Figure("gaps", f"{kind}: largest gap before", max(before), "ms"),
        Figure("gaps", f"{kind}: median gap during", statistics.median(during), "ms"),
        Figure("gaps", f"{kind}: largest gap during", max(during), "ms"),
        Figure("gaps", f"{kind}: seconds", ended - begun, "s"),
        Figure("gaps", f"{kind}: the stream was running until then", float(pieces[-1] >= ended), "yes = 1"),
    ]
    return figures, result


def arrival(server: Server, args: argparse.Namespace) -> typing.Iterator[Figure]:
    filler = filler_for(server)
    for arriving in args.arrivals:
        talk = [system(filler(arriving, arriving % 97)), user("Summarise.")]
        kind = f"a prompt of {arriving} tokens"
        figures, newcomer = beside_a_reply(server, args, kind, lambda talk=talk: ask(server.port, talk, 1))
        yield from figures
        yield Figure("arrival", f"{kind}: answered after", newcomer.first, "s")


def crowd(server: Server, args: argparse.Namespace) -> typing.Iterator[Figure]:
    filler = filler_for(server)
    long = [[system(filler(4096, 31 + i)), user("Summarise.")] for i in range(CROWD + 1)]
    alone = ask(server.port, long.pop(), 1)
    yield Figure("crowd", "a long prompt alone: first token after", alone.first, "s")
    yield Figure("crowd", "a long prompt alone: speed", alone.prompt_tokens / alone.first, "tokens/s")

    def ask_late() -> Reply:
        time.sleep(0.2)
        return ask(server.port, [user("Hello.")], 1)

    *replies, short = at_once([*(lambda talk=talk: ask(server.port, talk, 1) for talk in long), ask_late])
    yield Figure("crowd", f"{CROWD} at once: the last one's first token after", max(r.first for r in replies), "s")
    yield Figure("crowd", f"{CROWD} at once: the earliest's first token after", min(r.first for r in replies), "s")
    together_speed = sum(r.prompt_tokens - r.cached_tokens for r in replies) / max(r.first for r in replies)
    yield Figure("crowd", f"{CROWD} at once: speed in all", together_speed, "tokens/s")
    yield Figure("crowd", "a short prompt among them: first token after", short.first, "s")


def exploding_schema(depth: int) -> dict:
    """A choice of six at each level, spelt out: more than any compiler has time for."""
    if depth == 0:
        return {"type": "string"}
    inner = exploding_schema(depth - 1)
    return {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": f"k{i}"}, "next": inner}, "required": ["kind", "next"]}
            for i in range(6)
        ]
    }


def schema(server: Server, args: argparse.Namespace) -> typing.Iterator[Figure]:
    if server.name != "tempo9":
        return  # nobody knows when the peer would answer
    text = {"type": "string", "maxLength": 2000}
    bounded = {"type": "object", "properties": {"text": text}, "required": ["text"]}
    for kind, make in (("a schema that explodes", lambda: exploding_schema(6)), ("a text of bounded length", lambda: bounded)):
        form = {"type": "json_schema", "json_schema": {"name": "s", "schema": make()}}
        # Written before the reply runs: nothing here may keep this program from reading its pieces.
        body = json.dumps({"messages": [user("Write a long text.")], "response_format": form, "max_tokens": 40}).encode()
        del form
        figures, status = beside_a_reply(
            server, args, kind, lambda body=body: post(server.port, "/v1/chat/completions", body)[0]
        )
        yield from figures
        yield Figure("schema", f"{kind}: status", status, "of HTTP")


def together(server: Server, args: argparse.Namespace) -> typing.Iterator[Figure]:
    def rows() -> float:
        return counter(server.port, "tempo9_tokens_computed_total") if server.name == "tempo9" else 0

    filler = filler_for(server)
    for number, agents in enumerate((1, AGENTS)):
        before = rows()
        head = system(filler(4096, 11 + number))
        replies = at_once([lambda i=i: ask(server.port, [head, user(f"Agent {i}?")], 1) for i in range(agents)])
        yield Figure("together", f"{agents} agents: all answered after", max(r.first for r in replies), "s")
        if server.name == "tempo9":
            yield Figure("together", f"{agents} agents: rows computed", rows() - before, "rows")


def prefix(server: Server, args: argparse.Namespace) -> typing.Iterator[Figure]:
    head = system(filler_for(server)(15000, 5))
    for what in ("cold", "later"):
        reply = ask(server.port, [head, user(f"A {what} question?")], 1)
        yield Figure("prefix", f"{what}: prompt", reply.prompt_tokens, "tokens")
        yield Figure("prefix", f"{what}: cached", reply.cached_tokens, "tokens")
        yield Figure("prefix", f"{what}: first token after", reply.first, "s")


SCENARIOS = {"throughput": throughput, "arrival": arrival, "crowd": crowd, "schema": schema, "together": together, "prefix": prefix}


def table(figures: dict[str, list[Figure]]) -> str:
    names = list(figures)
    values = {name: {(f.scenario, f.what): f for f in figures[name]} for name in names}
    rows = []
    for key, figure in values[names[0]].items():
        cells = [f"{values[n][key].value:.4g}" if key in values[n] else "-" for n in names]
        rows.append([figure.scenario, figure.what, figure.unit, *cells])
    return markdown_table(["Scenario", "What", "Unit", *names], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--context", type=int, default=4096, help="of one client")
    parser.add_argument("--turns", type=int, default=3, help="of the throughput scenario")
    parser.add_argument("--tokens", type=int, default=64, help="of a reply in the throughput scenario")
    parser.add_argument("--long-tokens", type=int, default=1000, help="of the reply that others arrive beside")
    parser.add_argument("--arrivals", type=int, nargs="+", default=[4096, 16384], help="tokens of the prompts that arrive")
    parser.add_argument("--quiet-seconds", type=float, default=4, help="that it runs alone")
    parser.add_argument("scenarios", nargs="+", choices=SCENARIOS)
    args = parser.parse_args()

    warn_if_busy()
    figures: dict[str, list[Figure]] = {}
    path = results_file("-".join(["streams", args.model.stem, *args.scenarios]))
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        writer = csv.writer(file)
        writer.writerow(["model", "threads", "program", *Figure._fields])
        slots = MOST_STREAMS if "throughput" in args.scenarios else AGENTS
        for server in both(args.model, args.threads, slots, args.context):
            found = figures[server.name] = []
            for scenario in args.scenarios:
                with running(server):
                    for figure in SCENARIOS[scenario](server, args):
                        found.append(figure)
                        writer.writerow([args.model.name, args.threads, server.name, *figure])
                        print(f"  {server.name}: {figure.what} {figure.value:.4g} {figure.unit}", flush=True)
    print(f"\n{args.model.name} on {cpu_name()}, {args.threads} threads:\n\n{table(figures)}")
    print(f"\nWritten to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
