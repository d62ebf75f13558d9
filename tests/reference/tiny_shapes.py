"""Tiny models of every architecture, in shapes that show each of its rules: what references are computed for."""

from tiny_gemma import TinyGemma3, TinyGemma4
from tiny_gpt_oss import TinyGptOss
from tiny_llama import TinyLlama, TinyMistral3
from tiny_model import TinyModel
from tiny_qwen3 import TinyQwen3
from tiny_qwen35 import TinyQwen35

SHAPES: dict[str, TinyModel] = {
    "llama": TinyLlama(tied=False, seed=1),
    "mistral3": TinyMistral3(seed=2),
    "mistral3_untied_large_heads": TinyMistral3(head_size=32, kv_heads=1, tied=False, original_context=17, seed=3),
    # Boundaries of YaRN inside the range, cosines that grow (no multiplier), and no temperature.
    "mistral3_growing": TinyMistral3(
        head_size=64, factor=4.0, original_context=4096, log_multiplier=0.0, temperature_scale=0.0, seed=4
    ),
    "qwen3": TinyQwen3(head_size=32, seed=5),
    "qwen3_untied": TinyQwen3(heads=6, kv_heads=2, layers=3, tied=False, seed=6),
    "qwen3moe": TinyQwen3("qwen3moe", experts=8, tied=False, seed=7),
    "qwen3moe_odd": TinyQwen3("qwen3moe", experts=5, experts_used=3, expert_feed_forward=40, seed=8),
    "qwen3vl": TinyQwen3("qwen3vl", head_size=32, sections=(6, 5, 5, 0), seed=9),
    "qwen3vlmoe": TinyQwen3("qwen3vlmoe", head_size=32, sections=(4, 8, 4, 0), experts=6, tied=False, seed=10),
    "gpt_oss": TinyGptOss(seed=11),
    "gpt_oss_released_numbers": TinyGptOss(
        head_size=64, heads=8, kv_heads=1, experts=8, experts_used=4, window=128, factor=32.0, original_context=4096, seed=12
    ),
    "gpt_oss_narrow": TinyGptOss(layers=3, window=5, experts_used=1, tied=True, seed=13),
    "qwen35": TinyQwen35(seed=14),
    "qwen35_equal_heads": TinyQwen35(
        key_heads=3, value_heads=3, key_size=32, value_size=16, taps=3, list_kinds=False, tied=False,
        draft_owns_output=True, seed=15,
    ),
    "qwen35_alternating": TinyQwen35(
        interval=2, key_heads=1, value_heads=3, value_size=32, head_size=48, draft_norm=False, seed=16
    ),
    "qwen35_no_draft": TinyQwen35(layers=2, interval=2, list_kinds=False, draft=False, seed=17),
    "qwen35moe": TinyQwen35("qwen35moe", experts=8, seed=18),
    "qwen35moe_untied": TinyQwen35("qwen35moe", layers=2, interval=2, experts=5, experts_used=3, tied=False, seed=19),
    "gemma3": TinyGemma3(seed=20),
    "gemma3_scaled": TinyGemma3(head_size=32, kv_heads=1, factor=8.0, window=100, tied=False, seed=21),
    "gemma4": TinyGemma4(seed=22),
    "gemma4_own_values": TinyGemma4(
        layers=6, head_size=64, sliding_head_size=32, kv_heads=2, sliding_kv_heads=4, window=7,
        values_from_keys=False, softcap=30.0, seed=23,
    ),
}  # fmt: skip
