"""Train the model for a given time on one GPU (or a few steps on a CPU).

    python train.py --tokenizer DIR --out DIR --seconds 500

Everything streams: worker processes draw, tokenize and pack documents (loader.py). The learning rate follows the
clock, so that a run ends well whatever the throughput. Matrices are trained by Muon, the rest by AdamW.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from loader import stream
from model import Layer, Model, Shape

DRAFT_WEIGHTS = (0.3, 0.15, 0.1)


# --------------------------------------------------------------------------
# optimizer
# --------------------------------------------------------------------------


def orthogonal(g: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """Approximate polar factor of a stack of matrices by a quintic Newton-Schulz iteration."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.to(torch.bfloat16 if g.is_cuda else torch.float32)
    flip = x.shape[-2] > x.shape[-1]
    if flip:
        x = x.transpose(-1, -2)
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        y = x @ x.transpose(-1, -2)
        x = a * x + (b * y + c * (y @ y)) @ x
    return (x.transpose(-1, -2) if flip else x).float()


class Muon:
    """Momentum, then orthogonalised updates; matrices of one shape are handled as a stack."""

    def __init__(self, params: list[torch.nn.Parameter], momentum: float = 0.95, decay: float = 0.01):
        groups = defaultdict(list)
        for p in params:
            groups[tuple(p.shape)].append(p)
        self.groups = list(groups.values())
        self.buffers = [torch.zeros(len(g), *g[0].shape, device=g[0].device) for g in self.groups]
        self.momentum, self.decay = momentum, decay

    @torch.no_grad()
    def step(self, lr: float):
        for group, buf in zip(self.groups, self.buffers):
            grad = torch.stack([p.grad if p.grad is not None else torch.zeros_like(p) for p in group])
            buf.lerp_(grad, 1 - self.momentum)
            update = orthogonal(grad.lerp(buf, self.momentum))
            rows, cols = update.shape[-2:]
            update *= lr * max(1.0, rows / cols) ** 0.5
            torch._foreach_mul_(group, 1 - lr * self.decay)
            torch._foreach_sub_(group, list(update.unbind(0)))


def split_parameters(model: Model):
    matrices, others = [], []
    for name, p in model.named_parameters():
        small = p.dim() != 2 or min(p.shape) < 16 or "embed" in name
        (others if small else matrices).append(p)
    return matrices, others


# --------------------------------------------------------------------------
# one step
# --------------------------------------------------------------------------


def weighted_loss(hidden, head, target, weight):
    logits = F.linear(hidden, head.to(hidden.dtype)).float()
    loss = F.cross_entropy(logits, target, reduction="none")
    hit = (logits.argmax(-1) == target).float()
    answers = (weight >= 0.99).float()
    return (loss * weight).sum() / weight.sum().clamp_min(1), (hit * answers).sum() / answers.sum().clamp_min(1)


class Trainer:
    def __init__(self, model: Model, compiled: bool):
        self.model = model
        self.loss = weighted_loss
        if compiled:
            self.loss = torch.compile(weighted_loss)
            # Only what runs once per layer or is heavy; everything else would cost more to compile than it saves.
            for name in ("linear_before", "linear_after", "full"):
                setattr(Layer, name, torch.compile(getattr(Layer, name), dynamic=False))

    def forward(self, b: dict[str, torch.Tensor], draft_steps: int):
        m = self.model
        device = b["tokens"].device
        ctx = m.context(b["doc"], b["positions"])
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            if "patches" in b:
                patches = b["patches"].to(torch.bfloat16 if device.type == "cuda" else torch.float32) / 127.5 - 1
                x = m.embed(b["tokens"], patches, b["grid"], b["image_at"])
            else:
                x = m.embed(b["tokens"])
            if device.type == "cuda":
                x = x.to(torch.bfloat16)
            h = m.trunk(x, ctx)
            flat = h.reshape(-1, h.shape[-1])
            loss, hit = self.loss(flat[b["at"]], m.head, b["target"], b["weight"])
            parts = {"loss": loss.detach(), "hit": hit}
            total = loss
            for k, y in enumerate(m.draft(x, h, ctx, draft_steps)):
                loss, hit = self.loss(
                    y.reshape(-1, y.shape[-1])[b["draft_at"]], m.head, b["draft_target"][k], b["draft_weight"][k]
                )
                total = total + DRAFT_WEIGHTS[k] * loss
                parts[f"draft{k + 1}"] = hit
        return total, parts


def schedule(x: float, step: int) -> float:
    """Learning-rate factor at the fraction x of the run: short warm-up, constant, then linear to (almost) zero."""
    return min(1.0, (step + 1) / 50) * (1.0 if x < 0.35 else max(0.01, 1 - (x - 0.35) / 0.65))


