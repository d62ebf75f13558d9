"""Files of the same model by other programs load and give the same logits; damaged ones are refused by the name of what
is wrong in them.

Made from the models of tests/golden.
"""

import copy
import functools
import random
import re
import subprocess

import golden
import numpy as np
import pytest
from comparison import Case, check_exact, compute_logits, run_logits
from file_copy import FileCopy

LENGTH = 70
DRAFTING = ("qwen35", "qwen35moe")
WITH_EXPERTS = ("qwen3moe", "qwen3vlmoe", "qwen35moe")  # gpt-oss has biases there, which nobody fuses
FORMATS = {"F32": "", "Q8_0": r"attn_(q|k|v|qkv)\.weight|exps\.weight"}
QUERY_KEY_VALUE = ("attn_q", "attn_k", "attn_v")
# Tensors without which a model is whole: a tied output matrix, a scale of 1, and a norm that the trunk's stands in for.
OPTIONAL = r"output\.weight|blk\.\d+\.layer_output_scale\.weight|blk\.\d+\.nextn\.shared_head_norm\.weight"
MISSING_HEAD = "speculation is off"


@pytest.fixture
def logits_of(program, tmp_path):
    def compute(path, ids: list[int], *options: str) -> np.ndarray:
        return compute_logits(Case(path, ids), program, tmp_path / "logits.npy", "--device", "cpu", *options)

    return compute


@pytest.fixture
def inspect(program):
    """inspect(path): whether the file will run, and what the program says about it."""

    def run(path) -> tuple[bool, str]:
        result = subprocess.run([program, "inspect", path], capture_output=True, text=True)
        return result.returncode == 0, result.stdout.splitlines()[-1] if result.stdout else result.stderr

    return run


def ids_of(name: str) -> list[int]:
    return golden.load(name)[0].ids[:LENGTH]


@functools.cache
def parsed(name: str) -> FileCopy:
    return FileCopy(golden.FOLDER / f"{name}.gguf")


def original(name: str) -> FileCopy:
    """To be changed: keys and tensors may be replaced, added and removed."""
    whole = copy.copy(parsed(name))
    whole.keys, whole.tensors = dict(whole.keys), dict(whole.tensors)
    return whole


@pytest.mark.parametrize("name", golden.NAMES)
def test_order_of_tensors_and_parts_of_other_modalities_do_not_matter(name, logits_of, inspect, tmp_path):
    file = original(name)
    extra = {part: np.ones((2, 32), np.float32) for part in ("v.patch_embd.weight", "mm.0.weight", "a.conv1d.1.weight")}
    names = [*file.tensors, *extra]
    random.Random(1).shuffle(names)
    file.tensors = {part: (file.tensors | extra)[part] for part in names}
    path = file.write(tmp_path / "model.gguf")
    assert inspect(path)[0]
    expected = logits_of(golden.FOLDER / f"{name}.gguf", ids_of(name))
    assert np.array_equal(logits_of(path, ids_of(name)), expected)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", golden.NAMES)
def test_queries_keys_and_values_in_one_tensor(name, form, logits_of, tmp_path):
    split = original(name).write(tmp_path / "split.gguf", FORMATS[form])
    file = original(name)
    assert file.fuse(tuple(f"{part}.weight" for part in QUERY_KEY_VALUE), "attn_qkv.weight", 0) > 0
    biases = file.fuse(tuple(f"{part}.bias" for part in QUERY_KEY_VALUE), "attn_qkv.bias", 0)
    assert (biases > 0) == (name == "gpt_oss")
    fused = file.write(tmp_path / "fused.gguf", FORMATS[form])
    options = ["--draft"] if name in DRAFTING else []
    for more in [[], options]:
        assert np.array_equal(logits_of(fused, ids_of(name), *more), logits_of(split, ids_of(name), *more))


def test_one_matrix_for_queries_keys_and_values_with_three_biases(logits_of, tmp_path):
    file = original("gpt_oss")
    assert file.fuse(tuple(f"{part}.weight" for part in QUERY_KEY_VALUE), "attn_qkv.weight", 0) > 0
    expected = logits_of(golden.FOLDER / "gpt_oss.gguf", ids_of("gpt_oss"))
    assert np.array_equal(logits_of(file.write(tmp_path / "fused.gguf"), ids_of("gpt_oss")), expected)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", WITH_EXPERTS)
