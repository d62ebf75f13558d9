"""Small ordinary GGUF files whose model says what a test has written down for it, on any device.

    markers = write_scripted_model(path, "qwen3", ["Hello!", "<think>hm</think>Bye 👋"])

writes a file of the llama architecture with the tokenizer, the special tokens and the chat template of a family (or of
a GGUF file). A prompt that holds markers[1] ("<<script:1>>", typed by anybody, anywhere) is answered with the second
script and the family's end of turn; a prompt without a marker is answered with the end of turn alone. Of several
markers the one with the greatest number counts, so a conversation that meets its scripts in their order is always
answered with the newest. Decoding need not be greedy: each token leads by many units of logit.

A script is a text, in which special tokens stand for themselves, or a list of ids of the family's own vocabulary.

How it works. Every place of every script has a token of its own: a further entry at the end of the vocabulary that
spells the same bytes as an ordinary one. Encoding never gives these, since of equal spellings the first counts. So one
token leads to the next:

  - Each of these tokens, and the end of turn, has a random code of ±1. Its row of the output is the code.
  - The embedding of a script's token holds the code of its successor. The output says the successor.
  - The embedding of marker j holds the code of the first token of script j, and the bits of j as ±1.
  - The one attention layer looks from every other token at the marker with the greatest number (its query weighs the
    bits) and adds its code, so whatever the prompt ends with is followed by that script. A script's own token asks the
    other way round, sees no marker and adds next to nothing.

Keys are ±1 times one factor, codes too: rounding to F16 does not disturb them. RoPE turns two elements of a head that
are always 0. The feed-forward layer is 0. The smallest lead of all is computed and must be large.

The vocabulary is cut to the special tokens, the bytes, plain characters and the first merges, so a file has a few
megabytes; what it lacks is spelled with smaller tokens. `merges=None` keeps all of it.
"""

import dataclasses
import pathlib
import re

import gguf
import gguf_metadata
import numpy as np
import public_templates
import vocabularies
from vocabularies import BYTE, CONTROL, NORMAL, UNUSED, USER_DEFINED

DATA = public_templates.DATA
CONTEXT = 65536
MERGES = 8000
CODE = 128  # elements of a code, and of a head
WIDTH = 160  # code, role, bits of a marker's number, flag of a marker
ROLE, BITS = CODE, CODE + 1
FIRST_KEY = 2  # elements of a head in front are turned by RoPE
KEY_SCALE, OUTPUT_SCALE, MARKER_WEIGHT = 48.0, 2.0, 4.0
LEAST_LEAD = 25.0  # logits between the wanted token and the best other one: e^-25, even 100,000 times, is never drawn


@dataclasses.dataclass(frozen=True)
class Family:
    end: str  # the token that ends a turn
    vocabulary: str = ""  # a file of llama.cpp/
    template: str = ""  # as public_templates.read() names it; LLAMA_2 if there is none
    added: tuple[str, ...] = ()  # user-defined tokens that the vocabulary's file lacks


def _qwen3_tokens() -> tuple[str, ...]:
    return "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"


LLAMA_2 = """{{ bos_token }}{% for m in messages %}
{{- '[INST] ' + m.content + ' [/INST]' if m.role == 'user' else m.content + ' ' + eos_token }}{% endfor %}"""

FAMILIES = {
    "llama2": Family("</s>", "ggml-vocab-llama-spm"),
    "llama3": Family("<|eot_id|>", "ggml-vocab-llama-bpe", "llama.cpp/meta-llama-Llama-3.1-8B-Instruct"),
    "qwen3": Family("<|im_end|>", "ggml-vocab-qwen2", "llama.cpp/Qwen-Qwen3-0.6B", _qwen3_tokens()),
    "qwen3.5": Family("<|im_end|>", "ggml-vocab-qwen35", "llama.cpp/Qwen3.5-4B", _qwen3_tokens()),
    "gemma4": Family("<turn|>", "ggml-vocab-gemma-4", "llama.cpp/google-gemma-4-31B-it"),
    "mistral": Family("</s>", "", "llama.cpp/Mistral-Small-3.2-24B-Instruct-2506", ("[ARGS]", "[CALL_ID]")),
    "gpt-oss": Family("<|return|>", "", "llama.cpp/openai-gpt-oss-120b"),
}

