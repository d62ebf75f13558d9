#!/usr/bin/env python3
"""Ours, and llama.cpp where build/peers-cuda has it built for CUDA, on one NVIDIA GPU; `make cuda` comes first.

    prepare   writes model files of real shapes with random weights (about 5, 17 and 12 GB)
    speed     prompts, and generation in 1, 8, 32 and 64 streams at two depths: ours and the peer's in turn
    bits      a request's logits alone and in company, in steps of any size, cold and cached: equal hashes

Each ends within nine minutes; what is missing then, the same command goes on with. Figures go to bench/results/, in a
folder named after the GPU.

    python bench/gpu/run.py prepare --folder /tmp/models
    python bench/gpu/run.py speed --folder /tmp/models qwen3-8b
"""

import argparse
import csv
import datetime
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OURS = ROOT / "build" / "cuda"
PEER = ROOT / "build" / "peers-cuda" / "bin"
SECONDS = 500  # after which no other measurement begins
MIXES = {"qwen3-8b": "Q4_K_M", "qwen3.5-35b-a3b": "Q3_K_M", "gpt-oss-20b": "MXFP4"}
STREAMS, DEPTHS, PROMPTS = (1, 8, 32, 64), (0, 16384), (512, 8192)
GENERATED = 64  # tokens of each stream


class Case(typing.NamedTuple):
    """A prompt of so many tokens, or generation in so many streams behind so many tokens."""

    prompt: int
    streams: int
    depth: int

    def __str__(self) -> str:
        return f"prompt of {self.prompt}" if self.prompt else f"{self.streams} streams at depth {self.depth}"


CASES = [Case(n, 1, 0) for n in PROMPTS] + [Case(0, s, d) for s, d in itertools.product(STREAMS, DEPTHS) if s == 1 or d == 0]


def gpu_name() -> str:
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()


def model_file(folder: pathlib.Path, model: str) -> pathlib.Path:
    return folder / f"{model}-{MIXES[model]}.gguf"


def results_file(gpu: str) -> pathlib.Path:
    folder = ROOT / "bench" / "results" / re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"gpu-{datetime.date.today().isoformat()}.csv"


def measured(path: pathlib.Path) -> set[tuple[str, str, str]]:
    if not path.exists():
        return set()
    with path.open() as file:
        return {(row["program"], row["model"], row["case"]) for row in csv.DictReader(line for line in file if line[0] != "#")}


def our_speed(output: str, case: Case) -> float:
    return json.loads(output)["prompt_tokens_per_second" if case.prompt else "generation_tokens_per_second"]


def peer_speed(output: str, case: Case) -> float:
    """Of llama-batched-bench: a JSON object a line, with the speed of prompts and of generation."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if len(lines) != 1:
        raise ValueError(f"expected one line of figures, not {len(lines)}")
    return lines[0]["speed_pp" if case.prompt else "speed_tg"]


def our_command(path: pathlib.Path, case: Case) -> list[str]:
    generate = 1 if case.prompt else GENERATED
    return [
        *(str(OURS / "apps" / "tempo9"), "bench", "--device", "cuda", "--json", "--gguf", str(path)),
        *("--prompt", str(case.prompt or 64), "--generate", str(generate)),
        *("--streams", str(case.streams), "--depth", str(case.depth)),
    ]  # fmt: skip


def peer_command(path: pathlib.Path, case: Case) -> list[str]:
    prompt = case.prompt or max(case.depth, 1)
    context = (prompt + GENERATED) * case.streams
    return [
        *(str(PEER / "llama-batched-bench"), "-m", str(path), "-ngl", "99", "-fa", "on", "-c", str(context), "-b", "2048"),
        *("-ub", "2048", "-npp", str(prompt), "-ntg", str(GENERATED), "-npl", str(case.streams), "--output-format", "jsonl"),
    ]  # fmt: skip


PROGRAMS = {"tempo9": (our_command, our_speed), "llama.cpp": (peer_command, peer_speed)}


def prepare(args: argparse.Namespace) -> int:
    args.folder.mkdir(parents=True, exist_ok=True)
    for model in args.models:
        path = model_file(args.folder, model)
        if path.exists():
            continue
        part = path.with_suffix(".part")
        subprocess.run([sys.executable, ROOT / "bench" / "synthetic.py", model, MIXES[model], part], check=True)
        part.rename(path)
    return 0


def speed(args: argparse.Namespace) -> int:
    gpu, start = gpu_name(), time.monotonic()
    results = results_file(gpu)
    known = measured(results)
    programs = [name for name in PROGRAMS if name == "tempo9" or (PEER / "llama-batched-bench").exists()]
    with results.open("a", newline="") as file:
        writer = csv.writer(file)
        if file.tell() == 0:
            file.write(f"# gpu: {gpu}\n")
            writer.writerow(("program", "model", "case", "tokens_per_second"))
        for model, case, program in itertools.product(args.models, CASES, programs):
            if (program, f"{model} {MIXES[model]}", str(case)) in known:
                continue
            if time.monotonic() - start > SECONDS:
                print("not all is measured: run this command again")
                return 3
            command, read = PROGRAMS[program]
            run = subprocess.run(command(model_file(args.folder, model), case), capture_output=True, text=True)
            if run.returncode != 0:
                print(f"{program}, {model}, {case}: failed\n{run.stderr[-2000:]}", file=sys.stderr)
                return 1
            value = read(run.stdout, case)
            writer.writerow((program, f"{model} {MIXES[model]}", case, f"{value:.1f}"))
            file.flush()
            print(f"{model:16} {case!s:26} {program:10} {value:10.1f} tokens/s", flush=True)
    return 0


def bits(args: argparse.Namespace) -> int:
    """The tests' models, and one of a real shape with real formats that has few layers."""
    args.folder.mkdir(parents=True, exist_ok=True)
    models = sorted((ROOT / "tests" / "golden").glob("*.gguf"))
    for model in args.models:
        path = args.folder / f"{model}-{MIXES[model]}-2-layers.gguf"
        if not path.exists():
            command = [sys.executable, ROOT / "bench" / "synthetic.py", model, MIXES[model], path, "--layers", "2"]
            subprocess.run(command, check=True)
        models.append(path)
    different = 0
    for path in models:
        command = [OURS / "tests" / "invariance", path, "--tokens", "24", "--steps-of-one", "--device", "cuda"]
        run = subprocess.run(command, capture_output=True, text=True)
        lines = run.stdout.splitlines()
        odd = [line for line in lines if not re.search(r"\bequal\b", line)]
        different += run.returncode != 0
        print(f"{path.name}: {len(lines) - len(odd)} of {len(lines)} circumstances equal", *odd, run.stderr[-500:], sep="\n  ")
    return 1 if different else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("prepare", "speed", "bits"))
    parser.add_argument("models", nargs="*", default=list(MIXES), help=f"of {', '.join(MIXES)}; all of them")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / "tempo9-models")
    args = parser.parse_intermixed_args()
    for model in args.models:
        if model not in MIXES:
            parser.error(f"{model}: there are {', '.join(MIXES)}")
    return {"prepare": prepare, "speed": speed, "bits": bits}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
