"""Tiny files of `llama` and `mistral3`."""

import dataclasses

import numpy as np
from tiny_model import TinyFile, TinyModel


def llama3_divisors(size: int, theta: float) -> np.ndarray:
    """What Llama 3.1 divides rotary frequencies by, for its factor 8 and bounds 1 and 4, but an original context of 64
    tokens, so that short sequences reach all three cases: long waves slowed, short ones not, some in between."""
    factor, low, high, original = 8.0, 1.0, 4.0, 64.0
    wavelengths = 2 * np.pi * theta ** (np.arange(0, size, 2) / size)
    smooth = (original / wavelengths - low) / (high - low)
    between = 1 / ((1 - smooth) / factor + smooth)
    return np.where(wavelengths < original / high, 1, np.where(wavelengths > original / low, factor, between))


@dataclasses.dataclass(frozen=True)
class TinyLlama(TinyModel):
    architecture: str = "llama"
    epsilon: float = 1e-5
    llama3_rope: bool = False

    def keys(self) -> dict[str, object]:
        keys = super().keys() | {"rope.dimension_count": self.head_size, "vocab_size": self.vocabulary}
        if self.head_size == self.embedding // self.heads:  # as older files leave them out
            del keys["attention.key_length"], keys["attention.value_length"]
        return keys

    def add_shared(self, file: TinyFile) -> None:
        if self.llama3_rope:
            file.values("rope_freqs.weight", llama3_divisors(self.head_size, self.theta))

    def add_layer(self, file: TinyFile, layer: int) -> None:
        prefix = f"blk.{layer}."
        file.norm(prefix + "attn_norm", self.embedding)
        self.add_attention(file, prefix)
        file.norm(prefix + "ffn_norm", self.embedding)
        self.add_feed_forward(file, prefix, self.feed_forward)


@dataclasses.dataclass(frozen=True)
class TinyMistral3(TinyLlama):
    architecture: str = "mistral3"
    factor: float = 16.0
    original_context: int = 64  # so that short sequences reach every temperature and YaRN turns most frequencies
    log_multiplier: float = 1.0  # 0: no such key
    temperature_scale: float = 0.1  # 0: no such key

    def keys(self) -> dict[str, object]:
        keys = super().keys() | {
            "rope.scaling.type": "yarn",
            "rope.scaling.factor": self.factor,
            "rope.scaling.original_context_length": self.original_context,
            "rope.scaling.yarn_beta_fast": 32.0,
            "rope.scaling.yarn_beta_slow": 1.0,
        }
        if self.log_multiplier:
            keys["rope.scaling.yarn_log_multiplier"] = self.log_multiplier
        if self.temperature_scale:
            keys["attention.temperature_scale"] = self.temperature_scale
        return keys
