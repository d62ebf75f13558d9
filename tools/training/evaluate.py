"""Measure a trained model on held-out generated data, without a server.

    python evaluate.py --weights DIR --tokenizer DIR [--count 100] [--out FILE]

One forward pass per conversation is enough: greedy decoding reproduces the reference answer exactly if and only if
every answer token is the most likely one given the reference before it. Drafting is measured against the model's own
greedy choice: after each answer token the next-token block drafts up to four tokens from its own output, and those
count that agree with the trunk.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from export import load_weights
from loader import Encoder, patches_of
from model import CHUNK, Model, Shape
from pictures import image_sample
from render import ANSWER, pieces
from texts import FACTS, Sample, arithmetic, chat_pair, chat_sample, json_sample, retrieve_sample
from tool_samples import agent_sample, tool_sample
import vocabulary as v

DRAFTS = 4


def arithmetic_sample(r):
    q, a = arithmetic(r)
    return Sample("chat", [{"role": "user", "content": q}, {"role": "assistant", "content": a}])


def fact_sample(r):
    country = r.choice(list(v.CAPITALS))
    q, a = r.choice(
        [(f"What is the capital of {country}?", f"The capital of {country} is {v.CAPITALS[country]}."), r.choice(FACTS)]
    )
    return Sample("chat", [{"role": "user", "content": q}, {"role": "assistant", "content": a}])


def repeat_sample(r):
    x = v.words(r, 2, 8)
    return Sample("chat", [{"role": "user", "content": f"Repeat: {x}"}, {"role": "assistant", "content": x}])


GROUPS = {
    "tool call, one call": lambda r: tool_sample(r, False, "single"),
    "tool call, unseen tool names": lambda r: tool_sample(r, True, "single"),
    "tool call, several calls at once": lambda r: tool_sample(r, False, "parallel"),
    "tool result, then answer": lambda r: tool_sample(r, False, "follow"),
    "no tool fits": lambda r: tool_sample(r, False, "none", chat_pair),
    "file agent": agent_sample,
    "JSON from a sentence": json_sample,
    "chat, all kinds": chat_sample,
    "facts": fact_sample,
    "arithmetic": arithmetic_sample,
    "repeat 2-8 words": repeat_sample,
    "picture, caption, 1 shape": lambda r: image_sample(r, "caption", 1),
    "picture, caption, 2 shapes": lambda r: image_sample(r, "caption", 2),
    "picture, caption, 3 shapes": lambda r: image_sample(r, "caption", 3),
    "picture, number of shapes": lambda r: image_sample(r, "count"),
    "picture, number of one shape": lambda r: image_sample(r, "count_shape"),
    "picture, color": lambda r: image_sample(r, "colour"),
    "picture, place": lambda r: image_sample(r, "where"),
    "picture, yes or no": lambda r: image_sample(r, "exists"),
}
RETRIEVE = {
    "retrieve, 0.4 k tokens": 180,
    "retrieve, 1.2 k tokens": 750,
    "retrieve, 3.5 k tokens": 2200,
    "retrieve, 8 k tokens": 5000,
    "retrieve, 16 k tokens": 10000,
}  # filler words; training ends at 4 k tokens


def inputs(enc: Encoder, s: Sample):
    d = enc.document(pieces(s), s.images)
    n = len(d["tokens"])
    size = -(-n // CHUNK) * CHUNK
    tokens = torch.full((1, size), enc.pad_id)
    tokens[0, :n] = torch.from_numpy(d["tokens"]).long()
    doc = torch.zeros(1, size, dtype=torch.int32)
    doc[0, :n] = 1
    positions = torch.zeros(3, 1, size, dtype=torch.int32)
    positions[:, 0, :n] = torch.from_numpy(d["positions"])
    image = None
    if d["images"]:
        k = len(d["images"])
        patches = torch.zeros(k, 100, 768)
        grid = torch.zeros(k, 2, dtype=torch.long)
        at = torch.full((k, 25), size)
        for i, ((start, gh, gw), img) in enumerate(zip(d["spans"], d["images"])):
            p = torch.from_numpy(patches_of(img)).float() / 127.5 - 1
            patches[i, : len(p)] = p
            grid[i, 0], grid[i, 1] = 2 * gh, 2 * gw
            at[i, : gh * gw] = start + torch.arange(gh * gw)
        image = (patches, grid, at)
    return tokens, doc, positions, image, d["kinds"]


def answers(kinds: np.ndarray) -> list[range]:
    """Runs of answer tokens."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (kinds == ANSWER).astype(int), [0]])))
    return [range(a, b) for a, b in zip(edges[::2], edges[1::2])]


