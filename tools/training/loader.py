"""Streams packed batches. Every worker draws its own documents from a seed; nothing is stored."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Iterator

import numpy as np

from pictures import image_sample
from render import ANSWER, IGNORE, PROMPT, Sample, pieces
from texts import chat_pair, chat_sample, copy_sample, json_sample, long_sample, retrieve_sample
from tool_samples import agent_sample, tool_sample
from vocabulary import Rng

PATCHES = 100  # a picture has at most 10 x 10 patches
IMAGE_TOKENS = PATCHES // 4
DRAFT_STEPS = 3


def draw_short(r: Rng) -> Sample:
    k = r.random()
    if k < 0.42:
        return image_sample(r)
    if k < 0.64:
        return tool_sample(r, False, plain=chat_pair)
    if k < 0.75:
        return agent_sample(r)
    if k < 0.85:
        return json_sample(r)
    if k < 0.97:
        return chat_sample(r)
    return retrieve_sample(r, r.randint(20, 250)) if r.random() < 0.7 else copy_sample(r)


def draw_long(r: Rng) -> Sample:
    return long_sample(r, chat_pair) if r.random() < 0.85 else tool_sample(r, False, plain=chat_pair)


class Encoder:
    def __init__(self, folder: Path):
        from tokenizers import Tokenizer

        self.tok = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        self.ids = json.loads((Path(folder) / "special_ids.json").read_text())
        self.image_id = self.ids["<|image_pad|>"]
        self.pad_id = self.ids["<|endoftext|>"]

    def encode(self, text: str) -> list[int]:
        return self.tok.encode(text, add_special_tokens=False).ids

    def document(self, parts: list[tuple[str, int]], images: list[np.ndarray]) -> dict[str, Any]:
        """Tokens, kinds and rotary positions of one document; image placeholders are expanded."""
        tokens: list[int] = []
        kinds: list[int] = []
        spans: list[tuple[int, int, int]] = []  # where an image starts, its rows and columns of tokens
        pictures = iter(images)
        for e, (_, kind) in zip(self.tok.encode_batch_fast([t for t, _ in parts], add_special_tokens=False), parts):
            for t in e.ids:
                if t == self.image_id:
                    img = next(pictures)
                    gh, gw = img.shape[0] // 32, img.shape[1] // 32
                    spans.append((len(tokens), gh, gw))
                    tokens += [t] * (gh * gw)
                    kinds += [IGNORE] * (gh * gw)
                else:
                    tokens.append(t)
                    kinds.append(kind)
        pos = np.empty((3, len(tokens)), np.int32)
        at, p = 0, 0
        for start, gh, gw in spans:
            pos[:, at:start] = np.arange(p, p + start - at)
            p += start - at
            i = np.arange(gh * gw)
            pos[0, start : start + gh * gw] = p
            pos[1, start : start + gh * gw] = p + i // gw
            pos[2, start : start + gh * gw] = p + i % gw
            p += max(gh, gw)
            at = start + gh * gw
        pos[:, at:] = np.arange(p, p + len(tokens) - at)
        return dict(
            tokens=np.array(tokens, np.int32), kinds=np.array(kinds, np.int8), positions=pos, spans=spans, images=images
        )


def patches_of(img: np.ndarray) -> np.ndarray:
    """(n, 768) uint8 in merge-block order, channel first inside a patch."""
    h, w, _ = img.shape
    t = img.reshape(h // 32, 2, 16, w // 32, 2, 16, 3).transpose(0, 3, 1, 4, 6, 2, 5)
    return t.reshape(-1, 768)


class Batches:
    """Iterable of packed batches of `rows` x `length` tokens with at most `slots` pictures."""

    def __init__(self, tokenizer: Path, seed: int, rows: int, length: int, slots: int, long: bool):
        self.tokenizer, self.seed, self.rows, self.length, self.slots, self.long = (
            tokenizer,
            seed,
            rows,
            length,
            slots,
            long,
        )

    def __iter__(self) -> Iterator[dict[str, Any]]:
        import torch

        info = torch.utils.data.get_worker_info()
        r = random.Random(self.seed * 1000 + (info.id if info else 0) + (500 if self.long else 0))
        rng = np.random.default_rng(r.getrandbits(60))
        enc = Encoder(self.tokenizer)
        pending: list[dict[str, Any]] = []
        while True:
            batch = self.pack(r, enc, pending)
            self.choose_targets(batch, rng)
            yield {k: torch.from_numpy(x) for k, x in batch.items()}

    def draw(self, r: Rng, enc: Encoder) -> dict[str, Any]:
        while True:
            s = draw_long(r) if self.long else draw_short(r)
            d = enc.document(pieces(s), s.images)
            if len(d["tokens"]) <= self.length:
                return d

    def pack(self, r: Rng, enc: Encoder, pending: list[dict[str, Any]]) -> dict[str, np.ndarray]:
        rows, length = self.rows, self.length
        tokens = np.full((rows, length), enc.pad_id, np.int64)
        doc = np.zeros((rows, length), np.int32)
        kinds = np.zeros((rows, length), np.int8)
        positions = np.zeros((3, rows, length), np.int32)
        patches = np.zeros((self.slots, PATCHES, 768), np.uint8)
        grid = np.full((self.slots, 2), 2, np.int64)
        image_at = np.full((self.slots, IMAGE_TOKENS), rows * length, np.int64)
        used = 0
        for row in range(rows):
            at, n = 0, 0
            while length - at > 24:
                while len(pending) < 48:
                    pending.append(self.draw(r, enc))
                fit = next(
                    (
                        i
                        for i, d in enumerate(pending)
                        if len(d["tokens"]) <= length - at and used + len(d["images"]) <= self.slots
                    ),
                    None,
                )
                if fit is None:
                    if all(d["images"] for d in pending):  # no picture slot is left: draw texts instead
                        pending.pop(r.randrange(len(pending)))
                        continue
                    break
                d = pending.pop(fit)
                size = len(d["tokens"])
                n += 1
                tokens[row, at : at + size] = d["tokens"]
                kinds[row, at : at + size] = d["kinds"]
                positions[:, row, at : at + size] = d["positions"]
                doc[row, at : at + size] = n
                for (start, gh, gw), img in zip(d["spans"], d["images"]):
                    p = patches_of(img)
                    patches[used, : len(p)] = p
                    grid[used] = 2 * gh, 2 * gw
                    image_at[used, : gh * gw] = row * length + at + start + np.arange(gh * gw)
                    used += 1
                at += size
        out = dict(tokens=tokens, doc=doc, kinds=kinds, positions=positions)
        if self.slots:
            out.update(patches=patches, grid=grid, image_at=image_at)
        return out

    def choose_targets(self, b: dict[str, np.ndarray], rng: np.random.Generator):
        """Positions whose logits are computed: all that predict an answer token, filled up with prompt tokens."""
        total = self.rows * self.length
        m, m2 = (int(total * x) // 64 * 64 for x in ((0.08, 0.04) if self.long else (0.24, 0.15)))
        tokens, doc, kinds = b["tokens"].reshape(-1), b["doc"].reshape(-1), b.pop("kinds").reshape(-1)
        row = np.arange(total) // self.length

        def ahead(k):  # (kind, token) of position i + k, kind 0 outside of the document
            kind = np.zeros(total, np.int8)
            kind[:-k] = np.where((doc[:-k] == doc[k:]) & (row[:-k] == row[k:]) & (doc[k:] > 0), kinds[k:], 0)
            tok = np.zeros(total, np.int64)
            tok[:-k] = tokens[k:]
            return kind, tok

        kind, tok = ahead(1)
        answers = rng.permutation(np.flatnonzero(kind == ANSWER))
        prompts = rng.permutation(np.flatnonzero(kind == PROMPT))
        chosen = np.concatenate([answers, prompts])[:m]
        at = np.zeros(m, np.int64)
        at[: len(chosen)] = chosen
        weight = np.zeros(m, np.float32)
        weight[: len(chosen)] = np.where(kind[chosen] == ANSWER, 1.0, 0.1)
        b.update(at=at, target=tok[at], weight=weight)
        at = np.zeros(m2, np.int64)
        at[: min(m2, len(answers))] = answers[:m2]
        valid = np.arange(m2) < len(answers)
        targets, weights = [], []
        for step in range(1, DRAFT_STEPS + 1):
            kind, tok = ahead(1 + step)
            targets.append(tok[at])
            weights.append(((kind[at] == ANSWER) & valid).astype(np.float32))
        b.update(draft_at=at, draft_target=np.stack(targets), draft_weight=np.stack(weights))


def stream(tokenizer: Path, seed: int, rows: int, length: int, slots: int, long: bool, workers: int):
    from torch.utils.data import DataLoader, IterableDataset

    class Wrapped(Batches, IterableDataset):
        pass

    return iter(
        DataLoader(
            Wrapped(tokenizer, seed, rows, length, slots, long),
            batch_size=None,
            num_workers=workers,
            prefetch_factor=4 if workers else None,
            pin_memory=workers > 0,
        )
    )
