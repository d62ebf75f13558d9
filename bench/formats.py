#!/usr/bin/env python3
"""What each quantised format costs in our arithmetic and in llama.cpp's, on the same files.

From each model llama-quantize makes a file of every format. The truth about such a file is what float32 arithmetic makes of
its decoded weights with float32 keys and values: the `reference` device, which is slow, or for large models (--decoded)
the `cpu` device on weights that llama-quantize decoded to float32, which is the same arithmetic in another order of sums.
Mean Kullback-Leibler divergences of the next-token distributions from that truth, ours and the peer's, are printed and
written to bench/results/<cpu>/formats-<model>-<tokens>-by-<window>-<date>.csv. Exits with 1 where ours exceeds
the peer's by more than a tenth and by more than chance explains: twice the standard error (the positions of a sequence share
what they attend to, so a few sequences decide the mean, and only more of them make it certain).

    bench/formats.py --tiny --tokens 2000
    bench/formats.py --decoded --models models/SmolLM2-135M-Instruct.Q4_1.gguf --tokens 2000
"""

import argparse
import csv
import pathlib
import sys
import tempfile
import typing

from divergence import Divergence, Programs, Truth, add_options, compare, parse, run
from machine import ROOT, cpu_name, header_lines, markdown_table, results_file

sys.path.append(str(ROOT / "tests" / "reference"))

from tiny_gemma import TinyGemma3, TinyGemma4  # noqa: E402
from tiny_gpt_oss import TinyGptOss  # noqa: E402
from tiny_llama import TinyLlama, TinyMistral3  # noqa: E402
from tiny_qwen3 import TinyQwen3  # noqa: E402
from tiny_qwen35 import TinyQwen35  # noqa: E402

TOLERANCE = 1.1
FORMATS = (
    "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "IQ4_NL",
    "IQ4_XS", "MXFP4_MOE",
)  # fmt: skip
WINDOW = 500

# Rows of whole blocks of 256 columns.
WIDE = {"embedding": 256, "feed_forward": 512, "head_size": 64, "vocabulary": 512, "seed": 50}
EXPERTS = {"experts": 4, "expert_feed_forward": 256}
DELTA = {"key_size": 64, "value_size": 64, "draft": False}
TINY = {
    "llama": TinyLlama(**WIDE),
    "mistral3": TinyMistral3(**WIDE),
    "qwen3": TinyQwen3(**WIDE),
    "qwen3moe": TinyQwen3("qwen3moe", **WIDE, **EXPERTS),
    "gpt-oss": TinyGptOss(**WIDE, **EXPERTS),
    "qwen35": TinyQwen35(**WIDE, **DELTA),
    "qwen35moe": TinyQwen35("qwen35moe", shared_feed_forward=256, **WIDE, **DELTA, **EXPERTS),
    "gemma3": TinyGemma3(**WIDE),
    "gemma4": TinyGemma4(sliding_head_size=64, **WIDE),
}


class Measured(typing.NamedTuple):
    model: str
    format: str
    ours: Divergence
    peer: Divergence

    @property
    def ratio(self) -> float:
        return self.ours.mean / self.peer.mean

    @property
    def is_worse(self) -> bool:
        return self.ratio - 2 * self.ratio_error > TOLERANCE

    @property
    def ratio_error(self) -> float:
        """Standard error, the two taken as independent."""
        return self.ratio * ((self.ours.error / self.ours.mean) ** 2 + (self.peer.error / self.peer.mean) ** 2) ** 0.5


def quantize(programs: Programs, source: pathlib.Path, target: pathlib.Path, form: str) -> None:
    run(programs.peers / "llama-quantize", "--allow-requantize", source, target, form, programs.threads)


def has_stacks(path: pathlib.Path) -> bool:
    return b"_exps.weight" in path.open("rb").read(1 << 24)


def measure(args: argparse.Namespace, programs: Programs, model: pathlib.Path) -> list[Measured]:
    measured = []
    with tempfile.TemporaryDirectory(dir=args.scratch) as name:
        folder = pathlib.Path(name)
        source = folder / "source.gguf"
        quantize(programs, model, source, "F16")
        for form in args.formats:
            if form == "MXFP4_MOE" and not has_stacks(model):
                continue
            file, decoded = folder / "file.gguf", folder / "decoded.gguf"
            quantize(programs, source, file, form)
            truth = Truth(file, ("--device", "reference", "--kv-type", "f32"))
            if args.decoded:
                quantize(programs, file, decoded, "F32")
                truth = Truth(decoded, ("--device", "cpu", "--kv-type", "f32"))
            result = Measured(model.stem, form, *compare(programs, file, truth, args.text, args.tokens, args.window))
            measured.append(result)
            print(f"  {model.stem} {form}: ours {result.ours.mean:.3e}, peer {result.peer.mean:.3e}, "
                  f"ratio {result.ratio:.3f} ± {result.ratio_error:.3f}", flush=True)  # fmt: skip
    return measured


def report(measured: list[Measured], name: str) -> list[str]:
    """Prints and writes what was measured; returns the names of what is too far from the truth."""
    table = []
    path = results_file(f"formats-{name.lower()}")
    with path.open("w", newline="") as file:
        file.writelines(header_lines())
        writer = csv.writer(file)
        writer.writerow(["model", "format", "program", "mean_kl", "standard_error", "largest_kl", "same_likeliest_token"])
        for m in measured:
            for program, d in (("tempo9", m.ours), ("llama.cpp", m.peer)):
                writer.writerow([m.model, m.format, program, f"{d.mean:.4e}", f"{d.error:.1e}", f"{d.largest:.4e}",
                                 f"{d.same_first:.4f}"])  # fmt: skip
            table.append([m.model, m.format, f"{m.ours.mean:.2e}", f"{m.peer.mean:.2e}", f"{m.ratio:.2f} ± {m.ratio_error:.2f}"])
    print(f"\nMean KL (nats) from float32 arithmetic, on {cpu_name()}:\n")
    print(markdown_table(["Model", "Format", "Tempo9", "llama.cpp", "Ratio"], table))
    print(f"\nWritten to {path.relative_to(ROOT)}\n", flush=True)
    return [f"{m.model} {m.format}" for m in measured if m.is_worse]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--tiny", action="store_true", help="also a tiny random model of each architecture")
    parser.add_argument("--decoded", action="store_true", help="the truth from the cpu device on decoded weights")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    parser.add_argument("--tokens", type=int, default=1000)
    parser.add_argument("--window", type=int, default=WINDOW, help="tokens of a sequence")
    parser.add_argument("--scratch", type=pathlib.Path, help="a folder for files of a few gigabytes")
    add_options(parser)
    args, programs = parse(parser)

    too_far = []
    for model in args.models:
        too_far += report(measure(args, programs, model), f"{model.stem}-{args.tokens}-by-{args.window}")
    if args.tiny:
        measured = []
        with tempfile.TemporaryDirectory() as folder:
            for arch, model in TINY.items():
                measured += measure(args, programs, model.write(pathlib.Path(folder) / f"tiny-{arch}.gguf"))
        too_far += report(measured, f"tiny-{args.tokens}-by-{args.window}")
    if too_far:
        raise SystemExit(f"more than {TOLERANCE} times as far from the truth as the peer: {', '.join(too_far)}")


if __name__ == "__main__":
    main()