def test_gate_and_up_of_experts_in_one_tensor(name, form, logits_of, tmp_path):
    split = original(name).write(tmp_path / "split.gguf", FORMATS[form])
    file = original(name)
    assert file.fuse(("ffn_gate_exps.weight", "ffn_up_exps.weight"), "ffn_gate_up_exps.weight", 1) > 0
    fused = file.write(tmp_path / "fused.gguf", FORMATS[form])
    assert np.array_equal(logits_of(fused, ids_of(name)), logits_of(split, ids_of(name)))


@pytest.mark.parametrize("name", DRAFTING)
def test_draft_head_that_is_counted_but_missing(name, program, logits_of, inspect, start_server, tmp_path):
    file = original(name)
    file.remove(rf"blk\.{file.key('block_count') - 1}\..*")
    path = file.write(tmp_path / "model.gguf")
    runs, remark = inspect(path)
    assert runs and MISSING_HEAD in remark
    assert MISSING_HEAD in start_server(model=path).log.read_text()
    whole = golden.FOLDER / f"{name}.gguf"
    assert np.array_equal(logits_of(path, ids_of(name)), logits_of(whole, ids_of(name)))
    refusal = run_logits(Case(path, ids_of(name)), program, tmp_path / "logits.npy", "--draft")
    assert refusal.returncode == 1 and "no draft head" in refusal.stderr
    assert MISSING_HEAD not in inspect(whole)[1]


@pytest.mark.parametrize("name", DRAFTING)
def test_draft_head_that_is_there_but_not_announced(name, logits_of, tmp_path):
    file = original(name)
    del file.keys[f"{file.architecture}.nextn_predict_layers"]
    path, ids = file.write(tmp_path / "model.gguf"), ids_of(name)
    expected = golden.load(name)[1]
    check_exact(logits_of(path, ids), expected["logits"][:LENGTH])
    check_exact(logits_of(path, ids, "--draft"), expected["draft_logits"][: LENGTH - 1])


@pytest.mark.parametrize("name", DRAFTING)
def test_layer_that_is_counted_but_missing(name, inspect, tmp_path):
    file = original(name)
    last = file.key("block_count") - 1
    del file.keys[f"{file.architecture}.nextn_predict_layers"]
    file.remove(rf"blk\.{last}\..*")
    runs, message = inspect(file.write(tmp_path / "model.gguf"))
    assert not runs and f"no tensor 'blk.{last}.attn_norm.weight'" in message


def kinds_of_tensors(file: FileCopy) -> list[str]:
    """The last tensor of each kind."""
    return list({re.sub(r"\d+", "", name): name for name in file.tensors}.values())


@pytest.mark.parametrize("name", golden.NAMES)
def test_missing_tensor_is_named(name, inspect, tmp_path):
    for missing in kinds_of_tensors(original(name)):
        file = original(name)
        del file.tensors[missing]
        runs, message = inspect(file.write(tmp_path / "model.gguf"))
        if missing.endswith("nextn.eh_proj.weight"):  # what else there is of the head is then of no use
            assert not runs and "does not use" in message
        elif re.fullmatch(OPTIONAL, missing):
            assert runs, f"without {missing}: {message}"
        else:
            assert not runs and f"no tensor '{missing}'" in message, f"without {missing}: {message}"


@pytest.mark.parametrize("name", golden.NAMES)
def test_wrong_shape_is_named(name, inspect, tmp_path):
    for wrong in kinds_of_tensors(original(name)):
        if wrong == "token_embd.weight":  # its rows say how large the vocabulary is
            continue
        file = original(name)
        data = file.tensors[wrong]
        file.tensors[wrong] = np.concatenate([data, data[:1]])
        shape = list(reversed(file.tensors[wrong].shape))
        runs, message = inspect(file.write(tmp_path / "model.gguf"))
        assert not runs and f"'{wrong}' has shape {shape}, expected" in message, f"{wrong}: {message}"


@pytest.mark.parametrize("name", golden.NAMES)
def test_superfluous_tensor_is_named(name, inspect, tmp_path):
    for extra in ("blk.0.attn_extra.weight", "blk.99.attn_norm.weight", "something.weight"):
        file = original(name)
        file.tensors[extra] = np.ones(64, np.float32)
        runs, message = inspect(file.write(tmp_path / "model.gguf"))
        assert not runs and f"a tensor '{extra}'" in message
