#!/usr/bin/env python3
"""The figures that `tempo9 matrix --known` compares a model's with, computed by the NumPy references in float64.

    build/venv/bin/python tests/tools/known_models.py MODEL.gguf... > tests/data/known_models.json

Takes minutes a model. Needs build/release/apps/tempo9 (TEMPO9_BIN names another) for the token ids only.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests" / "reference"))

from model_file import ModelFile  # noqa: E402
from references import reference_of  # noqa: E402

PROGRAM = ROOT / os.environ.get("TEMPO9_BIN", "build/release/apps/tempo9")


def mean_surprise(file: ModelFile, ids: list[int], first: int) -> float:
    """At the tokens from number `first` on, in nats."""
    rows = np.arange(first - 1, len(ids) - 1)
    logits = reference_of(file).logits(ids[:-1], rows)
    peak = logits.max(axis=-1)
    total = peak + np.log(np.exp(logits - peak[:, None]).sum(axis=-1))
    return float((total - logits[np.arange(len(rows)), ids[first:]]).mean())


def main() -> None:
    figures = {}
    for path in map(pathlib.Path, sys.argv[1:]):
        shown = subprocess.run([PROGRAM, "matrix", "--show-ids", path], capture_output=True, text=True, check=True)
        file = ModelFile(path)
        for line in shown.stdout.splitlines():
            name, figure, first, ids = line.split(" ")
            surprise = mean_surprise(file, [int(token) for token in ids.split(",")], int(first))
            figures.setdefault(name, {})[figure] = round(surprise, 5)
    json.dump(figures, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
