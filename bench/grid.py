"""Tokens per second over models, threads, depth and streams: ours and llama.cpp's, in turn, on the same files.

A cell is one file with one number of threads, at one depth (tokens that stand before and do not count), with one number of
streams that generate together. It gives the speed of a prompt (512 tokens, one stream) and of generation. Cells that a
results file of today holds already are not measured again, so a run that was stopped goes on. The whole takes about an hour
on two cores, `--short` five minutes. Files of real shapes that are missing are written to build/synthetic.

    python bench/grid.py --short
    python bench/grid.py --plan all
"""

import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time
import typing

from machine import OURS, PEER_PROGRAMS, ROOT, cpu_name, header_lines, markdown_table, results_file, warn_if_busy

SYNTHETIC = ROOT / "build" / "synthetic"
SMALL = ROOT / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
GEMMA = ROOT / "models" / "gemma-3-270m-q4_k_m.gguf"
FORMATS = ("Q4_0", "Q4_K_M", "Q3_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16")
PROMPT = 512
NOTHING = 0.0  # where a cell has no such figure


class Cell(typing.NamedTuple):
    model: pathlib.Path
    threads: int
    depth: int = 0
    streams: int = 1

    @property
    def key(self) -> tuple[str, int, int, int]:
        return self.model.name, self.threads, self.depth, self.streams


class Speed(typing.NamedTuple):
    """Tokens per second, of all streams together."""

    prompt: float
    generation: float


def synthetic(shape: str, mix: str, *more: str) -> pathlib.Path:
    path = SYNTHETIC / ("-".join([shape, *(word.strip("-") for word in more)]) + f"-{mix}.gguf")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        subprocess.run([sys.executable, ROOT / "bench" / "synthetic.py", shape, mix, part, *more], check=True)
        part.rename(path)
    return path


def around(model: pathlib.Path, threads: int, depths: tuple[int, ...]) -> list[Cell]:
    return [*(Cell(model, threads, depth) for depth in depths), Cell(model, threads, streams=8)]


def short_plan() -> list[Cell]:
    return [*around(SMALL, 1, (0,)), *around(SMALL, 2, (0, 4096))]


def small_plan() -> list[Cell]:
    """The small real models, close enough for curves over depth and over streams."""
    cells = [cell for model in (SMALL, GEMMA) for cell in (*around(model, 2, (0, 4096)), *around(model, 1, (0,)))]
    cells += [Cell(SMALL, 2, depth) for depth in (1024, 2048, 7168)]
    cells += [Cell(SMALL, 2, streams=streams) for streams in (2, 4, 16, 32)]
    return cells


def format_plan() -> list[Cell]:
    cells = []
    for shape in ("qwen3-0.6b", "llama-3.2-1b"):
        for mix in FORMATS:
            model = synthetic(shape, mix)
            cells += [*around(model, 2, (0,)), Cell(model, 1)]
            if mix in ("Q4_K_M", "Q8_0"):
                cells.append(Cell(model, 2, 4096))
    return cells + [Cell(synthetic("qwen3-0.6b", "Q4_K_M"), 2, 16384)]


def expert_plan() -> list[Cell]:
    return around(synthetic("qwen3.5-35b-a3b", "Q3_K_M", "--layers", "4"), 2, (0, 4096))


PLANS = {"small": small_plan, "formats": format_plan, "experts": expert_plan}


def run(command: list) -> str:
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def measure_ours(cell: Cell, generate: int) -> Speed:
    result = json.loads(run([OURS, "bench", "--gguf", cell.model, "--threads", cell.threads, "--depth", cell.depth, "--streams",
                             cell.streams, "--prompt", PROMPT, "--generate", generate, "--turns", 1, "--json"]))  # fmt: skip
    return Speed(result["prompt_tokens_per_second"], result["generation_tokens_per_second"])


def measure_peer(cell: Cell, generate: int) -> Speed:
    if cell.streams > 1:
        lines = run([PEER_PROGRAMS / "llama-batched-bench", "-m", cell.model, "-t", cell.threads, "-c", cell.streams * 256,
                     "-npp", 16, "-ntg", generate, "-npl", cell.streams, "--output-format", "jsonl"])  # fmt: skip
        record = json.loads(next(line for line in lines.splitlines() if line.startswith("{")))
        return Speed(NOTHING, record["speed_tg"])
    records = json.loads(run([PEER_PROGRAMS / "llama-bench", "-m", cell.model, "-t", cell.threads, "-d", cell.depth, "-p",
                              PROMPT, "-n", generate, "-r", 1, "-o", "json"]))  # fmt: skip
    prompt = [record["avg_ts"] for record in records if record["n_gen"] == 0]
    generation = [record["avg_ts"] for record in records if record["n_prompt"] == 0]
    return Speed(prompt[0], generation[0])


