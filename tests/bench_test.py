"""The benches' arithmetic: a comparison is only worth what its parsing is."""

import dataclasses
import importlib.util
import json
import subprocess

import accuracy
import divergence
import grid
import mixes
import numpy as np
import pytest
import speed
import step_profile
import synthetic
from conftest import ROOT


def test_our_speed_is_read():
    output = json.dumps({"prompt_tokens_per_second": 500.5, "generation_tokens_per_second": 60.25})
    assert speed.parse_ours(output) == speed.Speed(500.5, 60.25)


def test_the_peers_speed_is_read_by_kind_of_record():
    generation = {"n_prompt": 0, "n_gen": 128, "avg_ts": 67.4}
    prompt = {"n_prompt": 512, "n_gen": 0, "avg_ts": 242.0}
    assert speed.parse_peer(json.dumps([generation, prompt])) == speed.Speed(242.0, 67.4)
    with pytest.raises(ValueError, match="one record of each kind"):
        speed.parse_peer(json.dumps([prompt]))


def test_perplexities_are_read():
    assert accuracy.last_number("window 40: 18.2\nperplexity 17.5231\n") == 17.5231
    assert accuracy.last_number("1.75e+01\n") == 17.5
    assert accuracy.peer_estimate("[1]20.1,[2]19.3,\nFinal estimate: PPL = 17.4988 +/- 0.31\n\nllama_perf: 1 ms") == 17.4988


def test_equal_distributions_do_not_diverge():
    logits = np.random.default_rng(1).normal(size=(130, 50)).astype(np.float32)
    shifted = logits + 3  # the same distributions
    result = divergence.divergence(logits, shifted)
    assert result.mean == pytest.approx(0, abs=1e-7)
    assert result.same_first == 1


def test_divergence_is_that_of_the_formula():
    p, q = np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.25, 0.5])
    first = (p * np.log(p / q)).sum()
    result = divergence.divergence(np.log(np.stack([p, q])), np.log(np.stack([q, q])))
    assert result.mean == pytest.approx(first / 2)
    assert result.largest == pytest.approx(first)
    assert result.same_first == 0.5
    assert result.error == pytest.approx(first / 2)  # two samples, first and 0


def test_positions_of_a_sequence_are_no_independent_samples():
    sequences = [divergence.Rows(np.full(100, float(i)), np.ones(100, bool)) for i in range(8)]
    result = divergence.summary(sequences)
    assert result.mean == pytest.approx(3.5)
    assert result.error == pytest.approx(np.std(range(8), ddof=1) / 8**0.5)


def test_logits_of_different_shapes_are_not_compared():
    with pytest.raises(SystemExit, match="shapes"):
        divergence.divergence(np.zeros((2, 3)), np.zeros((2, 4)))


@pytest.mark.parametrize(
    "shape, mix, changes",
    [
        ("qwen3-0.6b", "Q4_K_M", {"layers": 2}),
        ("llama-3.2-1b", "Q6_K", {"layers": 1}),
        ("qwen3.5-35b-a3b", "Q3_K_M", {"layers": 2, "interval": 2, "experts": 16}),
        ("gpt-oss-20b", "MXFP4", {"layers": 1, "experts": 4}),
    ],
)
def test_a_synthetic_file_runs(shape, mix, changes, program, tmp_path):
    model = dataclasses.replace(synthetic.SHAPES[shape], vocabulary=1024, **changes)
    path, out = tmp_path / "model.gguf", tmp_path / "logits.npy"
    synthetic.write(model, mix, path)
    subprocess.run([program, "logits", "--gguf", path, "--ids", "1,2,3,500", "--out", out], check=True, capture_output=True)
    logits = np.load(out)
    assert logits.shape == (4, 1024)
    assert np.isfinite(logits).all() and 1 < logits.std() < 5


def format_of(shape: str, mix: str, name: str, columns: int) -> str:
    model = synthetic.SHAPES[shape]
    layer = int(name.split(".")[1]) if name.startswith("blk.") else -1
    layers = model.keys()["block_count"]
    return mixes.format_in(mix, mixes.Place(name, columns, layer, layers, model.tied, "_exps" in name))


