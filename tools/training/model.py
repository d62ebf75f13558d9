"""A compact, trainable implementation of the Qwen3.5 architecture.

Parameter names and shapes are those of the published checkpoint layout
(`Qwen3_5ForConditionalGeneration` in transformers, plus the `mtp.*` block), so
`state_dict()` can be saved as it is. `check_model.py` compares this code with
transformers. What differs is only what training wants:

* several documents share a row ("packing"); nothing may pass from one to the
  next. Attention gets a block-diagonal mask, the short convolution a mask per
  tap, and the recurrent state is multiplied by exp(-40) at the first token of
  every document;
* the gated delta rule works on chunks of 64 tokens, with a hand-written
  backward pass for its only sequential part, the walk over the chunks;
* logits are computed only at the positions that carry a loss.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

CHUNK = 64
RESET_LOG_DECAY = -40.0  # exp(-40) = 4e-18: the state of the previous document is gone


@dataclass
class VisionShape:
    depth: int = 4
    hidden: int = 160
    intermediate: int = 384
    heads: int = 4
    patch: int = 16
    merge: int = 2
    frames: int = 2  # a still image is repeated in time
    side: int = 10  # learned positions form a side x side grid


@dataclass
class Shape:
    vocab: int = 5120
    hidden: int = 256
    intermediate: int = 896
    layers: int = 8
    full_every: int = 4  # layers 4, 8, ... use full attention
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    rotary_dim: int = 16
    rope_theta: float = 1e7
    mrope_section: tuple[int, int, int] = (3, 3, 2)
    key_heads: int = 2
    value_heads: int = 4
    state_dim: int = 64  # size of a key and of a value in the linear layers
    conv_taps: int = 4
    eps: float = 1e-6
    context: int = 65536
    vision: VisionShape = field(default_factory=VisionShape)

    @property
    def layer_types(self) -> list[str]:
        return ["full_attention" if (i + 1) % self.full_every == 0 else "linear_attention" for i in range(self.layers)]

    def to_dict(self) -> dict:
        return asdict(self)


class RMSNorm(nn.Module):
    """Weight is stored minus one, as the family does."""

    def __init__(self, dim: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(dim))
        self.eps = eps

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return (y * (1.0 + self.weight)).to(x.dtype)


def linear(n_in: int, n_out: int, bias: bool = False) -> nn.Linear:
    return nn.Linear(n_in, n_out, bias=bias)


# --------------------------------------------------------------------------
# gated delta rule
# --------------------------------------------------------------------------


class UnitLowerInverse(torch.autograd.Function):
    """(I + L)^-1 for strictly lower triangular L (..., n, n), n a power of two.

    Doubling block sizes: with X the inverse of the block diagonal at size s, the blocks just below the
    diagonal are -X L X restricted to them. As stable as forward substitution.
    """

    @staticmethod
    def forward(ctx, lower):
        n = lower.shape[-1]
        idx = torch.arange(n, device=lower.device)
        x = torch.eye(n, device=lower.device, dtype=lower.dtype).expand_as(lower)
        s = 1
        while s < n:
            row, col = idx[:, None] // s, idx[None, :] // s
            level = ((row % 2 == 1) & (col == row - 1)).to(lower.dtype)
            x = x - x @ (lower * level) @ x
            s *= 2
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        xt = x.transpose(-1, -2)
        return -(xt @ grad @ xt).tril(-1)


class ChunkWalk(torch.autograd.Function):
    """S_{n+1} = d_n S_n + K_n^T (U_n - W_n S_n); returns all S_n and all V_n = U_n - W_n S_n.

    Shapes: d (N, B, 1, 1), K and W (N, B, C, dk), U (N, B, C, dv), S (N, B, dk, dv).
    """

    @staticmethod
    def forward(ctx, d, k, w, u):
        n = k.shape[0]
        states = k.new_empty(n, k.shape[1], k.shape[3], u.shape[3])
        values = torch.empty_like(u)
        s = torch.zeros_like(states[0])
        for i in range(n):
            states[i] = s
            torch.baddbmm(u[i], w[i], s, alpha=-1, out=values[i])
            if i + 1 < n:
                s = torch.baddbmm(d[i] * s, k[i].transpose(-1, -2), values[i])
        ctx.save_for_backward(d, k, w, states, values)
        return states, values

    @staticmethod
    def backward(ctx, g_states, g_values):
        d, k, w, states, values = ctx.saved_tensors
        n = k.shape[0]
        after = torch.empty_like(states)  # gradient with respect to S_{i+1}
        dv = torch.empty_like(values)
        g = torch.zeros_like(states[0])
        for i in range(n - 1, -1, -1):
            after[i] = g
            torch.baddbmm(g_values[i], k[i], g, out=dv[i])
            g = torch.baddbmm(g_states[i] + d[i] * g, w[i].transpose(-1, -2), dv[i], alpha=-1)
        return (
            (after * states).sum((-1, -2), keepdim=True),
            values @ after.transpose(-1, -2),
            -dv @ states.transpose(-1, -2),
            dv,
        )


def l2norm(x):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6)


class GatedDeltaNet(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.s = s
        self.key_dim, self.value_dim = s.key_heads * s.state_dim, s.value_heads * s.state_dim
        channels = 2 * self.key_dim + self.value_dim
        self.in_proj_qkv = linear(s.hidden, channels)
        self.in_proj_z = linear(s.hidden, self.value_dim)
        self.in_proj_b = linear(s.hidden, s.value_heads)
        self.in_proj_a = linear(s.hidden, s.value_heads)
        self.conv1d = nn.Conv1d(channels, channels, s.conv_taps, groups=channels, bias=False)
        # Decays per step between about 0.5 and 0.999 at the start.
        self.A_log = nn.Parameter(torch.empty(s.value_heads).uniform_(1, 8).log())
        dt = torch.exp(torch.empty(s.value_heads).uniform_(math.log(1e-3), math.log(1e-1)))
        self.dt_bias = nn.Parameter(dt + torch.log(-torch.expm1(-dt)))
        self.norm = nn.Module()
        self.norm.weight = nn.Parameter(torch.ones(s.state_dim))
        self.out_proj = linear(self.value_dim, s.hidden)

    def before_walk(self, x, taps_ok, first):
        """Everything before the walk over chunks. taps_ok[j] says that token t - j belongs to t's document."""
        c, beta, alpha = self.in_proj_qkv(x), self.in_proj_b(x), self.in_proj_a(x)
        with torch.autocast(x.device.type, enabled=False):
            return self.chunked(c.float(), beta.float(), alpha.float(), taps_ok, first)

    def chunked(self, c, beta, alpha, taps_ok, first):
        s, (b, t, _) = self.s, c.shape
        kernel = self.conv1d.weight[:, 0]
        y = c * kernel[:, -1]
        for j in range(1, s.conv_taps):
            shifted = F.pad(c, (0, 0, j, 0))[:, :t]
            y = y + shifted * taps_ok[j - 1][..., None] * kernel[:, -1 - j]
        y = F.silu(y)
        q, k, v = y.split([self.key_dim, self.key_dim, self.value_dim], -1)
        n, rep = t // CHUNK, s.value_heads // s.key_heads

        def chunks(z, heads):  # -> (N, B*heads, C, dim)
            z = z.view(b, n, CHUNK, heads, -1).permute(1, 0, 3, 2, 4)
            if heads != s.value_heads:
                z = z.repeat_interleave(rep, 2)
            return z.reshape(n, b * s.value_heads, CHUNK, -1)

        q = chunks(l2norm(q.view(b, t, s.key_heads, -1)) * s.state_dim**-0.5, s.key_heads)
        k = chunks(l2norm(k.view(b, t, s.key_heads, -1)), s.key_heads)
        v = chunks(v, s.value_heads)
        beta = chunks(beta.sigmoid(), s.value_heads)
        g = -self.A_log.exp() * F.softplus(alpha + self.dt_bias)
        g = torch.where(first[..., None], RESET_LOG_DECAY, g)
        g = chunks(g, s.value_heads).squeeze(-1).cumsum(-1)  # (N, BH, C)
        decay = (g[..., :, None] - g[..., None, :]).tril().exp().tril()  # inner tril: no overflow above
        kb = k * beta
        inverse = UnitLowerInverse.apply(((kb @ k.transpose(-1, -2)) * decay).tril(-1))
        u = inverse @ (v * beta)
        w = inverse @ (kb * g.exp()[..., None])
        scores = (q @ k.transpose(-1, -2)) * decay
        q = q * g.exp()[..., None]
        k = k * (g[..., -1:] - g).exp()[..., None]
        return g[..., -1].exp()[..., None, None], k, w, u, q, scores

    def after_walk(self, x, q, scores, states, values):
        s, (b, t, _) = self.s, x.shape
        z = self.in_proj_z(x)
        with torch.autocast(x.device.type, enabled=False):
            o = q @ states + scores @ values
        o = o.view(t // CHUNK, b, s.value_heads, CHUNK, -1).permute(1, 0, 3, 2, 4).reshape(b, t, s.value_heads, -1)
        o = o * torch.rsqrt(o.pow(2).mean(-1, keepdim=True) + s.eps) * self.norm.weight
        o = o * F.silu(z.float().view_as(o))
        return self.out_proj(o.reshape(b, t, -1).to(x.dtype))


# --------------------------------------------------------------------------
# attention, layers
# --------------------------------------------------------------------------


def rotate(x, cos, sin):
    n = cos.shape[-1]
    r, rest = x[..., :n], x[..., n:]
    half = torch.cat([-r[..., n // 2 :], r[..., : n // 2]], -1)
    return torch.cat([r * cos + half * sin, rest], -1)


class Attention(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.s = s
        self.q_proj = linear(s.hidden, 2 * s.heads * s.head_dim)
        self.k_proj = linear(s.hidden, s.kv_heads * s.head_dim)
        self.v_proj = linear(s.hidden, s.kv_heads * s.head_dim)
        self.o_proj = linear(s.heads * s.head_dim, s.hidden)
        self.q_norm, self.k_norm = RMSNorm(s.head_dim, s.eps), RMSNorm(s.head_dim, s.eps)

    def forward(self, x, rope, mask, past=()):
        """`past`: keys and values of earlier drafting steps. Returns the output and this call's keys and values."""
        s, (b, t, _) = self.s, x.shape
        q, gate = self.q_proj(x).view(b, t, s.heads, 2 * s.head_dim).chunk(2, -1)
        q = rotate(self.q_norm(q).transpose(1, 2), *rope)
        k = rotate(self.k_norm(self.k_proj(x).view(b, t, s.kv_heads, -1)).transpose(1, 2), *rope)
        v = self.v_proj(x).view(b, t, s.kv_heads, -1).transpose(1, 2)
        rep = s.heads // s.kv_heads
        k, v = k.to(v.dtype).repeat_interleave(rep, 1), v.repeat_interleave(rep, 1)
        all_k, all_v = torch.cat([*(p[0] for p in past), k], 2), torch.cat([*(p[1] for p in past), v], 2)
        o = F.scaled_dot_product_attention(q.to(v.dtype), all_k, all_v, attn_mask=mask)
        return self.o_proj(o.transpose(1, 2).reshape(b, t, -1) * torch.sigmoid(gate.reshape(b, t, -1))), (k, v)


class MLP(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.gate_proj, self.up_proj = linear(s.hidden, s.intermediate), linear(s.hidden, s.intermediate)
        self.down_proj = linear(s.intermediate, s.hidden)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, s: Shape, kind: str):
        super().__init__()
        self.kind = kind
        if kind == "linear_attention":
            self.linear_attn = GatedDeltaNet(s)
        else:
            self.self_attn = Attention(s)
        self.mlp = MLP(s)
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(s.hidden, s.eps), RMSNorm(s.hidden, s.eps)

    # Three pieces so that the middle one, a Python loop, can stay outside of compiled code.
    def linear_before(self, x, taps_ok, first):
        return self.linear_attn.before_walk(self.input_layernorm(x), taps_ok, first)

    def linear_after(self, x, q, scores, states, values):
        x = x + self.linear_attn.after_walk(self.input_layernorm(x), q, scores, states, values)
        return x + self.mlp(self.post_attention_layernorm(x))

    def full(self, x, rope, mask, past=()):
        y, kv = self.self_attn(self.input_layernorm(x), rope, mask, past)
        x = x + y
        return x + self.mlp(self.post_attention_layernorm(x)), kv

    def forward(self, x, ctx):
        if self.kind == "full_attention":
            return self.full(x, ctx["rope"], ctx["mask"])[0]
        d, k, w, u, q, scores = self.linear_before(x, ctx["taps_ok"], ctx["first"])
        with torch.autocast(x.device.type, enabled=False):
            states, values = ChunkWalk.apply(d, k, w, u)
        return self.linear_after(x, q, scores, states, values)


# --------------------------------------------------------------------------
# vision
# --------------------------------------------------------------------------


class VisionBlock(nn.Module):
    def __init__(self, v: VisionShape):
        super().__init__()
        self.v = v
        self.norm1, self.norm2 = nn.LayerNorm(v.hidden, 1e-6), nn.LayerNorm(v.hidden, 1e-6)
        self.attn = nn.Module()
        self.attn.qkv, self.attn.proj = linear(v.hidden, 3 * v.hidden, True), linear(v.hidden, v.hidden, True)
        self.mlp = nn.Module()
        self.mlp.linear_fc1 = linear(v.hidden, v.intermediate, True)
        self.mlp.linear_fc2 = linear(v.intermediate, v.hidden, True)

    def forward(self, x, rope, mask):
        n, p, _ = x.shape
        q, k, v = self.attn.qkv(self.norm1(x)).view(n, p, 3, self.v.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = rotate(q, *rope).to(v.dtype), rotate(k, *rope).to(v.dtype)
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.attn.proj(o.transpose(1, 2).reshape(n, p, -1))
        return x + self.mlp.linear_fc2(F.gelu(self.mlp.linear_fc1(self.norm2(x)), approximate="tanh"))


class Vision(nn.Module):
    """Pictures come as (n, P, 3*16*16) patches in merge-block order, padded to P patches."""

    def __init__(self, v: VisionShape, out: int):
        super().__init__()
        self.v = v
        self.patch_embed = nn.Module()
        self.patch_embed.proj = nn.Conv3d(3, v.hidden, (v.frames, v.patch, v.patch))
        self.pos_embed = nn.Embedding(v.side**2, v.hidden)
        self.blocks = nn.ModuleList([VisionBlock(v) for _ in range(v.depth)])
        self.merger = nn.Module()
        self.merger.norm = nn.LayerNorm(v.hidden, 1e-6)
        wide = v.hidden * v.merge**2
        self.merger.linear_fc1, self.merger.linear_fc2 = linear(wide, wide, True), linear(wide, out, True)

    def forward(self, patches, grid):
        """patches (n, P, 768) in [-1, 1]; grid (n, 2) rows and columns of patches. Returns (n, P/4, out)."""
        v, (n, p, _) = self.v, patches.shape
        dev = patches.device
        gh, gw = grid[:, :1], grid[:, 1:]
        i = torch.arange(p, device=dev)[None]
        unit = v.merge**2
        block, inner = i // unit, i % unit
        row = (block // (gw // v.merge)) * v.merge + inner // v.merge
        col = (block % (gw // v.merge)) * v.merge + inner % v.merge
        real = i < gh * gw
        row, col = torch.where(real, row, 0), torch.where(real, col, 0)

        def corners(pos, size):  # resample the learned grid, corners aligned
            x = pos * (v.side - 1) / (size - 1).clamp_min(1)
            lo = x.floor().long().clamp_max(v.side - 1)
            return lo, (lo + 1).clamp_max(v.side - 1), (x - lo)[..., None]

        r0, r1, fr = corners(row, gh)
        c0, c1, fc = corners(col, gw)
        e = self.pos_embed
        pos = (e(r0 * v.side + c0) * (1 - fr) + e(r1 * v.side + c0) * fr) * (1 - fc) + (
            e(r0 * v.side + c1) * (1 - fr) + e(r1 * v.side + c1) * fr
        ) * fc
        kernel = self.patch_embed.proj.weight.sum(2).flatten(1)
        x = F.linear(patches, kernel, self.patch_embed.proj.bias).float() + pos
        half = v.hidden // v.heads // 2
        freq = 1.0 / (10000.0 ** (torch.arange(0, half, 2, device=dev).float() / half))
        angle = torch.cat([row[..., None] * freq, col[..., None] * freq], -1)
        angle = torch.cat([angle, angle], -1)[:, None]
        rope = (angle.cos(), angle.sin())
        mask = (real[:, None, :] | torch.eye(p, dtype=torch.bool, device=dev)[None])[:, None]
        for blk in self.blocks:
            x = blk(x, rope, mask)
        x = self.merger.norm(x).reshape(n, p // unit, -1)
        return self.merger.linear_fc2(F.gelu(self.merger.linear_fc1(x)))


# --------------------------------------------------------------------------
# the whole model
# --------------------------------------------------------------------------


class LanguageModel(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.embed_tokens = nn.Embedding(s.vocab, s.hidden)
        self.layers = nn.ModuleList([Layer(s, kind) for kind in s.layer_types])
        self.norm = RMSNorm(s.hidden, s.eps)


class NextTokenBlock(nn.Module):
    """u_i = fc[norm(emb(x_{i+1})); norm(h_i)], one full-attention layer, norm; predicts x_{i+2} with the shared head."""

    def __init__(self, s: Shape):
        super().__init__()
        self.fc = linear(2 * s.hidden, s.hidden)
        self.pre_fc_norm_embedding, self.pre_fc_norm_hidden = RMSNorm(s.hidden, s.eps), RMSNorm(s.hidden, s.eps)
        self.layers = nn.ModuleList([Layer(s, "full_attention")])
        self.norm = RMSNorm(s.hidden, s.eps)

    def forward(self, emb, hidden, rope, mask, past=()):
        u = self.fc(torch.cat([self.pre_fc_norm_embedding(emb), self.pre_fc_norm_hidden(hidden)], -1))
        y, kv = self.layers[0].full(u, rope, mask, past)
        return self.norm(y), kv


class Model(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.s = s
        self.model = nn.Module()
        self.model.language_model = LanguageModel(s)
        self.model.visual = Vision(s.vision, s.hidden)
        self.mtp = NextTokenBlock(s)
        self.initialise()

    @torch.no_grad()
    def initialise(self):
        out_gain = 1.0 / math.sqrt(2 * self.s.layers)
        for name, p in self.named_parameters():
            if name.endswith("embed_tokens.weight"):
                p.normal_(0, 0.02)
            elif name.endswith("pos_embed.weight"):
                p.normal_(0, 0.1)
            elif name.endswith("conv1d.weight"):
                p.normal_(0, 0.3)
                p[:, 0, -1] += 0.6
            elif p.dim() >= 2:
                p.normal_(0, 1 / math.sqrt(math.prod(p.shape[1:])))
                if name.endswith(
                    (
                        "o_proj.weight",
                        "out_proj.weight",
                        "down_proj.weight",
                        "attn.proj.weight",
                        "mlp.linear_fc2.weight",
                    )
                ):
                    p.mul_(out_gain)
            elif name.endswith("bias") and "dt_bias" not in name:
                p.zero_()

    @property
    def head(self):
        return self.model.language_model.embed_tokens.weight

    def context(self, doc, positions):
        """Masks and rotary tables of a packed batch. doc (B, T) numbers the documents of a row from 1, 0 is padding;
        positions (3, B, T) are the time, row and column positions."""
        s, t = self.s, doc.shape[1]
        dev = doc.device
        mask = (doc[:, :, None] == doc[:, None, :]) & torch.ones(t, t, dtype=torch.bool, device=dev).tril()
        taps, first = [], None
        for j in range(1, s.conv_taps):
            same = torch.zeros_like(doc, dtype=torch.bool)
            same[:, j:] = doc[:, j:] == doc[:, :-j]
            taps.append(same.float())
            if j == 1:
                first = ~same
        freq = 1.0 / (s.rope_theta ** (torch.arange(0, s.rotary_dim, 2, device=dev).float() / s.rotary_dim))
        axis = torch.zeros(s.rotary_dim // 2, dtype=torch.long, device=dev)
        for a in (1, 2):
            axis[a : s.mrope_section[a] * 3 : 3] = a
        angle = positions.float()[axis].permute(1, 2, 0) * freq  # (B, T, rotary_dim / 2)
        angle = torch.cat([angle, angle], -1)[:, None]
        return dict(
            mask=mask[:, None],
            taps_ok=torch.stack(taps),
            first=first,
            rope=(angle.cos(), angle.sin()),
            angle=angle,
            freq=torch.cat([freq, freq]),
        )

    def embed(self, tokens, patches=None, grid=None, image_at=None):
        """image_at (n, P/4): flat index of the placeholder of each image token, or B*T for padding."""
        x = self.model.language_model.embed_tokens(tokens)
        if patches is None:
            return x
        feats = self.model.visual(patches, grid).to(x.dtype)
        b, t, e = x.shape
        flat = torch.cat([x.reshape(b * t, e), x.new_zeros(1, e)])
        return flat.index_copy(0, image_at.reshape(-1), feats.reshape(-1, e))[:-1].view(b, t, e)

    def trunk(self, x, ctx):
        for layer in self.model.language_model.layers:
            x = layer(x, ctx)
        return self.model.language_model.norm(x)

    def draft(self, emb, hidden, ctx, steps: int):
        """Run the next-token block `steps` times over whole rows. `emb` are the embeddings of the row's tokens, `hidden`
        the trunk's state. Row i of the result of step k predicts token i + k + 1.

        As in inference, step k sees for row i the first step's rows up to i and the later steps' rows i only.
        """
        t = emb.shape[1]
        diagonal = torch.eye(t, dtype=torch.bool, device=emb.device).expand_as(ctx["mask"])
        past, mask, out = [], ctx["mask"], []
        for step in range(1, steps + 1):
            shifted = F.pad(emb[:, step:], (0, 0, 0, step))
            angle = ctx["angle"] + (step - 1) * ctx["freq"]
            hidden, kv = self.mtp(shifted, hidden, (angle.cos(), angle.sin()), mask, tuple(past))
            out.append(hidden)
            past.append(kv)
            mask = torch.cat([mask, diagonal], -1)
        return out
