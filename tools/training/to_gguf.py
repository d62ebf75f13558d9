"""Checkpoint directory -> GGUF files, with llama.cpp's converter.

    python to_gguf.py --checkpoint DIR --out DIR --converter PATH/convert_hf_to_gguf.py --quantize PATH/llama-quantize

Writes NAME-F16.gguf and NAME-Q8_0.gguf (text model with its next-token block) and mmproj-NAME-F16.gguf.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

NAME = "tempo9-tiny"
# The converter recognises a tokenizer by a hash of what it does to a test text, which no small vocabulary can match.
SHIM = """
import runpy, sys
from pathlib import Path
path = Path(sys.argv.pop(1)).resolve()
sys.argv[0] = str(path)
sys.path[:0] = [str(path.parent), str(path.parent / "gguf-py")]
from conversion.base import TextModel
TextModel.get_vocab_base_pre = lambda self, tokenizer: "qwen35"
runpy.run_path(str(path), run_name="__main__")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("checkpoint", "out", "converter", "quantize"):
        parser.add_argument("--" + name, type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

    def convert(target: Path, *extra: str):
        cmd = [
            sys.executable,
            "-c",
            SHIM,
            str(options.converter),
            str(options.checkpoint),
            "--outfile",
            str(target),
            "--outtype",
            "f16",
            "--model-name",
            NAME,
            *extra,
        ]
        done = subprocess.run(cmd, env=env, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)

    text, vision = options.out / f"{NAME}-F16.gguf", options.out / f"mmproj-{NAME}-F16.gguf"
    convert(text)
    convert(vision, "--mmproj")
    small = options.out / f"{NAME}-Q8_0.gguf"
    subprocess.run([str(options.quantize), str(text), str(small), "Q8_0"], check=True, capture_output=True)
    lines = []
    for f in (text, small, vision):
        lines.append(f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}")
        print(f"{f.stat().st_size / 1e6:6.2f} MB  {f.name}")
    (options.out / "SHA256SUMS").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
