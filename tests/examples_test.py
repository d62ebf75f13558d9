"""The examples run as they stand."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".sh", ".py", ".mjs"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(example, tiny_server):
    program = {".sh": ["bash"], ".py": [sys.executable], ".mjs": ["node", "--input-type=module"]}[example.suffix]
    script = example.suffix == ".mjs"  # finds its packages from the working directory
    run = subprocess.run(
        program if script else [*program, example],
        input=example.read_bytes() if script else None,
        cwd=ROOT / os.environ.get("TEMPO9_NODE", "build/node") if script else ROOT,
        env=os.environ | {"TEMPO9_URL": tiny_server.url},
        capture_output=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr.decode()
    assert b"Paris" in run.stdout, run.stdout.decode()
