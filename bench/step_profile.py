"""Where a step's time goes, and how far its parts are from what the machine can do: writes docs/profile.md.

For each model and number of threads: a prompt of 512 tokens, and generation of 64, at two depths. A matrix product that reads
its weights once (generation) is held against the memory's speed, one that uses them often (a prompt) against the speed
of the same kernel with everything in the cache; both limits are measured in the same run (ops_bench limits).

    python bench/step_profile.py models/SmolLM2-135M-Instruct.Q4_1.gguf [more.gguf ...]
"""

import argparse
import collections
import csv
import json
import pathlib
import subprocess
import typing

import gguf
from machine import OURS, ROOT, cpu_name, markdown_table, results_file, warn_if_busy

OPS_BENCH = ROOT / "build" / "release" / "bench" / "ops_bench"
PAGE = ROOT / "docs" / "profile.md"
PROMPT, GENERATE = 512, 64
MATRICES = ("linear", "expert_linear")
HEAD = """# Where the time goes

Written by `make profile`: how a step's time divides among operations ([ops.h](../src/backend/ops.h) says what each does),
and how near the matrix products are to this machine's limits. Those of a prompt are held against the same kernels
with weights and activations in the cache, those of generation against reading the weights from memory at the speed at which
the threads can read anything. *Between* is what no operation accounts for: planning, tables, and waking threads.
"""


class Limits(typing.NamedTuple):
    memory: float  # bytes per second
    products: dict[str, float]  # multiplications per second, by format


def parse_limits(output: str) -> Limits:
    values = {line.split()[0]: float(line.split()[1]) * 1e9 for line in output.splitlines()}
    return Limits(values.pop("memory"), values)


class Model(typing.NamedTuple):
    """What a token's way through the layers multiplies, by format."""

    name: str
    products: dict[str, float]


def read_model(path: pathlib.Path) -> Model:
    reader = gguf.GGUFReader(path)
    field = {name.split(".", 1)[-1]: value for name, value in reader.fields.items()}
    used = field["expert_used_count"].contents() / field["expert_count"].contents() if "expert_count" in field else 1
    products: dict[str, float] = collections.defaultdict(float)
    for tensor in reader.tensors:
        if tensor.name.startswith("blk.") and len(tensor.shape) >= 2:
            products[tensor.tensor_type.name] += float(tensor.n_elements) * (used if "_exps" in tensor.name else 1)
    return Model(path.stem, dict(products))


def run(*command) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def share_of_products(model: Model, limits: Limits, microseconds: float) -> float:
    """Of the time that a prompt's products took, what they would take at the cache's speed."""
    best = sum(PROMPT * products / limits.products[form] for form, products in model.products.items())
    return best / (microseconds * 1e-6)


def share_of_memory(weight_bytes: int, limits: Limits, microseconds: float) -> float:
    return GENERATE * weight_bytes / limits.memory / (microseconds * 1e-6)


def matrices(profile: dict[str, float]) -> float:
    return sum(profile.get(name, 0) for name in MATRICES)


def table(results: list[tuple[str, dict[str, float], float | None]]) -> str:
    """A column for each result: shares of its time, then its matrix products' part of the limit."""
    names = [name for name in results[0][1] if any(profile.get(name, 0) > 0.001 * sum(profile.values())
                                                   for _, profile, _ in results)]  # fmt: skip
    rows = [[name, *(f"{100 * profile.get(name, 0) / sum(profile.values()):.1f}%" for _, profile, _ in results)] for name in names]
    rows.append(["**limit reached**", *("" if limit is None else f"{100 * limit:.0f}%" for _, _, limit in results)])
    return markdown_table(["Operation", *(title for title, _, _ in results)], rows)


def measure(path: pathlib.Path, threads: int, depth: int) -> dict:
    return json.loads(run(OURS, "bench", "--gguf", path, "--threads", threads, "--depth", depth, "--prompt", PROMPT,
                          "--generate", GENERATE, "--turns", 3, "--json"))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--depths", type=int, nargs="+", default=[0, 4096])
    args = parser.parse_args()

    warn_if_busy()
    limits = {threads: parse_limits(run(OPS_BENCH, "--threads", threads, "limits")) for threads in args.threads}
    page = [HEAD, f"{cpu_name()}. Memory: " +
            ", ".join(f"{limits[n].memory / 1e9:.1f} GB/s with {n} threads" for n in args.threads) + ".\n"]  # fmt: skip
    with results_file("profile").open("w", newline="") as file:
        file.write(f"# cpu: {cpu_name()}\n")
        writer = csv.writer(file)
        writer.writerow(["model", "threads", "depth", "work", "operation", "microseconds"])
        for path in args.models:
            model = read_model(path)
            prompts, generations = [], []
            for threads in args.threads:
                for depth in args.depths:
                    result = measure(path, threads, depth)
                    prompt, generation = result["prompt_microseconds"], result["generation_microseconds"]
                    title = f"{threads} threads, depth {depth}"
                    prompts.append((title, prompt, share_of_products(model, limits[threads], matrices(prompt))))
                    generations.append((title, generation, share_of_memory(result["weight_bytes"], limits[threads],
                                                                          matrices(generation))))  # fmt: skip
                    for work, profile in (("prompt", prompt), ("generation", generation)):
                        writer.writerows([model.name, threads, depth, work, name, f"{us:.0f}"] for name, us in profile.items())
            page += [f"## {model.name}\n", f"A prompt of {PROMPT}:\n", table(prompts), f"\nGeneration of {GENERATE}:\n",
                     table(generations), ""]  # fmt: skip
            print(f"{model.name}: done", flush=True)
    PAGE.write_text("\n".join(page))
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
