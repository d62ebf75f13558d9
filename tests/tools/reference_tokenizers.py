"""Reference tokenizers built from a GGUF file's vocabulary and what is published about its family.

Each is a function from a string to ids. `special` says whether control tokens written in the text are recognised;
user-defined ones always are.
"""

import re
from collections.abc import Callable

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers
from vocabularies import CONTROL, NORMAL, UNKNOWN, USER_DEFINED

Encode = Callable[[str], list[int]]


def _split(pattern: str) -> pre_tokenizers.Split:
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def _sequence(*steps) -> pre_tokenizers.Sequence:
    return pre_tokenizers.Sequence([*steps])


def _by_pattern(*patterns: str) -> pre_tokenizers.Sequence:
    return _sequence(*map(_split, patterns), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))


def _gpt2(*before) -> pre_tokenizers.Sequence:
    return _sequence(*before, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True))


_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_QWEN2 = rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_QWEN35 = (
    rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}"
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*"
    rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
_GPT4O = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDINGS}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDINGS}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)
_HAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
# Letters with case, by listing; deepseek-llm-7b's tokenizer.json.
_CASED = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ\u1f5f-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbe"
    "ῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943"
)

PRE_TOKENIZERS = {
    "gpt-2": _gpt2(),
    "mpt": _gpt2(),
    "smollm": _gpt2(pre_tokenizers.Digits(individual_digits=True)),
    "starcoder": _gpt2(pre_tokenizers.Digits(individual_digits=True)),
    "refact": _gpt2(pre_tokenizers.Digits(individual_digits=True)),
    "command-r": _gpt2(pre_tokenizers.Digits(individual_digits=True)),
    "falcon": _sequence(
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        pre_tokenizers.Digits(individual_digits=False),
        _split("[0-9][0-9][0-9]"),
    ),
    "llama-bpe": _by_pattern(_LLAMA3),
    "qwen2": _by_pattern(_QWEN2),
    "qwen35": _by_pattern(_QWEN35),
    "tekken": _by_pattern(_TEKKEN),
    "gpt-4o": _by_pattern(_GPT4O),
    "deepseek-llm": _sequence(
        _split("[\r\n]"),
        _split(rf"\s?[{_CASED}]+"),
        _split("\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"),
        _split(r"\s+$"),
        _split(_HAN),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ),
    "deepseek-coder": _sequence(
        _split("[\r\n]"),
        _split(r"\s?\p{L}+"),
        _split(r"\s?\p{P}+"),
        _split(_HAN),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ),
}
COMPOSING = {"mpt", "command-r", "qwen2", "qwen35"}
WHOLE_PIECES = {"llama-bpe", "tekken", "gpt-4o"}
NOT_SWALLOWING_SPACE = {"<unk>", "<s>", "<|endoftext|>"}  # of Phi-3
# User-defined in files, control tokens to us, since they end a reply (src/text/end_of_generation.cpp).
ENDS = {"<|EOT|>", "</s>", "<|tool_response>"}


def _merges(metadata: dict) -> list[tuple[str, str]]:
    merges = [merge.decode() for merge in metadata["tokenizer.ggml.merges"]]
    splits = [merge.index(" ", 1) for merge in merges]
    return [(merge[:at], merge[at + 1 :]) for merge, at in zip(merges, splits, strict=True)]


def _merges_of_scores(metadata: dict) -> list[tuple[str, str]]:
    """As Hugging Face converts SentencePiece models."""
    rows = zip(
        metadata["tokenizer.ggml.tokens"],
        metadata["tokenizer.ggml.scores"],
        metadata["tokenizer.ggml.token_type"],
        strict=True,
    )
    scores = {text.decode(): score for text, score, kind in rows if kind == NORMAL}
    pairs = [
        (-score, text[:at], text[at:])
        for text, score in scores.items()
        for at in range(1, len(text))
        if text[:at] in scores and text[at:] in scores
    ]
    return [(left, right) for _, left, right in sorted(pairs, key=lambda pair: pair[0])]


def _add_special_tokens(tokenizer: Tokenizer, metadata: dict, special: bool) -> None:
    kinds = {USER_DEFINED, CONTROL, UNKNOWN} if special else {USER_DEFINED}
    phi = re.search(rb"phi-?3", metadata.get("general.name", b""), re.IGNORECASE)
    rows = zip(metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"], strict=True)
    added = []
    for text, kind in rows:
        content = text.decode()
        if kind in kinds and (special or content not in ENDS):
            swallows = bool(phi) and content not in NOT_SWALLOWING_SPACE
            added.append(AddedToken(content, normalized=False, rstrip=swallows))
    tokenizer.add_tokens(added)


def hugging_face(metadata: dict, special: bool) -> Encode:
    model, pre = metadata["tokenizer.ggml.model"], metadata.get("tokenizer.ggml.pre", b"").decode()
    tokens = [token.decode() for token in metadata["tokenizer.ggml.tokens"]]
    vocabulary = {text: i for i, text in reversed(list(enumerate(tokens)))}
    if model == b"gpt2":
        bpe = models.BPE(vocabulary, _merges(metadata), ignore_merges=pre in WHOLE_PIECES)
        tokenizer = Tokenizer(bpe)
        if pre in COMPOSING:
            tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = PRE_TOKENIZERS[pre]
    else:
        merges = _merges(metadata) if model == b"gemma4" else _merges_of_scores(metadata)
        unknown = tokens[metadata["tokenizer.ggml.unknown_token_id"]]
        bpe = models.BPE(vocabulary, merges, unk_token=unknown, fuse_unk=True, byte_fallback=True)
        tokenizer = Tokenizer(bpe)
        steps = [normalizers.Replace(" ", "\u2581")]
        if model == b"llama" and metadata.get("tokenizer.ggml.add_space_prefix", True):
            steps.insert(0, normalizers.Prepend("\u2581"))
        tokenizer.normalizer = normalizers.Sequence(steps)
    _add_special_tokens(tokenizer, metadata, special)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def hugging_face_json(source: str) -> Encode:
    """The family's own tokenizer.json."""
    tokenizer = Tokenizer.from_str(source)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def tiktoken_ranks(ranks: dict[bytes, int], pattern: str, special: dict[str, int], offset: int = 0) -> Encode:
    import tiktoken

    shifted = {text: token - offset for text, token in special.items()}
    if offset:  # ids below the ranks: tiktoken wants them above
        shifted = {text: len(ranks) + token for text, token in special.items()}
    encoding = tiktoken.Encoding("reference", pat_str=pattern, mergeable_ranks=ranks, special_tokens=shifted)
    back = {shifted[text]: special[text] for text in special}

    def encode(text: str) -> list[int]:
        return [back.get(token, token + offset) for token in encoding.encode(text, allowed_special="all")]

    return encode


def sentence_piece(model: bytes) -> Encode:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return processor.encode
