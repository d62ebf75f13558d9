"""Drives the program render_template (TEMPO9_RENDER; default build/dev/tests/render_template)."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / os.environ.get("TEMPO9_RENDER", "build/dev/tests/render_template")


def run(inputs: list[dict]) -> list[dict]:
    """One output for each input; both are described in render_template.cpp."""
    lines = "".join(json.dumps(item) + "\n" for item in inputs)
    result = subprocess.run([PROGRAM], input=lines.encode(), capture_output=True)
    assert result.returncode == 0, result.stderr.decode()
    outputs = [json.loads(line) for line in result.stdout.split(b"\n")[:-1]]
    assert len(outputs) == len(inputs)
    return outputs


def difference(ours: str | None, expected: str | None) -> str:
    if ours is None or expected is None:
        return f"ours {ours!r:.200}, expected {expected!r:.200}"
    at = next((i for i, (a, b) in enumerate(zip(ours, expected)) if a != b), min(len(ours), len(expected)))
    return f"at {at}: ours {ours[max(0, at - 30) : at + 60]!r}, expected {expected[max(0, at - 30) : at + 60]!r}"
