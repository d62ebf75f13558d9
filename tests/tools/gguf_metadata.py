"""The metadata of GGUF files, read and written: numbers, strings, and arrays of them. Strings are bytes."""

import pathlib
import struct

UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", UINT32: "I", INT32: "i", FLOAT32: "f", BOOL: "?", 10: "Q", 11: "q", 12: "d"}


class _Reader:
    def __init__(self, data: bytes):
        self.data = data
        self.at = 4

    def numbers(self, kind: str, count: int = 1) -> tuple:
        layout = struct.Struct(f"<{count}{kind}")
        self.at += layout.size
        return layout.unpack_from(self.data, self.at - layout.size)

    def string(self) -> bytes:
        (length,) = self.numbers("Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def value(self, kind: int):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            (element,) = self.numbers("I")
            (count,) = self.numbers("Q")
            if element in FORMATS:
                return list(self.numbers(FORMATS[element], count))
            return [self.value(element) for _ in range(count)]
        return self.numbers(FORMATS[kind])[0]


def read(path: pathlib.Path) -> dict:
    reader = _Reader(path.read_bytes())
    assert reader.data[:4] == b"GGUF"
    reader.numbers("I")  # version
    _, entries = reader.numbers("Q", 2)
    metadata = {}
    for _ in range(entries):
        key = reader.string().decode()
        metadata[key] = reader.value(*reader.numbers("I"))
    return metadata


def _string(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _value(value) -> bytes:
    """Type and value. Integers are written as UINT32, lists of them as INT32, as vocabularies have them."""
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", UINT32, value)
    if isinstance(value, bytes):
        return struct.pack("<I", STRING) + _string(value)
    if isinstance(value[0], bytes):
        return struct.pack("<IIQ", ARRAY, STRING, len(value)) + b"".join(map(_string, value))
    element = FLOAT32 if isinstance(value[0], float) else INT32
    return struct.pack(f"<IIQ{len(value)}{FORMATS[element]}", ARRAY, element, len(value), *value)


def write(path: pathlib.Path, metadata: dict) -> None:
    body = b"".join(_string(key.encode()) + _value(value) for key, value in metadata.items())
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(metadata)) + body)
