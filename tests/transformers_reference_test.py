"""Every architecture equals `transformers` in float32: random models of the package, written as GGUF files, at every
position of short and long texts, on every device. Prints a table of the largest differences.

The shapes are those of reference/tiny_shapes.py with other weights. gpt-oss has fractional boundaries of YaRN
(`truncate: false`), as it is published; nothing in a file would say otherwise.

The tolerance of reference/comparison.py is how far a float32 program may be from the truth. Two such programs may be
twice as far from each other: asked of `cpu`, which sums in another order than the package, but not of `reference`.
"""

import dataclasses
import functools

import numpy as np
import pytest
from comparison import FLOAT_TOLERANCE, Case, check_exact, compute_logits
from tiny_llama import TinyLlama
from tiny_shapes import SHAPES

pytestmark = pytest.mark.slow

LENGTHS = (8, 600)  # less than a page; more than the rows of a step, windows and original contexts
SEEDS = (1000, 2000)  # added to a shape's own
DEVICES = {
    "reference": ("--device", "reference"),
    "cpu, 1 thread": ("--device", "cpu", "--threads", "1"),
    "cpu, 2 threads": ("--device", "cpu", "--threads", "2"),
    "deferred": ("--device", "deferred", "--threads", "2"),
}
TOLERANCES = {device: FLOAT_TOLERANCE * (1 if device == "reference" else 2) for device in DEVICES}
MISTRAL = {"mistral": TinyLlama(tied=False, head_size=32, theta=1e6, seed=50)}
LLAMA3 = {
    "llama3_rope": TinyLlama(llama3_rope=True, tied=False, theta=500000.0, seed=51),
    "llama3_rope_tied": TinyLlama(llama3_rope=True, theta=500000.0, seed=52),
    "llama_tied": TinyLlama(head_size=32, kv_heads=1, seed=53),
}
CASES = SHAPES | MISTRAL | LLAMA3


class Table:
    """The largest difference of each model and device, over lengths."""

    def __init__(self):
        self.rows: dict[str, dict[str, float]] = {}

    def note(self, row: str, column: str, difference: float) -> None:
        cells = self.rows.setdefault(row, {})
        cells[column] = max(cells.get(column, 0.0), difference)

    def text(self) -> str:
        columns = list(dict.fromkeys(column for cells in self.rows.values() for column in cells))
        lines = [f"\nLargest differences of logits from transformers (at most {FLOAT_TOLERANCE:.0e} on reference):"]
        lines.append(f"{'model':<42}" + "".join(f"{column:>16}" for column in columns))
        for row, cells in self.rows.items():
            lines.append(f"{row:<42}" + "".join(f"{cells.get(column, np.nan):>16.1e}" for column in columns))
        return "\n".join(lines)


@pytest.fixture(scope="module")
def table(request):
    table = Table()
    yield table
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(table.text())


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """exported(name, seed): the package's model and its file."""
    from transformers_export import export
    from transformers_models import Twin

    @functools.lru_cache(maxsize=1)
    def make(name: str, seed: int):
        shape = dataclasses.replace(CASES[name], seed=CASES[name].seed + seed)
        twin = Twin(shape, "mistral" if name in MISTRAL else None)
        return twin, export(twin, tmp_path_factory.mktemp(name) / "model.gguf")

    return make


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CASES)
def test_every_position(name, seed, exported, table, program, tmp_path):
    twin, path = exported(name, seed)
    ids = np.random.default_rng(seed).integers(0, twin.shape.vocabulary, max(LENGTHS)).tolist()
    for length in LENGTHS:
        case = Case(path, ids[:length])
        truth = {"": twin.logits(case.ids)}
        if twin.draft is not None:
            truth[" draft"] = twin.draft_logits(case.ids)
        for kind, expected in truth.items():
            for device, options in DEVICES.items():
                more = ("--draft",) if kind else ()
                logits = compute_logits(case, program, tmp_path / "logits.npy", *options, *more)
                table.note(f"{name}{kind} #{seed}", device, float(np.abs(logits - expected).max()))
                check_exact(logits, expected, TOLERANCES[device])