# Harmony's control tokens with their ids.
HARMONY = {
    "<|startoftext|>": 199998, "<|endoftext|>": 199999, "<|return|>": 200002, "<|constrain|>": 200003,
    "<|channel|>": 200005, "<|start|>": 200006, "<|end|>": 200007, "<|message|>": 200008, "<|call|>": 200012,
}  # fmt: skip


def _vocabulary(name: str) -> dict:
    if name == "mistral":
        ranks, special, _, offset = vocabularies.read_tekken(DATA / "mistral" / "tekken_240911.json")
        return vocabularies.from_ranks(ranks, "tekken", special, offset) | {
            "tokenizer.ggml.bos_token_id": special["<s>"], "tokenizer.ggml.eos_token_id": special["</s>"]}  # fmt: skip
    if name == "gpt-oss":
        ranks, _ = vocabularies.read_o200k(DATA / "o200k" / "o200k_base.cjs")
        return vocabularies.from_ranks(ranks, "gpt-4o", HARMONY) | {
            "tokenizer.ggml.bos_token_id": HARMONY["<|startoftext|>"],
            "tokenizer.ggml.eos_token_id": HARMONY["<|return|>"]}  # fmt: skip
    return gguf_metadata.read(DATA / "llama.cpp" / f"{FAMILIES[name].vocabulary}.gguf")


def family_metadata(family: str | pathlib.Path) -> tuple[dict, str]:
    """The keys of a family's or a file's tokenizer with its chat template, and the token that ends a turn."""
    if isinstance(family, pathlib.Path):
        metadata = gguf_metadata.read(family)
        end = metadata["tokenizer.ggml.tokens"][metadata["tokenizer.ggml.eos_token_id"]].decode()
    else:
        templates = public_templates.read() | {"": LLAMA_2}
        end, added = FAMILIES[family].end, FAMILIES[family].added
        metadata = _vocabulary(family)
        metadata["tokenizer.chat_template"] = templates[FAMILIES[family].template].encode()
        missing = [text.encode() for text in added if text.encode() not in set(metadata["tokenizer.ggml.tokens"])]
        _append(metadata, missing, USER_DEFINED)
    return {key: value for key, value in metadata.items() if key.startswith("tokenizer.")}, end


def _append(metadata: dict, texts: list[bytes], types: int | list[int]) -> None:
    types = [types] * len(texts) if isinstance(types, int) else types
    for key, more in [("tokens", texts), ("token_type", types), ("scores", [-1e6] * len(texts))]:
        if f"tokenizer.ggml.{key}" in metadata:
            metadata[f"tokenizer.ggml.{key}"] = [*metadata[f"tokenizer.ggml.{key}"], *more]


def _is_plain(text: str) -> bool:
    return len(text) == 1 and ord(text) < 0x250 or text == "\u2581"


def cut(metadata: dict, merges: int, wanted: set[int]) -> tuple[dict, dict[int, int]]:
    """Keeps special tokens, bytes, plain characters, what the first `merges` merges make, and `wanted`. Gives the new
    metadata and the new ids by the old."""
    tokens, types = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    kept = {i for i, kind in enumerate(types) if kind not in (NORMAL, UNUSED)} | wanted
    kept |= {i for i, text in enumerate(tokens) if types[i] == NORMAL and _is_plain(text.decode(errors="replace"))}
    cut_metadata = dict(metadata)
    if "tokenizer.ggml.merges" in metadata:
        ids = {text: i for i, text in reversed(list(enumerate(tokens))) if types[i] == NORMAL}
        first = []
        for merge in metadata["tokenizer.ggml.merges"]:
            split = merge.index(b" ", 1)
            left, right = merge[:split], merge[split + 1 :]
            if len(first) == merges:
                break
            if ids.get(left) in kept and ids.get(right) in kept and left + right in ids:
                first.append(merge)
                kept.add(ids[left + right])
        cut_metadata["tokenizer.ggml.merges"] = first
    else:  # the best scores; ids are in their order
        kept |= set([i for i, kind in enumerate(types) if kind == NORMAL][:merges])
    order = sorted(kept)
    new_ids = {old: new for new, old in enumerate(order)}
    for key, value in metadata.items():
        if key in ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.scores"):
            cut_metadata[key] = [value[i] for i in order]
        elif key.endswith("_token_id"):
            cut_metadata.pop(key)
            if value in new_ids:
                cut_metadata[key] = new_ids[value]
    return cut_metadata, new_ids


