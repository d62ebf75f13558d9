#!/usr/bin/env bash
# Fetches the CUDA compiler and runtime, as NVIDIA packs them for Python, into build/cuda-toolkit; does and prints
# nothing when they are there. About 300 MB. Only `make cuda` needs them; who has a CUDA toolkit of version 13 can name
# it instead: cmake --preset cuda -DTEMPO9_CUDA_TOOLKIT=/usr/local/cuda
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  nvidia-cuda-nvcc==13.0.88      # the compiler driver, ptxas, fatbinary
  nvidia-nvvm==13.0.88           # the compiler's middle
  nvidia-cuda-crt==13.0.88       # headers that the compiler includes
  nvidia-cuda-runtime==13.0.96   # headers and library of the runtime
)
target=build/cuda-toolkit
[ "$(cat "$target/.packages" 2>/dev/null)" = "${packages[*]}" ] && exit 0

echo "cuda: fetching ${packages[*]}"
scripts/python_env.sh build/venv
rm -rf "$target"
build/venv/bin/pip install --quiet --disable-pip-version-check --no-deps --target "$target" "${packages[@]}"
printf '%s\n' "${packages[*]}" >"$target/.packages"
