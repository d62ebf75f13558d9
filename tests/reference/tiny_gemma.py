"""Tiny files of `gemma3` and `gemma4`."""

import dataclasses

import numpy as np
from tiny_model import TinyFile, TinyModel

NO_ROTATION = 1e30  # what a frequency is divided by that shall not turn


@dataclasses.dataclass(frozen=True)
class TinyGemma(TinyModel):
    theta: float = 1e6
    window: int = 16

    embedding_gain = 1  # embeddings are multiplied by the root of their size

    def keys(self) -> dict[str, object]:
        return super().keys() | {"attention.sliding_window": self.window}

    def add_layer(self, file: TinyFile, layer: int) -> None:
        prefix = f"blk.{layer}."
        file.norm(prefix + "attn_norm", self.embedding)
        self.add_attention_of(file, layer)
        file.norm(prefix + "post_attention_norm", self.embedding)
        file.norm(prefix + "ffn_norm", self.embedding)
        self.add_feed_forward(file, prefix, self.feed_forward)
        file.norm(prefix + "post_ffw_norm", self.embedding)


@dataclasses.dataclass(frozen=True)
class TinyGemma3(TinyGemma):
    architecture: str = "gemma3"
    layers: int = 7  # with a window: all but the sixth
    factor: float = 1.0  # of linear scaling, where there is no window

    def keys(self) -> dict[str, object]:
        keys = super().keys()
        if self.factor != 1.0:
            keys |= {"rope.scaling.type": "linear", "rope.scaling.factor": self.factor}
        return keys

    def add_attention_of(self, file: TinyFile, layer: int) -> None:
        prefix = f"blk.{layer}."
        self.add_attention(file, prefix)
        file.norm(prefix + "attn_q_norm", self.head_size, 1.2)
        file.norm(prefix + "attn_k_norm", self.head_size, 1.2)


@dataclasses.dataclass(frozen=True)
class TinyGemma4(TinyGemma):
    architecture: str = "gemma4"
    layers: int = 3  # the last without a window
    head_size: int = 32  # of layers without a window
    sliding_head_size: int = 16
    kv_heads: int = 1
    sliding_kv_heads: int = 2
    values_from_keys: bool = True  # in layers without a window
    softcap: float = 10.0

    def slides(self, layer: int) -> bool:
        return layer % 3 != 2

    def keys(self) -> dict[str, object]:
        sliding = [self.slides(layer) for layer in range(self.layers)]
        return super().keys() | {
            "attention.head_count_kv": [self.sliding_kv_heads if slides else self.kv_heads for slides in sliding],
            "attention.sliding_window_pattern": sliding,
            "attention.key_length_swa": self.sliding_head_size,
            "attention.value_length_swa": self.sliding_head_size,
            "rope.freq_base_swa": 10000.0,
            "rope.dimension_count": self.head_size,
            "rope.dimension_count_swa": self.sliding_head_size,
            "final_logit_softcapping": self.softcap,
            "attention.shared_kv_layers": 0,
            "embedding_length_per_layer_input": 0,
        }

    def add_shared(self, file: TinyFile) -> None:
        frequencies = self.head_size // 2
        turning = frequencies // 4
        file.values("rope_freqs.weight", np.where(np.arange(frequencies) < turning, 1, NO_ROTATION))

    def add_attention_of(self, file: TinyFile, layer: int) -> None:
        prefix, slides = f"blk.{layer}.", self.slides(layer)
        size, kv_heads = (self.sliding_head_size, self.sliding_kv_heads) if slides else (self.head_size, self.kv_heads)
        file.matrix(prefix + "attn_q", self.heads * size, self.embedding, 1)
        file.matrix(prefix + "attn_k", kv_heads * size, self.embedding, 1)
        if slides or not self.values_from_keys:
            file.matrix(prefix + "attn_v", kv_heads * size, self.embedding, 1)
        file.matrix(prefix + "attn_output", self.embedding, self.heads * size, 1)
        # Scores are not divided by the root of the head size.
        file.norm(prefix + "attn_q_norm", size, 1.2 * size**-0.25)
        file.norm(prefix + "attn_k_norm", size, 1.2 * size**-0.25)

    def add_layer(self, file: TinyFile, layer: int) -> None:
        super().add_layer(file, layer)
        file.values(f"blk.{layer}.layer_output_scale.weight", file.rng.uniform(0.5, 1.2, 1))
