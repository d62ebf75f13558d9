"""The benches' arithmetic: a comparison is only worth what its parsing is."""

import json

import accuracy
import divergence
import numpy as np
import pytest
import speed


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
    assert result.error == pytest.approx(first / 2 / 2**0.5)  # deviation first / 2 of two positions


def test_logits_of_different_shapes_are_not_compared():
    with pytest.raises(SystemExit, match="shapes"):
        divergence.divergence(np.zeros((2, 3)), np.zeros((2, 4)))
