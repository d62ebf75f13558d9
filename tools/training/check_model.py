"""Compare model.py with transformers' Qwen3.5 and check that packed documents do not see each other.

python check_model.py
"""

import torch

from export import hf_config
from model import Model, Shape


@torch.no_grad()
def main():
    from transformers import Qwen3_5ForConditionalGeneration

    torch.manual_seed(0)
    s = Shape()
    ours = Model(s).eval()
    for name, p in ours.named_parameters():  # make norms and biases matter
        if p.dim() == 1:
            p.add_(torch.randn_like(p) * 0.1)
    ours.model.language_model.embed_tokens.weight.mul_(5)
    ids = dict(image=5000, video=5001, vision_start=5002, vision_end=5003, eos=5004)
    cfg = hf_config(s, ids)
    cfg._attn_implementation = "eager"
    theirs = Qwen3_5ForConditionalGeneration(cfg).float().eval()
    state = {k: v for k, v in ours.state_dict().items() if not k.startswith("mtp.")}
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    theirs.tie_weights()

    # Two documents in one row; the second holds a picture of 6 x 8 patches.
    n1, n2 = 70, 128 - 70
    first, second = torch.randint(0, 4000, (n1,)), torch.randint(0, 4000, (n2,))
    second[5:17] = ids["image"]
    patches = torch.rand(1, 48, 768) * 2 - 1
    full = patches.view(1, 48, 3, 1, 256).expand(-1, -1, -1, 2, -1).reshape(48, -1)
    grid3 = torch.tensor([[1, 6, 8]])
    kinds = (second == ids["image"]).int()[None]
    pos, _ = theirs.model.get_rope_index(second[None], mm_token_type_ids=kinds, image_grid_thw=grid3)
    ref1 = theirs(input_ids=first[None], use_cache=False).logits[0]
    ref2 = theirs(
        input_ids=second[None],
        pixel_values=full,
        image_grid_thw=grid3,
        mm_token_type_ids=kinds,
        position_ids=pos,
        use_cache=False,
    ).logits[0]

    tokens = torch.cat([first, second])[None]
    doc = torch.cat([torch.ones(n1), torch.full((n2,), 2)]).long()[None]
    positions = torch.cat([torch.arange(n1).expand(3, -1), pos[:, 0]], 1)[:, None]
    padded = torch.zeros(1, 100, 768)
    padded[:, :48] = patches
    at = torch.full((1, 25), 128)
    at[0, :12] = n1 + torch.arange(5, 17)
    ctx = ours.context(doc, positions)
    hidden = ours.trunk(ours.embed(tokens, padded, torch.tensor([[6, 8]]), at), ctx)
    logits = (hidden @ ours.head.T)[0]
    for name, a, b in (("first document", logits[:n1], ref1), ("second, with picture", logits[n1:], ref2)):
        worst = float((a - b).abs().max())
        print(f"{name}: largest difference {worst:.1e}, logit deviation {float(b.std()):.2f}")
        assert worst < 1e-3


if __name__ == "__main__":
    main()
