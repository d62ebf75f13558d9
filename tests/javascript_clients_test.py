"""The official JavaScript clients, unmodified: each script under tests/js/ fails at the first thing that is wrong.

scripts/node_env.sh puts the pinned packages where TEMPO9_NODE says (default build/node).
"""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = sorted((ROOT / "tests" / "js").glob("*.mjs"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_client(script, tiny_server):
    packages = ROOT / os.environ.get("TEMPO9_NODE", "build/node")
    assert (packages / "node_modules").is_dir(), f"{packages} has no packages; run scripts/node_env.sh"
    # A module that comes by standard input finds its packages from the working directory.
    run = subprocess.run(
        ["node", "--input-type=module"], input=script.read_bytes(), cwd=packages, capture_output=True, timeout=120,
        env=os.environ | {"TEMPO9_URL": tiny_server.url},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr.decode()
