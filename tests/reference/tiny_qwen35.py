"""Tiny files of `qwen35` and `qwen35moe`, with a head that drafts (MTP)."""

import dataclasses

import numpy as np
from tiny_model import TinyExperts, TinyFile, TinyModel


@dataclasses.dataclass(frozen=True)
class TinyQwen35(TinyExperts, TinyModel):
    architecture: str = "qwen35"
    layers: int = 4  # of the trunk
    head_size: int = 32
    theta: float = 1e6
    interval: int = 4  # of full attention: the last of so many layers
    list_kinds: bool = True  # whether the file lists its layers' kinds, or only gives the interval
    taps: int = 4
    key_heads: int = 2
    value_heads: int = 4
    key_size: int = 16
    value_size: int = 16
    shared_feed_forward: int = 48  # where there are experts
    draft: bool = True
    draft_owns_output: bool = False  # whether the draft head has an embedding and an output matrix of its own
    draft_norm: bool = True

    def is_recurrent(self, layer: int) -> bool:
        return layer < self.layers and (layer + 1) % self.interval != 0

    def keys(self) -> dict[str, object]:
        rotated = self.head_size // 4
        third = rotated // 6
        keys = super().keys() | {
            "block_count": self.layers + self.draft,
            "rope.dimension_count": rotated,
            "rope.dimension_sections": [rotated // 2 - 2 * third, third, third, 0],
            "ssm.conv_kernel": self.taps,
            "ssm.state_size": self.key_size,
            "ssm.group_count": self.key_heads,
            "ssm.time_step_rank": self.value_heads,
            "ssm.inner_size": self.value_heads * self.value_size,
            "full_attention_interval": self.interval,
        }
        if self.draft:
            keys["nextn_predict_layers"] = 1
        if self.list_kinds:
            keys["attention.recurrent_layers"] = [self.is_recurrent(i) for i in range(keys["block_count"])]
        if self.experts:
            del keys["feed_forward_length"]
            keys |= self.expert_keys() | {"expert_shared_feed_forward_length": self.shared_feed_forward}
        return keys

    def add_shared(self, file: TinyFile) -> None:
        if not self.draft:
            return
        self.add_layer(file, self.layers)
        prefix = f"blk.{self.layers}.nextn."
        file.matrix(prefix + "eh_proj", self.embedding, 2 * self.embedding, 1)
        file.norm(prefix + "enorm", self.embedding)
        file.norm(prefix + "hnorm", self.embedding)
        if self.draft_norm:
            file.norm(prefix + "shared_head_norm", self.embedding)
        if self.draft_owns_output:
            file.matrix(prefix + "embed_tokens", self.vocabulary, self.embedding, 1)
            file.matrix(prefix + "shared_head_head", self.vocabulary, self.embedding, 2.5)

    def add_layer(self, file: TinyFile, layer: int) -> None:
        prefix = f"blk.{layer}."
        file.norm(prefix + "attn_norm", self.embedding)
        if self.is_recurrent(layer):
            self.add_delta_net(file, prefix)
        else:
            self.add_attention(file, prefix)
        file.norm(prefix + "post_attention_norm", self.embedding)
        if not self.experts:
            self.add_feed_forward(file, prefix, self.feed_forward)
            return
        file.matrix(prefix + "ffn_gate_inp", self.experts, self.embedding, 2)
        self.add_feed_forward(file, prefix, self.expert_feed_forward, "_exps", self.experts)
        file.matrix(prefix + "ffn_gate_inp_shexp", 1, self.embedding, 2)
        self.add_feed_forward(file, prefix, self.shared_feed_forward, "_shexp")

    def add_attention(self, file: TinyFile, prefix: str) -> None:
        width, kv_width = self.heads * self.head_size, self.kv_heads * self.head_size
        file.matrix(prefix + "attn_q", 2 * width, self.embedding, 1.5)
        file.matrix(prefix + "attn_k", kv_width, self.embedding, 1)
        file.matrix(prefix + "attn_v", kv_width, self.embedding, 1)
        file.matrix(prefix + "attn_output", self.embedding, width, 2)
        file.norm(prefix + "attn_q_norm", self.head_size, 1.2)
        file.norm(prefix + "attn_k_norm", self.head_size, 1.2)

    def add_delta_net(self, file: TinyFile, prefix: str) -> None:
        values = self.value_heads * self.value_size
        mixed = 2 * self.key_heads * self.key_size + values
        file.matrix(prefix + "attn_qkv", mixed, self.embedding, 2)
        file.matrix(prefix + "attn_gate", values, self.embedding, 1.5)
        file.matrix(prefix + "ssm_alpha", self.value_heads, self.embedding, 1)
        file.matrix(prefix + "ssm_beta", self.value_heads, self.embedding, 1.5)
        file.values(prefix + "ssm_conv1d.weight", file.rng.normal(0, 0.5, (mixed, self.taps)))
        # Decays of 0.5 to 0.99 a token: some heads forget at once, some remember the whole sequence.
        file.values(prefix + "ssm_dt.bias", file.rng.normal(-1, 0.5, self.value_heads))
        file.values(prefix + "ssm_a", -np.exp(file.rng.uniform(-3.5, 0.5, self.value_heads)))
        file.norm(prefix + "ssm_norm", self.value_size)
        file.matrix(prefix + "ssm_out", self.embedding, values, 2)
