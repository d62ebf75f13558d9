"""Check the data pipeline: the template and its Python twin agree, tokens are those of inference, packing loses nothing.

python check_data.py --tokenizer DIR
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import jinja2
import numpy as np
import torch

from loader import Batches, Encoder, draw_long, draw_short
from model import ChunkWalk, UnitLowerInverse
from render import ANSWER, IMAGE, TEMPLATE, pieces


def template():
    env = jinja2.Environment(extensions=["jinja2.ext.loopcontrols"])
    env.filters["tojson"] = lambda x: json.dumps(x, ensure_ascii=False)
    env.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return env.from_string(TEMPLATE.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokenizer", type=Path, required=True)
    options = parser.parse_args()
    chat, enc, r = template(), Encoder(options.tokenizer), random.Random(3)
    same_tokens = 0
    for i in range(600):
        s = draw_short(r) if i % 6 else draw_long(r)
        messages = [{k: x for k, x in m.items() if s.thinking or k != "reasoning_content"} for m in s.messages]
        parts = pieces(s)
        assert "".join(t for t, _ in parts) == chat.render(messages=messages, tools=s.tools or None), s
        # What the model is asked to continue at inference is exactly what precedes the last answer in training.
        prompt = chat.render(
            messages=messages[:-1], tools=s.tools or None, add_generation_prompt=True, enable_thinking=s.thinking
        )
        last = max(k for k, (_, kind) in enumerate(parts) if kind == ANSWER)
        before = "".join(t for t, _ in parts[:last])
        assert before == prompt, (before[-200:], prompt[-200:])
        same_tokens += enc.encode(prompt) == [t for p, _ in parts[:last] for t in enc.encode(p)]
        assert sum(t.count(IMAGE) for t, _ in parts) == len(s.images)
    print(f"600 conversations: template and renderer agree; tokens of the prompt agree in {same_tokens}")
    b = next(iter(Batches(options.tokenizer, 5, 8, 1024, 8, False)))
    doc, at = b["doc"], b["at"]
    flat = doc.flatten()
    used = b["weight"] > 0
    assert (flat[at[used]] == flat[at[used] + 1]).all() and (
        b["tokens"].flatten()[at[used] + 1] == b["target"][used]
    ).all()
    print(f"packing: {float((doc > 0).float().mean()):.3f} of the positions are filled")
    low = (torch.randn(2, 8, 8, dtype=torch.double) / 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: UnitLowerInverse.apply(x.tril(-1)), (low,))

    def t(*shape):
        return torch.randn(*shape, dtype=torch.double, requires_grad=True)

    decay = torch.rand(3, 2, 1, 1, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(ChunkWalk.apply, (decay, t(3, 2, 4, 3), t(3, 2, 4, 3), t(3, 2, 4, 5)))
    print("gradients: hand-written backward passes agree with finite differences")


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
