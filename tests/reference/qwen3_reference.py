"""`qwen3`, `qwen3moe`, and the text parts of `qwen3vl` and `qwen3vlmoe`. Qwen team, arXiv:2505.09388."""

import numpy as np
from blocks import attend
from decoder_reference import DecoderReference
from model_file import Array
from rotary import angles, axis_of_frequency, plain_frequencies, rotate


class Qwen3Reference(DecoderReference):
    def __init__(self, *args):
        super().__init__(*args)
        self.frequencies = plain_frequencies(self.theta, self.rotated)
        sections = self.file.key("rope.dimension_sections", [0, 0, 0, 0])
        self.axes = axis_of_frequency(sections, self.rotated // 2)

    def layer(self, index: int, hidden: Array, rows: Array) -> Array:
        prefix = f"blk.{index}."
        hidden = hidden[rows] + self.attention(prefix, self.norm(prefix + "attn_norm", hidden), rows)
        return hidden + self.feed_forward(prefix, self.norm(prefix + "ffn_norm", hidden))

    def attention(self, prefix: str, x: Array, rows: Array) -> Array:
        positions = np.tile(np.arange(len(x))[:, None], 3)  # time, row and column of text are one number
        turned = angles(positions[:, self.axes], self.frequencies)
        queries = self.project(prefix + "attn_q", x[rows], self.heads, self.head_size)
        keys = self.project(prefix + "attn_k", x, self.kv_heads, self.head_size)
        values = self.project(prefix + "attn_v", x, self.kv_heads, self.head_size)
        queries = rotate(self.norm(prefix + "attn_q_norm", queries), turned[rows], adjacent=False)
        keys = rotate(self.norm(prefix + "attn_k_norm", keys), turned, adjacent=False)
        return self.linear(prefix + "attn_output", attend(queries, keys, values, rows, self.head_size**-0.5))

    def feed_forward(self, prefix: str, x: Array) -> Array:
        if not self.file.has_tensor(prefix + "ffn_gate_inp.weight"):
            return self.gated(prefix, x)
        return self.experts(prefix, x, self.linear(prefix + "ffn_gate_inp", x), self.gated_expert)
