"""Next-token distributions of two programs on one file, and how far they lie apart."""

import argparse
import pathlib
import subprocess
import tempfile
import typing

import numpy as np
from machine import OURS, PEER_PROGRAMS, ROOT


class Divergence(typing.NamedTuple):
    """Of one program's next-token distributions from the truth."""

    mean: float  # Kullback-Leibler, nats
    largest: float
    same_first: float  # share of positions where the likeliest token is the same
    error: float  # standard error of the mean


class Programs(typing.NamedTuple):
    ours: pathlib.Path = OURS
    peers: pathlib.Path = PEER_PROGRAMS
    threads: int = 2


class Truth(typing.NamedTuple):
    """Where the true distributions come from: a file, and options for our program."""

    model: pathlib.Path
    options: tuple[str, ...]


def add_options(parser: argparse.ArgumentParser) -> None:
    """What every comparison of two programs on a text takes."""
    parser.add_argument("--text", type=pathlib.Path, help="default: what bench/get_text.sh fetches")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--ours", type=pathlib.Path, default=OURS)
    parser.add_argument("--peers", type=pathlib.Path, default=PEER_PROGRAMS)


def parse(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, Programs]:
    args = parser.parse_args()
    if args.text is None:
        run(ROOT / "bench/get_text.sh")
        args.text = ROOT / "build/bench/text.txt"
    return args, Programs(args.ours, args.peers, args.threads)


def run(*command: object) -> subprocess.CompletedProcess[str]:
    """Runs a command that must succeed."""
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(words)} failed:\n{result.stdout}{result.stderr}")
    return result


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def divergence(truth: np.ndarray, other: np.ndarray) -> Divergence:
    if truth.shape != other.shape:
        raise SystemExit(f"logits of different shapes: {truth.shape} and {other.shape}")
    per_row, same = [], []
    for begin in range(0, len(truth), 64):  # a bounded part at a time: a row is a whole vocabulary
        first, second = truth[begin : begin + 64], other[begin : begin + 64]
        p, q = log_softmax(first), log_softmax(second)
        per_row.append((np.exp(p) * (p - q)).sum(axis=-1))
        same.append(first.argmax(axis=-1) == second.argmax(axis=-1))
    rows = np.concatenate(per_row)
    error = rows.std() / np.sqrt(len(rows))
    return Divergence(float(rows.mean()), float(rows.max()), float(np.concatenate(same).mean()), float(error))


def our_logits(
    programs: Programs, model: pathlib.Path, sequences: list[str], folder: pathlib.Path, *options: str
) -> np.ndarray:
    parts = []
    for ids in sequences:
        out = folder / "ours.npy"
        run(programs.ours, "logits", "--gguf", model, "--ids", ids, "--out", out, "--threads", programs.threads, *options)
        parts.append(np.load(out))
    return np.concatenate(parts)


def compare(
    programs: Programs, model: pathlib.Path, truth: Truth, text: pathlib.Path, tokens: int, window: int
) -> tuple[Divergence, Divergence]:
    """Ours and the peer's from the truth, over the text's first tokens in sequences of `window`."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ids_file, peer_file = folder / "ids.txt", folder / "peer.npy"
        run(programs.peers / "llama_logits", model, text, tokens, window, programs.threads, ids_file, peer_file)
        sequences = ids_file.read_text().split()
        true_logits = our_logits(programs, truth.model, sequences, folder, *truth.options)
        ours = divergence(true_logits, our_logits(programs, model, sequences, folder, "--device", "cpu"))
        return ours, divergence(true_logits, np.load(peer_file, mmap_mode="r"))
