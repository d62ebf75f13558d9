"""Tiny files of `qwen3`, `qwen3moe`, `qwen3vl` and `qwen3vlmoe`."""

import dataclasses

from tiny_model import TinyExperts, TinyFile, TinyModel


@dataclasses.dataclass(frozen=True)
class TinyQwen3(TinyExperts, TinyModel):
    architecture: str = "qwen3"
    theta: float = 1e6
    sections: tuple[int, ...] = ()  # of rotary frequencies, in the VL models

    def keys(self) -> dict[str, object]:
        keys = super().keys() | self.expert_keys()
        if self.sections:
            keys |= {"rope.dimension_sections": list(self.sections), "n_deepstack_layers": 1}
        return keys

    def add_layer(self, file: TinyFile, layer: int) -> None:
        prefix = f"blk.{layer}."
        file.norm(prefix + "attn_norm", self.embedding)
        self.add_attention(file, prefix)
        file.norm(prefix + "attn_q_norm", self.head_size, 1.2)
        file.norm(prefix + "attn_k_norm", self.head_size, 1.2)
        file.norm(prefix + "ffn_norm", self.embedding)
        if self.experts:
            file.matrix(prefix + "ffn_gate_inp", self.experts, self.embedding, 2)
            self.add_feed_forward(file, prefix, self.expert_feed_forward, "_exps", self.experts)
        else:
            self.add_feed_forward(file, prefix, self.feed_forward)
