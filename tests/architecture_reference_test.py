"""Every architecture equals its reference: tiny random models of each, on every device, in any steps, with and without
quantised weights, far into long texts, and the head that drafts.

Tolerances are derived in reference/comparison.py.
"""

import dataclasses
import functools

import golden
import numpy as np
import pytest
from comparison import Case, check_exact, check_rounded, compute_logits, run_logits
from references import reference_of
from tiny_gemma import TinyGemma3, TinyGemma4
from tiny_gpt_oss import TinyGptOss
from tiny_llama import TinyLlama, TinyMistral3
from tiny_model import TinyModel
from tiny_qwen3 import TinyQwen3
from tiny_qwen35 import TinyQwen35
from tiny_shapes import SHAPES

LENGTH = 200  # several pages, windows and original contexts
LONG_LENGTH = 600  # one step of 512 rows and some more
STEPS = ("1", "7", "64")  # rows at once; the default takes up to 512

DRAFTING = [name for name, model in SHAPES.items() if getattr(model, "draft", False)]

# Rows of whole blocks of 256 columns. As in published files, what routes stays in float32.
WIDE = {"embedding": 256, "feed_forward": 256, "head_size": 64, "seed": 30}
WIDE_EXPERTS = WIDE | {"experts": 4, "expert_feed_forward": 256}
WIDE_DELTA = {"key_size": 64, "value_size": 64}
QUANTISED = {
    "llama": TinyLlama(**WIDE),
    "mistral3": TinyMistral3(**WIDE),
    "qwen3": TinyQwen3(**WIDE),
    "qwen3moe": TinyQwen3("qwen3moe", **WIDE_EXPERTS),
    "qwen3vl": TinyQwen3("qwen3vl", sections=(12, 10, 10, 0), **WIDE),
    "qwen3vlmoe": TinyQwen3("qwen3vlmoe", sections=(12, 10, 10, 0), **WIDE_EXPERTS),
    "gpt_oss": TinyGptOss(**WIDE_EXPERTS),
    "qwen35": TinyQwen35(**WIDE, **WIDE_DELTA),
    "qwen35moe": TinyQwen35("qwen35moe", shared_feed_forward=256, **WIDE_EXPERTS, **WIDE_DELTA),
    "gemma3": TinyGemma3(**WIDE),
    "gemma4": TinyGemma4(sliding_head_size=64, **WIDE),
}
FORMATS = {
    "Q8_0": {"format": "Q8_0"},
    "Q4_K": {"format": "Q4_K", "formats": (("token_embd", "Q8_0"), ("ffn_gate_inp", "F32"), ("ffn_down", "Q6_K"))},
    # As gpt-oss is published: nothing else is quantised.
    "MXFP4": {"format": "BF16", "formats": (("_exps", "MXFP4"), ("ffn_gate_inp", "F32"))},
}
# Of 70 positions four. These models round more values a position than those of model_reference_test.py, and one that
# differs lets every later position differ.
AGREEING_SHARE = 0.05
QUANTISED_CASES = [
    (family, form) for family in QUANTISED for form in FORMATS if form != "MXFP4" or family == "gpt_oss"
]

# Positions at which a wrong rotary base, scaling or window shows. The last layer of each model sees everything, so that
# the reference needs no other rows of it.
FAR = np.array([1000, 6000, 12000, 20000])
LONG = {"context": 32768, "heads": 2, "kv_heads": 1, "embedding": 32, "feed_forward": 32, "seed": 40}
LONG_SHAPES = {
    "llama": TinyLlama(layers=1, head_size=16, theta=500000.0, **LONG),
    "mistral3": TinyMistral3(layers=1, head_size=16, theta=1e6, original_context=4096, **LONG),
    "qwen3": TinyQwen3(layers=1, head_size=16, **LONG),
    "qwen3moe": TinyQwen3("qwen3moe", experts=4, layers=1, head_size=16, **LONG),
    "qwen3vl": TinyQwen3("qwen3vl", sections=(3, 3, 2, 0), layers=1, head_size=16, **LONG),
    "qwen3vlmoe": TinyQwen3("qwen3vlmoe", sections=(3, 3, 2, 0), experts=4, layers=1, head_size=16, **LONG),
    "gpt_oss": TinyGptOss(window=128, factor=32.0, original_context=4096, **LONG),
    "qwen35": TinyQwen35(layers=2, interval=2, **LONG),
    "qwen35moe": TinyQwen35("qwen35moe", layers=2, interval=2, experts=4, **LONG),
    "gemma3": TinyGemma3(layers=6, head_size=16, window=512, factor=8.0, **LONG),
    "gemma4": TinyGemma4(window=512, **LONG),
}
# Attention sums over 20,000 positions, up to twice behind a logit: 20 sqrt(50 * 256 + 2 * 20000) 2^-24 = 2.7e-4.
FAR_TOLERANCE = 4e-4


