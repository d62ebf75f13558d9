"""Logits of the committed tiny models equal those that `transformers` computed for them (tests/golden/README.md)."""

import golden
import pytest
from comparison import check_exact, compute_logits
from model_file import ModelFile
from references import REFERENCES, reference_of

DEVICES = {
    "reference": ("--device", "reference"),
    "cpu-1": ("--device", "cpu", "--threads", "1"),
    "cpu-2": ("--device", "cpu", "--threads", "2"),
    "deferred": ("--device", "deferred", "--threads", "2"),
    "gpu_host": ("--device", "gpu_host"),
}
DRAFTING = ("qwen35", "qwen35moe")


def test_every_architecture_has_a_model():
    assert {ModelFile(golden.FOLDER / f"{name}.gguf").architecture for name in golden.NAMES} == set(REFERENCES)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", golden.NAMES)
def test_logits(name, device, program, tmp_path):
    case, expected = golden.load(name)
    check_exact(compute_logits(case, program, tmp_path / "logits.npy", *DEVICES[device]), expected["logits"])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", DRAFTING)
def test_draft_head(name, device, program, tmp_path):
    case, expected = golden.load(name)
    drafted = compute_logits(case, program, tmp_path / "logits.npy", *DEVICES[device], "--draft")
    check_exact(drafted, expected["draft_logits"])


@pytest.mark.parametrize("name", golden.NAMES)
def test_formulas_in_numpy(name):
    """The reference that stands in for `transformers` wherever that is not installed."""
    case, expected = golden.load(name)
    check_exact(reference_of(case.file).logits(case.ids), expected["logits"])
