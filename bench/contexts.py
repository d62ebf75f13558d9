#!/usr/bin/env python3
"""Memory that a declared context costs before anybody uses it, ours and llama.cpp's server, on the same file.

Each server is started with each context and asked nothing but whether it is healthy; what counts is anonymous memory from
/proc/<pid>/status, less our repacked weights (the peer reads its weights from the mapped file). Ours gets a bound of KV
memory that does not clamp the context: a bound reserves nothing. Last, what ours holds with conversations in it stands beside
what its metrics account for: pages, snapshots (they lie in the same slabs) and workspace.

    bench/contexts.py --model models/SmolLM2-135M-Instruct.Q4_1.gguf
"""

import argparse
import csv
import pathlib
import time

from machine import ROOT, cpu_name, header_lines, markdown_table, results_file
from servers import Server, ask, at_once, both, counter, filler_for, get, running

CONTEXTS = (8192, 32768, 131072, 1048576)
PEER_MOST = 131072  # of a small model, more than this machine's memory
MIB = 2**20
CONVERSATIONS, LENGTH = 8, 7000  # those of the last figure; tokens of each


def anonymous(pid: int) -> int:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(1024 * int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:"))


def measure(server: Server, context: int) -> int:
    """Bytes besides weights."""
    ours = server.name == "tempo9"
    more = ["--max-context", str(context), "--kv-memory", "1T"] if ours else ["-c", str(context)]
    with running(server._replace(command=[*server.command, *more])) as process:
        time.sleep(1)
        if not ours:
            return anonymous(process.pid)
        assert f'"context_length":{context}' in get(server.port, "/v1/status")[1], "the context was clamped"
        return anonymous(process.pid) - int(counter(server.port, "tempo9_weight_bytes"))


def measure_loaded(server: Server) -> tuple[int, int]:
    """Bytes besides weights as the system sees them and as our metrics account for them, with conversations in memory."""
    with running(server) as process:
        filler = filler_for(server)
        talks = [[{"role": "user", "content": filler(LENGTH, number)}] for number in range(CONVERSATIONS)]
        at_once([lambda talk=talk: ask(server.port, talk, 32) for talk in talks])
        used = anonymous(process.pid) - int(counter(server.port, "tempo9_weight_bytes"))
        return used, int(counter(server.port, "tempo9_kv_touched_bytes") + counter(server.port, "tempo9_workspace_bytes"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    path = results_file(f"contexts-{args.model.stem}")
    table = []
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        writer = csv.writer(file)
        writer.writerow(["model", "context", "program", "anonymous_bytes_besides_weights"])
        for context in CONTEXTS:
            row = [str(context)]
            for server in both(args.model, args.threads, 1, CONTEXTS[0]):
                if server.name != "tempo9" and context > PEER_MOST:
                    row.append("-")
                    continue
                used = measure(server, context)
                writer.writerow([args.model.name, context, server.name, used])
                row.append(f"{used / MIB:.1f}")
            table.append(row)
            print(f"  {' '.join(row)}", flush=True)
        used, accounted = measure_loaded(both(args.model, args.threads, 1, CONTEXTS[0])[0])
        for name, value in (("tempo9", used), ("tempo9 metrics", accounted)):
            writer.writerow([args.model.name, f"{CONVERSATIONS} x {LENGTH} tokens in use", name, value])
    print(f"\nMiB besides weights, {args.model.name} on {cpu_name()}:\n")
    print(markdown_table(["Context", "tempo9", "llama.cpp"], table))
    print(f"\nWith {CONVERSATIONS} conversations of {LENGTH} tokens: {used / MIB:.1f} MiB, of which the metrics account for "
          f"{accounted / MIB:.1f} ({100 * accounted / used:.1f}%)")  # fmt: skip
    print(f"\nWritten to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
