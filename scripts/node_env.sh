#!/usr/bin/env bash
# Installs the pinned JavaScript packages that the tests use; does and prints nothing when they are already there.
#   scripts/node_env.sh build/node
# JavaScript serves tests only; no part of the product runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
wanted=$(cat tests/js/package.json tests/js/package-lock.json)
[ "$(cat "$folder/.wanted" 2>/dev/null)" = "$wanted" ] && exit 0

scripts/setup.sh node
echo "node: installing tests/js/package.json"
rm -rf "$folder"  # what an interrupted run left would be in the way
mkdir -p "$folder"
cp tests/js/package.json tests/js/package-lock.json "$folder"
npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund --silent
printf '%s\n' "$wanted" >"$folder/.wanted"