@pytest.fixture(scope="module")
def tiny_case(tmp_path_factory):
    """tiny_case(model, positions): written and computed once for all tests."""

    @functools.cache
    def make(model: TinyModel, positions: int) -> Case:
        path = model.write(tmp_path_factory.mktemp("tiny") / "model.gguf")
        ids = np.random.default_rng(model.seed).integers(0, model.vocabulary, positions).tolist()
        return Case(path, ids)

    return make


@pytest.fixture(scope="module")
def computed(tiny_case, program, tmp_path_factory):
    """computed(shape, *options): what the program says, asked once."""
    out = tmp_path_factory.mktemp("out") / "logits.npy"

    @functools.cache
    def compute(shape: str, *options: str) -> np.ndarray:
        return compute_logits(tiny_case(SHAPES[shape], LENGTH), program, out, *options)

    return compute


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("shape", SHAPES)
def test_shape(shape, device, tiny_case, computed):
    check_exact(computed(shape, "--device", device), tiny_case(SHAPES[shape], LENGTH).logits)


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("shape", SHAPES)
def test_short_text(shape, device, tiny_case, program, tmp_path):
    whole = tiny_case(SHAPES[shape], LENGTH)
    logits = compute_logits(Case(whole.path, whole.ids[:8]), program, tmp_path / "logits.npy", "--device", device)
    check_exact(logits, whole.logits[:8])  # no row depends on later ones


@pytest.mark.parametrize("shape", SHAPES)
def test_deferred_device_gives_the_same_bits(shape, computed):
    assert np.array_equal(computed(shape, "--device", "deferred"), computed(shape, "--device", "cpu"))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_steps_of_any_size_give_the_same_bits(shape, step, computed):
    assert np.array_equal(computed(shape, "--device", "cpu", "--step", step), computed(shape, "--device", "cpu"))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("shape", golden.NAMES)
def test_steps_of_a_long_text_give_the_same_bits(shape, step, tiny_case, program, tmp_path):
    case = tiny_case(SHAPES[shape], LONG_LENGTH)
    whole = compute_logits(case, program, tmp_path / "whole.npy", "--step", "512")
    assert np.array_equal(compute_logits(case, program, tmp_path / "logits.npy", "--step", step), whole)


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("shape", DRAFTING)
def test_draft_head(shape, device, tiny_case, computed):
    check_exact(computed(shape, "--device", device, "--draft"), tiny_case(SHAPES[shape], LENGTH).draft_logits)


@pytest.mark.parametrize("options", [("cpu", "--step", step) for step in STEPS] + [("deferred",)], ids=" ".join)
@pytest.mark.parametrize("shape", DRAFTING)
def test_draft_head_gives_the_same_bits(shape, options, computed):
    drafted = computed(shape, "--draft", "--device", *options)
    assert np.array_equal(drafted, computed(shape, "--device", "cpu", "--draft"))


def test_model_without_draft_head_says_so(tiny_case, program, tmp_path):
    case = tiny_case(SHAPES["qwen35_no_draft"], LENGTH)
    refusal = run_logits(case, program, tmp_path / "logits.npy", "--draft")
    assert refusal.returncode == 1
    assert "no draft head" in refusal.stderr


@pytest.mark.parametrize("family, form", QUANTISED_CASES)
def test_quantised(family, form, tiny_case, program, tmp_path):
    case = tiny_case(dataclasses.replace(QUANTISED[family], **FORMATS[form]), 70)
    out = tmp_path / "logits.npy"
    check_exact(compute_logits(case, program, out, "--device", "reference"), case.logits)
    check_rounded(compute_logits(case, program, out, "--device", "cpu"), case, AGREEING_SHARE)


@pytest.mark.parametrize("family", LONG_SHAPES)
def test_far_positions(family, tiny_case, program, tmp_path):
    case = tiny_case(LONG_SHAPES[family], FAR[-1] + 1)
    truth = reference_of(case.file).logits(case.ids, FAR)
    logits = compute_logits(case, program, tmp_path / "logits.npy", "--device", "cpu")
    check_exact(logits[FAR], truth, FAR_TOLERANCE)


def test_value_heads_of_an_unusual_size_are_refused(tiny_case, program, tmp_path):
    refusal = run_logits(tiny_case(TinyQwen35(value_size=24), 8), program, tmp_path / "logits.npy")
    assert refusal.returncode == 1
    assert "value heads of 24" in refusal.stderr