@torch.no_grad()
def run(model: Model, enc: Encoder, s: Sample, draft: bool):
    """[(all tokens right, tokens right, tokens)] per answer, and accepted drafts [(accepted, possible)]."""
    tokens, doc, positions, image, kinds = inputs(enc, s)
    ctx = model.context(doc, positions)
    x = model.embed(tokens, *image) if image else model.embed(tokens)
    h = model.trunk(x, ctx)
    out, accepted = [], []
    runs = answers(kinds)
    rows = torch.cat([torch.arange(a.start, a.stop) for a in runs]) - 1  # the only rows whose logits matter

    def best(y):
        full = torch.full((y.shape[1],), -1)
        full[rows] = (y[0, rows] @ model.head.T).argmax(-1)
        return full.tolist()

    greedy = best(h)
    drafted = [best(y) for y in model.draft(x, h, ctx, DRAFTS)] if draft else []
    for a in runs:
        idx = torch.arange(a.start, a.stop)
        right = torch.tensor(greedy)[idx - 1] == tokens[0, idx]
        out.append((bool(right.all()), int(right.sum()), len(idx)))
        if not draft:
            continue
        for t in a:  # token t is known; its row is t - 1; step k drafts token t + k
            possible = min(DRAFTS, a.stop - 1 - t)
            n = 0
            while n < possible and drafted[n][t - 1] == greedy[t + n]:
                n += 1
            accepted.append((n, possible))
    return out, accepted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--long-count", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    enc = Encoder(options.tokenizer)
    model = Model(Shape()).eval()
    model.load_state_dict(load_weights(options.weights))
    table = []
    drafts = defaultdict(list)
    for name, make in GROUPS.items():
        r = random.Random("held out " + name)
        rows, acc = [], []
        for _ in range(options.count):
            s = make(r)
            s.thinking = False
            o, d = run(model, enc, s, True)
            rows += o if name != "tool result, then answer" else o[-1:]
            acc += d
        drafts[name] = acc
        first = np.mean([n >= 1 for n, p in acc if p >= 1]) if acc else float("nan")
        full = [n for n, p in acc if p == DRAFTS]
        table.append(
            dict(
                group=name,
                answers=len(rows),
                exact=float(np.mean([x[0] for x in rows])),
                token=sum(x[1] for x in rows) / sum(x[2] for x in rows),
                draft1=float(first),
                mean4=float(np.mean(full)) if full else None,
            )
        )
        print(json.dumps(table[-1]), flush=True)
    for name, length in RETRIEVE.items():
        r = random.Random("held out " + name)
        rows, sizes = [], []
        for _ in range(options.long_count if length < 4000 else 6):
            s = retrieve_sample(r, length)
            s.thinking = False
            sizes.append(sum(len(enc.encode(t)) for t, _ in pieces(s)))
            rows += run(model, enc, s, False)[0][-1:]
        table.append(
            dict(
                group=name,
                answers=len(rows),
                exact=float(np.mean([x[0] for x in rows])),
                token=sum(x[1] for x in rows) / sum(x[2] for x in rows),
                tokens=round(float(np.mean(sizes))),
            )
        )
        print(json.dumps(table[-1]), flush=True)
    every = [x for acc in drafts.values() for x in acc]
    depth = {k: float(np.mean([n >= k for n, p in every if p >= k])) for k in range(1, DRAFTS + 1)}
    print("share of positions at which the first k drafts are all right:", {k: round(x, 3) for k, x in depth.items()})
    print(
        "mean accepted of n drafts:",
        {k: round(float(np.mean([min(n, k) for n, p in every if p >= k])), 2) for k in range(1, DRAFTS + 1)},
    )
    if options.out:
        options.out.write_text(json.dumps(dict(table=table, depth=depth), indent=1))


if __name__ == "__main__":
    main()