class Speller:
    """Cuts a text into tokens of a vocabulary: special tokens by their texts, otherwise always the longest."""

    def __init__(self, metadata: dict):
        tokens, types = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
        byte_level = metadata["tokenizer.ggml.model"] == b"gpt2"
        byte_of = {letter: byte for byte, letter in enumerate(vocabularies.LETTERS)}
        self.ids: dict[bytes, int] = {}
        self.special: dict[str, int] = {}
        for i, (text, kind) in enumerate(zip(tokens, types, strict=True)):
            if kind in (CONTROL, USER_DEFINED):
                self.special.setdefault(text.decode(), i)
            elif kind == BYTE:
                self.ids.setdefault(bytes([int(text[3:5], 16)]), i)
            elif kind == NORMAL and byte_level:
                letters = text.decode()
                if all(letter in byte_of for letter in letters):
                    self.ids.setdefault(bytes(byte_of[letter] for letter in letters), i)
            elif kind == NORMAL:
                self.ids.setdefault(text.replace("\u2581".encode(), b" "), i)
        self.ids.pop(b"", None)
        self.longest = max(map(len, self.ids))
        longest_first = sorted(self.special, key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        # Such tokenizers put a space in front of a text, and take one away from a reply.
        adds_space = metadata["tokenizer.ggml.model"] == b"llama"
        self.strips_space = not byte_level and metadata.get("tokenizer.ggml.add_space_prefix", adds_space)

    def ids_of(self, text: str) -> list[int]:
        if self.strips_space and text.startswith(" "):
            text = " " + text
        ids, at = [], 0
        for hit in self.pattern.finditer(text):
            ids += self._plain(text[at : hit.start()].encode()) + [self.special[hit.group()]]
            at = hit.end()
        return ids + self._plain(text[at:].encode())

    def _plain(self, data: bytes) -> list[int]:
        ids, at = [], 0
        while at < len(data):
            sizes = range(min(self.longest, len(data) - at), 0, -1)
            size = next((n for n in sizes if data[at : at + n] in self.ids), None)
            assert size is not None, f"the vocabulary cannot spell {data[at : at + 4]!r}"
            ids.append(self.ids[data[at : at + size]])
            at += size
        return ids


def _lead(codes: np.ndarray, follow: np.ndarray, starts: list[int], lengths: list[int]) -> float:
    """The smallest lead of any script's token in logits, behind a prompt of one token: the worst case, since what a
    script's tokens see of each other thins out with the prompt's length."""
    codes = codes.astype(np.float32)
    hidden, roles, wanted = [], [], []
    for start, length in zip(starts, lengths, strict=True):
        own = codes[follow[start : start + length]]
        seen = np.cumsum(own, axis=0) * np.sqrt(WIDTH / (CODE + 1)) / np.arange(2, 2 + length)[:, None]
        hidden += [MARKER_WEIGHT * codes[start : start + 1], own + MARKER_WEIGHT * seen]
        roles += [1.0] + [-1.0] * length
        wanted += [start, *follow[start : start + length]]
    hidden, roles, wanted = np.concatenate(hidden).astype(np.float32), np.array(roles, np.float32), np.array(wanted)
    scales = OUTPUT_SCALE * np.sqrt(WIDTH / (np.square(hidden).sum(axis=1) + roles**2))

    least = np.inf
    for rows in np.array_split(np.arange(len(hidden)), 1 + len(hidden) // 1024):
        logits = hidden[rows] @ codes.T
        logits[:, -1] += roles[rows]  # the end of turn, as it is written below
        places = np.arange(len(rows)), wanted[rows]
        right = logits[places]
        logits[places] = 0  # as every token has that is none of a script
        least = min(least, ((right - logits.max(axis=1).clip(0)) * scales[rows]).min())
    return float(least)


def _tensors(size: int, scripts: list[list[int]], end: int) -> dict[str, np.ndarray]:
    """`size` ordinary tokens come first, then a marker for each script, then the scripts' tokens, one after another."""
    count = sum(map(len, scripts))
    codes = np.random.default_rng(20240229).choice([-1.0, 1.0], (count + 1, CODE))  # the last one is the end's
    first_own = size + len(scripts)
    starts, follow = [], np.empty(count, int)
    for script in scripts:
        starts.append(start := sum(map(len, scripts[: len(starts)])))
        follow[start : start + len(script)] = [*range(start + 1, start + len(script)), count]
    entries = [start if script else count for start, script in zip(starts, scripts, strict=True)]
    lead = _lead(codes, follow, entries, list(map(len, scripts)))
    assert lead >= LEAST_LEAD, f"the scripts are too long together: the smallest lead is {lead:.1f} logits"

    bits = max(1, (len(scripts) - 1).bit_length())
    assert BITS + bits < WIDTH, "too many scripts"
    embedding, output = np.zeros((first_own + count, WIDTH)), np.zeros((first_own + count, WIDTH))
    embedding[:first_own, ROLE], embedding[first_own:, ROLE] = 1, -1
    embedding[first_own:, :CODE] = codes[follow]
    for j, entry in enumerate(entries):
        embedding[size + j, :CODE] = codes[entry]
        embedding[size + j, BITS : BITS + bits] = [1 if j >> b & 1 else -1 for b in range(bits)]
        embedding[size + j, BITS + bits] = 1
    output[first_own:, :CODE] = OUTPUT_SCALE * codes[:-1]
    output[end, :CODE] = OUTPUT_SCALE * codes[-1]
    output[end, ROLE] = OUTPUT_SCALE  # behind a prompt without a marker

    query, key, value, back = (np.zeros(s) for s in [(CODE, WIDTH), (CODE, WIDTH), (CODE, WIDTH), (WIDTH, CODE)])
    for b in range(bits + 1):  # the flag outweighs all bits
        query[FIRST_KEY + b, ROLE] = 1 << b
        key[FIRST_KEY + b, BITS + b] = KEY_SCALE
    value[:, :CODE] = np.eye(CODE)
    back[:CODE] = MARKER_WEIGHT * np.eye(CODE)
    nothing, ones = np.zeros((32, WIDTH)), np.ones(WIDTH)
    return {
        "token_embd.weight": embedding, "output.weight": output, "output_norm.weight": ones,
        "blk.0.attn_norm.weight": ones, "blk.0.ffn_norm.weight": ones, "blk.0.attn_q.weight": query,
        "blk.0.attn_k.weight": key, "blk.0.attn_v.weight": value, "blk.0.attn_output.weight": back,
        "blk.0.ffn_gate.weight": nothing, "blk.0.ffn_up.weight": nothing, "blk.0.ffn_down.weight": nothing.T,
    }  # fmt: skip


def _write(path: pathlib.Path, metadata: dict, tensors: dict[str, np.ndarray]) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("scripted")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(32)
    writer.add_block_count(1)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_key_length(CODE)
    writer.add_value_length(CODE)
    writer.add_rope_dimension_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(metadata["tokenizer.ggml.tokens"]))
    adders = {bool: writer.add_bool, int: writer.add_uint32, list: writer.add_array}
    for key, value in metadata.items():
        if isinstance(value, bytes):
            writer.add_string(key, value.decode())
        else:
            adders[type(value)](key, value)
    for name, tensor in tensors.items():
        writer.add_tensor(name, np.ascontiguousarray(tensor, np.float32 if tensor.ndim == 1 else np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_scripted_model(
    path: pathlib.Path, family: str | pathlib.Path, scripts: list[str | list[int]], merges: int | None = MERGES
) -> list[str]:
    """Writes the file and gives the marker of each script. `family` is one of FAMILIES, whose vocabularies and
    templates are downloaded once, or a GGUF file with a tokenizer and a chat template."""
    metadata, end = family_metadata(family)
    given = {i for script in scripts if not isinstance(script, str) for i in script}
    new_ids = {i: i for i in given}
    if merges is not None:
        metadata, new_ids = cut(metadata, merges, given)
    speller = Speller(metadata)
    places = [speller.ids_of(s) if isinstance(s, str) else [new_ids[i] for i in s] for s in scripts]
    tokens, types = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    size = len(tokens)
    markers = [f"<<script:{j}>>" for j in range(len(scripts))]
    _append(metadata, [marker.encode() for marker in markers], USER_DEFINED)
    own = [i for script in places for i in script]
    _append(metadata, [tokens[i] for i in own], [types[i] for i in own])
    _write(path, metadata, _tensors(size, places, speller.special[end]))
    return markers
