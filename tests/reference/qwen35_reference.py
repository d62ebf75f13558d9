"""`qwen35` and `qwen35moe` (text), and their head that drafts the token after the next.

Yang et al., arXiv:2412.06464 (gated delta rule); Gloeckle et al., arXiv:2404.19737, and DeepSeek-AI, arXiv:2412.19437
(multi-token prediction).
"""

import numpy as np
from blocks import attend, rms_norm, sigmoid, silu
from decoder_reference import DecoderReference
from model_file import Array
from rotary import angles, axis_of_frequency, plain_frequencies, rotate

UNIT_EPSILON = 1e-6  # of the lengths of queries and keys; a constant of the model


def convolve(x: Array, taps: Array) -> Array:
    """Each channel by itself with its taps [channels, n]; the last is the current token's. Zeros before the start."""
    n = taps.shape[1]
    padded = np.concatenate([np.zeros((n - 1, x.shape[1])), x])
    return sum(padded[j : j + len(x)] * taps[:, j] for j in range(n))


def unit(x: Array) -> Array:
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + UNIT_EPSILON)


def delta_rule(queries: Array, keys: Array, values: Array, decays: Array, betas: Array) -> Array:
    """Token by token: the state of each head decays, corrects what it says about the key, and answers the query.

    queries, keys: [tokens, heads, key size]; values: [tokens, heads, value size]; decays, betas: [tokens, heads].
    """
    state = np.zeros((keys.shape[1], keys.shape[2], values.shape[2]))
    out = np.empty_like(values)
    for t in range(len(keys)):
        state *= decays[t, :, None, None]
        known = np.matmul(keys[t, :, None], state)[:, 0]
        correction = betas[t, :, None] * (values[t] - known)
        state += keys[t, :, :, None] * correction[:, None]
        out[t] = np.matmul(queries[t, :, None], state)[:, 0]
    return out


class Qwen35Reference(DecoderReference):
    def __init__(self, *args):
        super().__init__(*args)
        self.layers -= self.file.key("nextn_predict_layers", 0)
        self.frequencies = plain_frequencies(self.theta, self.rotated)
        self.axes = axis_of_frequency(self.file.key("rope.dimension_sections"), self.rotated // 2)
        self.key_heads = self.file.key("ssm.group_count")
        self.value_heads = self.file.key("ssm.time_step_rank")
        self.key_size = self.file.key("ssm.state_size")
        self.value_size = self.file.key("ssm.inner_size") // self.value_heads

    def draft_logits(self, ids: list[int]) -> Array:
        """Row i: from the state after token i, and token i + 1, about token i + 2. One row fewer than there are ids."""
        prefix = f"blk.{self.layers}."
        own = self.file.has_tensor
        embedding = prefix + "nextn.embed_tokens" if own(prefix + "nextn.embed_tokens.weight") else "token_embd"
        norm = prefix + "nextn.shared_head_norm" if own(prefix + "nextn.shared_head_norm.weight") else "output_norm"
        states = self.norm("output_norm", self.states(ids)[:-1])
        joined = np.concatenate(
            [
                self.norm(prefix + "nextn.enorm", self.file.tensor(embedding + ".weight", ids[1:])),
                self.norm(prefix + "nextn.hnorm", states),
            ],
            axis=-1,
        )
        hidden = self.linear(prefix + "nextn.eh_proj", joined)
        x = self.norm(norm, self.layer(self.layers, hidden, np.arange(len(hidden))))
        head = prefix + "nextn.shared_head_head"
        return self.linear(head, x) if own(head + ".weight") else self.output(x)

    def is_recurrent(self, index: int) -> bool:
        if self.file.has_key("attention.recurrent_layers"):
            return self.file.key("attention.recurrent_layers")[index]
        return index < self.layers and (index + 1) % self.file.key("full_attention_interval", 4) != 0

    def layer(self, index: int, hidden: Array, rows: Array) -> Array:
        prefix = f"blk.{index}."
        x = self.norm(prefix + "attn_norm", hidden)
        mixed = self.delta_net(prefix, x)[rows] if self.is_recurrent(index) else self.attention(prefix, x, rows)
        hidden = hidden[rows] + mixed
        return hidden + self.feed_forward(prefix, self.norm(prefix + "post_attention_norm", hidden))

    def attention(self, prefix: str, x: Array, rows: Array) -> Array:
        positions = np.tile(np.arange(len(x))[:, None], 3)
        turned = angles(positions[:, self.axes], self.frequencies)
        both = self.project(prefix + "attn_q", x[rows], self.heads, 2 * self.head_size)
        queries, gate = both[..., : self.head_size], both[..., self.head_size :]
        keys = self.project(prefix + "attn_k", x, self.kv_heads, self.head_size)
        values = self.project(prefix + "attn_v", x, self.kv_heads, self.head_size)
        queries = rotate(self.norm(prefix + "attn_q_norm", queries), turned[rows], adjacent=False)
        keys = rotate(self.norm(prefix + "attn_k_norm", keys), turned, adjacent=False)
        attended = attend(queries, keys, values, rows, self.head_size**-0.5)
        return self.linear(prefix + "attn_output", attended * sigmoid(gate.reshape(len(rows), -1)))

    def delta_net(self, prefix: str, x: Array) -> Array:
        tokens, key_width = len(x), self.key_heads * self.key_size
        mixed = silu(convolve(self.linear(prefix + "attn_qkv", x), self.file.tensor(prefix + "ssm_conv1d.weight")))
        queries, keys, values = np.split(mixed, [key_width, 2 * key_width], axis=-1)
        shape, key_of_value = (tokens, self.key_heads, self.key_size), np.arange(self.value_heads) % self.key_heads
        queries = unit(queries.reshape(shape))[:, key_of_value] * self.key_size**-0.5
        keys = unit(keys.reshape(shape))[:, key_of_value]
        values = values.reshape(tokens, self.value_heads, self.value_size)
        steps = np.logaddexp(0, self.linear(prefix + "ssm_alpha", x) + self.file.tensor(prefix + "ssm_dt.bias"))
        decays = np.exp(self.file.tensor(prefix + "ssm_a") * steps)
        out = delta_rule(queries, keys, values, decays, sigmoid(self.linear(prefix + "ssm_beta", x)))
        out = rms_norm(out, self.file.tensor(prefix + "ssm_norm.weight"), self.epsilon).reshape(tokens, -1)
        return self.linear(prefix + "ssm_out", out * silu(self.linear(prefix + "attn_gate", x)))

    def feed_forward(self, prefix: str, x: Array) -> Array:
        if not self.file.has_tensor(prefix + "ffn_gate_inp.weight"):
            return self.gated(prefix, x)
        scores = self.linear(prefix + "ffn_gate_inp", x)
        shared = self.linear(prefix + "ffn_gate_inp_shexp", x).reshape(-1, 1)
        return self.experts(prefix, x, scores, self.gated_expert) + sigmoid(shared) * self.gated(prefix, x, "_shexp")
