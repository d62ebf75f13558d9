"""`tempo9 matrix` finds a right model right and wrong ones wrong: the controls are the small model with one thing changed."""

import pathlib
import shutil
import subprocess

import gguf
import pytest
from tiny_llama import TinyLlama

KNOWN = pathlib.Path(__file__).parent / "data" / "known_models.json"
COLUMNS = ("load", "answer", "prompt", "reference", "image")
LONGEST = "1536"


def run_matrix(program: pathlib.Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [program, "matrix", "--longest-prompt", LONGEST, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def verdicts(output: str, file: str) -> dict[str, str]:
    """The row of one file, by column."""
    (row,) = [line for line in output.splitlines() if line.startswith(f"| {file} |")]
    return dict(zip(COLUMNS, [cell.strip() for cell in row.split("|")][4:9]))


@pytest.fixture
def changed(model_path, tmp_path):
    """changed(edit): a copy of the small model, with its name, after `edit` has had a writable view of it."""

    def make(edit) -> pathlib.Path:
        path = tmp_path / model_path.name
        shutil.copyfile(model_path, path)
        path.chmod(0o644)
        reader = gguf.GGUFReader(path, "r+")
        edit(reader)
        reader.data.flush()
        return path

    return make


def scale_rope_base(factor: float):
    def edit(reader: gguf.GGUFReader) -> None:
        base = reader.fields["llama.rope.freq_base"].parts[-1]
        base[0] *= factor

    return edit


def swap(first: str, second: str):
    def edit(reader: gguf.GGUFReader) -> None:
        data = {tensor.name: tensor.data for tensor in reader.tensors}
        held = data[first].copy()
        data[first][...] = data[second]
        data[second][...] = held

    return edit


def test_the_right_model_passes(program, model_path):
    result = run_matrix(program, "--known", KNOWN, model_path)
    found = verdicts(result.stdout, model_path.name)
    assert result.returncode == 0, result.stdout + result.stderr
    assert found == {"load": "PASS", "answer": "PASS", "prompt": "PASS", "reference": "PASS", "image": "N/A"}


def test_without_known_figures_the_comparison_is_absent(program, model_path):
    found = verdicts(run_matrix(program, model_path).stdout, model_path.name)
    assert found["reference"] == "ABSENT" and found["prompt"] == "PASS"


@pytest.mark.parametrize("factor", [0.1, 10])
def test_a_wrong_rotary_base_fails(factor, program, changed):
    path = changed(scale_rope_base(factor))
    result = run_matrix(program, "--known", KNOWN, path)
    found = verdicts(result.stdout, path.name)
    assert result.returncode == 1
    assert found["prompt"] == "FAIL" and found["reference"] == "FAIL", result.stdout


@pytest.mark.parametrize(
    "pair", [("blk.10.ffn_gate.weight", "blk.10.ffn_up.weight"), ("blk.10.attn_q.weight", "blk.11.attn_q.weight")], ids=" ".join
)
def test_swapped_tensors_fail(pair, program, changed):
    path = changed(swap(*pair))
    result = run_matrix(program, "--known", KNOWN, path)
    assert result.returncode == 1
    assert verdicts(result.stdout, path.name)["reference"] == "FAIL", result.stdout


def test_random_weights_are_asked_nothing(program, tmp_path):
    path = TinyLlama().write(tmp_path / "random.gguf")
    found = verdicts(run_matrix(program, path).stdout, path.name)
    assert found == {"load": "PASS", "answer": "N/A", "prompt": "N/A", "reference": "ABSENT", "image": "N/A"}


def test_a_broken_file_fails_and_an_unknown_architecture_is_not_claimed(program, tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(TinyLlama().write(tmp_path / "whole.gguf").read_bytes()[:-64])
    writer = gguf.GGUFWriter(tmp_path / "other.gguf", "unheard-of")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    result = run_matrix(program, broken, tmp_path / "other.gguf")
    assert verdicts(result.stdout, "broken.gguf")["load"] == "FAIL"
    assert set(verdicts(result.stdout, "other.gguf").values()) == {"N/A"}
    assert result.returncode == 1


def test_architectures_without_a_file_are_listed(program):
    result = run_matrix(program)
    assert result.returncode == 0
    assert "| gpt-oss | | ABSENT | ABSENT | ABSENT | ABSENT |" in " ".join(result.stdout.split())
