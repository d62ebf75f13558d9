"""Published vocabularies of other formats, turned into the metadata that a GGUF file of the model would carry."""

import base64
import json
import pathlib
import struct

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def _byte_letters() -> list[str]:
    """GPT-2's letter for each byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [letters[byte] for byte in range(256)]


LETTERS = _byte_letters()


def spell(data: bytes) -> bytes:
    return "".join(LETTERS[byte] for byte in data).encode()


def _merges_of_ranks(ranks: dict[bytes, int]) -> list[bytes]:
    """Every way to put a token together from two, in order of the token's rank, as converters write them."""
    merges = []
    for token, _ in sorted(ranks.items(), key=lambda item: item[1]):
        pairs = [(token[:i], token[i:]) for i in range(1, len(token))]
        pairs = [(ranks[left], ranks[right], left, right) for left, right in pairs if left in ranks and right in ranks]
        merges += [spell(left) + b" " + spell(right) for _, _, left, right in sorted(pairs)]
    return merges


def from_ranks(ranks: dict[bytes, int], pre: str, special: dict[str, int], offset: int = 0) -> dict:
    """`special` are control tokens, with the ids of the model; ordinary tokens have their rank plus `offset`."""
    size = max([*special.values(), *(rank + offset for rank in ranks.values())]) + 1
    tokens, types = [f"[PAD{i}]".encode() for i in range(size)], [UNUSED] * size
    for token, rank in ranks.items():
        tokens[rank + offset], types[rank + offset] = spell(token), NORMAL
    for text, token in special.items():
        tokens[token], types[token] = text.encode(), CONTROL
    return {
        "tokenizer.ggml.model": b"gpt2",
        "tokenizer.ggml.pre": pre.encode(),
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": _merges_of_ranks(ranks),
    }


def read_tekken(path: pathlib.Path) -> tuple[dict[bytes, int], dict[str, int], str, int]:
    """Ranks, special tokens, pattern, and what is to be added to a rank to get an id."""
    tekken = json.loads(path.read_text())
    config = tekken["config"]
    offset = config["default_num_special_tokens"]
    used = config["default_vocab_size"] - offset
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in tekken["vocab"][:used]}
    names = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
             "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>"]  # fmt: skip
    special = {name: i for i, name in enumerate(names)}
    special |= {f"<SPECIAL_{i}>": i for i in range(len(names), offset)}
    return ranks, special, config["pattern"], offset


def read_o200k(path: pathlib.Path) -> tuple[dict[bytes, int], str]:
    """Ranks and pattern, from a module of js-tiktoken: lines of a first rank and the tokens from there on."""
    module = path.read_text()
    encoding = json.loads(module[module.index("{") : module.rindex("}") + 1])
    ranks = {}
    for line in encoding["bpe_ranks"].split("\n"):
        _, first, *tokens = line.split(" ")
        ranks |= {base64.b64decode(token): int(first) + i for i, token in enumerate(tokens)}
    return ranks, encoding["pat_str"]


def read_tiktoken(path: pathlib.Path) -> dict[bytes, int]:
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def from_tokenizer_json(tokenizer: dict, pre: str) -> dict:
    """A byte-level tokenizer.json."""
    model = tokenizer["model"]
    texts = {token: text for text, token in model["vocab"].items()}
    texts |= {added["id"]: added["content"] for added in tokenizer["added_tokens"]}
    size = max(texts) + 1
    types = [NORMAL if i in texts else UNUSED for i in range(size)]
    for added in tokenizer["added_tokens"]:
        types[added["id"]] = CONTROL if added["special"] else USER_DEFINED
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return {
        "tokenizer.ggml.model": b"gpt2",
        "tokenizer.ggml.pre": pre.encode(),
        "tokenizer.ggml.tokens": [texts.get(i, f"[PAD{i}]").encode() for i in range(size)],
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": [merge.encode() for merge in merges],
    }


def scores_from_merges(metadata: dict) -> dict:
    """Gemma 4's vocabulary as Gemma 3's files have it: scores instead of merges, runs of spaces and of line ends
    user-defined, with plain spaces."""
    tokens, types = list(metadata["tokenizer.ggml.tokens"]), list(metadata["tokenizer.ggml.token_type"])
    first_rank: dict[bytes, int] = {}
    for rank, merge in enumerate(metadata["tokenizer.ggml.merges"]):
        split = merge.index(b" ", 1)
        first_rank.setdefault(merge[:split] + merge[split + 1 :], rank)
    scores = [-float(first_rank.get(token, len(first_rank) + 10**6)) for token in tokens]
    for i, token in enumerate(tokens):
        text = token.decode(errors="replace").replace("\u2581", " ")
        if types[i] == NORMAL and len(text) > 1 and not text.strip(" \n"):
            tokens[i], types[i] = text.encode(), USER_DEFINED
    return {
        "tokenizer.ggml.model": b"llama",
        "tokenizer.ggml.pre": b"default",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.scores": scores,
        "tokenizer.ggml.unknown_token_id": metadata["tokenizer.ggml.unknown_token_id"],
        "tokenizer.ggml.add_space_prefix": False,
    }


# SentencePiece's model files are protocol buffers: ModelProto {1: pieces {1: text, 2: score, 3: type}, 2: trainer,
# 3: normaliser}. The types' numbers are those of GGUF.


def _varint(value: int) -> bytes:
    data = b""
    while value > 0x7F:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def write_sentence_piece(metadata: dict) -> bytes:
    """A model that SentencePiece itself loads."""
    rows = zip(
        metadata["tokenizer.ggml.tokens"],
        metadata["tokenizer.ggml.scores"],
        metadata["tokenizer.ggml.token_type"],
        strict=True,
    )
    model = b""
    for text, score, kind in rows:
        piece = _field(1, text) + b"\x15" + struct.pack("<f", score) + _field(3, kind)
        model += _field(1, piece)
    byte_pair_encoding, trainer_kind, byte_fallback = 2, 3, 35
    model += _field(2, _field(trainer_kind, byte_pair_encoding) + _field(byte_fallback, 1))
    adds_space = int(metadata.get("tokenizer.ggml.add_space_prefix", True))
    model += _field(3, _field(1, b"identity") + _field(3, adds_space) + _field(4, 0) + _field(5, 1))
    return model


def read_sentence_piece(data: bytes) -> dict:
    """Metadata of a SentencePiece model file."""
    def varint(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    def fields(at: int, end: int):
        while at < end:
            tag, at = varint(at)
            if tag & 7 == 0:
                value, at = varint(at)
            elif tag & 7 == 5:
                (value,), at = struct.unpack_from("<f", data, at), at + 4
            else:
                length, at = varint(at)
                value, at = (at, at + length), at + length
            yield tag >> 3, value

    tokens, scores, types = [], [], []
    for number, span in fields(0, len(data)):
        if number != 1:
            continue
        piece = dict(fields(*span))
        tokens.append(data[slice(*piece[1])])
        scores.append(piece.get(2, 0.0))
        types.append(piece.get(3, NORMAL))
    return {
        "tokenizer.ggml.model": b"llama",
        "tokenizer.ggml.pre": b"default",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": scores,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.unknown_token_id": types.index(UNKNOWN),
    }