COLUMNS = ["model", "threads", "depth", "streams", "turn", "program", "prompt_tokens_per_second", "generation_tokens_per_second"]


def read_results(path: pathlib.Path) -> dict[tuple, dict[str, list[Speed]]]:
    """What a results file holds: by cell, by program, the turns."""
    results: dict[tuple, dict[str, list[Speed]]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            key = row["model"], int(row["threads"]), int(row["depth"]), int(row["streams"])
            speed = Speed(float(row[COLUMNS[-2]] or NOTHING), float(row[COLUMNS[-1]]))
            results.setdefault(key, {}).setdefault(row["program"], []).append(speed)
    return results


def take_turns(cell: Cell, args: argparse.Namespace, writer) -> None:
    turns = args.turns if cell.depth == 0 else 1  # the peer takes minutes to get there
    for turn in range(1, turns + 1):
        speeds = {"tempo9": measure_ours(cell, args.generate), "llama.cpp": measure_peer(cell, args.generate)}
        for program, speed in speeds.items():
            prompt = f"{speed.prompt:.2f}" if cell.streams == 1 else ""
            writer.writerow([*cell.key, turn, program, prompt, f"{speed.generation:.2f}"])
        ours, peer = speeds.values()
        print(f"  {cell.model.stem}, {cell.threads} threads, depth {cell.depth}, {cell.streams} streams: "
              f"ours {ours.prompt:.1f} and {ours.generation:.1f}, peer {peer.prompt:.1f} and {peer.generation:.1f}",
              flush=True)  # fmt: skip


def summary(results: dict[tuple, dict[str, list[Speed]]]) -> str:
    rows, ratios = [], {"prompt": [], "generation": [], "streams": []}
    for key, programs in results.items():
        median = {name: Speed(*map(statistics.median, zip(*turns))) for name, turns in programs.items()}
        ours, peer = median["tempo9"], median["llama.cpp"]
        row = [key[0].removesuffix(".gguf"), *map(str, key[1:])]
        ratios["streams" if key[3] > 1 else "generation"].append(ours.generation / peer.generation)
        if key[3] == 1:
            ratios["prompt"].append(ours.prompt / peer.prompt)
            row += [f"{ours.prompt:.0f}", f"{peer.prompt:.0f}", f"{ours.prompt / peer.prompt:.2f}"]
        else:
            row += ["", "", ""]
        rows.append([*row, f"{ours.generation:.1f}", f"{peer.generation:.1f}", f"{ours.generation / peer.generation:.2f}"])
    table = markdown_table(["Model", "Threads", "Depth", "Streams", "Prompt", "llama.cpp", "Ratio", "Generation", "llama.cpp",
                            "Ratio"], rows)  # fmt: skip
    lines = [f"{name}: geometric mean {math.exp(statistics.fmean(map(math.log, values))):.2f}, least {min(values):.2f}"
             for name, values in ratios.items() if values]  # fmt: skip
    return table + "\n\n" + "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="the small model alone")
    parser.add_argument("--plan", choices=["all", *PLANS], default="all")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--generate", type=int, default=64)
    args = parser.parse_args()

    if args.short:
        cells, path = short_plan(), results_file("grid-short")
    else:
        cells = [cell for name, plan in PLANS.items() if args.plan in ("all", name) for cell in plan()]
        path = results_file("grid")
    warn_if_busy()
    known = read_results(path) if path.exists() else {}
    start = time.monotonic()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if not known:
            file.writelines(header_lines())
            writer.writerow(COLUMNS)
        for cell in dict.fromkeys(cells):
            if cell.key not in known:
                take_turns(cell, args, writer)
                file.flush()
    print(f"\n{cpu_name()}, tokens per second, medians; measured in {(time.monotonic() - start) / 60:.0f} minutes:\n")
    print(summary(read_results(path)))
    print(f"\nEvery turn: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
