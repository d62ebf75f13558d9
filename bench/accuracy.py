"""How near our arithmetic is to the truth, beside llama.cpp on the same file and text.

1. Perplexity over at least 20,000 tokens in windows of 512, of which the second half is scored. Ours and the peer's must
   agree within half a percent: another result means another model is being computed.
2. Mean Kullback-Leibler divergence of the next-token distribution from that of the `reference` device (scalar f32 with
   f32 keys and values), over 2,000 tokens: what the fast kernels' rounding costs. Ours must not be above the peer's.

Exits with 1 if either does not hold; writes bench/results/<cpu>/accuracy-<date>.csv.

    make bench
    python bench/accuracy.py --model M.gguf --text some.txt --kl-tokens 500
"""

import argparse
import csv
import pathlib
import re
import subprocess
import tempfile
import typing

import numpy as np
from machine import PEERS, ROOT, cpu_name, header_lines, markdown_table, results_file

CONTEXT = 512
KL_WINDOW = 500  # tokens of one sequence in the second comparison
KL_TOLERANCE = 1.1  # our mean KL to the reference, as a multiple of the peer's: rounding noise of one kind
PERPLEXITY_TOLERANCE = 0.005


class Divergence(typing.NamedTuple):
    """Of one program's next-token distributions from the reference's."""

    mean: float  # nats
    largest: float
    same_first: float  # share of positions where the likeliest token is the same


def run(*command: object) -> subprocess.CompletedProcess[str]:
    """Runs a command that must succeed."""
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(words)} failed:\n{result.stdout}{result.stderr}")
    return result


def last_number(output: str) -> float:
    return float(re.findall(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", output)[-1])


def peer_estimate(output: str) -> float:
    return float(re.search(r"Final estimate: PPL = ([\d.]+)", output)[1])


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def divergence(reference: np.ndarray, other: np.ndarray) -> Divergence:
    if reference.shape != other.shape:
        raise SystemExit(f"logits of different shapes: {reference.shape} and {other.shape}")
    per_row = []
    for begin in range(0, len(reference), 64):  # a bounded part at a time: a row is a whole vocabulary
        p, q = log_softmax(reference[begin : begin + 64]), log_softmax(other[begin : begin + 64])
        per_row.append((np.exp(p) * (p - q)).sum(axis=-1))
    rows = np.concatenate(per_row)
    same = (reference.argmax(axis=-1) == other.argmax(axis=-1)).mean()
    return Divergence(float(rows.mean()), float(rows.max()), float(same))


def our_logits(args: argparse.Namespace, sequences: list[str], folder: pathlib.Path, *options: str) -> np.ndarray:
    parts = []
    for number, ids in enumerate(sequences):
        out = folder / f"ours{''.join(options)}{number}.npy"
        run(args.ours, "logits", "--gguf", args.model, "--ids", ids, "--out", out, *options)
        parts.append(np.load(out))
    return np.concatenate(parts)


def compare_perplexity(args: argparse.Namespace) -> tuple[float, float]:
    ours = run(args.ours, "perplexity", "--gguf", args.model, "--file", args.text, "--context", CONTEXT,
               "--threads", args.threads)  # fmt: skip
    peer = run(args.peers / "llama-perplexity", "-m", args.model, "-f", args.text, "-c", CONTEXT,
               "-t", args.threads)  # fmt: skip
    # The peer's log, with the result in it, goes to standard error.
    return last_number(ours.stdout), peer_estimate(peer.stdout + peer.stderr)


def compare_divergence(args: argparse.Namespace) -> tuple[Divergence, Divergence]:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ids_file, peer_file = folder / "ids.txt", folder / "peer.npy"
        run(args.peers / "llama_logits", args.model, args.text, args.kl_tokens, KL_WINDOW, args.threads, ids_file,
            peer_file)  # fmt: skip
        sequences = ids_file.read_text().split()
        reference = our_logits(args, sequences, folder, "--device", "reference", "--kv-type", "f32")
        ours = our_logits(args, sequences, folder, "--device", "cpu")
        return divergence(reference, ours), divergence(reference, np.load(peer_file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--text", type=pathlib.Path, help="default: what bench/get_text.sh fetches")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kl-tokens", type=int, default=2000)
    parser.add_argument("--ours", type=pathlib.Path, default=ROOT / "build/release/apps/tempo9")
    parser.add_argument("--peers", type=pathlib.Path, default=PEERS / "bin")
    args = parser.parse_args()
    if args.text is None:
        run(ROOT / "bench/get_text.sh")
        args.text = ROOT / "build/bench/text.txt"

    our_perplexity, peer_perplexity = compare_perplexity(args)
    ours, peer = compare_divergence(args)
    ratio = our_perplexity / peer_perplexity
    rows = [
        ["perplexity", f"{our_perplexity:.4f}", f"{peer_perplexity:.4f}"],
        ["mean KL from reference (nats)", f"{ours.mean:.3e}", f"{peer.mean:.3e}"],
        ["largest KL", f"{ours.largest:.3e}", f"{peer.largest:.3e}"],
        ["same likeliest token", f"{ours.same_first:.4f}", f"{peer.same_first:.4f}"],
    ]
    print(f"\n{args.model.name} on {cpu_name()}; perplexity ratio {ratio:.5f}:\n")
    print(markdown_table(["Measure", "Tempo9", "llama.cpp"], rows))
    path = results_file("accuracy")
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
