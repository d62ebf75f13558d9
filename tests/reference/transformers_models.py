"""Models of the `transformers` package in the shapes of the tiny files, with random weights.

Weights are drawn so that every part matters, with the deviations of tiny_model.py: the defaults of the package give
nearly uniform attention and logits near zero, under which most mistakes would hide.
"""

import re

import numpy as np
import torch
import transformers as hf
from tiny_gemma import TinyGemma3, TinyGemma4
from tiny_gpt_oss import TinyGptOss
from tiny_llama import TinyLlama, TinyMistral3
from tiny_model import TinyModel
from tiny_qwen3 import TinyQwen3
from tiny_qwen35 import TinyQwen35
from transformers_draft import DraftHead

hf.logging.set_verbosity_error()  # it warns of what is meant: short original contexts, kernels that are not installed

# A vision tower as small as the package allows; no picture ever reaches it.
VISION = {
    "depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 1, "num_position_embeddings": 4,
    "deepstack_visual_indexes": [0],
}  # fmt: skip

# Deviation of what a matrix makes of inputs of deviation 1, by the end of its name; the first that fits.
GAINS = [
    (r"mlp\.gate\.weight|router\.weight|shared_expert_gate\.weight", 2),
    (r"lm_head\.weight", 2.5),
    (r"in_proj_(qkv)\.weight|linear_attn\.out_proj\.weight", 2),
    (r"in_proj_(z|b)\.weight|gate_proj\.weight|gate_up_proj", 1.5),
    (r"", 1),
]


def common(shape: TinyModel) -> dict[str, object]:
    return {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.embedding,
        "intermediate_size": shape.feed_forward,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_size,
        "max_position_embeddings": shape.context,
        "rms_norm_eps": shape.epsilon,
        "tie_word_embeddings": shape.tied,
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": None,
    }


def experts(shape: TinyModel) -> dict[str, object]:
    if not shape.experts:
        return {}
    return {
        "num_experts": shape.experts,
        "num_experts_per_tok": shape.experts_used,
        "moe_intermediate_size": shape.expert_feed_forward,
    }


def plain_rope(shape: TinyModel) -> dict[str, object]:
    return {"rope_type": "default", "rope_theta": shape.theta}


def make_llama(shape: TinyLlama):
    rope = plain_rope(shape)
    if shape.llama3_rope:
        rope |= {
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        }  # fmt: skip
    return hf.LlamaForCausalLM(hf.LlamaConfig(**common(shape), rope_parameters=rope))


def make_mistral(shape: TinyLlama):
    config = hf.MistralConfig(**common(shape), rope_parameters=plain_rope(shape), sliding_window=None)
    return hf.MistralForCausalLM(config)


def make_mistral3(shape: TinyMistral3):
    rope = {
        "rope_type": "yarn", "rope_theta": shape.theta, "factor": shape.factor, "beta_fast": 32.0, "beta_slow": 1.0,
        "original_max_position_embeddings": shape.original_context, "llama_4_scaling_beta": shape.temperature_scale,
    }  # fmt: skip
    if shape.log_multiplier:
        rope |= {"mscale": 1.0, "mscale_all_dim": shape.log_multiplier}
    return hf.Ministral3ForCausalLM(hf.Ministral3Config(**common(shape), rope_parameters=rope))


def make_qwen3(shape: TinyQwen3):
    return hf.Qwen3ForCausalLM(hf.Qwen3Config(**common(shape), rope_parameters=plain_rope(shape)))


def make_qwen3moe(shape: TinyQwen3):
    config = hf.Qwen3MoeConfig(
        **common(shape), **experts(shape), rope_parameters=plain_rope(shape), norm_topk_prob=True
    )
    return hf.Qwen3MoeForCausalLM(config)


def vision_language(shape: TinyQwen3, config_class, model_class):
    rope = plain_rope(shape) | {"mrope_section": list(shape.sections[:3]), "mrope_interleaved": True}
    text = common(shape) | experts(shape) | {"rope_parameters": rope}
    vision = VISION | {"out_hidden_size": shape.embedding}
    return model_class(config_class(text_config=text, vision_config=vision, tie_word_embeddings=shape.tied))


