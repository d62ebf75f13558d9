#!/usr/bin/env bash
# Installs pinned JavaScript packages that tests use; does and prints nothing when they are already there.
#   scripts/node_env.sh build/node tests/js          those of tests/js/package.json
#   scripts/node_env.sh build/agents tests/agents
# JavaScript serves tests only; no part of the product runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
source=$2
wanted=$(cat "$source/package.json" "$source/package-lock.json")
[ "$(cat "$folder/.wanted" 2>/dev/null)" = "$wanted" ] && exit 0

scripts/setup.sh node
echo "node: installing $source/package.json"
rm -rf "$folder"  # what an interrupted run left would be in the way
mkdir -p "$folder"
cp "$source/package.json" "$source/package-lock.json" "$folder"
npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund --silent
printf '%s\n' "$wanted" >"$folder/.wanted"
