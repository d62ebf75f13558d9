"""A request gives the same bits whatever goes on around it: company, cuts, cache, threads, pauses, on any kind of layer.

The program tests/tools/invariance.cpp (TEMPO9_INVARIANCE, default build/dev/tests/invariance) compares a hash of every row
of logits; models are tempo9-tiny, a tiny random one of each architecture, and with `make test-slow` the real ones.
"""

import subprocess

import pytest
from conftest import ROOT, TINY_MODEL, from_environment

GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.gguf"))
GEMMA = ROOT / "models" / "gemma-3-270m-q4_k_m.gguf"


def check(model, tokens: int, *options: str) -> None:
    program = from_environment("TEMPO9_INVARIANCE", "build/dev/tests/invariance")
    run = subprocess.run([program, model, "--tokens", str(tokens), *options], capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert run.returncode == 0, run.stderr + "\n".join(line for line in lines if "equal" not in line)
    assert len(lines) >= 28 and all("equal" in line for line in lines)


@pytest.mark.parametrize("model", [TINY_MODEL, *GOLDEN], ids=lambda path: path.stem)
def test_small_models(model):
    check(model, 24, "--steps-of-one")


def test_tempo9_tiny_for_long(tmp_path):
    check(TINY_MODEL, 128)


@pytest.mark.slow
def test_the_small_real_model(model_path):
    check(model_path, 256, "--steps-of-one")


@pytest.mark.slow
def test_gemma():
    subprocess.run([ROOT / "scripts" / "get_gemma.sh"], check=True)
    check(GEMMA, 256)
