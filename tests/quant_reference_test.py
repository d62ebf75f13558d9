"""Block decoding compared, bit for bit, with the `gguf` package from which model files are made.

Part of `make test`. By hand it needs numpy, gguf, pytest and the program quant_dump:
    ninja -C build/dev quant_dump && build/venv/bin/python -m pytest tests/quant_reference_test.py
TEMPO9_BUILD_DIR names another build folder.
"""

import os
import pathlib
import subprocess

import numpy as np
import pytest
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TEMPO9_BUILD_DIR", ROOT / "build" / "dev"))
QUANT_DUMP = BUILD / "src" / "quant" / "quant_dump"

# Where the f16 scales of a block lie.
HALF_FIELDS = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
    "IQ4_NL": [0], "IQ4_XS": [0],
    "F32": [], "F16": [], "BF16": [], "MXFP4": [],
}  # fmt: skip
ODD_HALVES = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFFFF]


def run(action: str, name: str, data: np.ndarray) -> bytes:
    result = subprocess.run([QUANT_DUMP, action, name], input=data.tobytes(), capture_output=True, check=True)
    return result.stdout


def assert_same_bits(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Equal bits; any NaN equals any NaN, whose payload no processor promises."""
    both_nan = np.isnan(ours) & np.isnan(theirs)
    different = (ours.view(np.uint32) != theirs.view(np.uint32)) & ~both_nan
    where = np.flatnonzero(different)
    assert where.size == 0, f"{where.size} differ, first at {where[0]}: {ours[where[0]]} and {theirs[where[0]]}"


def reference(name: str, blocks: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return quants.dequantize(blocks, GGMLQuantizationType[name]).ravel().astype(np.float32)


def check_decode(name: str, blocks: np.ndarray) -> None:
    ours = np.frombuffer(run("decode", name, blocks), np.float32)
    theirs = reference(name, blocks)
    assert ours.size == theirs.size
    assert_same_bits(ours, theirs)


@pytest.mark.parametrize("name", HALF_FIELDS)
def test_random_blocks(name: str) -> None:
    _, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    check_decode(name, np.random.default_rng(1).integers(0, 256, (3000, block_bytes), np.uint8))


@pytest.mark.parametrize("name", [name for name, fields in HALF_FIELDS.items() if fields])
def test_odd_scales(name: str) -> None:
    _, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    fields = HALF_FIELDS[name]
    cases = np.stack(np.meshgrid(*[np.array(ODD_HALVES, "<u2")] * len(fields), indexing="ij"), -1)
    cases = cases.reshape(-1, len(fields))
    blocks = np.random.default_rng(2).integers(0, 256, (len(cases), block_bytes), np.uint8)
    for column, offset in enumerate(fields):
        blocks[:, offset : offset + 2] = np.ascontiguousarray(cases[:, column : column + 1]).view(np.uint8)
    check_decode(name, blocks)


@pytest.mark.parametrize("name", ["F16", "BF16"])
def test_every_sixteen_bit_pattern(name: str) -> None:
    check_decode(name, np.arange(65536, dtype="<u2").view(np.uint8).reshape(-1, 2))


def test_every_mxfp4_exponent() -> None:
    blocks = np.random.default_rng(3).integers(0, 256, (256, 17), np.uint8)
    blocks[:, 0] = np.arange(256)
    check_decode("MXFP4", blocks)


@pytest.mark.parametrize("name", ["F16", "BF16"])
def test_rounding_to_sixteen_bits(name: str) -> None:
    """Every value that fits, its neighbours in f32, the exact ties between values, and random bits."""
    exact = reference(name, np.arange(65536, dtype="<u2").view(np.uint8).reshape(-1, 2)).view(np.uint32)
    half_step = np.uint32(0x1000 if name == "F16" else 0x8000)
    around = [exact + np.uint32(delta) for delta in (0, 1, 0xFFFFFFFF)]
    around += [exact + half_step + np.uint32(delta) for delta in (0, 1, 0xFFFFFFFF)]
    subnormal_ties = ((np.arange(1100) + 0.5) * 2.0**-24).astype(np.float32).view(np.uint32)
    random = np.random.default_rng(4).integers(0, 2**32, 200000, np.uint32)
    values = np.concatenate([*around, subnormal_ties, random]).view(np.float32)
    ours = np.frombuffer(run("encode", name, values), "<u2")
    with np.errstate(all="ignore"):
        theirs = quants.quantize(values.reshape(-1, 1), GGMLQuantizationType[name]).view("<u2").ravel()
    number = ~np.isnan(values)
    np.testing.assert_array_equal(ours[number], theirs[number])
    assert np.isnan(reference(name, ours[~number].view(np.uint8).reshape(-1, 2))).all()