def make_qwen3vl(shape: TinyQwen3):
    return vision_language(shape, hf.Qwen3VLConfig, hf.Qwen3VLForConditionalGeneration)


def make_qwen3vlmoe(shape: TinyQwen3):
    return vision_language(shape, hf.Qwen3VLMoeConfig, hf.Qwen3VLMoeForConditionalGeneration)


def make_gpt_oss(shape: TinyGptOss):
    rope = {
        "rope_type": "yarn", "rope_theta": shape.theta, "factor": shape.factor, "beta_fast": 32.0, "beta_slow": 1.0,
        "original_max_position_embeddings": shape.original_context, "truncate": False,
    }  # fmt: skip
    fields = common(shape) | {"intermediate_size": shape.expert_feed_forward, "sliding_window": shape.window}
    config = hf.GptOssConfig(
        **fields, num_local_experts=shape.experts, num_experts_per_tok=shape.experts_used, rope_parameters=rope
    )
    return hf.GptOssForCausalLM(config)


def qwen35_fields(shape: TinyQwen35) -> dict[str, object]:
    kinds = ["linear_attention" if shape.is_recurrent(i) else "full_attention" for i in range(shape.layers)]
    rope = plain_rope(shape) | {
        "partial_rotary_factor": 0.25,
        "mrope_section": shape.keys()["rope.dimension_sections"][:3],
        "mrope_interleaved": True,
    }
    return common(shape) | {
        "layer_types": kinds,
        "rope_parameters": rope,
        "linear_conv_kernel_dim": shape.taps,
        "linear_key_head_dim": shape.key_size,
        "linear_value_head_dim": shape.value_size,
        "linear_num_key_heads": shape.key_heads,
        "linear_num_value_heads": shape.value_heads,
    }


def make_qwen35(shape: TinyQwen35):
    return hf.Qwen3_5ForCausalLM(hf.Qwen3_5TextConfig(**qwen35_fields(shape)))


def make_qwen35moe(shape: TinyQwen35):
    fields = qwen35_fields(shape) | experts(shape)
    del fields["intermediate_size"]
    config = hf.Qwen3_5MoeTextConfig(**fields, shared_expert_intermediate_size=shape.shared_feed_forward)
    return hf.Qwen3_5MoeForCausalLM(config)


def make_gemma3(shape: TinyGemma3):
    full = plain_rope(shape)
    if shape.factor != 1.0:
        full |= {"rope_type": "linear", "factor": shape.factor}
    sliding = {"rope_type": "default", "rope_theta": 10000.0}
    config = hf.Gemma3TextConfig(
        **common(shape), query_pre_attn_scalar=shape.head_size, sliding_window=shape.window,
        rope_parameters={"full_attention": full, "sliding_attention": sliding},
    )  # fmt: skip
    return hf.Gemma3ForCausalLM(config)


def make_gemma4(shape: TinyGemma4):
    slides = [shape.slides(i) for i in range(shape.layers)]
    sliding = {"rope_type": "default", "rope_theta": 10000.0}
    full = {"rope_type": "proportional", "rope_theta": shape.theta, "partial_rotary_factor": 0.25}
    full_shape = {"head_dim": shape.head_size, "num_key_value_heads": shape.kv_heads}
    fields = common(shape) | {"head_dim": shape.sliding_head_size, "num_key_value_heads": shape.sliding_kv_heads}
    config = hf.Gemma4UnifiedTextConfig(
        **fields, sliding_window=shape.window, final_logit_softcapping=shape.softcap,
        layer_types=["sliding_attention" if kind else "full_attention" for kind in slides],
        per_layer_config={i: full_shape for i, kind in enumerate(slides) if not kind},
        attention_k_eq_v=shape.values_from_keys, num_kv_shared_layers=0,
        rope_parameters={"full_attention": full, "sliding_attention": sliding},
    )  # fmt: skip
    return hf.Gemma4UnifiedForCausalLM(config)


