"""`llama` and `mistral3`. Touvron et al., arXiv:2307.09288; Llama team, arXiv:2407.21783."""

import numpy as np
from blocks import attend
from decoder_reference import DecoderReference
from model_file import Array
from rotary import angles, plain_frequencies, rotate, rounded, yarn


class LlamaReference(DecoderReference):
    def __init__(self, *args):
        super().__init__(*args)
        self.frequencies, self.magnitude = plain_frequencies(self.theta, self.rotated), 1.0
        if self.file.key("rope.scaling.type", "none") == "yarn":
            self.frequencies, self.magnitude = yarn(self.file, self.theta, self.rotated, whole_boundaries=True)
        if self.file.has_tensor("rope_freqs.weight"):
            self.frequencies = rounded(self.frequencies / self.file.tensor("rope_freqs.weight"))

    def layer(self, index: int, hidden: Array, rows: Array) -> Array:
        prefix = f"blk.{index}."
        hidden = hidden[rows] + self.attention(prefix, self.norm(prefix + "attn_norm", hidden), rows)
        return hidden + self.gated(prefix, self.norm(prefix + "ffn_norm", hidden))

    def attention(self, prefix: str, x: Array, rows: Array) -> Array:
        turned = angles(np.arange(len(x)), self.frequencies)
        queries = self.project(prefix + "attn_q", x[rows], self.heads, self.head_size)
        keys = self.project(prefix + "attn_k", x, self.kv_heads, self.head_size)
        values = self.project(prefix + "attn_v", x, self.kv_heads, self.head_size)
        queries = rotate(queries, turned[rows], True, self.magnitude) * self.temperature(rows)[:, None, None]
        keys = rotate(keys, turned, True, self.magnitude)
        return self.linear(prefix + "attn_output", attend(queries, keys, values, rows, self.head_size**-0.5))

    def temperature(self, positions: Array) -> Array:
        """What Ministral multiplies queries by, so that attention stays sharp over long texts."""
        if not self.file.has_key("attention.temperature_scale"):
            return np.ones(len(positions))
        original = self.file.key("rope.scaling.original_context_length")
        return 1 + self.file.key("attention.temperature_scale") * np.log(1 + positions // original)
