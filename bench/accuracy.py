"""How near our arithmetic is to the truth, beside llama.cpp on the same file and text.

1. Perplexity over at least 20,000 tokens in windows of 512 (--context), of which the second half is scored. Ours and the peer's must
   agree within half a percent: another result means another model is being computed.
2. Mean Kullback-Leibler divergence of the next-token distribution from that of the `reference` device (scalar f32 with
   f32 keys and values), over 2,000 tokens: what the fast kernels' rounding costs. Ours must not be above the peer's.

Exits with 1 if either does not hold; writes bench/results/<cpu>/accuracy-<model>-<date>.csv.

    make bench
    python bench/accuracy.py --model M.gguf --text some.txt --kl-tokens 500
"""

import argparse
import csv
import pathlib
import re

from divergence import Truth, add_options, compare, parse, run
from machine import ROOT, cpu_name, header_lines, markdown_table, results_file

KL_WINDOW = 500  # tokens of one sequence in the second comparison
KL_TOLERANCE = 1.1  # our mean KL to the reference, as a multiple of the peer's: rounding noise of one kind
PERPLEXITY_TOLERANCE = 0.005


def last_number(output: str) -> float:
    return float(re.findall(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", output)[-1])


def peer_estimate(output: str) -> float:
    return float(re.search(r"Final estimate: PPL = ([\d.]+)", output)[1])


def compare_perplexity(args: argparse.Namespace) -> tuple[float, float]:
    ours = run(args.ours, "perplexity", "--gguf", args.model, "--file", args.text, "--context", args.context,
               "--threads", args.threads)  # fmt: skip
    peer = run(args.peers / "llama-perplexity", "-m", args.model, "-f", args.text, "-c", args.context,
               "-t", args.threads)  # fmt: skip
    # The peer's log, with the result in it, goes to standard error.
    return last_number(ours.stdout), peer_estimate(peer.stdout + peer.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--context", type=int, default=512, help="tokens of a window of the perplexity")
    parser.add_argument("--kl-tokens", type=int, default=2000)
    add_options(parser)
    args, programs = parse(parser)

    our_perplexity, peer_perplexity = compare_perplexity(args)
    truth = Truth(args.model, ("--device", "reference", "--kv-type", "f32"))
    ours, peer = compare(programs, args.model, truth, args.text, args.kl_tokens, KL_WINDOW)
    ratio = our_perplexity / peer_perplexity
    rows = [
        ["perplexity", f"{our_perplexity:.4f}", f"{peer_perplexity:.4f}"],
        ["mean KL from reference (nats)", f"{ours.mean:.3e}", f"{peer.mean:.3e}"],
        ["largest KL", f"{ours.largest:.3e}", f"{peer.largest:.3e}"],
        ["same likeliest token", f"{ours.same_first:.4f}", f"{peer.same_first:.4f}"],
    ]
    print(f"\n{args.model.name} on {cpu_name()}; perplexity ratio {ratio:.5f}:\n")
    print(markdown_table(["Measure", "Tempo9", "llama.cpp"], rows))
    path = results_file(f"accuracy-{args.model.stem}")
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        csv.writer(file).writerows([["measure", "tempo9", "llama.cpp"], *rows])
    print(f"\nWritten to {path.relative_to(ROOT)}")

    if abs(ratio - 1) > PERPLEXITY_TOLERANCE:
        raise SystemExit(f"perplexity differs from the peer's by more than {PERPLEXITY_TOLERANCE:.1%}")
    if ours.mean > KL_TOLERANCE * peer.mean:
        raise SystemExit(f"our kernels are more than {KL_TOLERANCE} times as far from the reference as the peer's")


if __name__ == "__main__":
    main()
