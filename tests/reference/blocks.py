"""What the architectures are made of, in plain numpy and float64: slow and obvious on purpose.

Written from the formulas, not from any program: Zhang and Sennrich, arXiv:1910.07467 (RMS norm); Ainslie et al.,
arXiv:2305.13245 (grouped queries); Hendrycks and Gimpel, arXiv:1606.08415 (GELU); Xiao et al., arXiv:2309.17453 (sinks).
"""

import numpy as np

Array = np.ndarray
ROWS_AT_ONCE = 256  # of queries, so that the scores of long texts fit into memory


def round_to_int8(x: Array, scale_error: float = 0.0) -> Array:
    """Values of an activation as integers of 8 bits with one scale per 32 columns: largest / 127, nearest integer.

    `scale_error` makes the scale larger by that share, which moves every value relative to the grid: another sample of
    the same noise.
    """
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    scale = np.abs(blocks).max(-1, keepdims=True) / 127 * (1 + scale_error)
    return (np.rint(blocks / np.where(scale == 0, 1, scale)) * scale).reshape(x.shape)


def rms_norm(x: Array, weight: Array | float, epsilon: float) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def attend(
    queries: Array,
    keys: Array,
    values: Array,
    positions: Array,
    scale: float,
    window: int | None = None,
    sinks: Array | None = None,
) -> Array:
    """Causal attention of queries [rows, heads, size] at `positions`, ascending, over the keys and values [all positions,
    fewer heads, size]: neighbouring query heads share one of those.

    With a window a row sees that many positions, itself included. A sink is one more score of its head, as it is,
    without a value. Returns [rows, heads * size].
    """
    rows, heads, _ = queries.shape
    group = heads // keys.shape[1]
    out = np.empty((rows, heads, values.shape[2]))
    for start in range(0, rows, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        at = positions[part, None]
        first = 0 if window is None else max(0, at[0, 0] - window + 1)
        seen = np.arange(first, at[-1, 0] + 1)
        allowed = (seen <= at) if window is None else (seen <= at) & (at - seen < window)
        for head in range(heads):
            scores = queries[part, head] @ keys[seen, head // group].T * scale
            scores = np.where(allowed, scores, -np.inf)
            if sinks is not None:
                scores = np.column_stack([scores, np.full(len(scores), sinks[head])])
            out[part, head] = softmax(scores)[:, : len(seen)] @ values[seen, head // group]
    return out.reshape(rows, -1)
