#!/usr/bin/env python3
"""Encoding speed beside the `tokenizers` package, one thread each, on the same texts and vocabularies.

    bench/tokenizer_bench.py [--rounds N] VOCABULARY.gguf...

Prints megabytes of text (10^6 bytes) a second of processor time, the best of the rounds, and writes them to
bench/results/<cpu>/. Any model file will do, or the vocabularies of
scripts/get_test_data.sh. Needs build/release/tests/tokenize_lines (TEMPO9_TOKENIZE names another) and the package.
"""

import argparse
import collections.abc
import csv
import os
import pathlib
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "tools"))

import gguf_metadata  # noqa: E402
import hard_strings  # noqa: E402
import reference_tokenizers  # noqa: E402
from machine import cpu_name, results_file, warn_if_busy  # noqa: E402

PROGRAM = ROOT / os.environ.get("TEMPO9_TOKENIZE", "build/release/tests/tokenize_lines")


def make_texts() -> dict[str, str]:
    """About a megabyte each: English, the project's own source, and words of many scripts."""
    english = (ROOT / "docs" / "style.md").read_text() + (ROOT / "docs" / "architecture.md").read_text()
    code = "".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.cpp")))
    scripts = hard_strings.make_long()[-1]
    return {name: (text * (1 + 1_000_000 // len(text)))[:1_000_000]
            for name, text in (("english", english), ("code", code), ("scripts", scripts))}  # fmt: skip


def our_seconds(vocabulary: pathlib.Path, text: bytes) -> float:
    data = struct.pack("<I", len(text)) + text
    result = subprocess.run([PROGRAM, vocabulary, "--time"], input=data, capture_output=True, check=True)
    return float(result.stdout)


def their_seconds(encode: reference_tokenizers.Encode, text: str) -> float:
    start = time.process_time()
    encode(text)
    return time.process_time() - start


def measure(args: argparse.Namespace) -> collections.abc.Iterator[tuple[str, str, float, float]]:
    texts = make_texts()
    for vocabulary in args.vocabularies:
        encode = reference_tokenizers.hugging_face(gguf_metadata.read(vocabulary), special=True)
        for name, text in texts.items():
            data = text.encode()
            megabytes = len(data) / 1e6
            ours = megabytes / min(our_seconds(vocabulary, data) for _ in range(args.rounds))
            theirs = megabytes / min(their_seconds(encode, text) for _ in range(args.rounds))
            yield vocabulary.stem, name, ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("vocabularies", nargs="+", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    warn_if_busy()
    print(f"{cpu_name()}; MB/s\n")
    print(f"{'vocabulary':28} {'text':8} {'tempo9':>8} {'tokenizers':>10} {'ratio':>6}")
    with results_file("tokenizer").open("w", newline="") as file:
        file.write(f"# cpu: {cpu_name()}\n")
        writer = csv.writer(file)
        writer.writerow(["vocabulary", "text", "tempo9_megabytes_per_second", "tokenizers_megabytes_per_second"])
        for name, text, ours, theirs in measure(args):
            print(f"{name[:28]:28} {text:8} {ours:8.1f} {theirs:10.1f} {ours / theirs:6.1f}", flush=True)
            writer.writerow([name, text, f"{ours:.2f}", f"{theirs:.3f}"])


if __name__ == "__main__":
    main()
