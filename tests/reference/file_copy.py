"""A GGUF file read, changed and written again: the same model as other programs would have written it, or damaged."""

import pathlib
import re

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType, GGUFValueType


class FileCopy:
    """Keys by their whole names, as (value, type, type of elements); float32 tensors by name, in the file's order."""

    def __init__(self, path: pathlib.Path):
        reader = gguf.GGUFReader(str(path))
        self.architecture = reader.fields["general.architecture"].contents()
        self.keys = {}
        for name, field in reader.fields.items():
            if not name.startswith("GGUF.") and name != "general.architecture":
                element = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
                self.keys[name] = (field.contents(), field.types[0], element)
        self.tensors = {tensor.name: np.array(tensor.data) for tensor in reader.tensors}

    def key(self, name: str):
        return self.keys[f"{self.architecture}.{name}"][0]

    def remove(self, pattern: str) -> None:
        """Tensors whose whole name fits."""
        self.tensors = {name: data for name, data in self.tensors.items() if not re.fullmatch(pattern, name)}

    def fuse(self, parts: tuple[str, ...], whole: str, axis: int) -> int:
        """In each layer that has all of `parts`, joins them along `axis`; returns in how many."""
        fused = 0
        for prefix in {name[: name.index(".", 4) + 1] for name in self.tensors if name.startswith("blk.")}:
            if all(prefix + part in self.tensors for part in parts):
                joined = np.concatenate([self.tensors.pop(prefix + part) for part in parts], axis)
                self.tensors[prefix + whole] = joined
                fused += 1
        return fused

    def write(self, path: pathlib.Path, quantised: str = "") -> pathlib.Path:
        """Tensors whose name fits the pattern `quantised` become Q8_0."""
        writer = gguf.GGUFWriter(path, self.architecture)
        for name, (value, kind, element) in self.keys.items():
            writer.add_key_value(name, value, kind, sub_type=element)
        for name, data in self.tensors.items():
            kind = GGMLQuantizationType.Q8_0 if quantised and re.search(quantised, name) else GGMLQuantizationType.F32
            writer.add_tensor(name, gguf.quantize(data, kind), raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path
