"""Writes tiny GGUF files with random weights, so that every architecture, shape and format can be run in a moment.

Weights are scaled so that attention, gates, routing and norms all matter: scores and logits have a deviation of about 1
and 2.5.
"""

import dataclasses
import pathlib

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

# Formats that the package decodes but does not encode: byte offsets of a block's f16 scale and, if any, minimum.
SCALE_OFFSETS = {
    "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "IQ4_NL": (0,), "IQ4_XS": (0,),
}  # fmt: skip


def byte_alphabet() -> list[str]:
    """One character per byte, as byte-level BPE vocabularies write them: printable bytes as themselves, the rest moved
    behind the first 256 code points."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    moved = iter(range(256, 512))
    return [chr(byte if byte in printable else next(moved)) for byte in range(256)]


def random_blocks(rng: np.random.Generator, form: str, rows: int, columns: int, deviation: float) -> np.ndarray:
    """Random bytes for a matrix, with scales that give its values mean 0 and nearly the wanted deviation."""
    kind = GGMLQuantizationType[form]
    block_columns, block_bytes = GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (rows * columns // block_columns, block_bytes), np.uint8)

    def decode_with(*scales: float) -> np.ndarray:
        for offset, scale in zip(SCALE_OFFSETS[form], scales, strict=True):
            blocks[:, offset : offset + 2] = np.array([scale], np.float16).view(np.uint8)
        return gguf.dequantize(blocks, kind)

    scales = [1.0]
    if len(SCALE_OFFSETS[form]) == 2:
        scales.append(-decode_with(1, 0).mean() / decode_with(0, 1).mean())
    factor = deviation / decode_with(*scales).std()
    decode_with(*(scale * factor for scale in scales))
    return blocks.reshape(rows, -1)


def random_mxfp4(rng: np.random.Generator, rows: int, columns: int, deviation: float) -> np.ndarray:
    blocks = rng.integers(0, 256, (rows * columns // 32, 17), np.uint8)
    codes_deviation = 2.9  # of the values 0 to 6 with both signs
    middle = 127 + round(np.log2(deviation / codes_deviation))
    blocks[:, 0] = rng.integers(middle - 1, middle + 2, len(blocks))  # the scale's exponent
    return blocks.reshape(rows, -1)


def encode_matrix(rng: np.random.Generator, form: str, rows: int, columns: int, deviation: float) -> np.ndarray:
    if form == "MXFP4":
        return random_mxfp4(rng, rows, columns, deviation)
    if form in SCALE_OFFSETS:
        return random_blocks(rng, form, rows, columns, deviation)
    values = rng.normal(0, deviation, (rows, columns)).astype(np.float32)
    return gguf.quantize(values, GGMLQuantizationType[form])


class TinyFile:
    """A file being written."""

    def __init__(self, path: pathlib.Path, model: "TinyModel"):
        self.rng = np.random.default_rng(model.seed)
        self._writer = gguf.GGUFWriter(path, model.architecture)
        self._writer.add_tags(["random-weights"])
        self._model = model

    def add_keys(self, keys: dict[str, object]) -> None:
        """Keys without the architecture's prefix; the type of the value says which type the file's has."""
        for name, value in keys.items():
            add = {bool: self._writer.add_bool, int: self._writer.add_uint32, float: self._writer.add_float32,
                   str: self._writer.add_string, list: self._writer.add_array}[type(value)]  # fmt: skip
            add(f"{self._model.architecture}.{name}", value)

    def add_tokenizer(self, size: int) -> None:
        controls = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        tokens = [*byte_alphabet(), "Ġt", *controls]
        normal, control, unused = gguf.TokenType.NORMAL, gguf.TokenType.CONTROL, gguf.TokenType.UNUSED
        types = [normal] * 257 + [control] * len(controls) + [unused] * (size - len(tokens))
        tokens += [f"[PAD{i}]" for i in range(len(tokens), size)]
        self._writer.add_tokenizer_model("gpt2")
        self._writer.add_tokenizer_pre("smollm")
        self._writer.add_token_list(tokens)
        self._writer.add_token_types(types)
        self._writer.add_token_merges(["Ġ t"])
        self._writer.add_bos_token_id(tokens.index("<|im_start|>"))
        self._writer.add_eos_token_id(tokens.index("<|im_end|>"))

    def matrix(self, name: str, rows: int, columns: int, gain: float, count: int = 0) -> None:
        """Normal inputs of deviation 1 give outputs of deviation `gain`. With `count`, a stack of so many matrices."""
        form = self._model.format_of(name)
        data = encode_matrix(self.rng, form, max(count, 1) * rows, columns, gain / np.sqrt(columns))
        data = data.reshape(count, rows, -1) if count else data
        self._writer.add_tensor(name + ".weight", data, raw_dtype=GGMLQuantizationType[form])

    def norm(self, name: str, size: int, gain: float = 1.0) -> None:
        self.values(name + ".weight", gain * self.rng.uniform(0.5, 1.5, size))

    def bias(self, name: str, *shape: int) -> None:
        self.values(name + ".bias", self.rng.normal(0, 0.4, shape))

    def values(self, name: str, values: np.ndarray) -> None:
        self._writer.add_tensor(name, values.astype(np.float32))

    def close(self) -> None:
        self._writer.write_header_to_file()
        self._writer.write_kv_data_to_file()
        self._writer.write_tensors_to_file()
        self._writer.close()


@dataclasses.dataclass(frozen=True)
class TinyModel:
    architecture: str = ""
    seed: int = 1
    layers: int = 2
    embedding: int = 64
    feed_forward: int = 96
    heads: int = 4
    kv_heads: int = 2
    head_size: int = 16
    vocabulary: int = 288
    context: int = 2048
    theta: float = 10000.0
    epsilon: float = 1e-6
    tied: bool = True
    format: str = "F32"  # of every matrix that `formats` does not name
    formats: tuple[tuple[str, str], ...] = ()  # (part of a tensor's name, format)

    embedding_gain = 2.5  # of the matrix that is also the output's, where they are tied

    def format_of(self, name: str) -> str:
        return next((form for part, form in self.formats if part in name), self.format)

    def write(self, path: pathlib.Path) -> pathlib.Path:
        self.fill(TinyFile(path, self))
        return path

    def fill(self, file: TinyFile) -> None:
        """Keys, vocabulary and tensors, and closes the file."""
        file.add_keys(self.keys())
        file.add_tokenizer(self.vocabulary)
        file.matrix("token_embd", self.vocabulary, self.embedding, self.embedding_gain)
        if not self.tied:
            file.matrix("output", self.vocabulary, self.embedding, 2.5)
        file.norm("output_norm", self.embedding, 2.5 / self.embedding_gain if self.tied else 1.0)
        self.add_shared(file)
        for layer in range(self.layers):
            self.add_layer(file, layer)
        file.close()

    def keys(self) -> dict[str, object]:
        """What a file says about itself; an architecture changes, adds and removes."""
        return {
            "block_count": self.layers,
            "context_length": self.context,
            "embedding_length": self.embedding,
            "feed_forward_length": self.feed_forward,
            "attention.head_count": self.heads,
            "attention.head_count_kv": self.kv_heads,
            "attention.key_length": self.head_size,
            "attention.value_length": self.head_size,
            "attention.layer_norm_rms_epsilon": self.epsilon,
            "rope.freq_base": self.theta,
        }

    def add_shared(self, file: TinyFile) -> None:
        """Tensors of no layer, beyond embedding and output."""

    def add_layer(self, file: TinyFile, layer: int) -> None:
        raise NotImplementedError

    def add_attention(self, file: TinyFile, prefix: str) -> None:
        width, kv_width = self.heads * self.head_size, self.kv_heads * self.head_size
        file.matrix(prefix + "attn_q", width, self.embedding, 1)
        file.matrix(prefix + "attn_k", kv_width, self.embedding, 1)
        file.matrix(prefix + "attn_v", kv_width, self.embedding, 1)
        file.matrix(prefix + "attn_output", self.embedding, width, 1)

    def add_feed_forward(self, file: TinyFile, prefix: str, width: int, suffix: str = "", count: int = 0) -> None:
        """`count` for a stack of experts."""
        file.matrix(f"{prefix}ffn_gate{suffix}", width, self.embedding, 1.5, count)
        file.matrix(f"{prefix}ffn_up{suffix}", width, self.embedding, 1, count)
        file.matrix(f"{prefix}ffn_down{suffix}", self.embedding, width, 1, count)


@dataclasses.dataclass(frozen=True)
class TinyExperts:
    """The experts of a model that has them, used by mixing into its fields."""

    experts: int = 0  # 0: dense
    experts_used: int = 2
    expert_feed_forward: int = 32

    def expert_keys(self) -> dict[str, object]:
        if not self.experts:
            return {}
        return {
            "expert_count": self.experts,
            "expert_used_count": self.experts_used,
            "expert_feed_forward_length": self.expert_feed_forward,
        }
