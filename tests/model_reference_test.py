"""`tempo9 logits` compared with the numpy reference: tiny random models of every shape and format, and the real one.

Tolerances are derived in reference/comparison.py.
"""

import dataclasses
import functools
import pathlib

import numpy as np
import pytest
from comparison import Case, check_exact, check_rounded, compute_logits, run_logits
from tiny_llama import TinyLlama

AGREEING_SHARE = 0.25
DEVICES = ("reference", "cpu")

SHAPES = {
    "equal_heads": TinyLlama(kv_heads=4),
    "two_queries_per_key": TinyLlama(kv_heads=2, seed=2),
    "four_queries_per_key": TinyLlama(kv_heads=1, seed=3),
    "three_queries_per_key": TinyLlama(embedding=96, heads=6, kv_heads=2, seed=4),
    "untied": TinyLlama(tied=False, seed=5),
    "large_heads": TinyLlama(head_size=32, seed=6),
    "odd_sizes": TinyLlama(head_size=48, feed_forward=100, vocabulary=301, seed=7),
    "one_head": TinyLlama(heads=1, kv_heads=1, head_size=64, layers=1, seed=9),
    "llama3_rope": TinyLlama(llama3_rope=True, seed=10),
    "llama3_rope_untied_large_heads": TinyLlama(llama3_rope=True, tied=False, head_size=32, kv_heads=1, seed=11),
    "four_layers": TinyLlama(layers=4, seed=12),
}

# Heads that the device `cpu` does not do, and says so.
UNUSUAL_HEADS = {size: TinyLlama(head_size=size, tied=False, seed=size) for size in (8, 24)}

WIDE = TinyLlama(embedding=256, feed_forward=512, head_size=64)  # whole blocks of 256 columns
UNQUANTISED_FORMATS = ("F32", "F16", "BF16")
QUANTISED_FORMATS = (
    "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4",
)  # fmt: skip
# As files in the wild mix them: better formats where it matters most, and one unquantised matrix or another.
MIXED = dataclasses.replace(
    WIDE,
    tied=False,
    format="Q4_K",
    formats=(
        ("token_embd", "Q8_0"), ("output.weight", "Q6_K"), ("attn_v", "Q4_1"), ("attn_k", "Q4_0"), ("attn_output", "F16"),
        ("ffn_down", "Q6_K"), ("blk.1.ffn_up", "BF16"), ("blk.0.ffn_gate", "F32"),
    ),
)  # fmt: skip

# "How do tides work, and why are there two of them a day?" and the beginning of an answer, in SmolLM2's chat format.
REAL_IDS = [
    1, 4093, 198, 2020, 536, 27485, 746, 28, 284, 1701, 359, 665, 827, 282, 601, 253, 1194, 47, 2, 198, 1, 520, 9531, 198,
    504, 8872, 26648, 8643, 335, 260, 2141, 2103, 282, 260, 2591, 670, 335, 260, 1869, 2103, 30, 1848, 3193, 19426, 260,
    10959, 618, 827, 3994, 2519, 28, 284, 260, 2591, 6497, 8823, 1062, 282, 601, 2268, 253, 1194,
]  # fmt: skip


@pytest.fixture(scope="module")
def tiny_case(tmp_path_factory):
    """tiny_case(model, positions): written and computed once for all devices."""

    @functools.cache
    def make(model: TinyLlama, positions: int) -> Case:
        path = model.write(tmp_path_factory.mktemp("tiny") / "model.gguf")
        ids = np.random.default_rng(model.seed).integers(0, model.vocabulary, positions).tolist()
        return Case(path, ids)

    return make


@pytest.fixture(scope="module")
def real_case(model_path) -> Case:
    return Case(model_path, REAL_IDS)


def check(case: Case, device: str, program: pathlib.Path, out: pathlib.Path, quantised: bool = False) -> None:
    logits = compute_logits(case, program, out, "--device", device)
    if quantised and device == "cpu":
        check_rounded(logits, case, AGREEING_SHARE)
    else:
        check_exact(logits, case.logits)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", SHAPES)
def test_shape(shape, device, tiny_case, program, tmp_path):
    check(tiny_case(SHAPES[shape], 150), device, program, tmp_path / "logits.npy")


@pytest.mark.parametrize("size", UNUSUAL_HEADS)
def test_unusual_head_size(size, tiny_case, program, tmp_path):
    case = tiny_case(UNUSUAL_HEADS[size], 150)
    check(case, "reference", program, tmp_path / "logits.npy")
    refusal = run_logits(case, program, tmp_path / "logits.npy", "--device", "cpu")
    assert refusal.returncode == 1
    assert f"not {size}" in refusal.stderr


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("positions", [1, 64, 65, 700])  # one row; a page of 64 exactly, and one more; many pages
def test_length(positions, device, tiny_case, program, tmp_path):
    check(tiny_case(TinyLlama(seed=20), positions), device, program, tmp_path / "logits.npy")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", UNQUANTISED_FORMATS)
def test_unquantised_format(form, device, tiny_case, program, tmp_path):
    check(tiny_case(dataclasses.replace(WIDE, format=form), 70), device, program, tmp_path / "logits.npy")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", QUANTISED_FORMATS)
def test_quantised_format(form, device, tiny_case, program, tmp_path):
    check(tiny_case(dataclasses.replace(WIDE, format=form), 70), device, program, tmp_path / "logits.npy", quantised=True)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(3))
def test_mixed_formats(seed, device, tiny_case, program, tmp_path):
    model = dataclasses.replace(MIXED, seed=seed, llama3_rope=seed == 1)
    check(tiny_case(model, 70), device, program, tmp_path / "logits.npy", quantised=True)


def test_real_model_exactly(real_case, program, tmp_path):
    check(real_case, "reference", program, tmp_path / "logits.npy")


def test_real_model_with_byte_products(real_case, program, tmp_path):
    # Thirty layers of 576 columns leave no position without a value that rounds the other way.
    logits = compute_logits(real_case, program, tmp_path / "logits.npy", "--device", "cpu")
    check_rounded(logits, real_case, agreeing_share=0)
