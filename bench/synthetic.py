#!/usr/bin/env python3
"""Writes model files of real shapes with random weights, for measuring speed and memory where the real file is not at hand.

Shapes, formats and vocabulary size are the real ones; weights are random blocks, repeated, whose scales keep activations
finite; the vocabulary is bytes and fillers. What such a model says is noise.

    bench/synthetic.py qwen3-0.6b Q4_K_M out.gguf
    bench/synthetic.py qwen3.5-35b-a3b Q3_K_M out.gguf --layers 4
    bench/synthetic.py qwen3-0.6b Q8_0 out.gguf --context 1048576
"""

import argparse
import dataclasses
import functools
import pathlib
import sys
import time

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from mixes import MIXES, Place, format_in

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "reference"))

from tiny_gpt_oss import TinyGptOss  # noqa: E402
from tiny_llama import TinyLlama  # noqa: E402
from tiny_model import TinyFile, TinyModel, encode_matrix  # noqa: E402
from tiny_qwen3 import TinyQwen3  # noqa: E402
from tiny_qwen35 import TinyQwen35  # noqa: E402

# The writers of the tests' tiny models, given the numbers of the published configurations.
SHAPES = {
    "qwen3-0.6b": TinyQwen3(
        layers=28, embedding=1024, feed_forward=3072, heads=16, kv_heads=8, head_size=128, vocabulary=151936, context=40960,
    ),
    "llama-3.2-1b": TinyLlama(
        layers=16, embedding=2048, feed_forward=8192, heads=32, kv_heads=8, head_size=64, vocabulary=128256, context=131072,
        theta=500000.0, llama3_rope=True,
    ),
    "qwen3-8b": TinyQwen3(
        layers=36, embedding=4096, feed_forward=12288, heads=32, kv_heads=8, head_size=128, vocabulary=151936, context=40960,
        tied=False,
    ),
    "qwen3.5-35b-a3b": TinyQwen35(
        "qwen35moe", layers=40, embedding=2048, heads=16, kv_heads=2, head_size=256, vocabulary=248320, context=262144,
        theta=1e7, tied=False, experts=256, experts_used=8, expert_feed_forward=512, shared_feed_forward=512,
        key_heads=16, value_heads=32, key_size=128, value_size=128,
    ),
    "gpt-oss-20b": TinyGptOss(
        layers=24, embedding=2880, heads=64, kv_heads=8, head_size=64, vocabulary=201088, context=131072, experts=32,
        experts_used=4, expert_feed_forward=2880, window=128, factor=32.0, original_context=4096,
    ),
}  # fmt: skip

POOL_BLOCKS = 10007  # a prime, so that rows of a matrix differ although blocks come again
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@functools.cache
def random_pool(form: str, columns: int, gain: float) -> np.ndarray:
    """Bytes of many blocks, for matrices of so many columns. Inputs of deviation 1 give outputs of deviation `gain`."""
    block_columns, _ = GGML_QUANT_SIZES[GGMLQuantizationType[form]]
    rng = np.random.default_rng(columns)
    blocks = encode_matrix(rng, form, POOL_BLOCKS, max(block_columns, 32), gain / np.sqrt(columns))
    return np.ascontiguousarray(blocks).view(np.uint8).ravel()


class SyntheticFile(TinyFile):
    """Lays tensors out first and writes their data last, one at a time, so that memory holds one tensor."""

    def __init__(self, path: pathlib.Path, model: TinyModel, mix: str):
        super().__init__(path, model)
        self._path, self._mix = path, mix
        self._writer.add_file_type(gguf.LlamaFileType["MOSTLY_" + ("MXFP4_MOE" if mix == "MXFP4" else mix)])
        self._data = []  # per tensor, in order: what makes its bytes

    def add_tokenizer(self, size: int) -> None:
        super().add_tokenizer(size)
        self._writer.add_chat_template(CHAT_TEMPLATE)

    def matrix(self, name: str, rows: int, columns: int, gain: float, count: int = 0) -> None:
        layer = int(name.split(".")[1]) if name.startswith("blk.") else -1
        layers = self._model.keys()["block_count"]
        place = Place(name + ".weight", columns, layer, layers, self._model.tied, stacked=count > 0)
        form = "F32" if rows == 1 else format_in(self._mix, place)  # one row is a vector to the converter
        kind = GGMLQuantizationType[form]
        block_columns, block_bytes = GGML_QUANT_SIZES[kind]
        total = max(count, 1) * rows * columns // block_columns * block_bytes
        shape = (count, rows, columns) if count else (rows, columns)
        self._writer.add_tensor_info(name + ".weight", shape, np.dtype(np.float32), total, raw_dtype=kind)
        self._data.append(lambda: np.resize(random_pool(form, columns, gain), total))

    def values(self, name: str, values: np.ndarray) -> None:
        values = values.astype(np.float32)
        self._writer.add_tensor_info(name, values.shape, values.dtype, values.nbytes)
        self._data.append(lambda: values)

    def close(self) -> None:
        self._writer.write_header_to_file(self._path)
        self._writer.write_kv_data_to_file()
        self._writer.write_ti_data_to_file()
        for make in self._data:
            self._writer.write_tensor_data(make())
        self._writer.close()


def write(model: TinyModel, mix: str, path: pathlib.Path) -> None:
    model.fill(SyntheticFile(path, model, mix))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("mix", choices=MIXES)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--layers", type=int, help="fewer than the real model has")
    parser.add_argument("--context", type=int, help="the context that the file declares")
    args = parser.parse_args()
    changes = {"layers": args.layers, "context": args.context}
    model = dataclasses.replace(SHAPES[args.shape], **{name: value for name, value in changes.items() if value})
    start = time.monotonic()
    write(model, args.mix, args.out)
    size, seconds = args.out.stat().st_size, time.monotonic() - start
    print(f"{args.out}: {size / 1e9:.2f} GB in {seconds:.1f} s")


if __name__ == "__main__":
    main()