MAKERS = {
    "llama": make_llama, "mistral": make_mistral, "mistral3": make_mistral3, "qwen3": make_qwen3,
    "qwen3moe": make_qwen3moe, "qwen3vl": make_qwen3vl, "qwen3vlmoe": make_qwen3vlmoe, "gpt-oss": make_gpt_oss,
    "qwen35": make_qwen35, "qwen35moe": make_qwen35moe, "gemma3": make_gemma3, "gemma4": make_gemma4,
}  # fmt: skip


def is_norm(name: str) -> bool:
    return re.search(r"norm[^.]*\.weight$", name) is not None


def is_zero_centred(architecture: str, name: str) -> bool:
    """Whether a norm multiplies by 1 more than its weight."""
    if architecture.startswith("qwen35"):
        return is_norm(name) and "linear_attn.norm" not in name
    return architecture == "gemma3" and is_norm(name)


def draw_norm(rng: np.random.Generator, shape: TinyModel, name: str, size: tuple[int, ...]) -> np.ndarray:
    values = rng.uniform(0.5, 1.5, size)
    if name.endswith(("q_norm.weight", "k_norm.weight")):
        # Gemma 4 does not divide scores by the root of the head size.
        values *= 1.2 * (size[0] ** -0.25 if shape.architecture == "gemma4" else 1)
    elif re.search(r"(^|model\.)norm\.weight$", name) and shape.tied:
        values *= 2.5 / shape.embedding_gain
    return values - 1 if is_zero_centred(shape.architecture, name) else values


def draw(rng: np.random.Generator, shape: TinyModel, name: str, size: tuple[int, ...]) -> np.ndarray:
    leaf = name.rsplit(".", 1)[-1]
    if is_norm(name):
        return draw_norm(rng, shape, name, size)
    if "embed_tokens" in name:
        return rng.normal(0, shape.embedding_gain / np.sqrt(size[1]), size)
    if leaf.endswith("bias"):
        return rng.normal(-1, 0.5, size) if leaf == "dt_bias" else rng.normal(0, 0.4, size)
    if leaf == "sinks":
        return rng.normal(2, 1, size)
    if leaf == "A_log":
        return rng.uniform(-3.5, 0.5, size)
    if leaf == "layer_scalar":
        return rng.uniform(0.5, 1.2, size)
    if "conv1d" in name:
        return rng.normal(0, 0.5, size)
    gain, inputs = next(gain for pattern, gain in GAINS if re.search(pattern, name)), size[-1]
    if shape.architecture == "gpt-oss" and "experts." in name:  # inputs first; wide enough for the limit of 7 to cut
        gain, inputs = 3.5 if "gate_up" in name else 0.2, size[-2]
    return rng.normal(0, gain / np.sqrt(inputs), size)


def tensors_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters, once each, and what is a weight although the package calls it a buffer."""
    scalars = {name: tensor for name, tensor in module.named_buffers() if name.endswith("layer_scalar")}
    return dict(module.named_parameters()) | scalars


@torch.no_grad()
def randomise(module: torch.nn.Module, shape: TinyModel, rng: np.random.Generator) -> None:
    for name, tensor in tensors_of(module).items():
        tensor.copy_(torch.from_numpy(draw(rng, shape, name, tuple(tensor.shape))))


class Twin:
    """A model of the package and, if the shape has one, its head that drafts."""

    def __init__(self, shape: TinyModel, maker: str | None = None):
        self.shape = shape
        rng = np.random.default_rng(shape.seed)
        self.model = MAKERS[maker or shape.architecture](shape).float().eval()
        self.model.set_attn_implementation("eager")
        randomise(self.model, shape, rng)
        self.draft = None
        if getattr(shape, "draft", False):
            self.draft = DraftHead(self.model, shape.draft_owns_output, shape.draft_norm).float().eval()
            randomise(self.draft, shape, rng)

    @torch.no_grad()
    def logits(self, ids: list[int]) -> np.ndarray:
        return self.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].numpy()

    @torch.no_grad()
    def draft_logits(self, ids: list[int]) -> np.ndarray:
        """Row i: from the state after token i, and token i + 1, about token i + 2."""
        return self.draft(self.model, torch.tensor([ids]))[0].numpy()
