"""What all references share: embed tokens, go through layers, norm, output matrix."""

from collections.abc import Callable

import numpy as np
from blocks import rms_norm, silu
from model_file import Array, ModelFile

Rounding = Callable[[Array], Array]


class DecoderReference:
    """The forward pass of a file; an architecture derives from it and says what a layer is.

    `rounding`, if given, is applied to what each product with a quantised matrix takes in, as devices do that multiply
    integers.
    """

    activation = staticmethod(silu)
    embedding_scale = 1.0

    def __init__(self, file: ModelFile, rounding: Rounding | None = None):
        self.file, self.rounding = file, rounding
        self.layers = file.key("block_count")
        self.embedding = file.key("embedding_length")
        self.heads = file.key("attention.head_count")
        self.kv_heads = file.key("attention.head_count_kv", self.heads)
        self.head_size = file.key("attention.key_length", self.embedding // self.heads)
        self.rotated = file.key("rope.dimension_count", self.head_size)
        self.theta = file.key("rope.freq_base", 10000.0)
        self.epsilon = file.key("attention.layer_norm_rms_epsilon")

    def states(self, ids: list[int], rows: Array | None = None) -> Array:
        """What the last layer leaves at the positions `rows`, ascending (all if absent): [rows, embedding]."""
        everything = np.arange(len(ids))
        hidden = self.file.tensor("token_embd.weight", ids) * self.embedding_scale
        for index in range(self.layers):
            last = index == self.layers - 1
            hidden = self.layer(index, hidden, rows if last and rows is not None else everything)
        return hidden

    def logits(self, ids: list[int], rows: Array | None = None) -> Array:
        """Logits after the tokens at `rows` (all if absent): [rows, vocabulary]."""
        return self.cap(self.output(self.norm("output_norm", self.states(ids, rows))))

    def layer(self, index: int, hidden: Array, rows: Array) -> Array:
        """From all positions to `rows` of them."""
        raise NotImplementedError

    def cap(self, logits: Array) -> Array:
        return logits

    def output(self, x: Array) -> Array:
        return self.linear("output" if self.file.has_tensor("output.weight") else "token_embd", x)

    def linear(self, name: str, x: Array, matrix=...) -> Array:
        """x times `name`.weight, or matrix number `matrix` of such a stack, plus `name`.bias if there is one."""
        if self.rounding and self.file.is_quantised(name + ".weight"):
            x = self.rounding(x)
        product = x @ self.file.tensor(name + ".weight", matrix).T
        return product + self.file.tensor(name + ".bias", matrix) if self.file.has_tensor(name + ".bias") else product

    def norm(self, name: str, x: Array) -> Array:
        return rms_norm(x, self.file.tensor(name + ".weight"), self.epsilon)

    def project(self, name: str, x: Array, heads: int, size: int) -> Array:
        return self.linear(name, x).reshape(len(x), heads, size)

    def gated(self, prefix: str, x: Array, suffix: str = "") -> Array:
        """The gated feed-forward block (Shazeer, arXiv:2002.05202)."""
        gate, up = (self.linear(f"{prefix}ffn_{part}{suffix}", x) for part in ("gate", "up"))
        return self.linear(f"{prefix}ffn_down{suffix}", self.activation(gate) * up)

    def experts(self, prefix: str, x: Array, scores: Array, expert: Callable[[str, Array, int], Array]) -> Array:
        """The sum of the `expert_used_count` best experts of each row, weighted by the softmax over their scores (which
        is the softmax over all, cut and made to sum to 1). Shazeer et al., arXiv:1701.06538."""
        best = np.argsort(-scores, axis=-1, kind="stable")[:, : self.file.key("expert_used_count")]
        weights = np.exp(np.take_along_axis(scores, best, -1) - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        out = np.zeros_like(x)
        for number in range(scores.shape[1]):
            row, place = np.nonzero(best == number)
            if len(row):
                out[row] += weights[row, place, None] * expert(prefix, x[row], number)
        return out

    def gated_expert(self, prefix: str, x: Array, number: int) -> Array:
        gate, up = (self.linear(f"{prefix}ffn_{part}_exps", x, number) for part in ("gate", "up"))
        return self.linear(f"{prefix}ffn_down_exps", self.activation(gate) * up, number)
