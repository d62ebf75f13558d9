"""Keys and values in 8 bits (`--kv-type q8_0`) in a whole model: half the memory, nearly the same logits. Answers:
tempo9_tiny_test.py."""

import json
import re
import subprocess
import urllib.request

import numpy as np

# Any change of a page's bits, however small, sends some activations to another of their 8-bit levels, which costs most of
# what is seen here: bf16 pages, twice as exact as these, show that floor.
MOST_OF_BF16 = 1.5
HEAD_BYTES = {"f16": 64 * 2, "q8_0": 64 + 2 * 2}  # a key or value of SmolLM2: 64 elements


def log_probabilities(program, model, kv_type, out):
    ids = ",".join(str(i) for i in np.random.default_rng(7).integers(1000, 5000, 300))
    command = [program, "logits", "--gguf", model, "--ids", ids, "--out", out, "--kv-type", kv_type]
    subprocess.run(command, check=True, capture_output=True)
    logits = np.load(out).astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def test_next_tokens_are_nearly_those_of_f16(program, model_path, tmp_path):
    f16, bf16, q8 = (log_probabilities(program, model_path, kv, tmp_path / f"{kv}.npy") for kv in ("f16", "bf16", "q8_0"))

    def divergence(other):
        return (np.exp(f16) * (f16 - other)).sum(axis=1).mean()

    assert 0 < divergence(q8) < MOST_OF_BF16 * divergence(bf16)


def complete(server, prompt: str) -> None:
    body = json.dumps({"prompt": prompt, "temperature": 0, "max_tokens": 4}).encode()
    request = urllib.request.Request(server.url + "/v1/completions", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=60).close()


def cached(server) -> tuple[float, float]:
    """Pages and bytes that the prefix cache holds."""
    with urllib.request.urlopen(server.url + "/metrics", timeout=10) as response:
        text = response.read().decode()
    pages, size = (re.search(rf'tempo9_kv_{what}{{state="cached"}} (\S+)', text)[1] for what in ("pages", "bytes"))
    return float(pages), float(size)


def test_pages_take_the_bytes_that_the_type_says(start_server):
    taken = {}
    for kv_type in HEAD_BYTES:
        running = start_server("--kv-type", kv_type)
        complete(running, "one two three " * 100)
        taken[kv_type] = cached(running)
    (pages, f16), (same_pages, q8) = taken["f16"], taken["q8_0"]
    assert pages == same_pages > 0
    assert q8 / f16 == HEAD_BYTES["q8_0"] / HEAD_BYTES["f16"]
