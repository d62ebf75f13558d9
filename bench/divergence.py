"""Next-token distributions of two programs on one file, and how far they lie apart."""

import argparse
import pathlib
import subprocess
import tempfile
import typing

import numpy as np
from machine import OURS, PEER_PROGRAMS, ROOT


ENOUGH_SEQUENCES = 6


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


class Rows(typing.NamedTuple):
    """How far the rows of one sequence lie apart."""

    kl: np.ndarray
    same_first: np.ndarray


def rows_apart(truth: np.ndarray, other: np.ndarray) -> Rows:
    if truth.shape != other.shape:
        raise SystemExit(f"logits of different shapes: {truth.shape} and {other.shape}")
    kl, same = [], []
    for begin in range(0, len(truth), 64):  # a bounded part at a time: a row is a whole vocabulary
        first, second = truth[begin : begin + 64], other[begin : begin + 64]
        p, q = log_softmax(first), log_softmax(second)
        kl.append((np.exp(p) * (p - q)).sum(axis=-1))
        same.append(first.argmax(axis=-1) == second.argmax(axis=-1))
    return Rows(np.concatenate(kl), np.concatenate(same))


def summary(sequences: list[Rows]) -> Divergence:
    """All positions count alike. Those of one sequence share what they attend to, so they are no independent samples:
    where there are enough sequences, the error comes from the differences between these."""
    kl = np.concatenate([rows.kl for rows in sequences])
    samples = np.array([rows.kl.mean() for rows in sequences]) if len(sequences) >= ENOUGH_SEQUENCES else kl
    same = np.concatenate([rows.same_first for rows in sequences])
    error = samples.std(ddof=min(1, len(samples) - 1)) / np.sqrt(len(samples))
    return Divergence(float(kl.mean()), float(kl.max()), float(same.mean()), float(error))


def divergence(truth: np.ndarray, other: np.ndarray) -> Divergence:
    return summary([rows_apart(truth, other)])


def our_logits(programs: Programs, model: pathlib.Path, ids: str, folder: pathlib.Path, *options: str) -> np.ndarray:
    out = folder / "ours.npy"
    run(programs.ours, "logits", "--gguf", model, "--ids", ids, "--out", out, "--threads", programs.threads, *options)
    return np.load(out)


def compare(
    programs: Programs, model: pathlib.Path, truth: Truth, text: pathlib.Path, tokens: int, window: int
) -> tuple[Divergence, Divergence]:
    """Ours and the peer's from the truth, over the text's first tokens in sequences of `window`."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ids_file, peer_file = folder / "ids.txt", folder / "peer.npy"
        run(programs.peers / "llama_logits", model, text, tokens, window, programs.threads, ids_file, peer_file)
        peer_logits = np.load(peer_file, mmap_mode="r")
        ours, peers, done = [], [], 0
        for ids in ids_file.read_text().split():
            true_logits = our_logits(programs, truth.model, ids, folder, *truth.options)
            ours.append(rows_apart(true_logits, our_logits(programs, model, ids, folder, "--device", "cpu")))
            peers.append(rows_apart(true_logits, peer_logits[done : done + len(true_logits)]))
            done += len(true_logits)
        return summary(ours), summary(peers)
