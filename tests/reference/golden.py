"""The files of tests/golden: a tiny model of each architecture and what `transformers` computes for it in float32."""

import pathlib

import numpy as np
from comparison import Case

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden"
LENGTH = 100  # more than a page, a window and an original context
NAMES = (
    "llama", "mistral3", "qwen3", "qwen3moe", "qwen3vl", "qwen3vlmoe", "gpt_oss", "qwen35", "qwen35moe", "gemma3", "gemma4",
)  # fmt: skip


def load(name: str) -> tuple[Case, dict[str, np.ndarray]]:
    with np.load(FOLDER / f"{name}.npz") as arrays:
        contents = dict(arrays)
    return Case(FOLDER / f"{name}.gguf", contents["ids"].tolist()), contents
