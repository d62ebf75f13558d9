"""Train the tokenizer: byte-level BPE with the word-splitting rule of the Qwen3.5 family.

    python tokenizer.py --out DIR [--english FILE]

The training text is synthetic data plus, if given, plain English text (used for nothing but the merges).
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import vocabulary
from loader import draw_long, draw_short
from model import Shape
from render import TEMPLATE, pieces

SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CONTROL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
# Tokens that are part of the text a client sees, hence not "special".
MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
RESERVED = 32  # rows kept for the two lists above


def corpus(english: str, samples: int):
    r = random.Random(7)
    for i in range(samples):
        s = draw_short(r) if i % 12 else draw_long(r)
        for text, _ in pieces(s):
            for mark in CONTROL + MARKS:
                text = text.replace(mark, "\n")
            yield text
    for _ in range(12):  # every word of the list, at the start and inside of a sentence
        ws = vocabulary.WORDS[:]
        r.shuffle(ws)
        yield " ".join(ws)
        yield "\n".join(w.capitalize() for w in ws)
    for i in range(0, len(english), 20000):
        yield english[i : i + 20000]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--english", type=Path)
    parser.add_argument("--samples", type=int, default=12000)
    options = parser.parse_args()
    english = options.english.read_text()[:6_000_000] if options.english else ""
    size = Shape().vocab
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(
        corpus(english, options.samples),
        trainers.BpeTrainer(
            vocab_size=size - RESERVED,
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    assert tok.get_vocab_size() == size - RESERVED
    tok.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in CONTROL])
    tok.add_tokens([AddedToken(t, special=False, normalized=False) for t in MARKS])
    options.out.mkdir(parents=True, exist_ok=True)
    tok.save(str(options.out / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "bos_token": None,
        "add_bos_token": False,
        "model_max_length": Shape().context,
        "chat_template": TEMPLATE.read_text(),
    }
    (options.out / "tokenizer_config.json").write_text(json.dumps(config, indent=1, ensure_ascii=False))
    table = tok.get_vocab()
    (options.out / "special_ids.json").write_text(json.dumps({t: table[t] for t in CONTROL + MARKS}, indent=1))
    n = sum(len(t) for t in list(corpus("", 300)))
    m = sum(len(tok.encode(t).ids) for t in corpus("", 300))
    print(f"{tok.get_vocab_size()} entries, {n / m:.2f} characters a token on synthetic data")


if __name__ == "__main__":
    main()
