"""Speed of reading a prompt and of generating, ours and llama.cpp's, on the same file in the same minutes.

The two take turns (ours, peer, ours, peer, ...), so that a machine that warms up or has a noisy neighbour disturbs both
alike; the figure is the median over turns. Prints a table and writes every single measurement to bench/results/.

    make bench
    python bench/speed.py --model M.gguf --threads 2 --turns 3
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import typing

from machine import OURS, PEER_PROGRAMS, ROOT, cpu_name, header_lines, markdown_table, results_file, warn_if_busy


class Speed(typing.NamedTuple):
    """Tokens per second."""

    prompt: float
    generation: float


def parse_ours(output: str) -> Speed:
    result = json.loads(output)
    return Speed(result["prompt_tokens_per_second"], result["generation_tokens_per_second"])


def parse_peer(output: str) -> Speed:
    """llama-bench gives one record for the prompt (n_gen is 0) and one for generation (n_prompt is 0)."""
    records = json.loads(output)
    prompt = [r["avg_ts"] for r in records if r["n_gen"] == 0]
    generation = [r["avg_ts"] for r in records if r["n_prompt"] == 0]
    if len(prompt) != 1 or len(generation) != 1:
        raise ValueError(f"expected one record of each kind, got {len(prompt)} and {len(generation)}")
    return Speed(prompt[0], generation[0])


def measure(command: list[str], parse: typing.Callable[[str], Speed]) -> Speed:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
    return parse(result.stdout)


def take_turns(args: argparse.Namespace, threads: int) -> tuple[list[Speed], list[Speed]]:
    sizes = [str(args.prompt), str(args.generate)]
    ours_command = [args.ours, "bench", "--gguf", args.model, "--threads", str(threads), "--prompt", sizes[0],
                    "--generate", sizes[1], "--turns", "1", "--json"]  # fmt: skip
    peer_command = [args.peer, "-m", args.model, "-t", str(threads), "-p", sizes[0], "-n", sizes[1], "-r", "1",
                    "-o", "json"]  # fmt: skip
    ours, peer = [], []
    for turn in range(args.turns):
        ours.append(measure(ours_command, parse_ours))
        peer.append(measure(peer_command, parse_peer))
        print(f"  {threads} threads, turn {turn + 1}: ours {ours[-1].prompt:.1f} and {ours[-1].generation:.1f}, "
              f"peer {peer[-1].prompt:.1f} and {peer[-1].generation:.1f} tokens/s", flush=True)  # fmt: skip
    return ours, peer


def summary_rows(args: argparse.Namespace, threads: int, ours: list[Speed], peer: list[Speed]) -> list[list[str]]:
    rows = []
    for label, field in ((f"prompt ({args.prompt})", 0), (f"generation ({args.generate})", 1)):
        mine = statistics.median(speed[field] for speed in ours)
        theirs = statistics.median(speed[field] for speed in peer)
        rows.append([str(threads), label, f"{mine:.1f}", f"{theirs:.1f}", f"{mine / theirs:.2f}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--generate", type=int, default=128)
    parser.add_argument("--ours", type=pathlib.Path, default=OURS)
    parser.add_argument("--peer", type=pathlib.Path, default=PEER_PROGRAMS / "llama-bench")
    args = parser.parse_args()

    warn_if_busy()
    rows: list[list[str]] = []
    path = results_file(f"speed-{args.model.stem}")
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        writer = csv.writer(file)
        writer.writerow(["model", "threads", "turn", "program", "prompt_tokens_per_second",
                         "generation_tokens_per_second"])  # fmt: skip
        for threads in args.threads:
            ours, peer = take_turns(args, threads)
            for turn, pair in enumerate(zip(ours, peer), start=1):
                for name, speed in zip(("tempo9", "llama.cpp"), pair):
                    writer.writerow([args.model.name, threads, turn, name, f"{speed.prompt:.2f}",
                                     f"{speed.generation:.2f}"])  # fmt: skip
            rows += summary_rows(args, threads, ours, peer)

    print(f"\n{args.model.name} on {cpu_name()}, tokens per second, median of {args.turns} turns:\n")
    print(markdown_table(["Threads", "Work (tokens)", "Tempo9", "llama.cpp", "Ratio"], rows))
    print(f"\nEvery turn: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
