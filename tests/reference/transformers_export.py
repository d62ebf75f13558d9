"""Writes a model of `transformers` as a GGUF file: names, order of rows, and what files hold ready-made.

Names and layouts as in gguf-py of github.com/ggml-org/llama.cpp, MODEL_TENSORS.
"""

import pathlib
import re

import numpy as np
from tiny_gemma import NO_ROTATION
from tiny_llama import llama3_divisors
from tiny_model import TinyFile, TinyModel
from transformers_models import Twin, is_zero_centred, tensors_of

Tensors = dict[str, np.ndarray]

TOP = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}
DRAFT = {
    "fc": "nextn.eh_proj", "pre_fc_norm_embedding": "nextn.enorm", "pre_fc_norm_hidden": "nextn.hnorm",
    "norm": "nextn.shared_head_norm", "embed_tokens": "nextn.embed_tokens", "lm_head": "nextn.shared_head_head",
}  # fmt: skip
# Within a layer, without .weight or .bias.
LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.gate": "ffn_gate_inp", "mlp.router": "ffn_gate_inp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp",
    "linear_attn.in_proj_qkv": "attn_qkv", "linear_attn.in_proj_z": "attn_gate", "linear_attn.in_proj_a": "ssm_alpha",
    "linear_attn.in_proj_b": "ssm_beta", "linear_attn.conv1d": "ssm_conv1d", "linear_attn.norm": "ssm_norm",
    "linear_attn.out_proj": "ssm_out",
}  # fmt: skip
# Names that end otherwise, and the whole name in the file.
SINGLE = {
    "self_attn.sinks": "attn_sinks.weight", "layer_scalar": "layer_output_scale.weight",
    "linear_attn.dt_bias": "ssm_dt.bias", "linear_attn.A_log": "ssm_a",
}  # fmt: skip
# Families whose second norm of a layer is named by its place in the file as well.
POST_ATTENTION = {"gpt-oss", "qwen35", "qwen35moe", "gemma3", "gemma4"}


def adjacent_pairs(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rotary pairs (i, i + n) of each head become (2i, 2i + 1)."""
    split = rows.reshape(heads, 2, -1, *rows.shape[1:])
    return split.swapaxes(1, 2).reshape(rows.shape)


def regroup_value_heads(shape: TinyModel, rows: np.ndarray, size: int) -> np.ndarray:
    """Value heads j of key head j // n are stored at j % n: files expect key head j % key_heads."""
    grouped = rows.reshape(shape.key_heads, shape.value_heads // shape.key_heads, size, *rows.shape[1:])
    return grouped.swapaxes(0, 1).reshape(rows.shape)


def export_delta_net(shape: TinyModel, name: str, array: np.ndarray) -> np.ndarray:
    if name == "ssm_a":
        return regroup_value_heads(shape, -np.exp(array), 1)
    if name in ("ssm_dt.bias", "ssm_alpha.weight", "ssm_beta.weight"):
        return regroup_value_heads(shape, array, 1)
    if name == "attn_gate.weight":
        return regroup_value_heads(shape, array, shape.value_size)
    if name == "ssm_out.weight":
        return regroup_value_heads(shape, array.T, shape.value_size).T
    if name in ("attn_qkv.weight", "ssm_conv1d.weight"):
        keys = 2 * shape.key_heads * shape.key_size
        rows = array.reshape(len(array), -1)
        return np.concatenate([rows[:keys], regroup_value_heads(shape, rows[keys:], shape.value_size)])
    return array


def export_experts(shape: TinyModel, name: str, array: np.ndarray) -> Tensors:
    """Gate and up are one stack there: interleaved and with inputs first in gpt-oss, else one behind the other."""
    suffix = "bias" if name.endswith("_bias") else "weight"
    if shape.architecture == "gpt-oss" and suffix == "weight":
        array = array.swapaxes(1, 2)
    if "down_proj" in name:
        return {f"ffn_down_exps.{suffix}": array}
    halves = np.split(array, 2, axis=1)
    gate, up = (array[:, 0::2], array[:, 1::2]) if shape.architecture == "gpt-oss" else halves
    return {f"ffn_gate_exps.{suffix}": gate, f"ffn_up_exps.{suffix}": up}


def export_layer_tensor(shape: TinyModel, name: str, array: np.ndarray) -> Tensors:
    """A tensor of a layer, by its names without the layer's."""
    if ".experts." in name:
        return export_experts(shape, name, array)
    if name in SINGLE:
        target = SINGLE[name]
    else:
        part, suffix = name.rsplit(".", 1)
        second_norm = "post_attention_norm" if shape.architecture in POST_ATTENTION else "ffn_norm"
        target = f"{second_norm if part == 'post_attention_layernorm' else LAYER[part]}.{suffix}"
    if shape.architecture in ("llama", "mistral3") and target in ("attn_q.weight", "attn_k.weight"):
        array = adjacent_pairs(array, shape.heads if target == "attn_q.weight" else shape.kv_heads)
    if name.startswith("linear_attn."):
        array = export_delta_net(shape, target, array)
    return {target: array}


def export_tensors(twin: Twin) -> Tensors:
    shape, out = twin.shape, {}

    def add(module, first_layer: int, others: dict[str, str]) -> None:
        for name, tensor in tensors_of(module).items():
            if "visual." in name:
                continue
            array = tensor.detach().numpy()
            if is_zero_centred(shape.architecture, name):
                array = array + 1
            layer = re.search(r"layers\.(\d+)\.(.*)", name)
            if layer:
                prefix = f"blk.{first_layer + int(layer[1])}."
                exported = export_layer_tensor(shape, layer[2], array)
                out.update({prefix + part: values for part, values in exported.items()})
            else:
                part, suffix = name.split(".")[-2:]
                out[f"{others[part]}.{suffix}"] = array

    add(twin.model, 0, TOP)
    if twin.draft is not None:
        add(twin.draft, shape.layers, {part: f"blk.{shape.layers}.{name}" for part, name in DRAFT.items()})
    if getattr(shape, "llama3_rope", False):
        out["rope_freqs.weight"] = llama3_divisors(shape.head_size, shape.theta)
    if shape.architecture == "gemma4":
        frequencies = np.arange(shape.head_size // 2)
        out["rope_freqs.weight"] = np.where(frequencies < len(frequencies) // 4, 1, NO_ROTATION)
    return out


def export(twin: Twin, path: pathlib.Path) -> pathlib.Path:
    file = TinyFile(path, twin.shape)
    file.add_keys(twin.shape.keys())
    file.add_tokenizer(twin.shape.vocabulary)
    for name, array in export_tensors(twin).items():
        file.values(name, np.ascontiguousarray(array))
    file.close()
    return path
