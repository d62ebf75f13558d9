"""`gpt-oss`. OpenAI, "gpt-oss-120b & gpt-oss-20b Model Card", arXiv:2508.10925, and the published model code."""

import numpy as np
from blocks import attend, sigmoid
from decoder_reference import DecoderReference
from model_file import Array
from rotary import angles, rotate, yarn

LIMIT = 7.0  # of gates from above, of the other half from both sides
STEEPNESS = 1.702


class GptOssReference(DecoderReference):
    def __init__(self, *args):
        super().__init__(*args)
        self.frequencies, self.magnitude = yarn(self.file, self.theta, self.rotated, whole_boundaries=False)

    def layer(self, index: int, hidden: Array, rows: Array) -> Array:
        prefix = f"blk.{index}."
        window = self.file.key("attention.sliding_window") if index % 2 == 0 else None
        hidden = hidden[rows] + self.attention(prefix, self.norm(prefix + "attn_norm", hidden), rows, window)
        x = self.norm(prefix + "post_attention_norm", hidden)  # in front of the experts, despite its name
        return hidden + self.experts(prefix, x, self.linear(prefix + "ffn_gate_inp", x), self.clamped_expert)

    def attention(self, prefix: str, x: Array, rows: Array, window: int | None) -> Array:
        turned = angles(np.arange(len(x)), self.frequencies)
        queries = self.project(prefix + "attn_q", x[rows], self.heads, self.head_size)
        keys = self.project(prefix + "attn_k", x, self.kv_heads, self.head_size)
        values = self.project(prefix + "attn_v", x, self.kv_heads, self.head_size)
        queries = rotate(queries, turned[rows], False, self.magnitude)
        keys = rotate(keys, turned, False, self.magnitude)
        sinks = self.file.tensor(prefix + "attn_sinks.weight")
        attended = attend(queries, keys, values, rows, self.head_size**-0.5, window, sinks)
        return self.linear(prefix + "attn_output", attended)

    def clamped_expert(self, prefix: str, x: Array, number: int) -> Array:
        gate = np.minimum(self.linear(prefix + "ffn_gate_exps", x, number), LIMIT)
        up = np.clip(self.linear(prefix + "ffn_up_exps", x, number), -LIMIT, LIMIT)
        return self.linear(prefix + "ffn_down_exps", gate * sigmoid(STEEPNESS * gate) * (up + 1), number)
