#!/usr/bin/env python3
"""What is left of a program's own bench figures when a client asks its server, ours and llama.cpp's, on the same file.

A prompt of about 512 tokens and 128 tokens of reply, one client, timed by the client: from the request to the first piece,
and from there to the last. Beside it stands what the program's own bench says for as many tokens in the same turn. The
peer's server is a fair opponent where the two are close.

    bench/through_http.py --model models/SmolLM2-135M-Instruct.Q4_1.gguf
"""

import argparse
import csv
import pathlib
import statistics

from machine import OURS, PEER_PROGRAMS, ROOT, cpu_name, header_lines, markdown_table, results_file, warn_if_busy
from servers import Server, ask, both, filler_for, running
from speed import Speed, measure, parse_ours, parse_peer

PROMPT, REPLY = 512, 128


def of_server(server: Server, turn: int) -> Speed:
    with running(server):
        messages = [{"role": "user", "content": f"{turn} {filler_for(server)(PROMPT, turn)}"}]
        reply = ask(server.port, messages, REPLY, ignore_eos=True)
    computed = reply.prompt_tokens - reply.cached_tokens
    return Speed(computed / reply.first, (reply.tokens - 1) / (reply.pieces[-1] - reply.pieces[0]))


def of_bench(server: Server, model: pathlib.Path, threads: int) -> Speed:
    if server.name == "tempo9":
        return measure([OURS, "bench", "--gguf", model, "--threads", str(threads), "--prompt", str(PROMPT), "--generate",
                        str(REPLY), "--turns", "1", "--json"], parse_ours)  # fmt: skip
    return measure([PEER_PROGRAMS / "llama-bench", "-m", model, "-t", str(threads), "-p", str(PROMPT), "-n", str(REPLY), "-r",
                    "1", "-o", "json"], parse_peer)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    args = parser.parse_args()

    warn_if_busy()
    found: dict[tuple[str, str], list[Speed]] = {}
    path = results_file(f"through-http-{args.model.stem}")
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        writer = csv.writer(file)
        writer.writerow(["model", "threads", "turn", "program", "by", *(f"{f}_tokens_per_second" for f in Speed._fields)])
        for turn in range(1, args.turns + 1):
            for server in both(args.model, args.threads, 1, 4096):
                speeds = {"bench": of_bench(server, args.model, args.threads), "client": of_server(server, turn)}
                for by, speed in speeds.items():
                    found.setdefault((server.name, by), []).append(speed)
                    writer.writerow([args.model.name, args.threads, turn, server.name, by, *(f"{v:.2f}" for v in speed)])
                print(f"  {server.name}: {', '.join(f'{by} {s.prompt:.1f} and {s.generation:.1f}' for by, s in speeds.items())}",
                      flush=True)  # fmt: skip

    rows = []
    for name in ("tempo9", "llama.cpp"):
        for number, what in enumerate((f"prompt ({PROMPT})", f"generation ({REPLY})")):
            bench, client = (statistics.median(speed[number] for speed in found[name, by]) for by in ("bench", "client"))
            rows.append([name, what, f"{bench:.1f}", f"{client:.1f}", f"{client / bench:.2f}"])
    print(f"\n{args.model.name} on {cpu_name()}, {args.threads} threads, tokens per second, median of {args.turns} turns:\n")
    print(markdown_table(["Program", "Work (tokens)", "Its own bench", "Through HTTP", "Ratio"], rows))
    print(f"\nEvery turn: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
