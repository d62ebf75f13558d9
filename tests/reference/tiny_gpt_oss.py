"""Tiny files of `gpt-oss`."""

import dataclasses

from tiny_model import TinyExperts, TinyFile, TinyModel


@dataclasses.dataclass(frozen=True)
class TinyGptOss(TinyExperts, TinyModel):
    architecture: str = "gpt-oss"
    head_size: int = 32
    epsilon: float = 1e-5
    theta: float = 150000.0
    tied: bool = False
    experts: int = 4
    window: int = 16
    factor: float = 8.0
    original_context: int = 64

    def keys(self) -> dict[str, object]:
        return (
            super().keys()
            | self.expert_keys()
            | {
                "feed_forward_length": self.expert_feed_forward,
                "attention.sliding_window": self.window,
                "rope.scaling.type": "yarn",
                "rope.scaling.factor": self.factor,
                "rope.scaling.original_context_length": self.original_context,
            }
        )

    def add_layer(self, file: TinyFile, layer: int) -> None:
        prefix = f"blk.{layer}."
        file.norm(prefix + "attn_norm", self.embedding)
        self.add_attention(file, prefix)
        file.bias(prefix + "attn_q", self.heads * self.head_size)
        file.bias(prefix + "attn_k", self.kv_heads * self.head_size)
        file.bias(prefix + "attn_v", self.kv_heads * self.head_size)
        file.bias(prefix + "attn_output", self.embedding)
        file.values(prefix + "attn_sinks.weight", file.rng.normal(2, 1, self.heads))
        file.norm(prefix + "post_attention_norm", self.embedding)
        file.matrix(prefix + "ffn_gate_inp", self.experts, self.embedding, 2)
        file.bias(prefix + "ffn_gate_inp", self.experts)
        # Wide enough that the limit of 7 cuts some values on each side.
        width, count = self.expert_feed_forward, self.experts
        file.matrix(prefix + "ffn_gate_exps", width, self.embedding, 3.5, count)
        file.matrix(prefix + "ffn_up_exps", width, self.embedding, 3.5, count)
        file.matrix(prefix + "ffn_down_exps", self.embedding, width, 0.2, count)
        file.bias(prefix + "ffn_gate_exps", count, width)
        file.bias(prefix + "ffn_up_exps", count, width)
        file.bias(prefix + "ffn_down_exps", count, self.embedding)
