"""Rotary positions: frequencies, their scalings, angles and the rotation.

Su et al., arXiv:2104.09864; Peng et al., arXiv:2309.00071 (YaRN); Bai et al., arXiv:2511.21631 (interleaved positions).

Frequencies and angles are rounded to float32, as in the programs that trained these models: at position 20,000 a
rounded angle is off by up to 0.001, which would otherwise be the largest difference of all.
"""

import numpy as np
from model_file import Array, ModelFile


def rounded(x: Array) -> Array:
    return x.astype(np.float32).astype(np.float64)


def plain_frequencies(theta: float, dimensions: int) -> Array:
    return rounded(theta ** (-2.0 * np.arange(dimensions // 2) / dimensions))


def yarn_boundary(file: ModelFile, theta: float, dimensions: int, turns: float) -> float:
    """The number, a fraction, of the frequency that turns so often within the original context."""
    original = file.key("rope.scaling.original_context_length")
    return dimensions * np.log(original / (2 * np.pi * turns)) / (2 * np.log(theta))


def yarn(file: ModelFile, theta: float, dimensions: int, whole_boundaries: bool) -> tuple[Array, float]:
    """Frequencies, and what cosines and sines are multiplied by."""
    factor = file.key("rope.scaling.factor")
    low = yarn_boundary(file, theta, dimensions, file.key("rope.scaling.yarn_beta_fast", 32.0))
    high = yarn_boundary(file, theta, dimensions, file.key("rope.scaling.yarn_beta_slow", 1.0))
    if whole_boundaries:
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, 0), min(high, dimensions - 1)
    ramp = np.clip((np.arange(dimensions // 2) - low) / max(high - low, 0.001), 0, 1)
    f = plain_frequencies(theta, dimensions)
    growth = np.log(factor)
    multiplier = file.key("rope.scaling.yarn_log_multiplier", 0.0)
    return rounded(f * (1 - ramp) + f / factor * ramp), (1 + 0.1 * growth) / (1 + 0.1 * multiplier * growth)


def axis_of_frequency(sections: list[int], frequencies: int) -> Array:
    """Which of a token's three positions (time, row, column) turns each frequency: they alternate as long as their
    sections last; what is left over is time."""
    i = np.arange(frequencies)
    row = (i % 3 == 1) & (i < 3 * sections[1])
    column = (i % 3 == 2) & (i < 3 * sections[2])
    return np.where(row, 1, np.where(column, 2, 0))


def angles(positions: Array, frequencies: Array) -> Array:
    """[positions, frequencies]. `positions` has one number for each position, or one for each of them and frequency."""
    if positions.ndim == 1:
        positions = positions[:, None]
    return rounded(positions * frequencies)


def rotate(x: Array, angles: Array, adjacent: bool, magnitude: float | Array = 1.0) -> Array:
    """x: [positions, heads, size]; angles: [positions, n]. Turns the first 2n elements of each head: the pairs
    (2i, 2i + 1) if `adjacent`, else (i, i + n); the rest stays."""
    n = angles.shape[1]
    cos, sin = np.cos(angles)[:, None] * magnitude, np.sin(angles)[:, None] * magnitude
    first, second = (slice(0, 2 * n, 2), slice(1, 2 * n, 2)) if adjacent else (slice(0, n), slice(n, 2 * n))
    u, v = x[..., first], x[..., second]
    out = x.copy()
    out[..., first] = u * cos - v * sin
    out[..., second] = u * sin + v * cos
    return out
