"""Write a trained model as a checkpoint directory in the family's layout, ready for GGUF conversion.

python export.py --weights DIR --tokenizer DIR --out DIR
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from model import Shape
from render import TEMPLATE


def text_config(s: Shape, eos: int) -> dict:
    return dict(
        vocab_size=s.vocab,
        hidden_size=s.hidden,
        intermediate_size=s.intermediate,
        num_hidden_layers=s.layers,
        num_attention_heads=s.heads,
        num_key_value_heads=s.kv_heads,
        head_dim=s.head_dim,
        max_position_embeddings=s.context,
        rms_norm_eps=s.eps,
        tie_word_embeddings=True,
        linear_conv_kernel_dim=s.conv_taps,
        linear_key_head_dim=s.state_dim,
        linear_value_head_dim=s.state_dim,
        linear_num_key_heads=s.key_heads,
        linear_num_value_heads=s.value_heads,
        layer_types=s.layer_types,
        full_attention_interval=s.full_every,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": s.rope_theta,
            "partial_rotary_factor": s.rotary_dim / s.head_dim,
            "mrope_section": list(s.mrope_section),
            "mrope_interleaved": True,
        },
        eos_token_id=eos,
    )


def vision_config(s: Shape) -> dict:
    v = s.vision
    return dict(
        depth=v.depth,
        hidden_size=v.hidden,
        intermediate_size=v.intermediate,
        num_heads=v.heads,
        patch_size=v.patch,
        spatial_merge_size=v.merge,
        temporal_patch_size=v.frames,
        out_hidden_size=s.hidden,
        num_position_embeddings=v.side**2,
        in_channels=3,
        hidden_act="gelu_pytorch_tanh",
    )


def hf_config(s: Shape, ids: dict[str, int]):
    """ids: token ids under the names image, video, vision_start, vision_end, eos."""
    from transformers import Qwen3_5Config

    return Qwen3_5Config(
        text_config=text_config(s, ids["eos"]),
        vision_config=vision_config(s),
        tie_word_embeddings=True,
        image_token_id=ids["image"],
        video_token_id=ids["video"],
        vision_start_token_id=ids["vision_start"],
        vision_end_token_id=ids["vision_end"],
    )


PREPROCESSOR = {
    "image_processor_type": "Qwen2VLImageProcessorFast",
    "image_mean": [0.5] * 3,
    "image_std": [0.5] * 3,
    "patch_size": 16,
    "merge_size": 2,
    "temporal_patch_size": 2,
    "size": {"shortest_edge": 9216, "longest_edge": 262144},
}


def load_weights(folder: Path) -> dict[str, torch.Tensor]:
    state: dict[str, torch.Tensor] = {}
    for f in sorted(folder.glob("weights-*.safetensors")):
        state.update(load_file(f))
    return state


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    table = json.loads((options.tokenizer / "special_ids.json").read_text())
    ids = dict(
        image=table["<|image_pad|>"],
        video=table["<|video_pad|>"],
        vision_start=table["<|vision_start|>"],
        vision_end=table["<|vision_end|>"],
        eos=table["<|im_end|>"],
    )
    cfg = hf_config(Shape(), ids)
    cfg.architectures = ["Qwen3_5ForConditionalGeneration"]
    cfg.save_pretrained(options.out)
    path = options.out / "config.json"
    d = json.loads(path.read_text())
    d["text_config"].update(mtp_num_hidden_layers=1, mtp_use_dedicated_embeddings=False)
    path.write_text(json.dumps(d, indent=1))
    state = {k: v.float().contiguous() for k, v in load_weights(options.weights).items()}
    save_file(state, options.out / "model.safetensors", metadata={"format": "pt"})
    for path in (options.tokenizer / "tokenizer.json", options.tokenizer / "tokenizer_config.json", TEMPLATE):
        shutil.copy(path, options.out / path.name)
    (options.out / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR, indent=1))
    print(f"{sum(v.numel() for v in state.values()) / 1e6:.2f} M parameters")


if __name__ == "__main__":
    main()
