"""`gemma3` and `gemma4` (text; the dense models without per-layer embeddings). Gemma team, arXiv:2503.19786."""

import numpy as np
from blocks import attend, gelu_tanh, rms_norm
from decoder_reference import DecoderReference
from model_file import Array
from rotary import angles, plain_frequencies, rotate, rounded


class GemmaReference(DecoderReference):
    """Norms before and behind each block, windows on most layers, and other rotary frequencies there."""

    activation = staticmethod(gelu_tanh)

    def __init__(self, *args):
        super().__init__(*args)
        self.embedding_scale = np.sqrt(self.embedding)

    def slides(self, index: int) -> bool:
        raise NotImplementedError

    def layer_kind(self, index: int) -> tuple[int, int, Array]:
        """Key/value heads, head size and frequencies."""
        raise NotImplementedError

    def layer(self, index: int, hidden: Array, rows: Array) -> Array:
        prefix = f"blk.{index}."
        attended = self.attention(index, self.norm(prefix + "attn_norm", hidden), rows)
        hidden = hidden[rows] + self.norm(prefix + "post_attention_norm", attended)
        result = self.gated(prefix, self.norm(prefix + "ffn_norm", hidden))
        return hidden + self.norm(prefix + "post_ffw_norm", result)

    def attention(self, index: int, x: Array, rows: Array) -> Array:
        prefix = f"blk.{index}."
        kv_heads, size, frequencies = self.layer_kind(index)
        turned = angles(np.arange(len(x)), frequencies)
        queries = self.norm(prefix + "attn_q_norm", self.project(prefix + "attn_q", x[rows], self.heads, size))
        projected = self.project(prefix + "attn_k", x, kv_heads, size)
        keys = self.norm(prefix + "attn_k_norm", projected)
        values = self.values(prefix, x, projected)
        queries, keys = rotate(queries, turned[rows], adjacent=False), rotate(keys, turned, adjacent=False)
        window = self.file.key("attention.sliding_window") if self.slides(index) else None
        attended = attend(queries, keys, values, rows, self.score_scale(), window)
        return self.linear(prefix + "attn_output", attended)


class Gemma3Reference(GemmaReference):
    def slides(self, index: int) -> bool:
        return (index + 1) % 6 != 0

    def layer_kind(self, index: int) -> tuple[int, int, Array]:
        theta, factor = self.theta, 1.0
        if self.slides(index):
            theta = 10000.0
        elif self.file.key("rope.scaling.type", "none") == "linear":
            factor = self.file.key("rope.scaling.factor")
        return self.kv_heads, self.head_size, rounded(plain_frequencies(theta, self.head_size) / factor)

    def values(self, prefix: str, x: Array, _: Array) -> Array:
        return self.project(prefix + "attn_v", x, self.kv_heads, self.head_size)

    def score_scale(self) -> float:
        return self.head_size**-0.5


class Gemma4Reference(GemmaReference):
    def slides(self, index: int) -> bool:
        return self.file.key("attention.sliding_window_pattern")[index]

    def layer_kind(self, index: int) -> tuple[int, int, Array]:
        kv_heads = self.kv_heads[index] if isinstance(self.kv_heads, list) else self.kv_heads
        if self.slides(index):
            size = self.file.key("attention.key_length_swa")
            return kv_heads, size, plain_frequencies(self.file.key("rope.freq_base_swa"), size)
        frequencies = plain_frequencies(self.theta, self.head_size) / self.file.tensor("rope_freqs.weight")
        return kv_heads, self.head_size, rounded(frequencies)

    def values(self, prefix: str, x: Array, projected_keys: Array) -> Array:
        """Each head normed, without a weight; made from the keys, not yet normed, where the layer has no matrix for it."""
        if not self.file.has_tensor(prefix + "attn_v.weight"):
            return rms_norm(projected_keys, 1.0, self.epsilon)
        return rms_norm(self.project(prefix + "attn_v", x, *projected_keys.shape[1:]), 1.0, self.epsilon)

    def score_scale(self) -> float:
        return 1.0

    def layer(self, index: int, hidden: Array, rows: Array) -> Array:
        return super().layer(index, hidden, rows) * self.file.tensor(f"blk.{index}.layer_output_scale.weight")

    def cap(self, logits: Array) -> Array:
        limit = self.file.key("final_logit_softcapping")
        return limit * np.tanh(logits / limit)
