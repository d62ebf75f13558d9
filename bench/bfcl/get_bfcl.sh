#!/usr/bin/env bash
# Puts the data and the judge of the Berkeley Function Calling Leaderboard into an environment of their own (build/bfcl).
# Does and prints nothing when they are there. The package wants the clients of two dozen providers, PyTorch among their
# needs; official.py uses none of them, so only what is listed here is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

wanted=bench/bfcl/requirements.txt
stamp=build/bfcl/.bfcl
cmp -s "$wanted" "$stamp" && exit 0
scripts/python_env.sh build/bfcl
echo "python: installing $wanted"
build/bfcl/bin/pip install --quiet --disable-pip-version-check --no-deps -r "$wanted"
cp "$wanted" "$stamp"
