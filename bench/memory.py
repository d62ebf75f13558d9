#!/usr/bin/env python3
"""Peak memory and speed of a large model, ours and llama.cpp's, on the same file with the same threads.

Anonymous memory is what a program has made; mapped is the part of the model's file in its address space, which the system
takes back when it needs room. Both are sampled ten times a second from /proc/<pid>/status. Run it when nothing else runs.

    bench/synthetic.py qwen3.5-35b-a3b Q3_K_M big.gguf
    bench/memory.py --model big.gguf --prompt 128 --generate 32
"""

import argparse
import csv
import pathlib
import subprocess
import time
import typing

from machine import OURS, PEER_PROGRAMS, ROOT, cpu_name, header_lines, markdown_table, results_file, warn_if_busy
from speed import Speed, parse_ours, parse_peer


class Used(typing.NamedTuple):
    anonymous: int  # bytes, peak
    mapped: int
    seconds: float  # of the whole run, loading included
    speed: Speed


def memory_now(pid: int) -> tuple[int, int]:
    """Anonymous and mapped bytes of a process; zeros once it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0, 0
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return tuple(1024 * int(lines.get(key, "0 kB").split()[0]) for key in ("RssAnon", "RssFile"))


def watch(command: list[object], parse: typing.Callable[[str], Speed]) -> Used:
    start = time.monotonic()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        anonymous = mapped = 0
        while process.poll() is None:
            now = memory_now(process.pid)
            anonymous, mapped = max(anonymous, now[0]), max(mapped, now[1])
            time.sleep(0.1)
        output = process.stdout.read()
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} failed with {process.returncode}")
    return Used(anonymous, mapped, time.monotonic() - start, parse(output))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--generate", type=int, default=32)
    parser.add_argument("--ours", type=pathlib.Path, default=OURS)
    parser.add_argument("--peer", type=pathlib.Path, default=PEER_PROGRAMS / "llama-bench")
    args = parser.parse_args()
    warn_if_busy()
    sizes = [args.prompt, args.generate]
    ours = watch([args.ours, "bench", "--gguf", args.model, "--threads", args.threads, "--prompt", sizes[0], "--generate",
                  sizes[1], "--turns", 1, "--json"], parse_ours)  # fmt: skip
    peer = watch([args.peer, "-m", args.model, "-t", args.threads, "-p", sizes[0], "-n", sizes[1], "-r", 1, "-o", "json"],
                 parse_peer)  # fmt: skip

    path = results_file(f"memory-{args.model.stem}")
    rows = []
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        writer = csv.writer(file)
        writer.writerow(["model", "file_bytes", "threads", "program", "peak_anonymous_bytes", "peak_mapped_bytes", "seconds",
                         "prompt_tokens_per_second", "generation_tokens_per_second"])  # fmt: skip
        for program, used in (("tempo9", ours), ("llama.cpp", peer)):
            writer.writerow([args.model.name, args.model.stat().st_size, args.threads, program, used.anonymous, used.mapped,
                             f"{used.seconds:.1f}", f"{used.speed.prompt:.2f}", f"{used.speed.generation:.2f}"])  # fmt: skip
            rows.append([program, f"{used.anonymous / 2**30:.2f}", f"{used.mapped / 2**30:.2f}", f"{used.seconds:.0f}",
                         f"{used.speed.prompt:.1f}", f"{used.speed.generation:.1f}"])  # fmt: skip
    print(f"\n{args.model.name}, {args.model.stat().st_size / 2**30:.2f} GiB, {args.threads} threads on {cpu_name()}:\n")
    print(markdown_table(["Program", "Peak anonymous GiB", "Peak mapped GiB", "Seconds", f"Prompt ({args.prompt}) tokens/s",
                          f"Generation ({args.generate}) tokens/s"], rows))  # fmt: skip
    print(f"\nWritten to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
