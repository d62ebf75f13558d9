"""A GGUF file as the references see it: keys and decoded weights, read by the `gguf` package."""

import pathlib

import gguf
import numpy as np

Array = np.ndarray
UNQUANTISED = ("F32", "F16", "BF16")


class ModelFile:
    """Decoded weights are kept as float32, which is what they decode to, and handed out as float64.

    Keys are named without the architecture's prefix. A matrix of `in` inputs and `out` outputs is [out, in]; a stack of
    them has the number of the matrix in front.
    """

    def __init__(self, path: pathlib.Path):
        reader = gguf.GGUFReader(str(path))
        self.path = path
        self._fields = reader.fields
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}
        self._decoded = {}
        self.architecture = self._fields["general.architecture"].contents()

    def key(self, name: str, default=None):
        field = self._fields.get(f"{self.architecture}.{name}")
        assert field is not None or default is not None, f"the file has no {name}"
        return default if field is None else field.contents()

    def has_key(self, name: str) -> bool:
        return f"{self.architecture}.{name}" in self._fields

    def has_tensor(self, name: str) -> bool:
        return name in self._tensors

    def is_quantised(self, name: str) -> bool:
        return self._tensors[name].tensor_type.name not in UNQUANTISED

    def tensor(self, name: str, index=...) -> Array:
        """A tensor, or the part of it at `index` of its first axis."""
        if name not in self._decoded:
            tensor = self._tensors[name]
            decoded = gguf.dequantize(tensor.data, tensor.tensor_type)
            self._decoded[name] = decoded.reshape([int(n) for n in reversed(tensor.shape)])
        return self._decoded[name][index].astype(np.float64)
