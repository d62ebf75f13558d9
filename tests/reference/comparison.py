"""`tempo9 logits` beside the references: how to run it, and how near the two must be.

Tolerance in float32. A sum of K roundings is off by about sqrt(K) 2^-24 of its size. Behind a logit of a tiny model lie
up to 50 sums of at most 256 terms, and logits reach 20: 20 sqrt(50 * 256) 2^-24 = 1.3e-4. SmolLM2 has 211 of at most
1536 terms and logits of 7 (rms): 2.4e-4. Both are root mean squares of what only partly adds up; 2e-4 is asked of both.

Byte products. The device `cpu` rounds what goes into a product with a quantised matrix to 8 bits, one scale per 32
columns. The reference can round likewise, and then the two agree as closely as in float32, up to the first value that
lies so near the middle between two levels that float32 rounds it the other way; later positions attend to that one and
differ too. In a tiny model of two layers that happens once in about 40 positions, so a share of the positions must
agree, which no other rounding would achieve at any.

How far such a difference may go is measured on the reference, three times with slightly different scales: three samples
of what rounding does to the logits. What the device shows is one more sample. Its rms, a mean over thousands of logits,
may be 1.5 times the largest of the three, and its largest difference twice theirs. (Scales per 256 columns instead of
32 would show: they have 1.5 times the noise or more.)
"""

import functools
import pathlib
import subprocess

import numpy as np
from blocks import round_to_int8
from model_file import ModelFile
from references import reference_of

FLOAT_TOLERANCE = 2e-4
SCALE_ERRORS = (0, 1 / 256, 1 / 128)


class Case:
    """A model file, a text, and the truth about them."""

    def __init__(self, path: pathlib.Path, ids: list[int]):
        self.path, self.ids = path, ids
        self.file = ModelFile(path)

    @functools.cached_property
    def logits(self) -> np.ndarray:
        return reference_of(self.file).logits(self.ids)

    @functools.cached_property
    def draft_logits(self) -> np.ndarray:
        return reference_of(self.file).draft_logits(self.ids)

    @functools.cached_property
    def rounded(self) -> list[np.ndarray]:
        """Logits with inputs of 8 bits: as the device rounds, and two neighbours. Equal if no matrix is quantised."""
        roundings = [functools.partial(round_to_int8, scale_error=error) for error in SCALE_ERRORS]
        return [reference_of(self.file, rounding).logits(self.ids) for rounding in roundings]


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x * x)))


def run_logits(case: Case, program: pathlib.Path, out: pathlib.Path, *options: str) -> subprocess.CompletedProcess:
    ids = ",".join(map(str, case.ids))
    command = [program, "logits", "--gguf", case.path, "--ids", ids, "--out", out, "--kv-type", "f32"]
    return subprocess.run([*command, *options], capture_output=True, text=True)


def compute_logits(case: Case, program: pathlib.Path, out: pathlib.Path, *options: str) -> np.ndarray:
    result = run_logits(case, program, out, *options)
    assert result.returncode == 0, result.stderr
    return np.load(out)


def check_exact(logits: np.ndarray, truth: np.ndarray, tolerance: float = FLOAT_TOLERANCE) -> None:
    assert logits.shape == truth.shape
    difference = np.abs(logits - truth)
    position, token = np.unravel_index(difference.argmax(), difference.shape)
    assert difference.max() <= tolerance, f"in row {position}, token {token}"


def check_rounded(logits: np.ndarray, case: Case, agreeing_share: float) -> None:
    noise = [rounded - case.logits for rounded in case.rounded]
    difference = logits - case.logits
    assert np.abs(difference).max() <= 2 * max(np.abs(sample).max() for sample in noise) + FLOAT_TOLERANCE
    assert rms(difference) <= 1.5 * max(rms(sample) for sample in noise) + FLOAT_TOLERANCE
    agrees = np.abs(logits - case.rounded[0]).max(1) <= FLOAT_TOLERANCE
    assert agrees.mean() >= agreeing_share, f"agrees up to position {np.argmin(agrees)}"