def save(model: Model, out: Path, parts: int = 4):
    """Several files of similar size."""
    out.mkdir(parents=True, exist_ok=True)
    state = {k: v.detach().float().cpu().contiguous() for k, v in model.state_dict().items()}
    bins: list[dict[str, torch.Tensor]] = [{} for _ in range(parts)]
    for k in sorted(state, key=lambda k: -state[k].numel()):
        min(bins, key=lambda d: sum(t.numel() for t in d.values()))[k] = state[k]
    for i, d in enumerate(bins):
        save_file(d, out / f"weights-{i}.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--steps", type=int, default=10**9)
    parser.add_argument("--tokens", type=int, default=65536, help="tokens of a batch")
    parser.add_argument(
        "--long-every", type=int, default=6, help="every n-th batch has rows of 4096 instead of 1024 tokens"
    )
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--muon-lr", type=float, default=0.02)
    parser.add_argument("--adam-lr", type=float, default=3e-3)
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--resume", type=Path)
    options = parser.parse_args()
    began = time.time()
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)  # allowed in a variant that gave NaN gradients; cause not established
    slots = max(4, options.tokens * 112 // 65536)
    long_workers = 2 if options.workers else 0
    short = stream(
        options.tokenizer,
        options.seed,
        max(1, options.tokens // 1024),
        1024,
        slots,
        False,
        max(0, options.workers - long_workers),
    )
    long = stream(options.tokenizer, options.seed, max(1, options.tokens // 4096), 4096, 0, True, long_workers)
    model = Model(Shape()).to(device)
    if options.resume:
        from export import load_weights

        model.load_state_dict(load_weights(options.resume))
    matrices, others = split_parameters(model)
    muon = Muon(matrices)
    adam = torch.optim.AdamW(
        others, lr=options.adam_lr, betas=(0.9, 0.97), eps=1e-10, weight_decay=0.0, fused=device.type == "cuda"
    )
    trainer = Trainer(model, compiled=device.type == "cuda" and not options.eager)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters on {device}", flush=True)

    log, sums, tokens, step = [], defaultdict(float), 0, 0
    counts = defaultdict(int)
    warm: tuple[float, int] | None = None  # time and tokens once everything is compiled
    waited, saved, zero = 0.0, 0.4, 0.0
    while step < options.steps:
        now = time.time() - began
        if now > options.seconds:
            break
        is_long = step % options.long_every == options.long_every - 1
        t = time.time()
        b = next(long if is_long else short)
        waited += time.time() - t
        b = {k: v.to(device, non_blocking=True) for k, v in b.items()}
        if step <= options.long_every:  # both kinds of batch are compiled by then
            zero = now
        x = max((now - zero) / (options.seconds - zero), step / options.steps)
        factor = schedule(x, step)
        if x > saved and options.steps > 10**6:  # something to come home with if the run is cut short
            save(model, options.out)
            saved += 0.25
        # Drafting several tokens is trained in the second half only: it is costly and rests on the first step.
        total, parts = trainer.forward(b, 1 if is_long or x < 0.5 else 3)
        total.backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads)))
        torch._foreach_mul_(grads, (1.0 / norm.clamp_min(1.0)))
        for g in grads:  # a step with a non-finite gradient is skipped
            g.nan_to_num_(0.0, 0.0, 0.0)
        muon.step(options.muon_lr * factor)
        for g in adam.param_groups:
            g["lr"] = options.adam_lr * factor
        adam.step()
        for p in model.parameters():
            p.grad = None
        tokens += b["tokens"].numel()
        step += 1
        for k, v in parts.items():
            key = ("long " if is_long else "") + k
            sums[key] = sums[key] + v.detach()
            counts[key] += 1
        if step == 24:
            if device.type == "cuda":
                torch.cuda.synchronize()
            warm = (time.time(), tokens)
            waited = 0.0
        if step <= 6 or step % 100 == 0:
            row = {k: round(float(v) / counts[k], 4) for k, v in sums.items()}
            sums.clear()
            counts.clear()
            rate = (tokens - warm[1]) / (time.time() - warm[0]) if warm else 0
            row.update(
                step=step,
                seconds=round(time.time() - began, 1),
                tokens=tokens,
                norm=round(float(norm), 2),
                rate=round(rate),
                waited=round(waited, 1),
                lr=round(factor, 3),
            )
            log.append(row)
            print(json.dumps(row), flush=True)
    save(model, options.out)
    if device.type == "cuda":
        print(f"peak memory {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    (options.out / "log.jsonl").write_text("\n".join(map(json.dumps, log)))
    print(f"{step} steps, {tokens / 1e6:.1f} M tokens, {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
