#!/usr/bin/env python3
"""How long grammars take: to compile, and for each mask of allowed tokens, beside a step of the model.

    bench/structured.py [--texts N] MODEL.gguf...

For the schemas of real agents' tools (tests/data/tool_schemas.jsonl), texts drawn at random under each. A mask is made
while the step computes, so it costs nothing as long as it is shorter. Prints percentiles. Needs write_by_grammar and
tempo9 of the release build (TEMPO9_WRITE_BY_GRAMMAR and TEMPO9_BIN name others). A vocabulary alone will do for MODEL;
then there is no step.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess

from machine import cpu_name, warn_if_busy

ROOT = pathlib.Path(__file__).resolve().parent.parent
WRITE = ROOT / os.environ.get("TEMPO9_WRITE_BY_GRAMMAR", "build/release/tests/write_by_grammar")
TEMPO9 = ROOT / os.environ.get("TEMPO9_BIN", "build/release/apps/tempo9")


def write(model: pathlib.Path, texts: int) -> list[dict]:
    lines = (ROOT / "tests/data/tool_schemas.jsonl").read_bytes()
    result = subprocess.run([WRITE, model, "--texts", str(texts)], input=lines, capture_output=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def step_ms(model: pathlib.Path) -> str:
    command = [TEMPO9, "bench", "--gguf", model, "--prompt", "64", "--generate", "64", "--json"]
    result = subprocess.run(command, capture_output=True)
    if result.returncode != 0:
        return "-"
    return f"{1000 / json.loads(result.stdout)['generation_tokens_per_second']:.2f}"


def row(model: pathlib.Path, what: str, values: list[float]) -> str:
    cuts = statistics.quantiles(values, n=1000, method="inclusive")
    numbers = [cuts[499], cuts[899], cuts[989], cuts[998], max(values)]
    return f"{model.name[:34]:34} {what:12} {len(values):8}" + "".join(f"{number:10.2f}" for number in numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--texts", type=int, default=5)
    args = parser.parse_args()
    warn_if_busy()
    print(f"{cpu_name()}\n")
    print(f"{'model':34} {'what':12} {'count':>8}" + "".join(f"{p:>10}" for p in ("p50", "p90", "p99", "p99.9", "max")))
    for model in args.models:
        answers = write(model, args.texts)
        print(row(model, "compile, ms", [answer["compile_ms"] for answer in answers if "compile_ms" in answer]))
        print(row(model, "mask, us", [us for answer in answers for us in answer.get("mask_us", [])]))
        print(f"{model.name[:34]:34} step of one token, ms: {step_ms(model)}")


if __name__ == "__main__":
    main()