@pytest.mark.parametrize(
    "shape, mix, name, columns, expected",
    [  # as `llama-quantize --dry-run` says
        ("qwen3-0.6b", "Q4_0", "token_embd.weight", 1024, "Q6_K"),
        ("qwen3-8b", "Q4_K_M", "token_embd.weight", 4096, "Q4_K"),
        ("qwen3-8b", "Q4_K_M", "output.weight", 4096, "Q6_K"),
        ("qwen3-8b", "Q4_K_M", "blk.3.ffn_down.weight", 12288, "Q6_K"),
        ("qwen3-8b", "Q4_K_M", "blk.4.ffn_down.weight", 12288, "Q4_K"),
        ("qwen3-8b", "Q4_K_M", "blk.6.attn_v.weight", 4096, "Q6_K"),
        ("qwen3-8b", "Q3_K_M", "blk.1.attn_v.weight", 4096, "Q5_K"),
        ("qwen3-8b", "Q3_K_M", "blk.2.ffn_down.weight", 12288, "Q4_K"),
        ("gpt-oss-20b", "MXFP4", "blk.0.ffn_down_exps.weight", 2880, "MXFP4"),
        ("gpt-oss-20b", "Q4_K_M", "blk.5.attn_q.weight", 2880, "Q5_0"),
        ("qwen3.5-35b-a3b", "Q3_K_M", "blk.0.ssm_alpha.weight", 2048, "Q3_K"),
        ("qwen3.5-35b-a3b", "Q3_K_M", "blk.0.ffn_gate_inp.weight", 2048, "F32"),
    ],
)
def test_formats_are_mixed_as_the_peer_mixes_them(shape, mix, name, columns, expected):
    assert format_of(shape, mix, name, columns) == expected


def test_a_grid_keeps_what_it_has_measured_and_compares_medians(tmp_path):
    path = tmp_path / "grid.csv"
    lines = ["# cpu: some", ",".join(grid.COLUMNS)]
    for turn, (ours, peer) in enumerate([(300, 100), (320, 80), (900, 90)], start=1):
        lines += [f"m.gguf,2,0,1,{turn},tempo9,{ours},40", f"m.gguf,2,0,1,{turn},llama.cpp,{peer},20"]
    lines += ["m.gguf,2,0,8,1,tempo9,,90", "m.gguf,2,0,8,1,llama.cpp,,30"]
    path.write_text("\n".join(lines))
    results = grid.read_results(path)
    assert list(results) == [("m.gguf", 2, 0, 1), ("m.gguf", 2, 0, 8)]
    table = grid.summary(results)
    assert "| m | 2 | 0 | 1 | 320 | 90 | 3.56 | 40.0 | 20.0 | 2.00 |" in table
    assert "| m | 2 | 0 | 8 |  |  |  | 90.0 | 30.0 | 3.00 |" in table
    assert "prompt: geometric mean 3.56, least 3.56" in table


def test_a_profile_is_held_against_the_limits():
    limits = step_profile.parse_limits("memory    10.0 GB/s with 2 threads\nQ4_1      50.0 GMAC/s\nF32       5.0 GMAC/s\n")
    assert limits == step_profile.Limits(10e9, {"Q4_1": 50e9, "F32": 5e9})
    model = step_profile.Model("m", {"Q4_1": 100e6, "F32": 1e6})
    assert step_profile.share_of_products(model, limits, 2e6) == pytest.approx(512 * (0.1 / 50 + 0.001 / 5) / 2)
    assert step_profile.share_of_memory(100_000_000, limits, 800_000) == pytest.approx(0.8)
    text = step_profile.table([("a", {"linear": 90, "rope": 0.01, "between": 10}, 0.5)])
    assert "| linear | 90.0% |" in text and "rope" not in text and "| **limit reached** | 50% |" in text


def test_figures_of_a_gpu_are_read_and_not_measured_twice(tmp_path):
    spec = importlib.util.spec_from_file_location("gpu_run", ROOT / "bench" / "gpu" / "run.py")
    gpu = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gpu)
    prompt, streams = gpu.Case(512, 1, 0), gpu.Case(0, 8, 0)
    ours = json.dumps({"prompt_tokens_per_second": 20000.5, "generation_tokens_per_second": 300.25})
    assert (gpu.our_speed(ours, prompt), gpu.our_speed(ours, streams)) == (20000.5, 300.25)
    peers = 'loading\n{"pp": 512, "speed_pp": 9000.5, "speed_tg": 150.0}\n'
    assert (gpu.peer_speed(peers, prompt), gpu.peer_speed(peers, streams)) == (9000.5, 150.0)
    with pytest.raises(ValueError, match="one line"):
        gpu.peer_speed("", prompt)
    results = tmp_path / "results.csv"
    assert gpu.measured(results) == set()
    results.write_text(f"# gpu: x\nprogram,model,case,tokens_per_second\ntempo9,qwen3-8b Q4_K_M,{streams},1.0\n")
    assert gpu.measured(results) == {("tempo9", "qwen3-8b Q4_K_M", str(streams))}
