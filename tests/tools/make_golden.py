"""Makes the files of tests/golden: tiny models of `transformers`, token ids, and the logits that it computes for them.

    make golden

or, with an environment that has tests/requirements-slow.txt,

    build/venv-slow/bin/python tests/tools/make_golden.py
"""

import pathlib
import sys

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "reference"))

import golden  # noqa: E402
from comparison import FLOAT_TOLERANCE  # noqa: E402
from model_file import ModelFile  # noqa: E402
from references import reference_of  # noqa: E402
from tiny_shapes import SHAPES  # noqa: E402
from transformers_export import export  # noqa: E402
from transformers_models import Twin  # noqa: E402


def make(name: str) -> None:
    shape = SHAPES[name]
    twin = Twin(shape)
    path = export(twin, golden.FOLDER / f"{name}.gguf")
    ids = np.random.default_rng(shape.seed).integers(0, shape.vocabulary, golden.LENGTH).astype(np.int32)
    arrays = {"ids": ids, "logits": twin.logits(ids.tolist())}
    if twin.draft is not None:
        arrays["draft_logits"] = twin.draft_logits(ids.tolist())
    formulas = reference_of(ModelFile(path))
    difference = np.abs(formulas.logits(ids.tolist()) - arrays["logits"]).max()
    if "draft_logits" in arrays:
        difference = max(difference, np.abs(formulas.draft_logits(ids.tolist()) - arrays["draft_logits"]).max())
    assert difference <= FLOAT_TOLERANCE, f"{name}: the formulas in NumPy differ by {difference}"
    np.savez_compressed(golden.FOLDER / f"{name}.npz", **arrays)
    print(f"{name:<12} {path.stat().st_size:>8} bytes, {difference:.1e} from the formulas in NumPy")


if __name__ == "__main__":
    for name in golden.NAMES:
        make(name)
